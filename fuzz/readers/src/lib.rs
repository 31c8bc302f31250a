//! All readers of untrusted bytes: one function for each format. Whatever the bytes are, each
//! function ends without a panic and with bounded memory, and its assertions hold.
//!
//! The fuzzer calls these functions with generated inputs, the tests with the stored corpus.

mod captures;
mod dry_run;
mod pages;
mod paths;
mod recordings;
mod servers;
mod shown;
mod stacks;

/// A format: its name (also that of the fuzz target and of the corpus folder) and its reader.
pub type Target = (&'static str, fn(&[u8]));

/// All formats.
pub const TARGETS: &[Target] = &[
    ("capture", captures::capture),
    ("annotate", captures::annotate),
    ("wire", captures::wire),
    ("trace", captures::trace),
    ("filter", captures::filter),
    ("index", tcplab_actions::check_index),
    ("scenario", paths::scenario),
    ("dry_run", dry_run::dry_run),
    ("path_file", paths::path_file),
    ("mahimahi", paths::mahimahi),
    ("dist_table", paths::dist_table),
    ("recording", recordings::recording),
    ("terminal", shown::terminal),
    ("pages", pages::pages),
    ("stack", stacks::stack),
    ("packetdrill", stacks::packetdrill),
    ("http", servers::http),
];

/// Runs the target of this name on the bytes.
///
/// # Panics
/// If there is no such target, or if the bytes reveal a bug.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.0 == name);
    target.unwrap_or_else(|| panic!("no such target: `{name}`")).1(bytes);
}
