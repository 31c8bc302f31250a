//! The comparison as a page of the docs.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::compare::Comparison;
use super::print;

/// The sums, and the kinds of differences with their reasons, as Markdown.
pub(crate) fn page(all: &[Comparison], places: &[PathBuf], version: &str) -> String {
    let names = places.iter().filter_map(|it| it.file_name()).map(|it| it.to_string_lossy());
    let names = names.collect::<Vec<_>>().join(", ");
    let mut out = format!(
        "# Public captures: tcplab beside tshark\n\n\
         `make oracle DIR=FOLDER` compares tcplab and tshark (and tcptrace where installed) over any folder of\n\
         captures, packet by packet: connections, data bytes, retransmissions, resets, and what each packet is\n\
         called. It lists every difference without a known reason with its frames and exits with 1 if there is\n\
         one. `ORACLE=\"--json FILE\"` writes all differences, with tcplab's evidence; `--page FILE` this page.\n\n\
         This is its outcome over {} captures that others published: {names}, with tshark {version}.\n\
         The captures are not part of this repository.\n\n\
         | | tcplab | tshark | captures that differ |\n|---|---:|---:|---:|\n",
        all.len()
    );
    for (name, ours, theirs, differ) in print::totals(all) {
        let _ = writeln!(out, "| {name} | {ours} | {theirs} | {differ} |");
    }
    out.push_str(
        "\nBoth call the other packets alike, or tshark the same with less: it names no timers. A reason holds only\n\
         for packets that show it (`crates/trace/benches/oracle/reasons.rs`).\n\n\
         | tcplab | tshark | packets | captures | why |\n|---|---|---:|---:|---|\n",
    );
    for ((ours, theirs, reason), [packets, captures]) in print::kinds(all) {
        let why = reason.unwrap_or("**not explained**");
        let _ = writeln!(out, "| {ours} | {theirs} | {packets} | {captures} | {why} |");
    }
    out
}
