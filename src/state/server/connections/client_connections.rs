//! Connections whose clients have not logged in yet: no address may have many of them.
//!
//! If one address has too many, its oldest that asks for nothing is closed, in place of the new
//! one: a client that means to log in does so at once, while one that only holds a connection
//! waits. So behind a proxy, where all clients have one address, strangers who hold connections
//! do not keep anybody out. A connection whose client has logged in is not counted.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::state::server::access::source_of;

/// The connections of a server whose clients have not logged in.
#[derive(Debug)]
pub struct ClientConnections {
    /// How many of one address are admitted.
    most: usize,
    /// By age.
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    present: BTreeMap<u64, AnonymousConnection>,
}

#[derive(Debug)]
struct AnonymousConnection {
    source: IpAddr,
    /// Whether a request of it is being answered.
    is_asking: bool,
    close: Arc<Notify>,
}

/// A connection, which is anonymous until its client logs in.
#[derive(Debug)]
pub struct ClientConnection {
    /// Where it comes from.
    pub peer: IpAddr,
    connections: Arc<ClientConnections>,
    number: u64,
    close: Arc<Notify>,
}

impl ClientConnections {
    /// Admits so many anonymous connections of one address.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, table: Mutex::default() })
    }

    /// Admits a connection; returns `None` if all others of its address are being answered.
    pub fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<ClientConnection> {
        let (source, close) = (source_of(peer), Arc::new(Notify::new()));
        let mut table = self.table();
        let others = table.present.values().filter(|entry| entry.source == source).count();
        if others >= self.most && !table.close_oldest(|entry| entry.source == source) {
            return None;
        }
        let number = table.next;
        table.next += 1;
        table
            .present
            .insert(number, AnonymousConnection { source, is_asking: false, close: Arc::clone(&close) });
        drop(table);
        Some(ClientConnection { peer, connections: Arc::clone(self), number, close })
    }

    /// Closes the oldest anonymous connection that asks for nothing.
    pub fn close_one(&self) {
        self.table().close_oldest(|_| true);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn close_oldest(&mut self, may: impl Fn(&AnonymousConnection) -> bool) -> bool {
        let found = self.present.iter().find(|(_, entry)| !entry.is_asking && may(entry));
        let Some(number) = found.map(|(number, _)| *number) else { return false };
        let gone = self.present.remove(&number);
        gone.is_some_and(|entry| {
            entry.close.notify_one();
            true
        })
    }
}

impl ClientConnection {
    /// Waits until the server wants it closed.
    pub async fn closed(&self) {
        self.close.notified().await;
    }

    /// Notes whether a request of it is being answered.
    pub fn is_asking(&self, is_asking: bool) {
        if let Some(entry) = self.connections.table().present.get_mut(&self.number) {
            entry.is_asking = is_asking;
        }
    }

    /// Notes that its client has logged in.
    pub fn has_logged_in(&self) {
        self.connections.table().present.remove(&self.number);
    }
}

impl Drop for ClientConnection {
    fn drop(&mut self) {
        self.has_logged_in();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn peer(last: u8) -> IpAddr {
        IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, last))
    }

    async fn is_told(connection: &ClientConnection) -> bool {
        tokio::time::timeout(Duration::from_millis(10), connection.closed()).await.is_ok()
    }

    #[tokio::test]
    async fn the_oldest_idle_connection_of_an_address_gives_way_to_the_newest() {
        let connections = ClientConnections::new(3);
        let elsewhere = connections.admit(peer(2)).expect("admitted");
        let first: Vec<ClientConnection> =
            (0..3).map(|_| connections.admit(peer(1)).expect("admitted")).collect();
        first[0].is_asking(true);

        let newest = connections.admit(peer(1)).expect("admitted");

        assert!(is_told(&first[1]).await);
        for stays in [&elsewhere, &first[0], &first[2], &newest] {
            assert!(!is_told(stays).await);
        }
    }

    #[tokio::test]
    async fn whoever_has_logged_in_or_left_is_not_counted() {
        let connections = ClientConnections::new(2);
        let known: Vec<ClientConnection> =
            (0..9).map(|_| connections.admit(peer(1)).expect("admitted")).collect();
        known.iter().for_each(ClientConnection::has_logged_in);
        drop(connections.admit(peer(1)));

        let strangers = [connections.admit(peer(1)), connections.admit(peer(1))]
            .map(|connection| connection.expect("admitted"));
        strangers.iter().for_each(|connection| connection.is_asking(true));

        assert!(connections.admit(peer(1)).is_none(), "all are being answered");
        assert!(!is_told(&known[8]).await);
        strangers[1].is_asking(false);
        connections.close_one();
        assert!(is_told(&strangers[1]).await);
    }
}
