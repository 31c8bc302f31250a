//! The shell files that a script runs.

use crate::ast::{Action, Script, Shell};
use crate::shell::{Command, read};

/// Files that run files, no deeper than this.
const MOST_NESTED: u32 = 4;
/// The most commands that a script's files have together: a file that runs itself doubles with each
/// line. Suites have some tens. What comes later stays a command that runs a file.
const MOST_COMMANDS: usize = 10_000;

impl Script {
    /// Puts the commands of the shell files that the script runs (`./defaults.sh`) in their place.
    /// `open` gives a file's text by the path that the script writes, `None` where there is none:
    /// the command then stays, and a `defaults.sh` means [`crate::shell::DEFAULTS`].
    pub fn read_files(&mut self, open: &dyn Fn(&str) -> Option<String>) {
        let within = self.events.iter_mut().filter_map(|event| match &mut event.action {
            Action::Shell(shell) => Some(shell),
            _ => None,
        });
        let mut left = MOST_COMMANDS;
        for Shell { commands, .. } in self.init.iter_mut().chain(within).chain(&mut self.cleanup) {
            *commands = unfolded(std::mem::take(commands), open, 0, &mut left);
        }
    }
}

fn unfolded(
    commands: Vec<Command>,
    open: &dyn Fn(&str) -> Option<String>,
    depth: u32,
    left: &mut usize,
) -> Vec<Command> {
    let unfold = |command| match &command {
        Command::File(path) if depth < MOST_NESTED && *left > 0 => match open(path) {
            Some(text) => {
                let commands = read(&text);
                *left = left.saturating_sub(commands.len());
                unfolded(commands, open, depth + 1, left)
            }
            None => vec![command],
        },
        _ => vec![command],
    };
    commands.into_iter().flat_map(unfold).collect()
}
