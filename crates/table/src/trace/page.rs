//! The page that explains the tables, made from their definitions.

use std::fmt::Write as _;

use super::{TraceTable, connections, csv, directions, events, periods, segments};
use crate::column::{Cells, Column};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tables.md");

#[test]
fn the_page_says_what_the_tables_are() {
    let page = page();
    if std::env::var_os("TCPLAB_BLESS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        written == page,
        "docs/tables.md is out of date: make it anew with `TCPLAB_BLESS=1 cargo test -p tcplab-table`"
    );
}

fn page() -> String {
    let mut page = "# The tables\n\nMade from the definitions that write them \
                    (`TCPLAB_BLESS=1 cargo test -p tcplab-table`).\n\n\
                    Tables are Parquet files. Numbers are unsigned, of 64 bits; ratios are floating \
                    point; names end in their unit. Each file explains itself too: its metadata \
                    have the meaning of every column under `tcplab.column.NAME`, and in those of a \
                    trace `tcplab.zero_unix_ns` is the zero of all times, in nanoseconds after the \
                    beginning of 1970. Rows of `segments` and `events` come in the order of the \
                    capture, those of other tables when they are complete; `connection` and \
                    `direction` join them, `frame` joins them with Wireshark.\n"
        .to_owned();
    let names = |table: TraceTable| table.name();
    let all: Vec<_> = connections::IDENTITY.iter().chain(directions::DIRECTIONS).collect();
    section(&mut page, names(TraceTable::Connections), "A row for each connection.", &all);
    section(
        &mut page,
        names(TraceTable::Segments),
        "A row for each packet that carries data, SYN or FIN. Whether a retransmission was \
         needless is known only later, and stands in `events`.",
        &segments::COLUMNS.iter().collect::<Vec<_>>(),
    );
    section(
        &mut page,
        names(TraceTable::Events),
        "A row for each packet that tells the sender of data something new (acknowledgements, \
         duplicates, SACK, another window), and for each verdict that comes later. Packets that \
         repeat what the one before said, as data packets of a transfer the other way do, have \
         none.",
        &events::COLUMNS.iter().collect::<Vec<_>>(),
    );
    section(
        &mut page,
        names(TraceTable::Episodes),
        "A row for each recovery episode: from the first evidence of a loss until its repair.",
        &periods::EPISODES.iter().collect::<Vec<_>>(),
    );
    section(
        &mut page,
        names(TraceTable::Stalls),
        "A row for each time in which a transfer stood still.",
        &periods::STALLS.iter().collect::<Vec<_>>(),
    );
    section(
        &mut page,
        names(TraceTable::Limits),
        "A row for each period in which one thing bounded the rate of a direction.",
        &periods::LIMITS.iter().collect::<Vec<_>>(),
    );
    section(
        &mut page,
        "the path's log",
        "A row for each packet on the path of a trial: what the path did to it.",
        &crate::truth::COLUMNS.iter().collect::<Vec<_>>(),
    );
    page += "\n## connections as CSV\n\nA line for each connection, with the names of \
             `tcptrace -l --csv`; a column is there only if it means the same. `a` is the client, \
             `b` the server.\n\n| column | meaning |\n|---|---|\n";
    for (name, doc) in csv::explained() {
        writeln!(page, "| `{name}` | {doc} |").unwrap();
    }
    page
}

fn section<R>(page: &mut String, name: &str, about: &str, columns: &[&Column<R>]) {
    writeln!(page, "\n## {name}\n\n{about}\n\n| column | type | meaning |\n|---|---|---|").unwrap();
    for column in columns {
        let kind = match column.cells {
            Cells::Flag(_) => "flag",
            Cells::Number(_) => "number",
            Cells::NumberIfAny(_) => "number or empty",
            Cells::RatioIfAny(_) => "ratio or empty",
            Cells::Text(_) => "text",
            Cells::TextIfAny(_) => "text or empty",
        };
        writeln!(page, "| `{}` | {kind} | {} |", column.name, column.doc).unwrap();
    }
}
