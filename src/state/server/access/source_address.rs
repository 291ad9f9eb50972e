//! The address that a caller is counted under.
//!
//! Whoever has one IPv6 address has the whole /64 around it, so that those are one caller;
//! an IPv4 address is the same one when it comes mapped into IPv6.

use std::net::{IpAddr, Ipv6Addr};

/// The part of an IPv6 address that a network gives out.
const NETWORK: u128 = !0 << 64;

/// Returns the address that stands for all that one caller has.
pub fn source_of(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & NETWORK).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(peer: &str) -> String {
        source_of(peer.parse().expect("an address")).to_string()
    }

    #[test]
    fn a_network_of_ipv6_is_one_caller_and_a_mapped_address_is_its_ipv4() {
        assert_eq!(source("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(source("2001:db8:1:2:ffff::"), source("2001:db8:1:2::1"));
        assert_ne!(source("2001:db8:1:2::1"), source("2001:db8:1:3::1"));
        assert_eq!(source("::ffff:192.0.2.7"), "192.0.2.7");
        assert_ne!(source("192.0.2.7"), source("192.0.2.8"));
    }
}
