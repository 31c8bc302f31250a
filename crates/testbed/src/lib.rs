//! The real-time world: the kernel's own TCP at both ends of tcplab's path.
//!
//! A trial runs in a process of its own ([`serve`]), started by [`run_trial`]. That process makes
//! two network namespaces without names, one endpoint in each, and moves every frame between them
//! through the sans-I/O path of `tcplab-path`. Namespaces and devices live in its threads and
//! descriptors, so nothing outlives it; and it does not outlive its caller.
//!
//! This crate is the only home of privilege and of `unsafe` system calls.

mod addresses;
mod bridge;
mod calibrate;
mod clock;
mod device;
mod doctor;
mod endpoint;
mod errno;
mod error;
mod flows;
mod guest;
mod interface_counters;
mod interfaces;
mod launch;
mod link_header;
mod live_capture;
mod load;
mod lock_file;
mod message;
mod module;
mod mover;
mod multipath;
mod namespace;
mod netlink;
mod options;
mod packet_socket;
mod process;
mod recorder;
mod route;
mod sampler;
mod scheduling;
mod serve;
mod shell;
mod sock_diag;
mod sys;
mod sysctl;
mod tcp_info;
mod threads;
mod traffic;
mod trial;
mod trial_state;
mod tuning;
mod virtual_calls;
#[doc(hidden)]
pub mod workbench;

pub use calibrate::{
    Arrival, CalibrationRecord, CalibrationRequest, Ceiling, CeilingRequest, DirectionRecord,
    MachineRecord, Round, RoundRecord, Train, measure_ceiling, run_calibration,
};
pub use device::DeviceKind;
pub use doctor::{Ability, AbilityLevel, examine};
pub use error::{Reach, TrialError};
pub use guest::{GuestProgram, GuestTask, GuestWork};
pub use interfaces::{BridgeRequest, bridge};
pub use launch::{Launcher, Progress, TrialRequest, may_isolate, run_trial};
pub use live_capture::{CapturedFrame, LiveCapture};
pub use lock_file::open_lock_file;
pub use mover::{Moving, prepare_capture};
pub use multipath::{NO_MPTCP, has_mptcp};
pub use options::{OptionState, Reading, Setting, has_congestion, survey};
pub use serve::serve;
pub use shell::{ShellEnd, ShellRequest, shell};
pub use sock_diag::{SocketTimer, TcpSocket, TimerKind};
pub use tcp_info::{SocketState, socket_state};
pub use tuning::Tuning;
