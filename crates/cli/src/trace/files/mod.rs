//! Output files beside the report: opened before the first packet is read, filled in one pass,
//! committed at the end.

mod annotate;
mod page;
mod wish;

use std::path::Path;

use anyhow::{Context, Result};
use tcplab_plot::xpl::XplSink;
use tcplab_report::CaptureSums;
use tcplab_table::{ConnectionsCsv, Format, TraceTable, TraceTables};
use tcplab_trace::{Both, Connection, Only, Sink, Trace};

use super::folder::{Folder, Place};
use super::input::{Input, Passed};
use crate::arguments::{Outputs, ViewArguments};
use crate::output::{Output, commit, counted, print_note};
use annotate::Comments;
use page::Page;
pub(super) use page::Shown;

/// The sinks of one pass, for all requested files.
type Sinks = Both<Only<CaptureSums>, Written>;
/// Limited to --connection, if given.
type Written = Both<
    Only<ConnectionsCsv<Output>>,
    Both<Only<TraceTables<Output>>, Both<Only<XplSink<Folder>>, Only<Comments>>>,
>;

/// Files before the pass.
pub(super) struct Files<'a> {
    sinks: Sinks,
    rest: Rest<'a>,
}

/// Files after the pass.
pub(super) struct Filled<'a> {
    sinks: Sinks,
    rest: Rest<'a>,
    trace: Trace,
    names: Vec<String>,
}

struct Rest<'a> {
    input: &'a Input<'a>,
    outputs: &'a Outputs,
    tables: Option<Place>,
    copy: Option<Output>,
    page: Option<Page>,
}

impl<'a> Files<'a> {
    /// Opens the requested files.
    ///
    /// # Errors
    /// If one cannot be written, or would overwrite another.
    pub(super) fn begin(
        input: &'a Input<'a>,
        view: &ViewArguments,
        outputs: &'a Outputs,
    ) -> Result<Files<'a>> {
        wish::check(input, view, outputs)?;
        let create = |path: &std::path::PathBuf| Output::create(path);
        let csv = outputs.csv.as_ref().map(create).transpose()?;
        let csv = csv.map(ConnectionsCsv::create).transpose()?;
        let place = outputs.parquet.as_deref().map(Place::make).transpose()?;
        let tables = place.as_ref().map(begin_tables).transpose()?;
        let graphs = outputs.xpl.as_deref().map(Folder::create).transpose()?;
        let graphs = graphs.map(|folder| {
            let sink = XplSink::new(folder, &outputs.graphs, None);
            sink.samples(&outputs.rtt).averaged_over(outputs.average)
        });
        let copy = outputs.annotate.as_deref().map(Output::create_capture).transpose()?;
        let page = outputs.html.as_ref().map(create).transpose()?;
        let comments = copy.is_some().then(Comments::default);
        let sums = page.is_some().then(CaptureSums::default);
        let only = view.connection;
        let written = Both(
            Only::new(only, csv),
            Both(Only::new(only, tables), Both(Only::new(only, graphs), Only::new(only, comments))),
        );
        let page = page.map(|output| Page::new(output, view, outputs));
        let rest = Rest { input, outputs, tables: place, copy, page };
        Ok(Files { sinks: Both(Only::new(None, sums), written), rest })
    }

    /// To keep the connections that the page shows, if there is one.
    pub(super) fn shown(&self) -> Shown {
        self.rest.page.as_ref().map(Page::keeper).unwrap_or_default()
    }

    /// Reads the input once, for these files and for `sink`.
    pub(super) fn read<S: Sink>(self, sink: S) -> Result<(Passed<S>, Filled<'a>)> {
        let Files { sinks, rest } = self;
        let passed = rest.input.read(Both(sink, sinks))?;
        let Passed { trace, sink: Both(sink, sinks), head } = passed;
        let filled = Filled { sinks, rest, trace: trace.clone(), names: head.names.clone() };
        Ok((Passed { trace, sink, head }, filled))
    }
}

impl Filled<'_> {
    /// The connections whose packets the files still need.
    pub(super) fn wanted(&self) -> Vec<usize> {
        let page = self.rest.page.as_ref().zip(self.sinks.0.inner());
        page.map(|(page, sums)| page.shown(sums)).unwrap_or_default()
    }

    /// Completes all files and reports their contents. `whole` are connections with packets; if
    /// [wanted](Self::wanted) ones are missing, the input is read again.
    ///
    /// # Errors
    /// If one cannot be written; then it and the following ones do not exist.
    pub(super) fn finish(self, whole: &[(usize, Connection)]) -> Result<()> {
        let wanted = self.wanted();
        let Filled { sinks, rest, trace, names } = self;
        let Both(sums, Both(csv, Both(tables, Both(graphs, comments)))) = sinks;
        if let Some(csv) = csv.into_inner() {
            let (rows, output) = csv.finish()?;
            commit(output, &counted(rows, "connection"))?;
        }
        if let Some(tables) = tables.into_inner() {
            for table in tables.finish(&trace)? {
                commit(table.out, &counted(table.rows, "row"))?;
            }
        }
        if let Some(place) = rest.tables {
            place.keep();
        }
        if let Some(graphs) = graphs.into_inner() {
            let folder = rest.outputs.xpl.as_deref().unwrap_or(Path::new(""));
            let (drawn, files) =
                graphs.finish().with_context(|| format!("cannot write to {}", folder.display()))?;
            files.commit()?;
            print_note(&format!("{}: {}", folder.display(), counted(drawn, "graph")));
        }
        if let Some((copy, comments)) = rest.copy.zip(comments.into_inner()) {
            annotate::copy(rest.input, copy, &comments)?;
        }
        if let Some((page, sums)) = rest.page.zip(sums.into_inner()) {
            page.write(rest.input, (&trace, &sums), &names, &wanted, whole)?;
        }
        Ok(())
    }
}

fn begin_tables(place: &Place) -> std::io::Result<TraceTables<Output>> {
    TraceTables::create(TraceTable::ALL, Format::Parquet, |table| {
        Output::create(&place.path().join(table.name()).with_extension("parquet"))
    })
}
