//! Captures as Python sees them.

use std::collections::BTreeMap;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;
use std::{fs, io};

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use tcplab_actions::{is_of_damaging_path, is_stdin, name};
use tcplab_plot::{LadderScene, View};
use tcplab_report::trace::Chosen;
use tcplab_table::{ConnectionJson, Format, MemoryTable, TraceTable, TraceTables};
use tcplab_trace::{Analyzer, Connection, Filter, Flow, Sink};
use tcplab_units::Instant;

use crate::interrupt::{alone, here};
use crate::table::Table;

/// Captures, analysed: each table and graph is a pass over them.
#[pyclass(module = "tcplab._core", frozen)]
#[derive(Debug)]
pub(crate) struct Trace {
    captures: Captures,
    packets: u64,
    started_unix_ns: Option<u64>,
    notes: Vec<String>,
    /// The tables of the first pass.
    known: BTreeMap<&'static str, Table>,
}

/// What is read.
#[derive(Debug, Clone)]
pub(crate) struct Captures {
    files: Vec<PathBuf>,
    /// What each file was before it was first read.
    stamps: Vec<Option<Stamp>>,
    filter: Option<Filter>,
    /// Packets with a wrong checksum are left out.
    checks: bool,
}

/// Size and time of change: another content has another stamp.
type Stamp = (u64, Option<SystemTime>);

fn stamp(file: &Path) -> Option<Stamp> {
    let about = fs::metadata(file).ok()?;
    Some((about.len(), about.modified().ok()))
}

impl Captures {
    /// These files. With `checksums` packets with a wrong one are left out, as they always are of a
    /// recording whose path damaged packets.
    pub(crate) fn named(
        files: &[PathBuf],
        filter: Option<&str>,
        checksums: bool,
    ) -> Result<Captures> {
        ensure!(!files.is_empty(), "name a capture, or a directory with captures");
        let files = tcplab_actions::captures(files)?;
        if let Some(file) = files.iter().find(|file| is_stdin(file) || is_read_once(file)) {
            bail!("{} can be read only once: store it in a file first", name(file));
        }
        let filter = filter.map(Filter::parse).transpose()?;
        let checks = checksums || files.iter().any(|file| is_of_damaging_path(file));
        let stamps = files.iter().map(|file| stamp(file)).collect();
        Ok(Captures { files, stamps, filter, checks })
    }

    /// With names for later passes, before which the working directory may change.
    fn absolute(self) -> Result<Captures> {
        let files = self.files.iter().map(path::absolute).collect::<io::Result<_>>()?;
        Ok(Captures { files, ..self })
    }

    /// An error if a file is not the one that was read first.
    fn ensure_unchanged(&self) -> Result<()> {
        for (file, first) in self.files.iter().zip(&self.stamps) {
            let now = stamp(file);
            ensure!(
                now.is_none() || now == *first,
                "{} has changed since it was first read: trace it anew",
                file.display()
            );
        }
        Ok(())
    }

    /// A pass over them.
    fn read<S: Sink>(&self, sink: S, stop: &Arc<AtomicBool>) -> Result<(tcplab_trace::Trace, S)> {
        self.ensure_unchanged()?;
        let open = |file: &PathBuf| tcplab_actions::open_until(file, Arc::clone(stop));
        let readers = self.files.iter().map(open).collect::<Result<Vec<_>>>()?;
        let analyzer = Analyzer::with_sink(sink).with_checksums(self.checks);
        let mut analyzer = analyzer.with_filter(self.filter.clone());
        tcplab_actions::read_captures(&self.files, readers, self.filter.as_ref(), &mut analyzer);
        ensure!(!stop.load(Ordering::Relaxed), "stopped");
        Ok(analyzer.finish_into())
    }

    /// These tables of one pass.
    pub(crate) fn tables(
        &self,
        which: &[TraceTable],
        stop: &Arc<AtomicBool>,
    ) -> Result<(tcplab_trace::Trace, BTreeMap<&'static str, Table>)> {
        let tables = TraceTables::create(which, Format::Arrow, |_| Ok(Vec::new()))?;
        let (trace, tables) = self.read(tables, stop)?;
        let made = tables.finish(&trace)?.into_iter();
        let made = made.map(|it| Ok((it.table.name(), Table(MemoryTable::from_ipc(it.out)?))));
        Ok((trace, made.collect::<Result<_>>()?))
    }

    /// One table.
    pub(crate) fn table(&self, name: &str, stop: &Arc<AtomicBool>) -> Result<Table> {
        let mut tables = self.tables(&[table(name)?], stop)?.1;
        self.ensure_unchanged()?;
        tables.remove(name).context("the table was begun")
    }

    /// A connection with its packets.
    fn connection(&self, number: usize, stop: &Arc<AtomicBool>) -> Result<Connection> {
        let (_, chosen) = self.read(Chosen::new([number]), stop)?;
        self.ensure_unchanged()?;
        let (all, mut found) = (chosen.seen(), chosen.into_connections());
        found.pop().map(|(_, connection)| connection).ok_or_else(|| match all {
            0 => anyhow!("no connection {number}: there is no TCP connection"),
            all => anyhow!("no connection {number}: there are {all}, numbered from 0"),
        })
    }
}

/// Whether it is a pipe or a device, whose packets are gone once they are read.
fn is_read_once(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

fn table(name: &str) -> Result<TraceTable> {
    let found = TraceTable::ALL.iter().find(|table| table.name() == name);
    found.copied().with_context(|| {
        let known: Vec<&str> = TraceTable::ALL.iter().map(|table| table.name()).collect();
        format!("no table `{name}`: use one of {}", known.join(", "))
    })
}

#[pymethods]
impl Trace {
    #[expect(clippy::unused_self, reason = "it is a method of Python")]
    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a trace cannot be pickled, as it reads its captures while it is used: return its \
             tables, or the names of the captures",
        ))
    }

    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.captures.files.clone()
    }
    #[getter]
    fn packets(&self) -> u64 {
        self.packets
    }
    #[getter]
    fn started_unix_ns(&self) -> Option<u64> {
        self.started_unix_ns
    }
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn ensure_unchanged(&self) -> PyResult<()> {
        here(|| self.captures.ensure_unchanged())
    }

    #[staticmethod]
    fn tables() -> Vec<(&'static str, &'static str)> {
        TraceTable::ALL.iter().map(|table| (table.name(), table.about())).collect()
    }

    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        if let Some(known) = self.known.get(name) {
            return Ok(Table(known.0.clone()));
        }
        alone(py, |stop| self.captures.table(name, stop))
    }

    fn connection(&self, py: Python<'_>, number: usize) -> PyResult<String> {
        alone(py, |stop| {
            let connection = self.captures.connection(number, stop)?;
            Ok(serde_json::to_string(&ConnectionJson::new(number, connection))?)
        })
    }

    #[pyo3(signature = (number, most=60))]
    fn ladder(&self, py: Python<'_>, number: usize, most: usize) -> PyResult<String> {
        alone(py, |stop| {
            let connection = self.captures.connection(number, stop)?;
            let (flow, [sender, receiver]) = of_data(&connection, None);
            let first = |frames: &mut dyn Iterator<Item = u64>| frames.take(most).max();
            let last = first(&mut flow.segments.iter().map(|it| it.frame));
            let frames = flow.segments.first().map(|it| it.frame).zip(last);
            let lines = frames.map_or_else(Vec::new, |(from, until)| {
                tcplab_trace::ladder_between(flow, from, until)
            });
            let title = format!("Connection {number}, {sender} to {receiver}");
            Ok(tcplab_plot::ladder_svg(&LadderScene {
                title: &title,
                sender: &sender,
                receiver: &receiver,
                flow: Some(flow),
                lines: &lines,
                interruptions: &[],
            }))
        })
    }

    #[pyo3(signature = (number, forward=None))]
    fn time_sequence(
        &self,
        py: Python<'_>,
        number: usize,
        forward: Option<bool>,
    ) -> PyResult<String> {
        alone(py, |stop| {
            let connection = self.captures.connection(number, stop)?;
            let (flow, [sender, receiver]) = of_data(&connection, forward);
            let view = View { from: Instant::ZERO, until: connection.last, bands: &[] };
            let title = format!("Connection {number}, {sender} to {receiver}");
            let figure = tcplab_plot::time_sequence("", &title, flow, &view);
            let style = format!(
                "><style>svg {{ color-scheme: light dark; }}\n{}</style>",
                tcplab_plot::STYLE
            );
            Ok(figure.svg.replacen('>', &style, 1))
        })
    }
}

/// A direction, that with more data where none is named, and who sends and who receives.
fn of_data(connection: &Connection, forward: Option<bool>) -> (&Flow, [String; 2]) {
    let Connection { client, server, forward: up, reverse: down, .. } = connection;
    let ends = [client.to_string(), server.to_string()];
    if forward.unwrap_or(down.totals.unique <= up.totals.unique) {
        (up, ends)
    } else {
        (down, [ends[1].clone(), ends[0].clone()])
    }
}

/// Reads captures as one; these tables are kept, besides that of connections.
#[pyfunction]
#[pyo3(signature = (files, filter=None, tables=vec![], checksums=false))]
pub(crate) fn trace(
    py: Python<'_>,
    files: Vec<PathBuf>,
    filter: Option<&str>,
    tables: Vec<String>,
    checksums: bool,
) -> PyResult<Trace> {
    alone(py, |stop| {
        let tables = tables.iter().map(|name| table(name)).collect::<Result<Vec<_>>>()?;
        of_captures(Captures::named(&files, filter, checksums)?, tables, stop)
    })
}

/// The first pass over captures, which fills these tables and that of connections.
pub(crate) fn of_captures(
    captures: Captures,
    mut tables: Vec<TraceTable>,
    stop: &Arc<AtomicBool>,
) -> Result<Trace> {
    tables.push(TraceTable::Connections);
    let (trace, known) = captures.tables(&tables, stop)?;
    let captures = captures.absolute()?;
    let notes = notes_of(&trace);
    let started_unix_ns = (trace.packets > 0).then_some(trace.epoch_nanos);
    Ok(Trace { captures, packets: trace.packets, started_unix_ns, notes, known })
}

fn notes_of(trace: &tcplab_trace::Trace) -> Vec<String> {
    let note = |it: &tcplab_trace::Note| match it.frame {
        Some(frame) => format!("frame {frame}: {}", it.text),
        None => it.text.clone(),
    };
    trace.notes.iter().map(note).collect()
}

/// Whether this file is a capture by its content, or cannot be read, as the captures of a directory
/// are found.
#[pyfunction]
pub(crate) fn may_be_capture(py: Python<'_>, file: PathBuf) -> PyResult<bool> {
    alone(py, |_| Ok(tcplab_actions::may_be_capture(&file)))
}

/// Raises an error if this is no filter of packets.
#[pyfunction]
pub(crate) fn check_filter(filter: &str) -> PyResult<()> {
    here(|| Ok(Filter::parse(filter).map(drop)?))
}

/// Tables of one pass, of all connections or of those in one of several parts, and what is to be
/// known about the captures.
#[pyfunction]
#[pyo3(signature = (files, filter, shard, tables))]
pub(crate) fn trace_part(
    py: Python<'_>,
    files: Vec<PathBuf>,
    filter: Option<&str>,
    shard: Option<(u64, u64)>,
    tables: Vec<String>,
) -> PyResult<(BTreeMap<&'static str, Table>, Vec<String>)> {
    alone(py, |stop| {
        let part = match shard {
            Some((place, count)) if place < count => Some(format!("part {}/{count}", place + 1)),
            Some((place, count)) => bail!("there is no part {place} of {count}: count from 0"),
            None => None,
        };
        let both = match (filter, part) {
            (Some(filter), Some(part)) => Some(format!("({filter}) and {part}")),
            (filter, part) => filter.map(str::to_owned).or(part),
        };
        let which = tables.iter().map(|name| table(name)).collect::<Result<Vec<_>, Error>>()?;
        let captures = Captures::named(&files, both.as_deref(), false)?;
        let (trace, tables) = captures.tables(&which, stop)?;
        Ok((tables, notes_of(&trace)))
    })
}
