//! `make accuracy`: compares the analyser with the kernels' counters, with the capture at the other
//! end, and with other analysers. First the corpus, then new recordings on this kernel.
//!
//! With names, runs only cases whose name contains one of them. `--keep DIRECTORY` keeps the
//! recordings and reuses those it finds; `--frames` lists each wrongly classified frame.

#![expect(clippy::print_stdout, reason = "a table for whoever runs it")]

mod account;
mod cases;
mod peers;
mod table;
mod talk;
mod virtual_kernels;

#[path = "../../../trace/tests/accuracy/counted.rs"]
mod counted;
#[path = "../../../trace/tests/accuracy/found.rs"]
mod found;
#[path = "../../../trace/tests/accuracy/twins.rs"]
mod twins;

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use account::Account;
use cases::{Recorded, Version, cases};
use counted::Counted;
use found::{Score, Sums};
use table::{Row, Table};
use tcplab_trace::Segment;

fn main() -> ExitCode {
    // Cargo says `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [end, case] = arguments.as_slice()
        && (end == "near" || end == "far")
    {
        talk::play(end, case.parse().expect("the number of a case"));
        return ExitCode::SUCCESS;
    }
    let options = Options::parse(arguments);
    let mut table = Table::begin(options.frames);
    for transfer in corpus().into_iter().filter(|transfer| options.wants(&transfer.name)) {
        transfer.show(&mut table);
    }
    let scratch = tempfile::tempdir().expect("a place for recordings");
    let home = options.keep.as_deref().unwrap_or(scratch.path());
    for (index, case) in cases().enumerate().filter(|(_, case)| options.wants(case.name)) {
        let directory = home.join(case.name.replace(' ', "-"));
        match recorded(index, &case, &directory) {
            Ok(transfer) => {
                transfer.show(&mut table);
                if case.pieces {
                    transfer.show_pieces(&directory.join(talk::PIECES), &mut table);
                }
            }
            Err(why) => table.skip(case.name, &why),
        }
    }
    let is_right = table.end();
    let agrees = virtual_kernels::show(|name| options.wants(name));
    if is_right && agrees { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Debug, Default)]
struct Options {
    names: Vec<String>,
    keep: Option<PathBuf>,
    frames: bool,
}

impl Options {
    fn parse(arguments: Vec<String>) -> Options {
        let mut options = Options::default();
        let mut words = arguments.into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--keep" => options.keep = words.next().map(PathBuf::from),
                "--frames" => options.frames = true,
                _ => options.names.push(word),
            }
        }
        options
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part.as_str()))
    }
}

/// A transfer with its recordings and counters.
struct Transfer {
    name: String,
    sender: IpAddr,
    counted: Counted,
    account: Option<Account>,
    /// The sender has a pacing timer, whose time its kernel excludes from other limits.
    paced: bool,
    /// At the sender and at the receiver.
    captures: [PathBuf; 2],
}

impl Transfer {
    fn show(&self, table: &mut Table) {
        let traces = self.captures.each_ref().map(|capture| found::trace(capture));
        let [sent, received] =
            self.captures.each_ref().map(|capture| twins::sent(capture, self.sender));
        let again = twins::repeats(&sent);
        let there = found::judgements(&traces[0], self.sender);
        let at_sender = Score::at_sender(&traces[0], self.sender, &again);
        self.show_at(0, &traces[0], Some(at_sender), table);
        let marked = twins::are_marked(&sent);
        let at_receiver = marked.then(|| {
            let roles = twins::roles(&sent, &received);
            Score::at_receiver(&traces[1], self.sender, &roles, &there)
        });
        self.show_at(1, &traces[1], at_receiver, table);
        self.show_holey(&sent, table);
        if marked {
            self.show_middle(&sent, &received, &there, table);
        }
        let twice = found::twice(&self.captures[1]);
        let once = Sums::of(&traces[1], self.sender);
        table.twice(&self.name, once, Sums::of(&twice, self.sender));
        let lost = twins::lost(&sent, &received);
        table.lost(&self.name, &lost, &found::lost(&traces[0], self.sender));
        for (trace, tap) in traces.iter().zip(["sender", "receiver"]) {
            if let (Some(account), Some(flow)) = (&self.account, account::largest(trace)) {
                let shares = account.beside(flow, tap == "sender");
                table.limits(&self.name, tap, &shares, self.paced);
            }
        }
    }

    fn show_at(
        &self,
        tap: usize,
        trace: &tcplab_trace::Trace,
        score: Option<Score>,
        table: &mut Table,
    ) {
        let capture = &self.captures[tap];
        table.row(&Row {
            name: &self.name,
            tap: ["sender", "receiver"][tap],
            counted: (tap == 0).then_some(&self.counted),
            sums: Sums::of(trace, self.sender),
            score,
            proven: found::is_proven(trace, self.sender),
            places: found::taps(trace, self.sender),
            tshark: peers::tshark(capture, self.sender),
            tcptrace: peers::tcptrace(capture),
        });
    }

    /// The receiver's capture as from a capture point half-way.
    fn show_middle(
        &self,
        sent: &[twins::Sent],
        received: &[twins::Sent],
        there: &BTreeMap<u64, &Segment>,
        table: &mut Table,
    ) {
        let least = found::flows(&found::trace(&self.captures[0]), self.sender)
            .filter_map(|flow| flow.round_trips.min)
            .min();
        let Some(least) = least else { return };
        let (trace, order) = found::before(&self.captures[1], self.sender, least.as_nanos() / 4);
        let roles = twins::roles(sent, received);
        let place = |(frame, &number): (u64, &u64)| Some((frame, *roles.get(&number)?));
        let roles = (1..).zip(&order).filter_map(place).collect();
        table.row(&Row {
            name: &self.name,
            tap: "…half-way",
            counted: None,
            sums: Sums::of(&trace, self.sender),
            score: Some(Score::at_receiver(&trace, self.sender, &roles, there)),
            proven: found::is_proven(&trace, self.sender),
            places: found::taps(&trace, self.sender),
            tshark: None,
            tcptrace: None,
        });
    }

    /// The sender's capture without each 53rd frame.
    fn show_holey(&self, sent: &[twins::Sent], table: &mut Table) {
        const EACH: u64 = 53;
        let trace = found::without(&self.captures[0], |frame| frame.is_multiple_of(EACH));
        let again = twins::repeats(sent).into_iter().filter(|frame| !frame.is_multiple_of(EACH));
        let again: Vec<u64> = again.map(|frame| frame - frame / EACH).collect();
        table.row(&Row {
            name: &self.name,
            tap: "…less 1/53",
            counted: None,
            sums: Sums::of(&trace, self.sender),
            score: Some(Score::at_sender(&trace, self.sender, &again)),
            proven: found::is_proven(&trace, self.sender),
            places: found::taps(&trace, self.sender),
            tshark: None,
            tcptrace: None,
        });
    }

    /// At the sender's device, before segmentation.
    fn show_pieces(&self, capture: &Path, table: &mut Table) {
        if !capture.exists() {
            return table
                .skip(&self.name, "tcpdump is not installed, so there are no large pieces");
        }
        let trace = found::trace(capture);
        let sent = twins::sent(capture, self.sender);
        table.row(&Row {
            name: &self.name,
            tap: "…uncut",
            counted: Some(&self.counted),
            sums: Sums::of(&trace, self.sender),
            score: Some(Score::at_sender(&trace, self.sender, &twins::repeats(&sent))),
            proven: found::is_proven(&trace, self.sender),
            places: found::taps(&trace, self.sender),
            tshark: peers::tshark(capture, self.sender),
            tcptrace: peers::tcptrace(capture),
        });
    }
}

fn corpus() -> Vec<Transfer> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let entries = fs::read_dir(&folder).expect("the corpus");
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            name.strip_suffix(".truth.json").map(str::to_owned)
        })
        .collect();
    names.sort();
    let read = |name: String| {
        let truth = fs::read(folder.join(format!("{name}.truth.json"))).expect("its truth");
        let truth: serde_json::Value = serde_json::from_slice(&truth).expect("JSON");
        let counters = truth["sender_nstat"].as_object().expect("the sender's counters").iter();
        let counters = counters.filter_map(|(name, count)| Some((name.clone(), count.as_u64()?)));
        Transfer {
            sender: talk::CLIENT[0],
            counted: Counted::new(counters),
            // The tests of `tcplab_trace` compare these.
            account: None,
            paced: false,
            captures: ["snd", "rcv"].map(|end| folder.join(format!("{name}.{end}.pcap.zst"))),
            name,
        }
    };
    names.into_iter().map(read).collect()
}

/// The existing recording, else a new one.
fn recorded(index: usize, case: &Recorded, directory: &Path) -> Result<Transfer, String> {
    if !directory.join(talk::NEAR).exists() {
        record(index, case, directory)?;
    }
    Ok(Transfer {
        name: case.name.to_owned(),
        sender: talk::CLIENT[usize::from(case.version == Version::Six)],
        counted: Counted::new(talk::counters_of_client(directory)),
        // The sums of many connections have no single account.
        account: Account::left_in(directory).filter(|_| !case.talk.is_many()),
        paced: case.congestion == cases::BBR,
        captures: ["client", "server"].map(|end| directory.join(format!("seen/{end}.pcapng"))),
    })
}

fn record(index: usize, case: &Recorded, directory: &Path) -> Result<(), String> {
    if directory.exists() {
        // An incomplete recording.
        fs::remove_dir_all(directory).map_err(|error| error.to_string())?;
    }
    fs::create_dir_all(directory).map_err(|error| error.to_string())?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut shell = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    shell.current_dir(directory).stdin(Stdio::null());
    shell.args(["shell", "--quiet", "--capture", "seen"]);
    for key in case.path {
        shell.args(["-s", key]);
    }
    shell.arg("--far-command").arg(format!("'{}' far {index}", own.display()));
    shell.args(["--wait-for", "5001", "--"]).arg(own).args(["near", &index.to_string()]);
    let ended = shell.output().map_err(|error| error.to_string())?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        return Err(said.lines().last().unwrap_or("it could not be recorded").to_owned());
    }
    Ok(())
}
