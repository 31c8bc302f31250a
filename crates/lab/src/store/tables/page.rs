//! The page that explains the tables of a run, made from their definitions.

use std::fmt::Write as _;

use tcplab_quantities::Quantity;
use tcplab_table::Kind;

use super::per_trial::PER_TRIAL;
use super::trials;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/run-tables.md");

#[test]
fn the_page_of_run_tables_lists_their_columns() {
    let page = page();
    if std::env::var_os("TCPLAB_BLESS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(PAGE).unwrap_or_default() == page,
        "docs/run-tables.md is out of date: make it anew with `TCPLAB_BLESS=1 cargo test -p tcplab-lab`"
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
        section(&mut page, table.name, table.about, table.columns);
    }
    page
}

fn section(page: &mut String, name: &str, about: &str, columns: &[(Quantity, Kind)]) {
    writeln!(page, "\n## {name}\n\n{about}\n\n| column | type | meaning |\n|---|---|---|").unwrap();
    for (quantity, kind) in columns {
        writeln!(page, "| `{}` | {} | {} |", quantity.key, kind.name(), quantity.meaning).unwrap();
    }
}
