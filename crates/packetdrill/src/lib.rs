//! packetdrill's script language: reads scripts and runs them against a stack in virtual time.
//!
//! A script says what an application and the network do to a TCP, and what it must answer, packet
//! by packet (Cardwell et al., "packetdrill: Scriptable Network Stack Testing", USENIX ATC 2013).
//! [`Script::parse`] reads what google/packetdrill reads, and some more; [`run`] runs a script
//! against a [`Subject`], any stack that can be driven in virtual time. [`Model`] is one: the
//! laboratory's own.

pub mod ast;
mod bytes;
mod constants;
mod files;
mod lexer;
mod model;
mod notation;
mod packet;
mod parser;
pub mod python;
mod run;
pub mod shell;
mod source;
mod subject;

pub use ast::Script;
pub use bytes::Addresses;
pub use constants::{constant, error_name};
pub use model::{Model, PHASE};
pub use packet::Packet;
pub use parser::Definitions;
pub use run::{Failure, Line, ScriptOutcome, Unsupported, run, watch};
pub use source::{ParseError, Position};
pub use subject::{
    ControlData, ControlMessage, IcmpMessage, LOCAL_PORT, OptionValue, Outcome, REMOTE_PORT,
    Refusal, Reply, ShellFailure, Subject, SystemCall,
};
