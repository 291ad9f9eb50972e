//! Connections whose clients have not logged in yet: no address may have many of them.
//!
//! Where one too many comes, the oldest of that address that asks for nothing has to leave, in
//! place of the new one: a client that means to log in does so at once, while one that only
//! holds a connection waits. So behind a proxy, where all clients have one address, strangers
//! who hold connections do not keep anybody out. Whoever has logged in is no guest any more.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::source_address::source_of;

/// All guests of a server.
#[derive(Debug)]
pub(super) struct Guests {
    /// How many of one address are let in.
    most: usize,
    /// By age.
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    present: BTreeMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    source: IpAddr,
    /// Whether a request of it is being answered.
    is_asking: bool,
    leave: Arc<Notify>,
}

/// A connection that came in as a guest.
#[derive(Debug)]
pub(super) struct Guest {
    /// Where it comes from.
    pub peer: IpAddr,
    guests: Arc<Guests>,
    number: u64,
    leave: Arc<Notify>,
}

impl Guests {
    /// Makes a house that takes so many guests of one address.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, table: Mutex::default() })
    }

    /// Lets a connection in; nothing if all others of its address are being answered.
    pub fn enter(self: &Arc<Self>, peer: IpAddr) -> Option<Guest> {
        let (source, leave) = (source_of(peer), Arc::new(Notify::new()));
        let mut table = self.table();
        let others = table.present.values().filter(|entry| entry.source == source).count();
        if others >= self.most && !table.send_away(|entry| entry.source == source) {
            return None;
        }
        let number = table.next;
        table.next += 1;
        table.present.insert(number, Entry { source, is_asking: false, leave: Arc::clone(&leave) });
        drop(table);
        Some(Guest { peer, guests: Arc::clone(self), number, leave })
    }

    /// Tells the oldest guest that asks for nothing to leave.
    pub fn send_one_away(&self) {
        self.table().send_away(|_| true);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn send_away(&mut self, may: impl Fn(&Entry) -> bool) -> bool {
        let found = self.present.iter().find(|(_, entry)| !entry.is_asking && may(entry));
        let Some(number) = found.map(|(number, _)| *number) else { return false };
        let gone = self.present.remove(&number);
        gone.is_some_and(|entry| {
            entry.leave.notify_one();
            true
        })
    }
}

impl Guest {
    /// Waits until it is told to leave.
    pub async fn told_to_leave(&self) {
        self.leave.notified().await;
    }

    /// Notes whether a request of it is being answered.
    pub fn is_asking(&self, is_asking: bool) {
        if let Some(entry) = self.guests.table().present.get_mut(&self.number) {
            entry.is_asking = is_asking;
        }
    }

    /// Notes that its client has logged in.
    pub fn has_logged_in(&self) {
        self.guests.table().present.remove(&self.number);
    }
}

impl Drop for Guest {
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

    async fn is_told(guest: &Guest) -> bool {
        tokio::time::timeout(Duration::from_millis(10), guest.told_to_leave()).await.is_ok()
    }

    #[tokio::test]
    async fn the_oldest_idle_guest_of_an_address_gives_way_to_the_newest() {
        let guests = Guests::new(3);
        let elsewhere = guests.enter(peer(2)).expect("let in");
        let first: Vec<Guest> = (0..3).map(|_| guests.enter(peer(1)).expect("let in")).collect();
        first[0].is_asking(true);

        let newest = guests.enter(peer(1)).expect("let in");

        assert!(is_told(&first[1]).await);
        for stays in [&elsewhere, &first[0], &first[2], &newest] {
            assert!(!is_told(stays).await);
        }
    }

    #[tokio::test]
    async fn whoever_has_logged_in_or_left_is_not_counted() {
        let guests = Guests::new(2);
        let known: Vec<Guest> = (0..9).map(|_| guests.enter(peer(1)).expect("let in")).collect();
        known.iter().for_each(Guest::has_logged_in);
        drop(guests.enter(peer(1)));

        let strangers = [guests.enter(peer(1)), guests.enter(peer(1))].map(|guest| guest.expect("let in"));
        strangers.iter().for_each(|guest| guest.is_asking(true));

        assert!(guests.enter(peer(1)).is_none(), "all are being answered");
        assert!(!is_told(&known[8]).await);
        strangers[1].is_asking(false);
        guests.send_one_away();
        assert!(is_told(&strangers[1]).await);
    }
}
