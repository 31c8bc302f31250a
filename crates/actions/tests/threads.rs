//! Eight threads that run trials and read captures at once come to the same results as one.
//! `make thread-sanitizer` looks for data races between them.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread;

use anyhow::Error;
use tcplab_actions::{captures, open, read_captures, write_report};
use tcplab_lab::{Bench, Overrides, RunDirectory, begin, complete, plan};
use tcplab_results::{Run, World};
use tcplab_scenario::Scenario;
use tcplab_testbed::Launcher;
use tcplab_trace::{Analyzer, Filter};

const SCENARIO: &str = r#"
title    = "A lossy upload"
path     = { rate = "20 Mbit/s", delay = "5 ms", loss = "1 %" }
workload = { upload = "200 kB" }
client   = { stack = "model:linux-6.18" }
server   = { stack = "model:linux-6.18" }
"#;

/// Runs the scenario below `home`, with a report.
fn run(home: &Path) -> Result<(PathBuf, Run), Error> {
    let scenario = Scenario::parse(SCENARIO, "lossy")?;
    let overrides = Overrides { trials: Some(2), ..Overrides::default() };
    let plan = plan(&scenario, Some(World::Simulated), || None, overrides)?;
    let directory: RunDirectory = begin(home, scenario, plan)?;
    let launcher = Launcher { program: "none".into(), arguments: Vec::new() };
    let bench = Bench { jobs: 2, ..Bench::new(launcher) };
    let never = AtomicBool::new(false);
    let outcome = complete(&directory, &bench, &never, |_| {}, write_report)?;
    Ok((directory.path().to_owned(), outcome.run))
}

/// Packets, connections and retransmissions in the capture at the client.
fn read(run: &Path, filter: Option<&Filter>) -> Result<(u64, usize, u64), Error> {
    let files = captures(&[run.join("trials/base-1/client.pcapng")])?;
    let readers = files.iter().map(|file| open(file)).collect::<Result<Vec<_>, _>>()?;
    let mut analyzer = Analyzer::new().with_filter(filter.cloned());
    read_captures(&files, readers, filter, &mut analyzer);
    let trace = analyzer.finish();
    let retransmissions =
        trace.connections.iter().map(|it| it.forward.totals.retransmissions).sum();
    Ok((trace.packets, trace.connections.len(), retransmissions))
}

#[test]
fn eight_threads_come_to_the_results_of_one() {
    let home = tempfile::tempdir().unwrap();
    let (first, known) = run(home.path()).unwrap();
    let whole = read(&first, None).unwrap();
    assert!(whole.0 > 100 && whole.1 == 1, "{whole:?}");
    thread::scope(|scope| {
        for nth in 0..8 {
            let (home, first, known) = (home.path(), &first, &known);
            scope.spawn(move || {
                if nth % 2 == 0 {
                    let own = home.join(nth.to_string());
                    let (directory, found) = run(&own).unwrap();
                    assert_eq!(found.cases, known.cases);
                    assert_eq!(read(&directory, None).unwrap(), whole);
                } else {
                    let filter = Filter::parse("part 1/1").unwrap();
                    for _ in 0..4 {
                        assert_eq!(read(first, None).unwrap(), whole);
                        assert_eq!(read(first, Some(&filter)).unwrap(), whole);
                    }
                }
            });
        }
    });
}
