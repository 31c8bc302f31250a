//! Reads all scripts below some directories: how many can be read, what is wrong with the others,
//! and what the shell is asked that is not known.
//!
//! `cargo run -p tcplab-packetdrill --example parse -- <directory>…`
#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use tcplab_packetdrill::ast::{Action, Shell};
use tcplab_packetdrill::shell::Command;
use tcplab_packetdrill::{Definitions, Script};

fn main() -> io::Result<()> {
    for directory in env::args().skip(1) {
        let mut scripts = Vec::new();
        find(Path::new(&directory), &mut scripts)?;
        scripts.sort();
        let mut read = 0;
        let mut unknown: BTreeMap<String, u32> = BTreeMap::new();
        for path in &scripts {
            let text = fs::read_to_string(path)?;
            match Script::parse(&text, &Definitions::default()) {
                Ok(script) => {
                    read += 1;
                    for command in commands(&script) {
                        if let Command::Unknown(text) = command {
                            *unknown.entry(text.clone()).or_default() += 1;
                        }
                    }
                }
                Err(error) => println!("{}:{error}", path.display()),
            }
        }
        println!("{directory}: {read} of {} scripts read", scripts.len());
        for (command, count) in unknown {
            println!("  unknown command, {count} times: {command}");
        }
    }
    Ok(())
}

fn commands(script: &Script) -> impl Iterator<Item = &Command> {
    let during = script.events.iter().filter_map(|event| match &event.action {
        Action::Shell(shell) => Some(shell),
        _ => None,
    });
    let all: Vec<&Shell> = script.init.iter().chain(during).chain(&script.cleanup).collect();
    all.into_iter().flat_map(|shell| &shell.commands)
}

fn find(directory: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            found.push(path);
        }
    }
    Ok(())
}
