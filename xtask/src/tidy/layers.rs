//! Which crate may depend on which: the layering of ARCHITECTURE.md, checked from the manifests.
//!
//! Dev-dependencies are free: a test may join what the product keeps apart.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::violation::Violation;

/// What may depend on what: a line with some names and others, and below it why that is so.
struct Row {
    names: Vec<&'static str>,
    others: Vec<&'static str>,
    why: &'static str,
}

/// A crate of ours, and all of ours that it may depend on. From the ground up: a row names only
/// rows above it, so there can be no cycle.
const LAYERS: &str = "\
units:
    quantities stand on nothing
embedded:
    files that a program carries are bytes
quantities: units
    the names of what is measured stand below all that measure or show it
stats: units
    statistics know numbers and seeded chance, not where they come from
servers: units
    a server is written from the calls of the kernel; `units` names its designs
load: units
    a load generator shares no code with the servers that it measures
kernels: units quantities
    images of kernels are built and kept, whoever runs them
wire:
    packets are bytes
capture: units
    capture files carry any frame
path: units wire
    a path moves packets, and reads of them what a router could
stack: units wire
    a model of TCP sees segments
workload: units
    an application sees a byte stream
recording: units quantities capture path workload
    a recording is what both worlds leave, so it knows neither
scenario: embedded units quantities path stack workload
    a scenario describes an experiment, it does not run it
packetdrill: units wire stack
    a script is run against a stack, segment by segment, in no world
sim: units wire stack path workload scenario recording
    the virtual world joins models, and knows nothing of the real one
testbed: units servers load wire path workload scenario recording
    the real world joins kernels, and knows nothing of the virtual one
guests: units wire
    a kernel in virtual time is a process with a clock of its own; what runs on it is others' affair
conformance: units wire recording packetdrill testbed kernels guests
    a script on a kernel needs its interpreter and a guest, and no path
trace: units quantities wire capture
    the analyser sees a capture and nothing else, or it could not be checked against the truth
findings: units quantities trace
    a finding is proved by a trace
table: units quantities path recording trace findings
    tables hold results, whoever made them
results: units stats path workload recording scenario trace
    results are data, whoever made them and whoever shows them
lab: units quantities kernels guests stats wire capture path workload recording scenario stack sim testbed trace \
findings table results
    the laboratory runs experiments, others show them
plot: units quantities path wire trace
    a plot draws one trace, or the outlook of one path: what was, or what will be
report: units quantities stats wire path recording scenario trace findings results plot
    a report shows what a run has left and runs nothing itself
actions: units kernels wire path capture recording scenario testbed trace results lab report
    what users ask for, without a terminal: the command and the Python package share it
python: units quantities capture path recording scenario testbed trace table results lab plot report actions
    Python's modules hold what the command prints
watch: units wire path capture recording trace lab
    a recording is read while it grows, whoever shows it
ui: embedded units wire path capture recording scenario trace findings results lab plot report actions watch
    the page shows what the command does, and starts the command for what takes time
cli: units quantities servers load kernels wire capture path workload recording scenario stack packetdrill \
testbed conformance trace findings table results lab plot report actions ui \
watch
    the binary stands on top
fuzz/readers: units servers load wire capture path stack recording scenario packetdrill testbed \
trace findings results lab report actions
    fuzzing calls every reader of untrusted bytes; no product crate needs it
xtask:
    the repository's tasks check the crates from outside";

/// Foreign crates, and those of ours that may depend on them. With `*` at the end: every name that
/// begins so.
const FOREIGN: &str = "\
toml toml_edit: scenario xtask
    only `scenario` knows TOML
arrow* parquet*: table
    only `table` knows Arrow and Parquet
libc netlink* rustix nix: testbed servers load kernels guests
    only `testbed`, servers and their clients, and builds and processes of kernels speak to the kernel
axum hyper* tokio* tower*: ui
    only the page's server waits for many at once without threads
io-uring: servers
    it is a way to carry connections
clap* indicatif ratatui crossterm: cli
    only `cli` speaks at a terminal
anyhow: cli actions python ui xtask
    a library names its errors, one enum per operation; who answers people adds words to them";

fn rows(table: &'static str) -> Vec<Row> {
    let lines: Vec<&str> = table.lines().collect();
    let row = |pair: &[&'static str]| {
        let (names, others) = pair[0].split_once(':').expect("a row is `names: others`");
        let words = |text: &'static str| text.split_whitespace().collect();
        Row { names: words(names), others: words(others), why: pair[1].trim() }
    };
    lines.chunks_exact(2).map(row).collect()
}

fn layer(name: &str) -> Option<Row> {
    rows(LAYERS).into_iter().find(|layer| layer.names == [name])
}

/// Checks one manifest of `crates/` or `xtask`.
pub(super) fn check(path: &str, text: &str) -> Vec<Violation> {
    let parts: Vec<&str> = path.split('/').collect();
    let name = match parts.as_slice() {
        ["crates", name, "Cargo.toml"] => *name,
        ["fuzz", "readers", "Cargo.toml"] => "fuzz/readers",
        ["xtask", "Cargo.toml"] => "xtask",
        _ => return Vec::new(),
    };
    let violation = |line, what: String, why: &str, remedy: String| Violation {
        path: path.into(),
        line,
        what,
        why: why.into(),
        remedy,
    };
    let Some(layer) = layer(name) else {
        let why = "a crate without a place can come to stand anywhere";
        let remedy = "give it a row in xtask/src/tidy/layers.rs".into();
        return vec![violation(1, format!("`{name}` has no layer"), why, remedy)];
    };
    let dependencies = match dependencies(text) {
        Ok(dependencies) => dependencies,
        Err(error) => {
            let what = format!("not a manifest: {}", error.message());
            return vec![violation(1, what, "it is not TOML", "correct it".into())];
        }
    };
    dependencies
        .into_iter()
        .filter_map(|(dependency, line)| {
            let (why, remedy) = layer.objection(name, &dependency)?;
            Some(violation(line, format!("`{name}` depends on `{dependency}`"), why, remedy))
        })
        .collect()
}

impl Row {
    /// Why the crate `name`, of this layer, may not depend on `dependency`, and what to do instead.
    fn objection(&self, name: &str, dependency: &str) -> Option<(&'static str, String)> {
        // The binary's crate is called as the program is.
        let own =
            if dependency == "tcplab" { Some("cli") } else { dependency.strip_prefix("tcplab-") };
        if let Some(own) = own {
            let remedy = match self.others.as_slice() {
                [] => "it may use none of our crates".into(),
                some => format!("of our crates it may use {}", some.join(", ")),
            };
            return (!self.others.contains(&own)).then_some((self.why, remedy));
        }
        let foreign = rows(FOREIGN).into_iter().find(|foreign| foreign.is_of(dependency))?;
        let remedy = format!("move what needs it to `{}`", foreign.others.join("` or `"));
        (!foreign.others.contains(&name)).then_some((foreign.why, remedy))
    }

    /// Whether the foreign crate is one of this row's.
    fn is_of(&self, dependency: &str) -> bool {
        self.names.iter().any(|name| match name.strip_suffix('*') {
            Some(start) => dependency.starts_with(start),
            None => dependency == *name,
        })
    }
}

/// What the manifest's crate is built from: each package and the line that names it.
fn dependencies(text: &str) -> Result<Vec<(String, usize)>, toml::de::Error> {
    let manifest = DeTable::parse(text)?;
    let line_of = |at: usize| text[..at].matches('\n').count() + 1;
    let mut found = Vec::new();
    let mut collect = |table: &DeTable<'_>| {
        for kind in ["dependencies", "build-dependencies"] {
            let Some(listed) = table.get(kind).and_then(|value| value.get_ref().as_table()) else {
                continue;
            };
            for (key, value) in listed {
                found.push((package(key, value), line_of(key.span().start)));
            }
        }
    };
    collect(manifest.get_ref());
    // Dependencies of some systems only: [target.'cfg(…)'.dependencies].
    if let Some(targets) = manifest.get_ref().get("target").and_then(|it| it.get_ref().as_table()) {
        targets.values().filter_map(|target| target.get_ref().as_table()).for_each(collect);
    }
    Ok(found)
}

/// The package's own name, also where the manifest renames it.
fn package(key: &Spanned<impl AsRef<str>>, value: &Spanned<DeValue<'_>>) -> String {
    let renamed = value.get_ref().as_table().and_then(|table| table.get("package"));
    let name = renamed.and_then(|name| name.get_ref().as_str());
    name.unwrap_or(key.get_ref().as_ref()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(crate_name: &str, text: &str) -> Vec<String> {
        let path = format!("crates/{crate_name}/Cargo.toml");
        check(&path, text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_row_names_only_rows_above_it() {
        let mut above = Vec::new();
        for Row { names, others, .. } in rows(LAYERS) {
            for used in others {
                assert!(above.contains(&used), "{names:?} may use `{used}`, which is not above it");
            }
            above.extend(names);
        }
    }

    #[test]
    fn report_crates_depend_on_neither_lab_nor_world() {
        for shows in ["report", "table", "plot", "results"] {
            let mut reached = vec![shows];
            let mut at = 0;
            while let Some(name) = reached.get(at) {
                let mut new = layer(name).expect("it has a row").others;
                new.retain(|it| !reached.contains(it));
                reached.extend(new);
                at += 1;
            }
            for world in ["lab", "sim", "testbed"] {
                assert!(!reached.contains(&world), "`{shows}` may reach `{world}`: {reached:?}");
            }
        }
    }

    #[test]
    fn dependency_outside_its_row_is_reported_with_reason() {
        let text = "[package]\nname = \"tcplab-trace\"\n\n[dependencies]\n\
                    tcplab-wire.workspace = true\ntcplab-path.workspace = true\n";
        assert_eq!(
            reported("trace", text),
            ["crates/trace/Cargo.toml:6: `trace` depends on `tcplab-path`: the analyser sees a \
              capture and nothing else, or it could not be checked against the truth; of our \
              crates it may use units, quantities, wire, capture"]
        );
    }

    #[test]
    fn each_wall_holds() {
        let table = [
            ("sim", "[dependencies]\ntcplab-testbed.workspace = true"),
            ("testbed", "[dependencies]\ntcplab-sim = { path = \"../sim\" }"),
            ("units", "[dependencies.tcplab-wire]\nworkspace = true"),
            ("report", "[dependencies]\ntcplab-testbed.workspace = true"),
            ("lab", "[dependencies]\ntcplab.workspace = true"),
            ("lab", "[dependencies]\ntoml = \"1\""),
            ("lab", "[build-dependencies]\ntoml = \"1\""),
            ("report", "[dependencies]\narrow-array = \"1\""),
            ("lab", "[dependencies]\nparquet = \"1\""),
            ("capture", "[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\""),
            ("lab", "[dependencies]\nnetlink-sys = \"0.9\""),
            ("capture", "[dependencies]\nsystem = { package = \"rustix\", version = \"1\" }"),
            ("lab", "[dependencies]\nindicatif = \"0.18\""),
            ("scenario", "[dependencies]\nanyhow = \"1\""),
            ("newcomer", "[dependencies]\n"),
            ("path", "[dependencies\n"),
        ];
        for (crate_name, text) in table {
            assert_eq!(reported(crate_name, text).len(), 1, "{crate_name}: {text}");
        }
    }

    #[test]
    fn allowed_dependencies_are_not_reported() {
        let table = [
            ("sim", "[dependencies]\ntcplab-stack.workspace = true\ntcplab-units.workspace = true"),
            ("trace", "[dev-dependencies]\ntcplab-path.workspace = true\nanyhow = \"1\""),
            ("scenario", "[dependencies]\ntoml.workspace = true\nserde.workspace = true"),
            ("testbed", "[dependencies]\nlibc.workspace = true\nnetlink-packet-core = \"0.8\""),
            ("cli", "[dependencies]\nanyhow = \"1\"\nclap = \"4\"\ntcplab-lab.workspace = true"),
        ];
        for (crate_name, text) in table {
            assert_eq!(reported(crate_name, text), [""; 0], "{crate_name}: {text}");
        }
        assert_eq!(check("Cargo.toml", "[workspace.dependencies]\nlibc = \"0.2\""), []);
    }
}
