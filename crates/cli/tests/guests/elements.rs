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
fn kernel_does(images: &Images, cases: &[Case], seed: u64) -> Vec<Crossing> {
    let home = Home::new();
    kernel::prepare(home.0.path(), cases);
    let line = format!(
        "shell -q --near linux-{VERSION} --far linux-{VERSION} -s 'delay=1 ms' --seed {seed} \
         --capture {} -- sh guest.sh",
        kernel::CAPTURE
    );
    images.run(&home, &line).answer(&line);
    kernel::crossings(home.0.path(), cases)
}

/// In what the path differs from the kernel.
fn differences(cases: &[Case], crossings: &[Crossing]) -> Vec<Row> {
    // Some known differences need more packets to be seen.
    let rows = cases.iter().zip(crossings).flat_map(|(case, kernel)| compare(case, kernel));
    rows.filter(Row::is_unexpected).collect()
}

#[test]
fn path_elements_match_queueing_disciplines_of_the_kernel() {
    let Some(images) = Images::find() else { return };
    if !["ip", "tc", "python3"].into_iter().all(has) {
        return;
    }
    let all = cases(PACKETS).into_iter();
    let cases: Vec<Case> = all.filter(|case| !LEFT_OUT.contains(&case.element)).collect();
    let crossings = kernel_does(&images, &cases, 1);
    // A guest's random numbers depend on the programs of this machine, too, and chance alone
    // exceeds each bound once in a thousand times: what differs is looked at with another seed.
    let mut wrong = differences(&cases, &crossings);
    let unseen = |crossings: &[Crossing]| {
        let all = off::compared(&cases, crossings).into_iter();
        let unseen = all.filter(|off| !off.rows.iter().any(Row::is_unexpected));
        unseen.map(|Off { element, keys, rows }| (format!("{element} with {keys}"), rows))
    };
    let mut unseen_first: Vec<_> = unseen(&crossings).collect();
    if !wrong.is_empty() || !unseen_first.is_empty() {
        let crossings = kernel_does(&images, &cases, 2);
        let unseen_again: Vec<_> = unseen(&crossings).collect();
        unseen_first.retain(|(off, _)| unseen_again.iter().any(|(other, _)| off == other));
        let again = differences(&cases, &crossings);
        let of = |row: &Row| (row.element.clone(), row.quantity);
        wrong.retain(|row| again.iter().any(|other| of(row) == of(other)));
    }
    assert!(wrong.is_empty(), "with two seeds: {wrong:#?}");
    assert!(unseen_first.is_empty(), "not seen with two seeds: {unseen_first:#?}");
}
