//! Bytes from anywhere, shown to everything of tcplab that reads such: one function for each
//! format. Whatever the bytes are, each comes to an end, without a panic and with bounded memory;
//! what it asserts holds of any answer.
//!
//! The fuzzer calls these functions with bytes that it makes up, the tests with those that it has
//! found and with all that ever went wrong.

mod captures;
mod paths;
mod recordings;
mod servers;
mod stacks;

/// One format: its name, which is that of the fuzz target and of the folder of its inputs, and
/// what is done with bytes in it.
pub type Target = (&'static str, fn(&[u8]));

/// All formats.
pub const TARGETS: &[Target] = &[
    ("capture", captures::capture),
    ("annotate", captures::annotate),
    ("wire", captures::wire),
    ("trace", captures::trace),
    ("filter", captures::filter),
    ("scenario", paths::scenario),
    ("path_file", paths::path_file),
    ("mahimahi", paths::mahimahi),
    ("dist_table", paths::dist_table),
    ("recording", recordings::recording),
    ("stack", stacks::stack),
    ("packetdrill", stacks::packetdrill),
    ("http", servers::http),
];

/// Shows the bytes to the target of this name.
///
/// # Panics
/// If there is no such target, and if the bytes show a bug.
pub fn show(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.0 == name);
    target.unwrap_or_else(|| panic!("no target is called `{name}`")).1(bytes);
}
