//! What a guest does for a packetdrill script: system calls, packets and commands, one at a time.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use tcplab_recording::MessageBytes;

/// A host for a script, to be prepared before it begins: a TUN device with addresses and a route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestScript {
    /// Where commands start: the whole path of a directory of the machine outside.
    pub directory: MessageBytes,
    /// The host's address and the length of its prefix.
    pub local: (IpAddr, u8),
    /// The network of its peer, by an address in it and the length of the prefix.
    pub remote: (IpAddr, u8),
    /// Through which the peer's network is reached, where the route names one.
    pub gateway: Option<IpAddr>,
    /// The largest packet of the device, in bytes of IP.
    pub mtu: u32,
}

/// What the guest is to do next.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ScriptOrder {
    /// The application's call; it may wait. [`ScriptReport::Returned`] answers it.
    Call(GuestCall),
    /// A call beside the application's, which does not wait; [`ScriptReport::Answered`] answers it.
    Ask(GuestCall),
    /// A packet arrives at the device: no report.
    Inject {
        /// `struct virtio_net_hdr`.
        offload: MessageBytes,
        /// The first bytes of the packet,
        head: MessageBytes,
        /// and how many zeros follow.
        zeros: u32,
    },
    /// Writes a file; [`ScriptReport::Wrote`] answers it.
    Write {
        /// Its whole path.
        path: String,
        /// Its first bytes,
        head: MessageBytes,
        /// and how many zeros follow.
        zeros: u64,
    },
    /// Runs `bash -c`; [`ScriptReport::Exited`] answers it.
    Shell(String),
}

/// What the guest says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ScriptReport {
    /// The application's call has returned.
    Returned(CallResult),
    /// A call beside it has returned.
    Answered(CallResult),
    /// The kernel sent a packet through the device.
    Packet {
        /// As much of it as headers may take.
        head: MessageBytes,
        /// Its length, bytes.
        len: u32,
    },
    /// A file was written, or why not.
    Wrote(Option<String>),
    /// The shell's commands ended.
    Exited {
        /// The exit code, 128 and more for signals.
        code: u8,
        /// The last that they printed.
        said: String,
    },
}

/// A system call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestCall {
    /// As in the manual: `sendmsg`.
    pub name: String,
    /// Its arguments, in order.
    pub arguments: Vec<CallArgument>,
    /// The memory that it reads and writes.
    pub memory: Vec<CallMemory>,
    /// Whether the kernel uses the memory after the call has returned (MSG_ZEROCOPY).
    pub keeps_memory: bool,
}

/// What came of a system call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// As in the kernel: an error is its number below zero.
    pub result: i64,
    /// What the regions of memory hold that are to be returned, in order.
    pub memory: Vec<MessageBytes>,
}

/// An argument of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallArgument {
    /// A number.
    Number(i64),
    /// The address of a region of memory, by its place in [`GuestCall::memory`].
    Memory(usize),
}

/// A region of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallMemory {
    /// Its first bytes,
    pub head: MessageBytes,
    /// and how many zeros follow.
    pub zeros: u32,
    /// Where in its first bytes the address of which region is to stand.
    pub pointers: Vec<(usize, usize)>,
    /// Whether its bytes are wanted when the call has returned.
    pub is_returned: bool,
}
