//! The comparison as text and as JSON.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::compare::{Comparison, Totals};

/// Prints everything; whether each difference has a known reason.
pub(crate) fn text(all: &[Comparison], version: &str, frames: usize) -> bool {
    println!("{} captures, tcplab beside tshark {version}\n", all.len());
    sums(all);
    let kinds = kinds(all);
    println!("\n{:<32} {:<26} {:>8} {:>9}  why", "tcplab", "tshark", "packets", "captures");
    for ((ours, theirs, reason), [packets, captures]) in &kinds {
        let why = reason.unwrap_or("NOT EXPLAINED");
        println!("{ours:<32} {theirs:<26} {packets:>8} {captures:>9}  {why}");
    }
    let mut complete = true;
    for capture in all {
        let open: Vec<_> = capture.differences.iter().filter(|it| it.reason.is_none()).collect();
        if open.is_empty() {
            continue;
        }
        complete = false;
        println!("\n{}", capture.path.display());
        for it in open.iter().take(frames) {
            println!(
                "  frame {}  {}  tcplab: {} ({}), tshark: {}",
                it.frame, it.ends, it.tcplab, it.evidence, it.tshark
            );
        }
        if open.len() > frames {
            println!("  and {} more", open.len() - frames);
        }
    }
    complete
}

/// Packets and captures of each kind of difference: what each program says, and why they differ.
type Kinds<'a> = BTreeMap<(&'a str, &'a str, Option<&'static str>), [u64; 2]>;

pub(crate) fn kinds(all: &[Comparison]) -> Kinds<'_> {
    let mut kinds = Kinds::new();
    for capture in all {
        let mut here = BTreeSet::new();
        for it in &capture.differences {
            let kind = (kind(&it.tcplab), kind(&it.tshark), it.reason);
            let [packets, captures] = kinds.entry(kind).or_default();
            *packets += 1;
            *captures += u64::from(here.insert(kind));
        }
    }
    kinds
}

/// Numbers aside.
fn kind(words: &str) -> &str {
    words.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start()
}

/// A sum and its name.
type Row = (&'static str, fn(&Totals) -> u64);

/// Each quantity: tcplab's sum, tshark's, and the captures in which they differ.
pub(crate) fn totals(all: &[Comparison]) -> Vec<(&'static str, u64, u64, usize)> {
    let rows: [Row; 5] = [
        ("TCP packets", |it| it.packets),
        ("connections", |it| it.connections),
        ("data bytes", |it| it.bytes),
        ("retransmissions", |it| it.retransmissions),
        ("resets", |it| it.resets),
    ];
    let row = |(name, of): Row| {
        let sum =
            |which: fn(&Comparison) -> &Totals| -> u64 { all.iter().map(|it| of(which(it))).sum() };
        let differ = all.iter().filter(|it| of(&it.tcplab) != of(&it.tshark)).count();
        (name, sum(|it| &it.tcplab), sum(|it| &it.tshark), differ)
    };
    rows.map(row).to_vec()
}

fn sums(all: &[Comparison]) {
    println!("{:<16} {:>14} {:>14}  differs in", "", "tcplab", "tshark");
    for (name, ours, theirs, differ) in totals(all) {
        println!("{name:<16} {ours:>14} {theirs:>14}  {differ} captures");
    }
    let read: Vec<_> = all.iter().filter_map(|it| Some((it.tcplab, it.tcptrace?))).collect();
    println!(
        "\n{:<16} {:>14} {:>14}  in {} captures that tcptrace reads",
        "",
        "tcplab",
        "tcptrace",
        read.len()
    );
    let rows: [(&str, u64, u64); 3] = [
        (
            "connections",
            read.iter().map(|it| it.0.connections).sum(),
            read.iter().map(|it| it.1.connections).sum(),
        ),
        (
            "data bytes",
            read.iter().map(|it| it.0.bytes).sum(),
            read.iter().map(|it| it.1.bytes).sum(),
        ),
        (
            "retransmissions",
            read.iter().map(|it| it.0.retransmissions).sum(),
            read.iter().map(|it| it.1.retransmissions).sum(),
        ),
    ];
    for (name, ours, theirs) in rows {
        println!("{name:<16} {ours:>14} {theirs:>14}");
    }
}

/// Everything, for programs.
pub(crate) fn json(all: &[Comparison]) -> Value {
    let totals = |it: &Totals| {
        json!({
            "packets": it.packets, "connections": it.connections, "data_bytes": it.bytes,
            "retransmissions": it.retransmissions, "resets": it.resets,
        })
    };
    let captures = all.iter().map(|capture| {
        json!({
            "capture": capture.path,
            "tcplab": totals(&capture.tcplab),
            "tshark": totals(&capture.tshark),
            "tcptrace": capture.tcptrace.map(|it| json!({
                "connections": it.connections, "data_bytes": it.bytes,
                "retransmissions": it.retransmissions,
            })),
            "notes": capture.notes,
            "differences": capture.differences.iter().map(|it| json!({
                "frame": it.frame, "ends": it.ends, "tcplab": it.tcplab, "tshark": it.tshark,
                "evidence": it.evidence, "reason": it.reason,
            })).collect::<Vec<_>>(),
        })
    });
    json!({ "schema": "tcplab.oracle", "version": 1, "captures": captures.collect::<Vec<_>>() })
}
