//! The namespace in the middle, configured with `ip` and `tc`.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, Stdio};

use tcplab_path::tc::{Interfaces, TcCommand, TcPlan};

use crate::TrialError;

/// What to do where they are missing.
pub(crate) const MISSING_TOOLS: &str =
    "install the package iproute2, which has them, or leave out `backend = \"netem\"`";
/// Where programs for administrators are, also when `PATH` of others does not say so.
const MORE_PLACES: &str = "/usr/sbin:/sbin:/usr/bin:/bin";
/// What the kernel says of a qdisc that it does not have (net/sched/sch_api.c), a device
/// (net/core/rtnetlink.c) and a filter or action (net/sched/cls_api.c, act_api.c).
const UNKNOWN: [&str; 4] = [
    "qdisc kind is unknown",
    "Unknown device type",
    "TC classifier not found",
    "Failed to load TC action module",
];

/// `ip` or `tc`, for the network namespace of the calling thread.
pub(crate) struct Tool<'a> {
    words: Vec<&'a str>,
    /// The directory of a distribution that it is to find.
    tables: Option<&'a Path>,
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum ToolError {
    /// There is no such program.
    Missing { program: String },
    /// The kernel does not have what it was asked for.
    Unknown { said: String },
    /// Another reason.
    Failed { said: String },
}

impl<'a> Tool<'a> {
    /// A command; its first word is the program.
    pub(crate) fn new(words: &[&'a str]) -> Tool<'a> {
        Tool { words: words.to_vec(), tables: None }
    }

    /// Runs it to its end.
    pub(crate) fn run(&self) -> Result<(), ToolError> {
        let (program, arguments) = self.words.split_first().expect("a command has a program");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).env("LC_ALL", "C");
        command.env("PATH", format!("{path}:{MORE_PLACES}"));
        if let Some(tables) = self.tables {
            command.env("TC_LIB_DIR", tables);
        }
        let output = match command.output() {
            Ok(output) => output,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ToolError::Missing { program: (*program).into() });
            }
            Err(error) => return Err(ToolError::Failed { said: error.to_string() }),
        };
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().map(str::trim).find(|line| !line.is_empty());
        let said = said.unwrap_or("no reason").trim_start_matches("Error: ").to_owned();
        let is_unknown = UNKNOWN.iter().any(|unknown| said.contains(unknown));
        Err(if is_unknown { ToolError::Unknown { said } } else { ToolError::Failed { said } })
    }
}

/// Why a command of a path's could not be done, and what to do about it.
fn explained(error: ToolError, line: &str, module: Option<&str>) -> TrialError {
    match error {
        ToolError::Missing { program } => TrialError::reported(
            format!("`backend = \"netem\"` needs `{program}`, which is not installed"),
            MISSING_TOOLS,
        ),
        ToolError::Unknown { said } => {
            let module = module.unwrap_or("the module for it");
            TrialError::Reported {
                message: format!("this kernel does not have {module}: `{line}` says: {said}"),
                remedy: Some(format!(
                    "as root: `modprobe {module}`; a kernel built without it cannot run this path: \
                     leave out `backend = \"netem\"`, and tcplab does the same itself"
                )),
            }
        }
        ToolError::Failed { said } => TrialError::reported(format!("`{line}` says: {said}"), None),
    }
}

/// Tries each qdisc and device of the plan in the calling thread's namespace, before anything else
/// is made, so that what is missing is reported first.
pub(super) fn try_out(plan: &TcPlan) -> Result<(), TrialError> {
    let mut kinds: Vec<&str> = Vec::new();
    for (_, link) in plan.links() {
        let qdiscs = link.shaper.iter().flatten().chain(&link.line);
        kinds.extend(qdiscs.map(|qdisc| qdisc.kind.as_str()));
    }
    // netem is the one that kernels most often lack.
    kinds.sort_unstable_by_key(|kind| (*kind != "netem", *kind));
    kinds.dedup();
    for kind in kinds {
        try_qdisc(kind).map_err(|error| {
            let line = format!("tc qdisc replace dev lo root {kind}");
            explained(error, &line, Some(&format!("sch_{kind}")))
        })?;
    }
    Ok(())
}

/// Whether the kernel has a qdisc of that kind: `lo` gets one, and loses it.
pub(crate) fn try_qdisc(kind: &str) -> Result<(), ToolError> {
    let needs: &[&str] = match kind {
        "tbf" => &["rate", "1mbit", "burst", "1514", "limit", "1514"],
        "red" => &[
            "limit",
            "400000",
            "min",
            "30000",
            "max",
            "90000",
            "avpkt",
            "1000",
            "burst",
            "55",
            "bandwidth",
            "1mbit",
        ],
        _ => &[],
    };
    let words = [&["tc", "qdisc", "replace", "dev", "lo", "root", kind], needs].concat();
    Tool::new(&words).run()?;
    Tool::new(&["tc", "qdisc", "del", "dev", "lo", "root"]).run()
}

/// Makes the calling thread's namespace forward packets between the two `devices`, each of which
/// leads to one of the `addresses`.
pub(super) fn join(devices: [&String; 2], addresses: [Ipv4Addr; 2]) -> Result<(), TrialError> {
    let set = |file: String, value: &str| {
        fs::write(&file, value).map_err(TrialError::setup(format!("write {file}")))
    };
    set("/proc/sys/net/ipv4/ip_forward".into(), "1")?;
    for name in ["all", devices[0], devices[1]] {
        set(format!("/proc/sys/net/ipv4/conf/{name}/rp_filter"), "0")?;
    }
    for (device, address) in devices.into_iter().zip(addresses) {
        let to = format!("{address}/32");
        let words = ["ip", "route", "add", &to, "dev", device];
        Tool::new(&words).run().map_err(|error| explained(error, &words.join(" "), None))?;
    }
    Ok(())
}

/// Puts the path between the two devices. A distribution is put into `directory` as long as tc
/// reads it.
pub(super) fn set_up(
    plan: &TcPlan,
    [client, server]: [&String; 2],
    directory: &Path,
) -> Result<(), TrialError> {
    let interfaces = Interfaces { client: client.clone(), server: server.clone() };
    for command in plan.script(&interfaces).setup {
        let TcCommand { words, module, table, .. } = &command;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let file = table.as_ref().map(|table| directory.join(format!("{}.dist", table.name)));
        if let (Some(file), Some(table)) = (&file, table) {
            fs::write(file, table.content())
                .map_err(TrialError::setup(format!("write {}", file.display())))?;
        }
        let tool = Tool { tables: file.is_some().then_some(directory), ..Tool::new(&words) };
        let ran = tool.run();
        if let Some(file) = &file {
            let _ = fs::remove_file(file);
        }
        ran.map_err(|error| explained(error, &command.line(), module.as_deref()))?;
    }
    Ok(())
}
