//! Who takes part.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::captures::Kind;
use crate::goals;
use crate::process::is_installed;

/// A program and what it is asked to do with a capture.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    program: PathBuf,
    arguments: &'static [&'static str],
    /// On which captures it is timed.
    on: &'static [Kind],
    /// Once is enough for what takes a minute.
    pub(crate) slow: bool,
    /// It may use one processor only.
    pub(crate) pinned: bool,
    /// It is about threads, so it never is.
    pub(crate) threaded: bool,
}

/// The processor that all use in turn.
const PROCESSOR: &str = "0";

impl Contender {
    pub(crate) fn takes_part(&self, kind: Kind) -> bool {
        self.on.contains(&kind)
    }
    /// With the capture's path where `{}` stands.
    pub(crate) fn command(&self, capture: &Path) -> Command {
        let mut command = if self.pinned {
            let mut command = Command::new("taskset");
            command.args(["--cpu-list", PROCESSOR]).arg(&self.program);
            command
        } else {
            Command::new(&self.program)
        };
        for argument in self.arguments {
            if *argument == "{}" {
                command.arg(capture);
            } else {
                command.arg(argument);
            }
        }
        command
    }
}

const FEW: &[Kind] = &[Kind::Bulk, Kind::Foul, Kind::Connections, Kind::Full];

/// By how many threads: name and arguments.
const THREADS: [(&str, &[&str]); 4] = [
    (goals::ONE_THREAD, &["trace", "{}", "--jobs", "1"]),
    (goals::TWO_THREADS, &["trace", "{}", "--jobs", "2"]),
    ("tcplab trace --jobs 4", &["trace", "{}", "--jobs", "4"]),
    ("tcplab trace --jobs 8", &["trace", "{}", "--jobs", "8"]),
];

/// Name, program, arguments, captures, and whether it is slow.
type Other = (&'static str, &'static str, &'static [&'static str], &'static [Kind], bool);

/// All whose programs are here, and the names of those that are not.
pub(crate) fn all(own: &Path) -> (Vec<Contender>, Vec<&'static str>) {
    let made = |name, program: &Path, arguments, on, slow| {
        let program = program.to_owned();
        Contender { name, program, arguments, on, slow, pinned: false, threaded: false }
    };
    let mut here = vec![
        made("bare parse loop", own, &["--task", "parse", "{}"], &Kind::ALL, false),
        made("tcplab's engine", own, &["--task", "summary", "{}"], &Kind::ALL, false),
    ];
    let mut missing = Vec::new();
    let tcplab = own.parent().and_then(Path::parent).map(|folder| folder.join("tcplab"));
    match tcplab.filter(|program| knows_trace(program)) {
        Some(tcplab) => {
            here.push(made(goals::OURS, &tcplab, &["trace", "{}"], &Kind::ALL, false));
            let drawing = &["trace", "{}", "--xpl", "graphs", "--graphs", "tsg"];
            here.push(made(goals::OURS_DRAWING, &tcplab, drawing, &[Kind::Bulk], false));
            for (name, arguments) in THREADS {
                let on = &[Kind::Bulk, Kind::Connections];
                here.push(Contender {
                    threaded: true,
                    ..made(name, &tcplab, arguments, on, false)
                });
            }
        }
        None => missing.push("tcplab trace"),
    }
    // `-n`: names are not looked up, which would take longer than the analysis.
    let others: [Other; 5] = [
        ("tcpdump -w /dev/null", "tcpdump", &["-r", "{}", "-w", "/dev/null"], FEW, false),
        ("tcptrace", "tcptrace", &["-n", "{}"], FEW, false),
        ("tcptrace -l -r -W", "tcptrace", &["-n", "-l", "-r", "-W", "{}"], FEW, false),
        ("tcptrace -S", "tcptrace", &["-n", "-S", "{}"], &[Kind::Bulk], true),
        ("tshark -q -z conv,tcp", "tshark", &["-n", "-q", "-z", "conv,tcp", "-r", "{}"], FEW, true),
    ];
    for (name, program, arguments, on, slow) in others {
        if is_installed(program) {
            here.push(made(name, Path::new(program), arguments, on, slow));
        } else {
            missing.push(name);
        }
    }
    (here, missing)
}

fn knows_trace(tcplab: &Path) -> bool {
    Command::new(tcplab).args(["trace", "--help"]).output().is_ok_and(|said| said.status.success())
}
