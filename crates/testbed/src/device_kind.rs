//! The two kinds of device that an endpoint can have.

use std::fs::OpenOptions;

/// How frames get out of an endpoint's namespace and into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// `/dev/net/tun`: the faster one.
    Tun,
    /// veth and `AF_PACKET`: where `/dev/net/tun` is not allowed.
    PacketSocket,
}

impl DeviceKind {
    /// The better one that this process may use.
    pub fn best() -> DeviceKind {
        match OpenOptions::new().read(true).write(true).open(TUN) {
            Ok(_) => DeviceKind::Tun,
            Err(_) => DeviceKind::PacketSocket,
        }
    }
}

pub(crate) const TUN: &str = "/dev/net/tun";
