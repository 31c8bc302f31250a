//! Holds all scripts below some directories against the model: how many pass, what fails first in
//! the others, and what is not supported, by construct.
//!
//! `--hz=N` sets the tick of the model's timers: the suites were written on kernels with 1000.
//!
//! `cargo run -p tcplab-packetdrill --example replay -- [--why] [--hz=1000] <directory>…`
#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use tcplab_packetdrill::{Definitions, Model, Script, Verdict, run};
use tcplab_stack::Config;
use tcplab_units::Span;

fn main() -> io::Result<()> {
    let (flags, directories): (Vec<_>, Vec<_>) =
        env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let why = flags.iter().any(|flag| flag == "--why");
    let mut config = Config::default();
    for hz in flags.iter().filter_map(|flag| flag.strip_prefix("--hz=")?.parse::<u64>().ok()) {
        config.host.tick = Span::from_secs(1) / hz.max(1);
    }
    for directory in directories {
        let mut scripts = Vec::new();
        find(Path::new(&directory), &mut scripts)?;
        scripts.sort();
        let (mut passed, mut failed) = (0, 0);
        let mut unsupported: BTreeMap<String, u32> = BTreeMap::new();
        for path in &scripts {
            let script = match Script::parse(&fs::read_to_string(path)?, &Definitions::default()) {
                Ok(script) => script,
                Err(error) => {
                    println!("{}:{error}", path.display());
                    continue;
                }
            };
            match run(&script, &mut Model::new(config.clone())) {
                Verdict::Passed(_) => {
                    passed += 1;
                    if why {
                        println!("passed: {}", path.display());
                    }
                }
                Verdict::Failed(failure) => {
                    failed += 1;
                    println!("{}:{failure}", path.display());
                }
                Verdict::Unsupported(found) => {
                    if why {
                        println!("{}:{found}", path.display());
                    }
                    *unsupported.entry(found.construct).or_default() += 1;
                }
            }
        }
        let refused: u32 = unsupported.values().sum();
        println!(
            "{directory}: of {} scripts {passed} passed, {failed} failed, {refused} not supported",
            scripts.len()
        );
        for (construct, count) in unsupported {
            println!("  {count:3} not supported: {construct}");
        }
    }
    Ok(())
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
