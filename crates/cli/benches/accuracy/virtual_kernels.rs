//! The analyser beside the senders of kernels in virtual time, which tell their state at each
//! acknowledgement.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tcplab_recording::Recording;

#[path = "../../tests/guests/causes.rs"]
mod causes;

use causes::Agreement;

const CONTROLS: [&str; 4] = ["reno", "cubic", "bbr", "westwood"];

/// Name and keys of the path.
const PATHS: [(&str, &str); 6] = [
    ("losses 1 %", "loss = \"1 %\""),
    ("losses 5 %", "loss = \"5 %\""),
    ("bursts", "loss = { gilbert_elliott = { p = \"0.5 %\", r = \"20 %\" } }"),
    ("full queue", "queue = \"8 kB\""),
    (
        "interruptions",
        "interruption = { every = \"1 s\", lasting = \"300 ms\", offset = \"300 ms\" }",
    ),
    ("reordering", "reorder = { probability = \"1 %\", gap = 5 }"),
];

/// Prints a row for each path, all controls together; whether no cause contradicts the kernel.
/// `wants` says which to run.
pub(crate) fn show(wants: impl Fn(&str) -> bool) -> bool {
    let paths: Vec<_> = PATHS.iter().filter(|(name, _)| wants(&format!("kernel {name}"))).collect();
    if paths.is_empty() {
        return true;
    }
    println!(
        "\nsenders of kernels in virtual time, their state at each acknowledgement\n\
         path             counted  found  right  unknown  wrong"
    );
    let mut is_right = true;
    for (name, keys) in paths {
        let mut sum = Agreement::default();
        for control in CONTROLS {
            match agreement(keys, control) {
                Ok(one) => {
                    sum.counted += one.counted;
                    sum.found += one.found;
                    sum.right += one.right;
                    sum.unknown += one.unknown;
                    sum.wrong.extend(one.wrong.iter().map(|it| format!("{control}: {it}")));
                }
                Err(why) => {
                    println!("{name:<16} cannot run here: {why}");
                    return is_right;
                }
            }
        }
        let Agreement { counted, found, right, unknown, wrong } = sum;
        let count = wrong.len();
        println!("{name:<16} {counted:>7} {found:>6} {right:>6} {unknown:>8} {count:>6}");
        is_right &= wrong.is_empty();
        for it in wrong {
            println!("  {it}");
        }
    }
    is_right
}

fn agreement(keys: &str, control: &str) -> Result<Agreement, String> {
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let scenario = format!(
        "title = \"States\"\nworkload = {{ upload = \"3 MB\" }}\nsampling = {{ each_ack = true }}\n\
         client = {{ stack = \"linux-newest\", socket = {{ congestion = \"{control}\" }} }}\n\
         server = {{ stack = \"linux-newest\" }}\nrepeat = {{ trials = 1 }}\n\
         [path]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n{keys}\n{}",
        if keys.contains("queue") { "" } else { "queue = \"64 kB\"\n" },
    );
    fs::write(place.path().join("states.toml"), scenario).map_err(|error| error.to_string())?;
    let output = Command::new(env!("CARGO_BIN_EXE_tcplab"))
        .args(["run", "states.toml", "--world", "sim", "--quiet"])
        .current_dir(&place)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).lines().take(3).collect());
    }
    let only = |folder: &Path| {
        fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).find(|it| it.is_dir())
    };
    let run = only(&place.path().join("runs")).and_then(|scenario| only(&scenario));
    let trial = run.and_then(|run| only(&run.join("trials"))).ok_or("no recording")?;
    let recording = Recording::open(&trial).map_err(|error| error.to_string())?;
    if recording.samples().map_err(|error| error.to_string())?.is_empty() {
        return Err("no sample".into());
    }
    Ok(Agreement::of(&recording))
}
