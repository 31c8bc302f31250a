//! The pages of the tables of a run and of all quantities, made from their definitions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use tcplab_quantities::{Quantity, TOPICS};
use tcplab_scenario::METRICS;
use tcplab_table::Kind;

use super::per_trial::PER_TRIAL;
use super::trials;

#[test]
fn page_of_run_tables_lists_their_columns() {
    assert_page("run-tables.md", &page());
}

#[test]
fn page_of_quantities_lists_all() {
    assert_page("quantities.md", &quantities_page());
}

fn assert_page(name: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("TCPLAB_BLESS").is_some() {
        std::fs::write(&path, page).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == page,
        "docs/{name} is out of date: make it anew with `TCPLAB_BLESS=1 cargo test -p tcplab-lab`"
    );
}

fn page() -> String {
    let mut page = "# The tables of a run\n\nMade from the definitions that write them \
                    (`TCPLAB_BLESS=1 cargo test -p tcplab-lab`). A run directory has each table as \
                    CSV, and `trials` as Parquet too; `tcplab export` writes any of them in any \
                    format. An empty cell is a value that is not known. `case` and `trial` join the \
                    tables. [formats.md](formats.md) promises that columns stay.\n"
        .to_owned();
    let about = "A row for each trial. After these columns come the factors of the matrix: for \
                 factors with numbers a column of the numbers, such as `path_loss_ratio`, and one of \
                 the levels as the scenario has them, `path_loss_label`; for other factors one column. \
                 Then comes a column for each metric, with its unit in the name, such as \
                 `goodput_mbit_per_second`; [metrics.md](metrics.md) explains them.";
    section(&mut page, trials::TRIALS, about, trials::COLUMNS);
    for table in PER_TRIAL {
        section(&mut page, table.name, table.about, &(table.columns)());
    }
    page
}

fn section(page: &mut String, name: &str, about: &str, columns: &[(Quantity, Kind)]) {
    writeln!(page, "\n## {name}\n\n{about}\n\n| column | type | meaning |\n|---|---|---|").unwrap();
    for (quantity, kind) in columns {
        writeln!(page, "| `{}` | {} | {} |", quantity.key, kind.name(), quantity.meaning).unwrap();
    }
}

/// The tables that have each column; columns of both directions are listed once, without prefix.
fn places() -> BTreeMap<String, Vec<&'static str>> {
    let of_trace = tcplab_table::tables().into_iter().flat_map(|table| {
        let without = |name: String| {
            name.trim_start_matches("forward_").trim_start_matches("reverse_").to_owned()
        };
        table.columns.into_iter().map(move |column| (without(column.name), table.name))
    });
    let of_run = PER_TRIAL.iter().map(|table| (table.name, (table.columns)()));
    let of_run =
        of_run.chain([(trials::TRIALS, trials::COLUMNS.to_vec())]).flat_map(|(table, columns)| {
            columns.into_iter().map(move |(quantity, _)| (quantity.key.to_owned(), table))
        });
    let mut places: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
    for (key, table) in of_trace.chain(of_run) {
        let tables = places.entry(key).or_default();
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    places
}

fn quantities_page() -> String {
    let mut page =
        "# Quantities\n\nWhat tcplab counts, measures and names, each once. The name is \
                    the key in JSON, CSV, Parquet and Arrow; the label is what the terminal and \
                    pages show. [Metrics](metrics.md) of trials that are one of these quantities \
                    take label and meaning from it. tcptrace's and Wireshark's names are the \
                    nearest, not always the same. This page is made from the definitions \
                    (`TCPLAB_BLESS=1 cargo test -p tcplab-lab`); [tables.md](tables.md) and \
                    [run-tables.md](run-tables.md) have the columns of each table.\n"
            .to_owned();
    let places = places();
    for (topic, list) in TOPICS {
        page += &format!(
            "\n## {topic}\n\n| name | label | meaning | unit | tables | metrics | tcptrace | \
             Wireshark |\n|---|---|---|---|---|---|---|---|\n"
        );
        for it in *list {
            let tables = places.get(it.key).map(|tables| tables.join(", ")).unwrap_or_default();
            let code = |text: &str| {
                if text.is_empty() { String::new() } else { format!("`{text}`") }
            };
            let metrics = METRICS.iter().filter(|metric| metric.quantity == Some(it.key));
            let metrics: Vec<String> =
                metrics.map(|it| format!("[`{0}`](metrics.md#{0})", it.name)).collect();
            writeln!(
                page,
                "| <a id=\"{0}\"></a>`{0}` | {1} | {2} | {3} | {tables} | {4} | {5} | {6} |",
                it.key,
                it.label,
                it.meaning,
                it.unit.symbol(),
                metrics.join(", "),
                it.tcptrace,
                code(it.wireshark),
            )
            .unwrap();
        }
    }
    page
}
