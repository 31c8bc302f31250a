//! Where no thread or process can be made: an error with cause and remedy, no panic.

use crate::limited::FewProcesses;
use crate::program::namespaces_allowed;

const SCENARIO: &str = r#"
title    = "Small"
path     = { delay = "1 ms" }
workload = { upload = "20 kB" }
repeat   = { trials = 1, retries = 0 }
"#;

#[test]
fn experiment_without_processes_is_refused() {
    let (true, Some(few)) = (namespaces_allowed(), FewProcesses::new()) else { return };
    few.home.write("small.toml", SCENARIO);
    few.sweep("run small.toml --world kernel --no-calibration", 13);
    few.sweep("doctor", 5);
    few.sweep("shell -s delay=5ms -- true", 9);
}
