//! The source of the example programs, which is in the program as text.

macro_rules! sources {
    ($($name:literal),+ $(,)?) => {
        &[$((
            $name,
            include_str!(concat!("../../../examples/src/bin/", $name, ".rs")),
            include_str!(concat!("../../../examples/c/", $name, ".c")),
        )),+]
    };
}

/// Name, in Rust, in C.
const SOURCES: &[(&str, &str, &str)] = sources![
    "names",
    "time_exchange",
    "echo",
    "daytime",
    "logged_in",
    "udp_threads",
    "forking",
    "thread_pool",
    "load_tester",
    "preforking",
    "time_wait",
    "interrupted",
    "short_write",
    "shutdown",
    "echo_select",
    "echo_poll",
    "echo_epoll",
    "listen_queue",
    "simultaneous_open",
];

/// A program in a language: `rust` or `c`.
pub(crate) fn source(name: &str, language: &str) -> Option<&'static str> {
    let (_, rust, c) = SOURCES.iter().find(|(known, ..)| *known == name)?;
    match language {
        "rust" => Some(rust),
        "c" => Some(c),
        _ => None,
    }
}
