//! What a guest prints.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// How much is kept of the beginning, and of the end, bytes.
const KEPT: usize = 32 << 10;

/// What the kernel of a guest, and the programs on its console, print. It outlives the guest.
#[derive(Debug, Clone, Default)]
pub struct Console(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Bytes between them.
    omitted: u64,
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        let room = KEPT - self.head.len();
        let (first, rest) = bytes.split_at(bytes.len().min(room));
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        // Moved once for many lines.
        if self.tail.len() > 2 * KEPT {
            let excess = self.tail.len() - KEPT;
            self.omitted += excess as u64;
            self.tail.drain(..excess);
        }
    }

    fn text(&self) -> String {
        let omitted = match self.omitted {
            0 => String::new(),
            count => format!("\n[{count} bytes are left out]\n"),
        };
        let [head, tail] = [&self.head, &self.tail].map(|part| String::from_utf8_lossy(part));
        format!("{head}{omitted}{tail}")
    }
}

impl Console {
    /// Reads all that comes.
    pub(crate) fn fill(&self, mut from: impl Read) -> io::Result<()> {
        let mut bytes = [0; 4096];
        loop {
            let count = from.read(&mut bytes)?;
            if count == 0 {
                return Ok(());
            }
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.add(&bytes[..count]);
        }
    }

    /// What is not printed by each guest that boots and ends, a line each.
    pub fn unusual(&self) -> String {
        let text = self.text();
        let lines = text.lines().map(str::trim_end).filter(|line| !is_usual(line.trim()));
        lines.flat_map(|line| [line, "\n"]).collect()
    }

    /// The line that says why it ended, or the last one that it printed.
    pub(crate) fn gist(&self) -> String {
        gist(&self.text())
    }

    fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

/// Whether each guest prints this line: what user-mode Linux finds of this machine, that it may
/// leave no directory, as is asked for, and that it ends.
fn is_usual(line: &str) -> bool {
    const BEGINNINGS: [&str; 7] = [
        "Core dump limits",
        "soft - ",
        "hard - ",
        "Checking ",
        "reboot: Power down",
        "Adding ",
        "seccomp",
    ];
    line.is_empty() || line.contains("umid") || BEGINNINGS.iter().any(|it| line.starts_with(it))
}

/// What of a console says why it ended: a panic of the kernel or of a program, else the last line.
fn gist(console: &str) -> String {
    let mut lines = console.lines().map(str::trim).filter(|line| !is_usual(line));
    let is_panic = |line: &&str| line.contains("Kernel panic") || line.contains("panicked at ");
    let last = lines.clone().next_back();
    match lines.clone().position(|line| is_panic(&line)) {
        // A program's panic has its words in the next line.
        Some(nth) => lines.by_ref().skip(nth).take(2).collect::<Vec<_>>().join(" "),
        None => last.unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Console {
        let console = Console::default();
        console.fill(text.as_bytes()).unwrap();
        console
    }

    #[test]
    fn boot_and_end_are_usual() {
        let console = printed(
            "Core dump limits :\n\tsoft - 0\n\thard - NONE\n\
             Checking that ptrace can change system call numbers...OK\n\
             make_umid - mkstemp(/dev/null/YQg5hw) failed: Not a directory\r\n\
             Failed to initialize umid \"\", trying with a random umid\r\n\
             remove_umid_dir - remove_files_and_dir failed with err = 236\r\n\
             reboot: Power down\r\n",
        );
        assert_eq!((console.unusual().as_str(), console.gist().as_str()), ("", ""));
    }

    #[test]
    fn warning_is_kept_and_a_panic_is_the_gist() {
        let console = printed(
            "make_umid - mkstemp(/dev/null/YQg5hw) failed\r\nWARNING: CPU: 0 PID: 1 at a.c:7\r\n\
             Kernel panic - not syncing: it\r\nCPU: 0\r\nremove_umid_dir - failed\r\n",
        );
        assert_eq!(
            console.unusual(),
            "WARNING: CPU: 0 PID: 1 at a.c:7\nKernel panic - not syncing: it\nCPU: 0\n"
        );
        assert_eq!(console.gist(), "Kernel panic - not syncing: it CPU: 0");
    }

    #[test]
    fn beginning_and_end_of_very_much_are_kept() {
        let lines: Vec<String> = (0..20_000).map(|nth| format!("line {nth}")).collect();
        let text = printed(&lines.join("\n")).unusual();
        assert!(text.starts_with("line 0\n") && text.ends_with("line 19999\n"));
        assert!(text.contains(" bytes are left out]") && text.len() < 4 * KEPT, "{}", text.len());
    }
}
