//! Elements of a path beside a kernel's queueing disciplines. `make path-accuracy` compares them
//! with more packets.

use std::process::Command;

use crate::home::{Home, skipped};
use crate::image::{Images, VERSION};
use crate::qdiscs::cases::{Case, cases};
use crate::qdiscs::crossing::Crossing;
use crate::qdiscs::kernel;
use crate::qdiscs::off::{self, Off};
use crate::qdiscs::quantity::{Row, compare};

/// Thousands of packets for each random element.
const PACKETS: usize = 1;

/// What is much like another.
const LEFT_OUT: [&str; 7] = [
    "jitter, pareto_normal",
    "jitter, table",
    "loss 1 %",
    "codel, ce_threshold",
    "fq_codel, limit",
    "red, ecn",
    "pie, ecn",
];

/// Whether a program is on this machine; prints that the test is skipped if not.
fn has(program: &str) -> bool {
    let line = format!("PATH=$PATH:/usr/sbin:/sbin command -v {program}");
    let found = Command::new("sh").args(["-c", &line]).output().is_ok_and(|it| it.status.success());
    if !found {
        skipped(&format!("there is no {program}"));
    }
    found
}

/// What the kernel does to the packets of each case.
fn kernel_does(images: &Images, cases: &[Case]) -> Vec<Crossing> {
    let home = Home::new();
    kernel::prepare(home.0.path(), cases);
    let line = format!(
        "shell -q --near linux-{VERSION} --far linux-{VERSION} -s 'delay=1 ms' --capture {} -- \
         sh guest.sh",
        kernel::CAPTURE
    );
    images.run(&home, &line).answer(&line);
    kernel::crossings(home.0.path(), cases)
}

#[test]
fn path_elements_match_queueing_disciplines_of_the_kernel() {
    let Some(images) = Images::find() else { return };
    if !["ip", "tc", "python3"].into_iter().all(has) {
        return;
    }
    let all = cases(PACKETS).into_iter();
    let cases: Vec<Case> = all.filter(|case| !LEFT_OUT.contains(&case.element)).collect();
    let crossings = kernel_does(&images, &cases);
    for (case, kernel) in cases.iter().zip(&crossings) {
        // Some known differences need more packets to be seen.
        let wrong: Vec<Row> =
            compare(case, kernel).into_iter().filter(Row::is_unexpected).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
    for Off { element, keys, rows } in off::compared(&cases, &crossings) {
        assert!(rows.iter().any(Row::is_unexpected), "{element} with {keys}: {rows:#?}");
    }
}
