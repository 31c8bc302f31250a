//! Compares two captures.

use std::iter;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use tcplab_lab::compare::{facts, matched};
use tcplab_path::tc::quoted;
use tcplab_quantities::CAPTURE_COMPARISON_DOCUMENT;
use tcplab_report::compare::{
    CapturedPair, CloseUp, captures_markdown, captures_page, captures_text,
};
use tcplab_report::trace::Chosen;
use tcplab_results::comparison::Divergence;
use tcplab_results::comparison::Fact;
use tcplab_trace::{Connection, Sink};

use super::outputs::Outputs;
use crate::arguments::CompareArguments;
use crate::output::{in_document, print_note};
use crate::work::Work;
use tcplab_actions::{TwoPoints, analyzer_of, dropped_frames, find_two_points, open};

/// Pairs of connections that are compared, those with the most data.
const MAX_PAIRS: usize = 5;

pub(super) fn compare(files: [&Path; 2], arguments: &CompareArguments) -> Result<ExitCode> {
    if arguments.junit.is_some() {
        bail!("--junit needs runs; two captures have no verdict");
    }
    let names = files.map(|file| file.display().to_string());
    let both = files.map(Path::to_path_buf);
    if let Some(TwoPoints { client, server, .. }) = find_two_points(&both) {
        print_note(&format!(
            "the same packets at two capture points: what was lost between them shows `tcplab trace \
             --client {} --server {}`",
            quoted(&client.to_string_lossy()),
            quoted(&server.to_string_lossy()),
        ));
    }
    let sums = [sums(files[0], "connections of A")?, sums(files[1], "connections of B")?];
    for (name, connections) in names.iter().zip(&sums) {
        if connections.is_empty() {
            bail!("no TCP connection in {name}");
        }
    }
    let mut pairs = matched(&sums[0], &sums[1]);
    let data = |connection: &Connection| {
        connection.forward.totals.unique + connection.reverse.totals.unique
    };
    pairs.sort_by_key(|(x, y)| std::cmp::Reverse(data(&sums[0][*x]).max(data(&sums[1][*y]))));
    pairs.truncate(MAX_PAIRS);
    let alone = [0, 1].map(|side: usize| sums[side].len() - pairs.len());
    let whole = [
        whole(files[0], "packets of A", pairs.iter().map(|(x, _)| *x))?,
        whole(files[1], "packets of B", pairs.iter().map(|(_, y)| *y))?,
    ];
    let work = Work::of_parts("comparing");
    let close: Vec<CloseUp<'_>> = pairs
        .iter()
        .map(|(x, y)| {
            let of = |side: usize, place: usize| {
                whole[side].iter().find(|(at, _)| *at == place).map(|(_, connection)| connection)
            };
            let both = of(0, *x).zip(of(1, *y)).context("a capture changed while it was read")?;
            Ok(close_up(both.into(), &names))
        })
        .collect::<Result<_>>()?;
    let compared: Vec<CapturedPair> =
        close.iter().zip(&pairs).map(|(close, (x, y))| pair(close, [*x, *y])).collect();
    let mut outputs = Outputs::of(arguments)?;
    outputs.add(arguments.json.place.as_ref(), || json(&names, &compared))?;
    outputs.add(arguments.markdown.as_ref(), || Ok(captures_markdown(&names, &compared, alone)))?;
    let first = &close[..1];
    work.goes_on("drawing the page");
    outputs.add(arguments.html.as_ref(), || Ok(captures_page(&names, &compared, first)?))?;
    drop(work);
    outputs.finish(&captures_text(&names, &compared, alone))?;
    Ok(ExitCode::SUCCESS)
}

fn close_up<'a>(connections: [&'a Connection; 2], names: &[String; 2]) -> CloseUp<'a> {
    let [a, _] = connections;
    let is_from_client = a.forward.totals.unique >= a.reverse.totals.unique;
    let title = format!("{} to {}", a.client, a.server);
    // A capture does not say how it was made; assume real time.
    CloseUp { title, names: names.clone(), connections, is_from_client, is_virtual: false }
}

fn pair(close: &CloseUp<'_>, places: [usize; 2]) -> CapturedPair {
    let [a, b] = close.connections;
    CapturedPair {
        names: [a, b].map(|connection| format!("{} to {}", connection.client, connection.server)),
        places,
        facts: facts(a, b),
        divergence: close.divergence(),
    }
}

fn json(captures: &[String; 2], pairs: &[CapturedPair]) -> Result<String> {
    #[derive(Serialize)]
    struct Whole<'a> {
        captures: &'a [String; 2],
        pairs: Vec<Pair<'a>>,
    }
    #[derive(Serialize)]
    struct Pair<'a> {
        /// Places in the order of first packets, from 0.
        places: [usize; 2],
        connections: &'a [String; 2],
        facts: &'a [Fact],
        divergence: Option<&'a Divergence>,
    }
    let pairs = pairs.iter().map(|CapturedPair { names, places, facts, divergence }| Pair {
        places: *places,
        connections: names,
        facts,
        divergence: divergence.as_ref(),
    });
    in_document(&CAPTURE_COMPARISON_DOCUMENT, &Whole { captures, pairs: pairs.collect() })
}

/// All connections, without their packets.
fn sums(file: &Path, part: &'static str) -> Result<Vec<Connection>> {
    let mut analyzer = analyzer_of(file, Sums::default());
    let reader = open(file)?;
    let progress = Work::of_reading(iter::once(reader.source()));
    progress.goes_on(part);
    analyzer.read(reader);
    drop(progress);
    let mut found = analyzer.finish_into().1.0;
    found.sort_by_key(|(index, _)| *index);
    Ok(found.into_iter().map(|(_, connection)| connection).collect())
}

/// Some connections, with their packets.
fn whole(
    file: &Path,
    part: &'static str,
    places: impl Iterator<Item = usize>,
) -> Result<Vec<(usize, Connection)>> {
    let mut analyzer = analyzer_of(file, Chosen::new(places));
    let reader = open(file)?;
    let progress = Work::of_reading(iter::once(reader.source()));
    progress.goes_on(part);
    analyzer.read(reader);
    drop(progress);
    let mut connections = analyzer.finish_into().1.into_connections();
    if let Some(frames) = dropped_frames(file)? {
        for (_, connection) in &mut connections {
            connection.mark_dropped(&frames);
        }
    }
    Ok(connections)
}

#[derive(Debug, Default)]
struct Sums(Vec<(usize, Connection)>);

impl Sink for Sums {
    fn wants_packets(&self) -> bool {
        // Without packets a connection could end earlier here than in `whole`.
        true
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        self.0.push((index, connection.clone()));
    }
}
