//! The page and the schema of tables, made from their definitions.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use tcplab_quantities::TRACE_DOCUMENT;

use crate::described::{ColumnInfo, TableInfo};
use crate::tables;
use crate::trace::{TraceTable, explained};

#[test]
fn page_of_tables_lists_their_columns() {
    assert_page("tables.md", &tables_page());
}

#[test]
fn schema_of_trace_has_all_columns() {
    let schema = serde_json::to_string_pretty(&trace_schema()).unwrap() + "\n";
    assert_page(&format!("schemas/{}.json", TRACE_DOCUMENT.schema), &schema);
}

fn assert_page(name: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("TCPLAB_BLESS").is_some() {
        std::fs::write(&path, page).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == page,
        "docs/{name} is out of date: make it anew with `TCPLAB_BLESS=1 cargo test -p tcplab-table`"
    );
}

/// The schema of these columns, whose names begin with this prefix, as an object.
fn object_schema(columns: &[ColumnInfo], prefix: &str, skipped: usize) -> Value {
    let of = |column: &ColumnInfo| {
        let kind = match column.kind {
            "text" => "string",
            "list of integers" => "array",
            other => other,
        };
        let kinds = if column.may_be_empty { vec![kind, "null"] } else { vec![kind] };
        let mut schema = json!({ "type": kinds, "description": column.meaning });
        if kind == "array" {
            schema["items"] = json!({ "type": ["integer"] });
        }
        Some((column.name.strip_prefix(prefix)?.to_owned(), schema))
    };
    let properties: Map<String, Value> = columns[skipped..].iter().filter_map(of).collect();
    let required: Vec<String> = properties.keys().cloned().collect();
    json!({ "type": ["object"], "properties": properties, "required": required })
}

/// The schema of `tcplab trace --json`.
fn trace_schema() -> Value {
    let all = TraceTable::Connections.columns();
    let of_direction =
        |it: &ColumnInfo| it.name.starts_with("forward_") || it.name.starts_with("reverse_");
    let (both, own): (Vec<ColumnInfo>, Vec<ColumnInfo>) = all.into_iter().partition(of_direction);
    let mut connection = object_schema(&own, "", 0);
    let direction = object_schema(&both, "forward_", 0);
    let mut add = |name: &str, schema: Value| {
        connection["properties"][name] = schema;
        connection["required"].as_array_mut().unwrap().push(json!(name));
    };
    add("forward", direction.clone());
    add("reverse", direction);
    for table in TraceTable::ALL.iter().filter(|table| **table != TraceTable::Connections) {
        let items = object_schema(&table.columns(), "", 1);
        add(
            table.name(),
            json!({ "type": ["array"], "description": table.about(), "items": items }),
        );
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": TRACE_DOCUMENT.schema,
        "description": TRACE_DOCUMENT.about,
        "type": ["object"],
        "required": ["schema", "version", "capture", "connections"],
        "properties": {
            "schema": { "type": ["string"] },
            "version": { "type": ["integer"] },
            "capture": {
                "type": ["object"],
                "required": ["files", "zero_unix_ns", "packets", "others", "notes"],
                "properties": {
                    "files": { "type": ["array"], "items": { "type": ["string"] } },
                    "zero_unix_ns": { "type": ["integer"] },
                    "packets": { "type": ["integer"] },
                    "others": { "type": ["array"] },
                    "notes": { "type": ["array"] },
                },
            },
            "connections": { "type": ["array"], "items": connection },
        },
    })
}

fn tables_page() -> String {
    let mut page = "# The tables of a trace, a path and a socket\n\nMade from the definitions that write \
                    them (`TCPLAB_BLESS=1 cargo test -p tcplab-table`). [formats.md](formats.md) \
                    lists the formats and promises that columns stay; \
                    [quantities.md](quantities.md) has the quantities.\n\n\
                    `tcplab trace --parquet DIR` writes the tables of a capture, `tcplab export` any \
                    table in any format. `tcplab trace --json` has the same rows with the same keys; \
                    there the columns `forward_…` and `reverse_…` of a connection are below \
                    `forward` and `reverse`.\n\n\
                    Names end in their unit. Integers are signed, of 64 bits, so differences of \
                    columns do not wrap; numbers are floating point, of 64 bits; what is not known is \
                    empty (null). Times are nanoseconds from the trace's zero, which Parquet and \
                    Arrow files have in their metadata as `tcplab.zero_unix_ns`, in nanoseconds after \
                    the beginning of 1970; the meaning and unit of each column are \
                    there under `tcplab.column.NAME` and `tcplab.unit.NAME`. Rows of `segments` and `events` come in the order of the \
                    capture, those of other tables when they are complete. `connection` and \
                    `direction` join the tables, `frame` joins them with Wireshark.\n"
        .to_owned();
    for TableInfo { name, about, columns } in tables() {
        writeln!(page, "\n## {name}\n\n{about}\n\n| column | type | meaning |\n|---|---|---|")
            .unwrap();
        for ColumnInfo { name, kind, may_be_empty, meaning } in columns {
            let empty = if may_be_empty { " or empty" } else { "" };
            writeln!(page, "| `{name}` | {kind}{empty} | {meaning} |").unwrap();
        }
    }
    page += "\n## connections as CSV\n\n`tcplab trace --csv FILE` writes a line for each connection, \
             with the names of `tcptrace -l --csv`; a column is there only if it means the same. `a` \
             is the client, `b` the server.\n\n| column | meaning |\n|---|---|\n";
    for (name, doc) in explained() {
        writeln!(page, "| `{name}` | {doc} |").unwrap();
    }
    page
}
