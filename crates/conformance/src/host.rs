//! The host of a script: what packetdrill's options say of addresses and of the device.

use std::net::IpAddr;
use std::str::FromStr;

use tcplab_packetdrill::{Addresses, Script};

use crate::error::ConformanceError;

/// The MTU of an Ethernet, bytes.
const MTU: u32 = 1500;
/// That which the suites give a device for IPv6, so that segments are as long as over IPv4, bytes.
const MTU_V6: u32 = 1520;

/// Addresses and device of a script's host. Where the script does not say otherwise, they are what
/// the runner of Linux's selftests gives to packetdrill (`ksft_runner.sh`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The version of IP of its packets and its peer's.
    pub(crate) addresses: Addresses,
    /// The length of the prefix of its own network.
    pub(crate) prefix_len: u8,
    /// The length of the prefix of its peer's network.
    pub(crate) remote_prefix_len: u8,
    pub(crate) gateway: Option<IpAddr>,
    pub(crate) mtu: u32,
    /// Whether its sockets are IPv6.
    pub(crate) has_v6_sockets: bool,
}

impl Host {
    /// What the options of `script` ask for; of several of a name, the last.
    ///
    /// # Errors
    /// When one has no meaning.
    pub fn of(script: &Script) -> Result<Host, ConformanceError> {
        let said = |name: &str| {
            let flags = script.options.iter().rev();
            let mut flags = flags.filter(|flag| flag.name == name);
            flags.find_map(|flag| flag.value.as_deref())
        };
        let version = said("ip_version").unwrap_or("ipv4");
        let is_v6 = match version {
            "ipv6" => true,
            "ipv4" | "ipv4-mapped-ipv6" => false,
            other => {
                let expected = "ipv4, ipv6 or ipv4-mapped-ipv6";
                return Err(odd("ip_version", other, expected));
            }
        };
        let [local, remote, gateway] = if is_v6 {
            ["fd3d:0a0b:17d6::1", "fd3d:fa7b:d17d::1", ""]
        } else {
            ["192.168.0.1", "192.0.2.1", "192.168.0.1"]
        };
        let local_ip = said("local_ip");
        let gateway = said("gateway_ip").filter(|_| !is_v6).or(match local_ip {
            Some(given) if given != local => None,
            _ => Some(gateway).filter(|gateway| !gateway.is_empty()),
        });
        let netmask = said("netmask_ip").filter(|_| !is_v6);
        let (remote, remote_prefix_len) = match said("remote_ip").unwrap_or(remote).split_once('/')
        {
            Some((address, prefix)) => (address, read("remote_ip", prefix, "a prefix's length")?),
            None => (said("remote_ip").unwrap_or(remote), if is_v6 { 64 } else { 24 }),
        };
        let address = "an IP address";
        let addresses = Addresses {
            local: read("local_ip", local_ip.unwrap_or(local), address)?,
            remote: read("remote_ip", remote, address)?,
        };
        for (name, address) in [("local_ip", addresses.local), ("remote_ip", addresses.remote)] {
            if address.is_ipv6() != is_v6 {
                let expected = "an address of the script's IP version (--ip_version)";
                return Err(odd(name, &address.to_string(), expected));
            }
        }
        Ok(Host {
            addresses,
            prefix_len: match netmask {
                Some(mask) => prefix_len(read("netmask_ip", mask, address)?),
                None if is_v6 => 64,
                None => 16,
            },
            remote_prefix_len,
            gateway: gateway.map(|it| read("gateway_ip", it, address)).transpose()?,
            mtu: match said("mtu") {
                Some(mtu) => read("mtu", mtu, "bytes")?,
                None if is_v6 => MTU_V6,
                None => MTU,
            },
            has_v6_sockets: version != "ipv4",
        })
    }
}

fn read<T: FromStr>(
    name: &'static str,
    value: &str,
    expected: &'static str,
) -> Result<T, ConformanceError> {
    value.trim().parse().map_err(|_| odd(name, value, expected))
}

fn odd(name: &'static str, value: &str, expected: &'static str) -> ConformanceError {
    ConformanceError::Option { name, value: value.to_owned(), expected }
}

fn prefix_len(mask: IpAddr) -> u8 {
    match mask {
        IpAddr::V4(mask) => u32::from(mask).leading_ones() as u8,
        IpAddr::V6(mask) => u128::from(mask).leading_ones() as u8,
    }
}

#[cfg(test)]
mod tests {
    use tcplab_packetdrill::ast::Flag;
    use tcplab_packetdrill::{Definitions, Position};

    use super::*;

    fn host(options: &str) -> Result<Host, ConformanceError> {
        let text = format!("{options}\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n");
        Host::of(&Script::parse(&text, &Definitions::none()).unwrap())
    }

    #[test]
    fn host_is_that_of_selftests_unless_script_says_otherwise() {
        let plain = host("").unwrap();
        assert_eq!(plain.addresses.local, "192.168.0.1".parse::<IpAddr>().unwrap());
        assert_eq!((plain.prefix_len, plain.remote_prefix_len, plain.mtu), (16, 24, 1500));
        assert!(plain.gateway.is_some() && !plain.has_v6_sockets);
        let own = host("--local_ip=10.0.0.1\n--netmask_ip=255.255.255.0\n--mtu=9000").unwrap();
        assert_eq!((own.prefix_len, own.mtu, own.gateway), (24, 9000, None));
        let v6 = host("--ip_version=ipv6").unwrap();
        assert_eq!((v6.mtu, v6.has_v6_sockets), (1520, true));
        // Only who runs the script says so.
        let mapped = Flag {
            at: Position { line: 1, column: 1 },
            name: "ip_version".into(),
            value: Some("ipv4-mapped-ipv6".into()),
        };
        let script = Script { options: vec![mapped], ..Script::default() };
        let host = Host::of(&script).unwrap();
        assert!(host.has_v6_sockets && host.addresses.local.is_ipv4());
    }

    #[test]
    fn host_without_meaning_is_refused() {
        for options in ["--ip_version=ipv5", "--local_ip=here", "--mtu=much", "--local_ip=fd00::1"]
        {
            assert!(host(options).is_err(), "{options}");
        }
    }
}
