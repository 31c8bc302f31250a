//! packetdrill's script language: scripts read, and held against a stack in virtual time.
//!
//! A script says what an application and the network do to a TCP and what it must answer, packet by
//! packet (Cardwell et al., "packetdrill: Scriptable Network Stack Testing", USENIX ATC 2013).
//! [`Script::parse`] reads what google/packetdrill reads, and some more.

pub mod ast;
mod constants;
mod lexer;
mod parser;
pub mod python;
pub mod shell;
mod source;

pub use ast::Script;
pub use constants::{constant, error_name};
pub use parser::Definitions;
pub use source::{ParseError, Position};
