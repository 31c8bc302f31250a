//! ns-3 as a contender: its program is built here, from `benches/ns3/flow.cc`.

use std::path::PathBuf;
use std::process::Command;

use crate::Run;

/// What Debian's libns3-dev wants; `NS3="-I… -L… -l…"` for a build of one's own.
const LIBRARIES: &str = "-lns3-applications -lns3-internet -lns3-point-to-point \
     -lns3-traffic-control -lns3-network -lns3-core";

/// A program that runs one flow in ns-3.
pub(crate) struct Program(PathBuf);

/// Builds it, or says why not.
pub(crate) fn build() -> Result<Program, String> {
    let here = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../sim"));
    let folder = here.join("../../target/bench-sim");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let program = folder.join("flow");
    let flags = std::env::var("NS3").unwrap_or_else(|_| LIBRARIES.into());
    let output = Command::new("g++")
        .args(["-std=c++17", "-O2", "-o"])
        .arg(&program)
        .arg(here.join("benches/ns3/flow.cc"))
        .args(flags.split_whitespace())
        .output()
        .map_err(|error| format!("g++ cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(Program(program));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().find(|line| line.contains("error")).unwrap_or("no reason given");
    Err(format!("its program could not be built (is libns3-dev installed?): {first}"))
}

impl Program {
    /// A flow at `rate` Mbit/s through a queue of so many packets.
    pub(crate) fn run(
        &self,
        rate: u64,
        queue: u64,
        seconds: u64,
        buffer: u64,
    ) -> Result<Run, String> {
        let output = Command::new(&self.0)
            .arg(format!("--rate={rate}Mbps"))
            .arg(format!("--queue={queue}p"))
            .arg(format!("--seconds={seconds}"))
            .arg(format!("--buffer={buffer}"))
            .output()
            .map_err(|error| format!("ns-3 cannot be run: {error}"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let numbers: Vec<f64> = said.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        match numbers[..] {
            [segments, processor, real] if output.status.success() => {
                Ok(Run { segments, processor, real })
            }
            _ => Err(format!("ns-3 said: {said}{}", String::from_utf8_lossy(&output.stderr))),
        }
    }
}
