//! Captures of the kernel's TCP on paths that are known: what must be found in them, and what not.

use std::path::PathBuf;

use tcplab_trace::{Connection, analyze};

fn dump(c: &Connection) {
    for f in tcplab_findings::examine(c) {
        if f.rule == "recovery-episode" { continue; }
        println!("   {} {:?} {:?} {}\n      -> {:?} {:?}", f.rule, f.severity, f.cost, f.statement, f.remedy, f.frames);
    }
    println!("   shares {:?} transfer {:?}", c.forward.shares, c.forward.transfer);
}

#[test]
fn dumped() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.to_string_lossy().ends_with("pcap.zst")).collect();
    names.sort();
    for name in names {
        println!("== {}", name.file_name().unwrap().to_string_lossy());
        let trace = analyze(tcplab_capture::open(&name).unwrap());
        for c in &trace.connections { println!(" - {} {}", c.client, c.packets); dump(c); }
    }
}
