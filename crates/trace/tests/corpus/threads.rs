//! The results of several threads are those of one, in the same order.

use std::fs;

use tcplab_trace::{Analyzer, Trace};

use super::{capture, corpus};

fn trace(name: &str, jobs: usize) -> Trace {
    let mut analyzer = Analyzer::new().with_jobs(jobs);
    analyzer.read(capture(name));
    analyzer.finish()
}

#[test]
fn corpus_same_traces_for_any_threads() {
    let mut captures = 0;
    for file in fs::read_dir(corpus()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".pcap.zst") else { continue };
        let one = trace(name, 1);
        assert!(!one.connections.is_empty());
        for jobs in [2, 8] {
            assert!(trace(name, jobs) == one, "{name} by {jobs} threads");
        }
        captures += 1;
    }
    assert!(captures >= 16, "{captures}");
}
