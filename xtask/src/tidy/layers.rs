//! Which crate may stand on which: the layering of ARCHITECTURE.md, checked from the manifests.
//!
//! Dev-dependencies are free: a test may join what the product keeps apart.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::violation::Violation;

/// A crate of ours and all of ours that it may depend on.
struct Layer {
    name: &'static str,
    may_use: &'static [&'static str],
    /// Why the row is as short as it is.
    why: &'static str,
}

/// From the ground up: a row names only rows above it, so there can be no cycle.
const LAYERS: &[Layer] = &[
    Layer { name: "units", may_use: &[], why: "quantities stand on nothing" },
    Layer {
        name: "quantities",
        may_use: &["units"],
        why: "the names of what is measured stand below all that measure or show it",
    },
    Layer {
        name: "stats",
        may_use: &["units"],
        why: "statistics know numbers and seeded chance, not where they come from",
    },
    Layer {
        name: "servers",
        may_use: &["units"],
        why: "a server is written from the calls of the kernel; `units` names its designs",
    },
    Layer {
        name: "load",
        may_use: &["units"],
        why: "a load generator shares no code with the servers that it measures",
    },
    Layer { name: "wire", may_use: &[], why: "packets are bytes" },
    Layer { name: "capture", may_use: &["units"], why: "capture files carry any frame" },
    Layer {
        name: "path",
        may_use: &["units", "wire"],
        why: "a path moves packets, and reads of them what a router could",
    },
    Layer { name: "stack", may_use: &["units", "wire"], why: "a model of TCP sees segments" },
    Layer { name: "workload", may_use: &["units"], why: "an application sees a byte stream" },
    Layer {
        name: "recording",
        may_use: &["units", "quantities", "capture", "path", "workload"],
        why: "a recording is what both worlds leave, so it knows neither",
    },
    Layer {
        name: "scenario",
        may_use: &["units", "quantities", "path", "stack", "workload"],
        why: "a scenario describes an experiment, it does not run it",
    },
    Layer {
        name: "packetdrill",
        may_use: &["units", "wire", "stack"],
        why: "a script is held against a stack, segment by segment, in no world",
    },
    Layer {
        name: "sim",
        may_use: &["units", "wire", "stack", "path", "workload", "scenario", "recording"],
        why: "the virtual world joins models, and knows nothing of the real one",
    },
    Layer {
        name: "testbed",
        may_use: &["units", "servers", "load", "wire", "path", "workload", "scenario", "recording"],
        why: "the real world joins kernels, and knows nothing of the virtual one",
    },
    Layer {
        name: "trace",
        may_use: &["units", "quantities", "wire", "capture"],
        why: "the analyser sees a capture and nothing else, or it could not be checked \
              against the truth",
    },
    Layer {
        name: "findings",
        may_use: &["units", "quantities", "trace"],
        why: "a finding is proved by a trace",
    },
    Layer {
        name: "table",
        may_use: &["units", "quantities", "path", "recording", "trace", "findings"],
        why: "tables hold results, whoever made them",
    },
    Layer {
        name: "results",
        may_use: &["units", "stats", "path", "workload", "recording", "scenario", "trace"],
        why: "results are data, whoever made them and whoever shows them",
    },
    Layer {
        name: "lab",
        may_use: &[
            "units",
            "quantities",
            "stats",
            "wire",
            "capture",
            "path",
            "workload",
            "recording",
            "scenario",
            "sim",
            "testbed",
            "trace",
            "findings",
            "table",
            "results",
        ],
        why: "the laboratory runs experiments, others show them",
    },
    Layer {
        name: "plot",
        may_use: &["units", "quantities", "path", "trace"],
        why: "a plot draws one trace, or the outlook of one path: what was, or what will be",
    },
    Layer {
        name: "report",
        may_use: &[
            "units",
            "quantities",
            "stats",
            "path",
            "recording",
            "scenario",
            "trace",
            "findings",
            "results",
            "plot",
        ],
        why: "a report shows what a run has left and runs nothing itself",
    },
    Layer {
        name: "cli",
        may_use: &[
            "units",
            "quantities",
            "servers",
            "load",
            "wire",
            "capture",
            "path",
            "workload",
            "recording",
            "scenario",
            "stack",
            "packetdrill",
            "testbed",
            "trace",
            "findings",
            "table",
            "results",
            "lab",
            "plot",
            "report",
        ],
        why: "the binary stands on top",
    },
    Layer {
        name: "fuzz/readers",
        may_use: &[
            "units",
            "servers",
            "load",
            "wire",
            "capture",
            "path",
            "stack",
            "recording",
            "scenario",
            "packetdrill",
            "trace",
            "findings",
        ],
        why: "fuzzing calls every reader of untrusted bytes; no product crate needs it",
    },
    Layer {
        name: "xtask",
        may_use: &[],
        why: "the repository's tasks check the crates from outside",
    },
];

/// Foreign crates that are at home in few of ours.
struct Foreign {
    /// With `*` at the end: every name that begins so.
    names: &'static [&'static str],
    homes: &'static [&'static str],
    why: &'static str,
}

const FOREIGN: &[Foreign] = &[
    Foreign {
        names: &["toml", "toml_edit"],
        homes: &["scenario", "xtask"],
        why: "only `scenario` knows TOML",
    },
    Foreign {
        names: &["arrow*", "parquet*"],
        homes: &["table"],
        why: "only `table` knows Arrow and Parquet",
    },
    Foreign {
        names: &["libc", "netlink*", "rustix", "nix"],
        homes: &["testbed", "servers", "load"],
        why: "only `testbed`, and servers and their clients, speak to the kernel",
    },
    Foreign { names: &["io-uring"], homes: &["servers"], why: "it is a way to carry connections" },
    Foreign {
        names: &["clap*", "indicatif"],
        homes: &["cli"],
        why: "only `cli` speaks at a terminal",
    },
    Foreign {
        names: &["anyhow"],
        homes: &["cli", "xtask"],
        why: "a library names its errors, one enum per operation",
    },
];

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
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
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
            let (why, remedy) = layer.objection(&dependency)?;
            Some(violation(line, format!("`{name}` depends on `{dependency}`"), why, remedy))
        })
        .collect()
}

impl Layer {
    /// Why this crate may not depend on `dependency`, and what to do instead.
    fn objection(&self, dependency: &str) -> Option<(&'static str, String)> {
        // The binary's crate is called as the program is.
        let own =
            if dependency == "tcplab" { Some("cli") } else { dependency.strip_prefix("tcplab-") };
        if let Some(own) = own {
            let remedy = match self.may_use {
                [] => "it may use none of our crates".into(),
                some => format!("of our crates it may use {}", some.join(", ")),
            };
            return (!self.may_use.contains(&own)).then_some((self.why, remedy));
        }
        let foreign = FOREIGN.iter().find(|foreign| foreign.is(dependency))?;
        let remedy = format!("move what needs it to `{}`", foreign.homes.join("` or `"));
        (!foreign.homes.contains(&self.name)).then_some((foreign.why, remedy))
    }
}

impl Foreign {
    fn is(&self, dependency: &str) -> bool {
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

    fn told(crate_name: &str, text: &str) -> Vec<String> {
        let path = format!("crates/{crate_name}/Cargo.toml");
        check(&path, text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_row_names_only_rows_above_it() {
        for (index, layer) in LAYERS.iter().enumerate() {
            for used in layer.may_use {
                let above = LAYERS[..index].iter().any(|other| other.name == *used);
                assert!(above, "`{}` may use `{used}`, which is not above it", layer.name);
            }
        }
    }

    #[test]
    fn what_shows_results_reaches_neither_the_laboratory_nor_a_world() {
        for shows in ["report", "table", "plot", "results"] {
            let mut reached = vec![shows];
            let mut at = 0;
            while let Some(name) = reached.get(at) {
                let layer = LAYERS.iter().find(|layer| layer.name == *name).expect("it has a row");
                let new: Vec<&str> =
                    layer.may_use.iter().copied().filter(|it| !reached.contains(it)).collect();
                reached.extend(new);
                at += 1;
            }
            for world in ["lab", "sim", "testbed"] {
                assert!(!reached.contains(&world), "`{shows}` may reach `{world}`: {reached:?}");
            }
        }
    }

    #[test]
    fn a_dependency_outside_its_row_is_told_with_its_reason() {
        let text = "[package]\nname = \"tcplab-trace\"\n\n[dependencies]\n\
                    tcplab-wire.workspace = true\ntcplab-path.workspace = true\n";
        assert_eq!(
            told("trace", text),
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
            assert_eq!(told(crate_name, text).len(), 1, "{crate_name}: {text}");
        }
    }

    #[test]
    fn what_the_rows_allow_is_let_be() {
        let table = [
            ("sim", "[dependencies]\ntcplab-stack.workspace = true\ntcplab-units.workspace = true"),
            ("trace", "[dev-dependencies]\ntcplab-path.workspace = true\nanyhow = \"1\""),
            ("scenario", "[dependencies]\ntoml.workspace = true\nserde.workspace = true"),
            ("testbed", "[dependencies]\nlibc.workspace = true\nnetlink-packet-core = \"0.8\""),
            ("cli", "[dependencies]\nanyhow = \"1\"\nclap = \"4\"\ntcplab-lab.workspace = true"),
        ];
        for (crate_name, text) in table {
            assert_eq!(told(crate_name, text), [""; 0], "{crate_name}: {text}");
        }
        assert_eq!(check("Cargo.toml", "[workspace.dependencies]\nlibc = \"0.2\""), []);
    }
}
