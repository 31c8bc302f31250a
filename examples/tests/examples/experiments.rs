//! The experiments find the same in both languages.

use crate::language::Language;
use crate::process::run;

/// What a program prints, without what Rust adds to the text of an error.
fn found(language: Language, program: &str) -> String {
    same_text(&run(&language.program(program), &[]))
}

pub(crate) fn same_text(said: &str) -> String {
    let lines = said.lines().map(|line| line.split(" (os error").next().unwrap_or(line));
    // As musl has it.
    lines.collect::<Vec<_>>().join("\n").replace("Address in use", "Address already in use")
}

#[test]
fn bind_in_time_wait_needs_the_option_at_both_sockets() {
    for language in Language::all() {
        assert_eq!(
            found(language, "time_wait"),
            "server without SO_REUSEADDR, successor without: Address already in use\n\
             server without SO_REUSEADDR, successor with: Address already in use\n\
             server with SO_REUSEADDR, successor without: Address already in use\n\
             server with SO_REUSEADDR, successor with: bound",
            "{language:?}"
        );
    }
}

#[test]
fn signal_interrupts_calls_that_wait() {
    for language in Language::all() {
        // Where the machine was busy for long, the signals came before the call waited.
        let said = found(language, "interrupted").replace(", interrupted and repeated", "");
        assert_eq!(
            said,
            "read: Interrupted system call\n\
             read with SA_RESTART: 1\n\
             read in a loop: 1\n\
             poll with SA_RESTART: Interrupted system call\n\
             read with SA_RESTART and a timeout: Interrupted system call",
            "{language:?}"
        );
    }
}

#[test]
fn datagram_socket_drops_what_is_not_its_own_or_too_long() {
    for language in Language::all() {
        assert_eq!(
            found(language, "datagrams"),
            "not connected: the stranger's\n\
             connected to the peer, the stranger sends: Resource temporarily unavailable\n\
             connected to the peer, the peer sends: the peer's\n\
             of 600 bytes, with room for 100: 100 bytes\n\
             then: the next",
            "{language:?}"
        );
    }
}

#[test]
fn writes_may_be_short() {
    for language in Language::all() {
        assert_eq!(
            found(language, "short_write"),
            "does not wait: asked to write 10000000 bytes, took less\n\
             does not wait: the next write: Resource temporarily unavailable\n\
             does not wait: all that was taken arrived, in more reads than writes\n\
             interrupted: asked to write 10000000 bytes, took less\n\
             interrupted: the next write: Interrupted system call\n\
             interrupted: all that was taken arrived, in more reads than writes",
            "{language:?}"
        );
    }
}

#[test]
fn shutdown_ends_what_close_does_not() {
    for language in Language::all() {
        assert_eq!(
            found(language, "shutdown"),
            "close in one of two processes: the peer reads nothing yet\n\
             the other process has ended: the peer reads the end of the stream\n\
             shutdown in one of two processes: the peer reads the end of the stream\n\
             half closed: the other direction still carries data",
            "{language:?}"
        );
    }
}
