//! The real-time world: the kernel's own TCP at both ends of tcplab's path.
//!
//! A trial runs in a process of its own ([`serve`]), started by [`run_trial`]. That process makes
//! two network namespaces without names, one endpoint in each, and moves every frame between them
//! through the sans-I/O path of `tcplab-path`. Namespaces and devices live in its threads and
//! descriptors, so nothing outlives it; and it does not outlive its caller.
//!
//! This crate is the only home of privilege and of `unsafe` system calls.
//!
//! What only Linux has is in `linux`. Elsewhere there is the plain data that others need, and each
//! function refuses (`elsewhere`), so that its callers are the same on every system.
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "what the data has for `linux` alone")
)]

mod calibration;
mod capture_directory;
mod device_kind;
mod disk;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod end_sockets;
mod error;
mod guest_work;
mod json_lines;
mod script_work;
mod steering;
mod trial_request;
mod tuning;

#[cfg(target_os = "linux")]
mod linux {
    pub(crate) mod addresses;
    pub(crate) mod bridge;
    pub(crate) mod calibrate;
    pub(crate) mod clock;
    pub(crate) mod device;
    pub(crate) mod doctor;
    pub(crate) mod endpoint;
    pub(crate) mod errno;
    pub(crate) mod flows;
    pub(crate) mod guest;
    pub(crate) mod interface_counters;
    pub(crate) mod interfaces;
    pub(crate) mod launch;
    pub(crate) mod link_header;
    pub(crate) mod live_capture;
    pub(crate) mod load;
    pub(crate) mod lock_file;
    pub(crate) mod message;
    pub(crate) mod module;
    pub(crate) mod mover;
    pub(crate) mod multipath;
    pub(crate) mod namespace;
    pub(crate) mod netlink;
    pub(crate) mod netlink_message;
    pub(crate) mod options;
    pub(crate) mod packet_socket;
    pub(crate) mod process;
    pub(crate) mod recorder;
    pub(crate) mod route;
    pub(crate) mod sampler;
    pub(crate) mod scheduling;
    pub(crate) mod serve;
    pub(crate) mod shell;
    pub(crate) mod sock_diag;
    pub(crate) mod steering_link;
    pub(crate) mod sys;
    pub(crate) mod sysctl;
    pub(crate) mod tcp_info;
    pub(crate) mod threads;
    pub(crate) mod traffic;
    pub(crate) mod trial;
    pub(crate) mod trial_state;
    pub(crate) mod trimmed;
    pub(crate) mod virtual_calls;
    #[doc(hidden)]
    pub mod workbench;

    pub use calibrate::{CeilingRequest, measure_ceiling, run_calibration};
    pub use doctor::{Ability, AbilityLevel, examine};
    pub use interfaces::{BridgeEnd, BridgeRequest, bridge};
    pub use launch::{may_isolate, run_trial};
    pub use live_capture::{CapturedFrame, LiveCapture};
    pub use lock_file::open_lock_file;
    pub use mover::Moving;
    pub use multipath::{NO_MPTCP, has_mptcp};
    pub use options::{OptionState, Reading, Setting, has_congestion, survey};
    pub use process::{end_group, hold_interrupts, start_group};
    pub use serve::serve;
    pub use shell::{ShellEnd, ShellRequest, shell, shell_in_turn};
    pub use sock_diag::{SocketTimer, TcpSocket, TimerKind};
    pub use steering_link::{SteeredEnd, SteeringEnd, ToldSockets, steering_link};
    pub use tcp_info::{SocketState, acknowledged, socket_state};
}

pub use calibration::{
    Arrival, CalibrationRecord, CalibrationRequest, Ceiling, DirectionRecord, MachineRecord, Round,
    RoundRecord, Train,
};
pub use capture_directory::prepare_capture;
pub use device_kind::DeviceKind;
pub use disk::free_room;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::*;
pub use end_sockets::{EndSocket, EndSockets};
pub use error::{Reach, TrialError};
pub use guest_work::{GuestProgram, GuestTask, GuestWork};
#[cfg(target_os = "linux")]
pub use linux::*;
pub use script_work::{
    CallArgument, CallMemory, CallResult, GuestCall, GuestScript, ScriptOrder, ScriptReport,
};
pub use steering::{SteeredTrial, Steering, SteeringAnswer, SteeringError};
pub use trial_request::{Launcher, Progress, TrialRequest};
pub use tuning::Tuning;
