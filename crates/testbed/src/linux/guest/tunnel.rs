//! The device of a script's host: a TUN device whose packets the world outside reads and writes.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read, Write};
use std::net::IpAddr;
use std::os::fd::AsFd;

use tcplab_recording::MessageBytes;
use tcplab_wire::offload::VnetHeader;

use crate::device::{LARGEST, interface_index};
use crate::netlink::{LinkSettings, Netlink};
use crate::{GuestScript, ScriptReport, TrialError, sys};

/// As packetdrill calls it; scripts' commands name it.
const NAME: &str = "tun0";
const TUN: &str = "/dev/net/tun";
/// Room for the headers of IP and TCP: more than the largest, 40 and 60 bytes.
const HEAD: usize = 128;

/// Makes the device, with the addresses and the route that `task` names.
pub(super) fn open(task: &GuestScript) -> Result<File, TrialError> {
    let tun = OpenOptions::new().read(true).write(true).open(TUN);
    let tun = tun.map_err(TrialError::setup(format!("open {TUN}")))?;
    // As an Ethernet card does, and as packetdrill sets it (`set_device_offload_flags`).
    let offloads = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    sys::attach_tun_with(tun.as_fd(), NAME, offloads)
        .map_err(TrialError::setup("make a TUN device"))?;
    configure(task).map_err(TrialError::setup(format!("configure {NAME}")))?;
    Ok(tun)
}

fn configure(task: &GuestScript) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    let index = interface_index(NAME).map_err(io::Error::other)?;
    netlink.set_up(index, &LinkSettings { mtu: Some(task.mtu), ..LinkSettings::default() })?;
    let (local, prefix_len) = task.local;
    netlink.add_address(index, local, prefix_len)?;
    let (remote, prefix_len) = task.remote;
    netlink.add_network((network(remote, prefix_len), prefix_len), index, task.gateway)
}

/// The first address of the network of `prefix_len` bits that `address` is in.
fn network(address: IpAddr, prefix_len: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix_len)).unwrap_or(0);
            IpAddr::V4((u32::from(address) & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix_len)).unwrap_or(0);
            IpAddr::V6((u128::from(address) & mask).into())
        }
    }
}

/// The next packet that the kernel sends; waits for it.
pub(super) fn next_packet(mut tun: &File, buffer: &mut Vec<u8>) -> io::Result<ScriptReport> {
    buffer.resize(VnetHeader::LEN + LARGEST, 0);
    let read = tun.read(buffer)?;
    let packet = buffer[..read].get(VnetHeader::LEN..).unwrap_or_default();
    let head = MessageBytes(packet[..packet.len().min(HEAD)].to_vec());
    Ok(ScriptReport::Packet { head, len: packet.len() as u32 })
}

/// Hands a packet to the kernel.
pub(super) fn inject(
    mut tun: &File,
    offload: &MessageBytes,
    head: &MessageBytes,
    zeros: u32,
) -> io::Result<()> {
    let zeros = vec![0; zeros as usize];
    let parts = [IoSlice::new(&offload.0), IoSlice::new(&head.0), IoSlice::new(&zeros)];
    tun.write_vectored(&parts).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_of_address_has_its_first_bits() {
        for (address, prefix_len, expected) in [
            ("192.0.2.77", 24, "192.0.2.0"),
            ("192.0.2.77", 32, "192.0.2.77"),
            ("192.0.2.77", 0, "0.0.0.0"),
            ("fd3d:fa7b:d17d::1", 64, "fd3d:fa7b:d17d::"),
            ("fd3d:fa7b:d17d::1", 0, "::"),
        ] {
            let network = network(address.parse().unwrap(), prefix_len);
            assert_eq!(network, expected.parse::<IpAddr>().unwrap());
        }
    }
}
