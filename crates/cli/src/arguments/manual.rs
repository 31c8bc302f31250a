//! `tcplab completions` and `tcplab man`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArguments {
    /// Shell that reads the script
    pub(crate) shell: Shell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// Bash 4 and later, with bash-completion
    Bash,
    /// Zsh, by a file `_tcplab` on its `fpath`
    Zsh,
    /// fish
    Fish,
    /// PowerShell
    Powershell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  tcplab completions bash > ~/.local/share/bash-completion/completions/tcplab
  tcplab completions zsh > ~/.zfunc/_tcplab        with fpath=(~/.zfunc $fpath) before compinit
  tcplab completions fish > ~/.config/fish/completions/tcplab.fish
  tcplab completions powershell >> $PROFILE";

#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArguments {
    /// Write a page for each command into this directory (default: print the page of tcplab)
    pub(crate) directory: Option<PathBuf>,
}

const MAN_EXAMPLES: &str = "\
Examples:
  tcplab man | man -l -              read the page of tcplab
  tcplab man ~/.local/share/man/man1 install all pages; then `man tcplab-trace`";
