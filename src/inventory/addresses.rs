//! Which texts in a state are addresses by which a machine is reached, and which of several is the best.

use std::net::IpAddr;

/// The addresses of a machine, each list with the best first.
#[derive(Clone, Debug, Default)]
pub(super) struct Addresses {
    pub public: Vec<IpAddr>,
    pub private: Vec<IpAddr>,
    /// A name in place of an address, where a rule leads to one.
    pub name: Option<String>,
    /// Which family of addresses decides.
    pub preference: Preference,
}

/// What comes first where a machine has both a public IPv6 and a private IPv4 address.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Preference {
    /// IPv4: IPv6 is often there without a way to it.
    #[default]
    Ipv4,
    /// What is public: there the private network is a matter between the machines.
    Public,
}

impl Addresses {
    /// Adds a public address; what is none is left out.
    pub fn add_public(&mut self, text: &str) {
        add(&mut self.public, text);
    }

    /// Adds a private address; what is none is left out.
    pub fn add_private(&mut self, text: &str) {
        add(&mut self.private, text);
    }

    /// Adds an address of which only itself tells whether it is public.
    pub fn add(&mut self, text: &str) {
        match address_of(text) {
            Some(address) if is_private(address) => add(&mut self.private, text),
            _ => add(&mut self.public, text),
        }
    }

    /// Returns by what the machine is reached.
    pub fn best(&self) -> Option<String> {
        let first = |list: &[IpAddr], four: bool| list.iter().find(|ip| ip.is_ipv4() == four).copied();
        let (public4, public6) = (first(&self.public, true), first(&self.public, false));
        let (private4, private6) = (first(&self.private, true), first(&self.private, false));
        let order = match self.preference {
            Preference::Ipv4 => [public4, private4, public6, private6],
            Preference::Public => [public4, public6, private4, private6],
        };
        let found = order.into_iter().flatten().next();
        self.name.clone().or_else(|| found.map(|address| address.to_string()))
    }
}

fn add(list: &mut Vec<IpAddr>, text: &str) {
    list.extend(address_of(text).filter(|address| !list.contains(address)).into_iter().collect::<Vec<_>>());
}

/// Returns the address in a text, without its prefix or brackets; one that leads to no other machine is none.
pub(super) fn address_of(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let text = text.split_once('/').map_or(text, |(address, _)| address);
    let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    text.parse::<IpAddr>()
        .ok()
        .map(|address| address.to_canonical())
        .filter(|address| leads_somewhere(*address))
}

fn leads_somewhere(address: IpAddr) -> bool {
    let is_link_local = match address {
        IpAddr::V4(four) => four.is_link_local() || four.is_broadcast() || four.octets()[0] == 0,
        IpAddr::V6(six) => six.is_unicast_link_local(),
    };
    !is_link_local && !address.is_loopback() && !address.is_unspecified() && !address.is_multicast()
}

fn is_private(address: IpAddr) -> bool {
    match address {
        // The second are addresses of providers' networks, shared by many.
        IpAddr::V4(four) => four.is_private() || (four.octets()[0] == 100 && four.octets()[1] & 0xc0 == 64),
        IpAddr::V6(six) => six.is_unique_local(),
    }
}

/// Returns a text that is the name of a machine in the network.
pub(super) fn network_name(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('.');
    let is_label = |label: &str| {
        let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || sign == b'-' || sign == b'_';
        !label.is_empty() && label.len() <= 63 && !label.starts_with('-') && label.bytes().all(is_sign)
    };
    // Words that stand where an address will come from, and the name of every machine for itself.
    let is_word =
        ["dhcp", "auto", "manual", "static", "none", "localhost"].contains(&text.to_lowercase().as_str());
    // What ends in a number would be an address, and is none.
    let is_number =
        text.rsplit('.').next().is_some_and(|last| last.bytes().all(|sign| sign.is_ascii_digit()));
    let is_name = !text.is_empty() && text.len() <= 253 && text.split('.').all(is_label);
    (is_name && !is_word && !is_number).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_to_no_other_machine_is_no_address() {
        let none = [
            "",
            "dhcp",
            "auto",
            "127.0.0.1",
            "127.1.2.3/8",
            "::1",
            "::ffff:127.0.0.1",
            "0.0.0.0",
            "::",
            "169.254.9.9",
            "fe80::1",
            "fe80::1%eth0",
            "255.255.255.255",
            "224.0.0.1",
            "ff02::1",
            "10.0.0.256",
            "10.0.0.1 -oX",
            "a\n1",
        ];

        assert_eq!(none.map(address_of), none.map(|_| None));
        let written = ["10.0.0.5/24", " 192.0.2.1 ", "[2001:db8::1]", "2001:DB8::0:2/64"];
        let found = written.map(|text| address_of(text).map(|address| address.to_string()));
        assert_eq!(
            found.each_ref().map(|text| text.as_deref()),
            [Some("10.0.0.5"), Some("192.0.2.1"), Some("2001:db8::1"), Some("2001:db8::2")]
        );
    }

    #[test]
    fn a_public_address_comes_before_a_private_one() {
        let best = |texts: &[&str], preference| {
            let mut addresses = Addresses { preference, ..Addresses::default() };
            texts.iter().for_each(|text| addresses.add(text));
            addresses.best().unwrap_or_default()
        };

        assert_eq!(best(&["10.0.0.1", "203.0.113.1"], Preference::Ipv4), "203.0.113.1");
        assert_eq!(best(&["10.0.0.1", "2001:db8::1"], Preference::Ipv4), "10.0.0.1");
        assert_eq!(best(&["10.0.0.1", "2001:db8::1"], Preference::Public), "2001:db8::1");
        assert_eq!(best(&["100.64.0.1", "fd00::1"], Preference::Public), "100.64.0.1");
        assert_eq!(best(&["fd00::1"], Preference::Ipv4), "fd00::1");
    }

    #[test]
    fn a_name_is_taken_for_one_only_if_it_is() {
        for name in ["db.example.com", "db.example.com.", "web-1", "a_b"] {
            assert_eq!(network_name(name).as_deref(), Some(name.trim_end_matches('.')));
        }
        for other in
            ["-oProxyCommand=x", "a b", "dhcp", "localhost", "10.0.0", "300.1.1.1", "", "a..b", "a/b", "ü"]
        {
            assert_eq!(network_name(other), None, "{other}");
        }
    }
}
