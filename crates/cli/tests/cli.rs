//! Errors: exit code 2, a message with cause and remedy, and no partial files. Needs no kernel
//! experiments.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

#[path = "cli/runs.rs"]
mod runs;
#[path = "cli/series.rs"]
mod series;

const GOOD: &str = r#"title = "Small"

[path]
delay = "1 ms"

[workload]
upload = "1 kB"
"#;

/// A directory with a good scenario in it.
fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("small.toml"), GOOD).unwrap();
    home
}

fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    command.args(arguments).current_dir(home).stdin(Stdio::null());
    // A terminal's wishes must not change what is compared.
    command.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env("COLUMNS", "100");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What is said when the program cannot do what it is asked: no answer, exit code 2, and no run.
fn refusal(home: &Path, arguments: &[&str]) -> String {
    let output = command(home, arguments).output().unwrap();
    let said = refused(&output, &arguments.join(" "));
    assert!(!home.join("runs").exists(), "{arguments:?} left {:?}", everything(home));
    said
}

fn refused(output: &Output, what: &str) -> String {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{what}: {said}");
    assert_eq!(text(&output.stdout), "", "{what}");
    assert!(!said.contains("panicked"), "{what}: {said}");
    said
}

/// Everything below a directory, for messages.
fn everything(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.iter().flat_map(|p| [vec![p.display().to_string()], everything(p)].concat()).collect()
}

#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
fn skipped(reason: &str) {
    eprintln!("SKIPPED: {reason}");
}

#[test]
fn unknown_scenario_is_refused() {
    let home = home();
    let write = |name: &str, content: &[u8]| fs::write(home.path().join(name), content).unwrap();
    fs::create_dir(home.path().join("folder")).unwrap();
    fs::create_dir(home.path().join("folder.toml")).unwrap();
    write("latin.toml", &[b"title = \"x\"\n# caf", &[0xe9][..], b"\n"].concat());
    write("empty.toml", b"");
    let mut all = String::new();
    for given in
        ["intrruption", "missing.toml", "folder", "folder.toml", "latin.toml", "empty.toml"]
    {
        all += &format!("$ tcplab run {given}\n{}\n", refusal(home.path(), &["run", given]));
    }
    all += "$ tcplab scenarios nosuch\n";
    all += &refusal(home.path(), &["scenarios", "nosuch"]);
    insta::assert_snapshot!(all);
}

#[test]
fn path_plot_is_drawn_or_refused() {
    let home = home();
    let run = |arguments: &[&str]| command(home.path(), arguments).output().unwrap();
    let svg = run(&["path", "plot", "small.toml"]);
    assert!(svg.status.success(), "{}", text(&svg.stderr));
    assert!(text(&svg.stdout).starts_with("<svg ") && text(&svg.stdout).ends_with("</svg>\n"));
    let written = run(&["path", "plot", "small.toml", "-o", "small.svg"]);
    assert_eq!(text(&written.stderr), "small.svg: 10 s of the path\n");
    assert_eq!(fs::read(home.path().join("small.svg")).unwrap(), svg.stdout);
    assert_eq!(everything(home.path()).len(), 2, "nothing half-written stays");
    let json =
        run(&["path", "plot", "small.toml", "--json", "--duration", "1 s", "-s", "loss=1 %"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["until_ns"], 1_000_000_000);
    assert_eq!(json["forward"]["moments"][0]["delay_ns"], 1_000_000);

    let mut all = String::new();
    for arguments in [
        &["path", "plot", "nosuch"][..],
        &["path", "plot", "small.toml", "--duration", "2 h"],
        &["path", "plot", "small.toml", "--duration", "0 s"],
        &["path", "plot", "small.toml", "--duration", "5"],
        &["path", "plot", "small.toml", "-s", "delay=soon"],
        &["path", "plot", "small.toml", "-o", "nowhere/small.svg"],
    ] {
        let line = arguments.join(" ");
        all += &format!("$ tcplab {line}\n{}\n", refusal(home.path(), arguments));
    }
    insta::assert_snapshot!(all);
}

/// What became of a packet, as a recording has it.
const ROW: &str = r#"{"frame":1,"id":7,"direction":"forward","size_bytes":1500,"entered_ns":5,"left_ns":9,"fate":"delivered"}"#;

#[test]
fn export_is_complete_or_absent() {
    let home = home();
    let recording = home.path().join("recording");
    fs::create_dir(&recording).unwrap();
    fs::write(recording.join("DONE"), "").unwrap();
    let log = format!("{ROW}\n{}\n", ROW.replace('7', "8"));
    fs::write(recording.join("path.jsonl"), &log).unwrap();
    let export = |arguments: &[&str]| {
        let arguments = [&["export", "recording", "--table", "path"], arguments].concat();
        command(home.path(), &arguments).output().unwrap()
    };
    let list = command(home.path(), &["export", "recording"]).output().unwrap();
    assert!(text(&list.stdout).starts_with("path     A row for each packet"), "{list:?}");
    let table = export(&["--format", "parquet"]);
    assert_eq!(text(&table.stderr), "path.parquet: 2 rows\n");
    let parquet = fs::read(home.path().join("path.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    assert_eq!(export(&["--format", "parquet", "-o", "-"]).stdout, parquet);
    let lines = export(&["--format", "jsonl", "-o", "log"]);
    assert_eq!(text(&lines.stderr), "log: 2 rows\n");
    let written = fs::read_to_string(home.path().join("log")).unwrap();
    let first: serde_json::Value = serde_json::from_str(written.lines().next().unwrap()).unwrap();
    assert_eq!((&first["frame"], &first["left_ns"]), (&1.into(), &9.into()));
    assert!(first["queued_ns"].is_null() && first["marked"] == false, "{first}");
    // What has its name by the shell goes there, after what is there already.
    let shared = File::options().append(true).open(home.path().join("log")).unwrap();
    let more = ["export", "recording", "--table", "path", "--format", "jsonl", "-o", "/dev/stdout"];
    let status = command(home.path(), &more).stdout(shared).stderr(Stdio::null()).status().unwrap();
    assert!(status.success());
    assert_eq!(fs::read_to_string(home.path().join("log")).unwrap(), written.repeat(2));
    let there = everything(home.path());

    for (arguments, said) in [
        (&["-o", "/dev/full"][..], "error: cannot write /dev/full: No space left on device"),
        (&["-o", "recording"], "error: cannot write recording: Is a directory"),
    ] {
        let said_now = refused(&export(arguments), said);
        assert!(said_now.starts_with(said), "{said_now}");
    }
    fs::write(recording.join("path.jsonl"), format!("{log}no row\n")).unwrap();
    for format in ["parquet", "jsonl", "csv", "arrow"] {
        let said = refused(&export(&["--format", format, "-o", "log"]), format);
        assert!(said.contains("path.jsonl") && !said.contains("cannot write"), "{said}");
    }
    assert_eq!(fs::read_to_string(home.path().join("log")).unwrap(), written.repeat(2));
    assert_eq!(everything(home.path()), there, "nothing half-written stays");
}

#[test]
fn mistake_is_shown_with_its_line() {
    let home = home();
    let mut all = String::new();
    for (old, new) in [
        ("delay = \"1 ms\"", "delaay = \"1 ms\""),
        ("\"1 ms\"", "\"1 MB\""),
        ("\"1 ms\"", "\"1 ms\"\nrate = \"-5 Mbit/s\""),
        ("\"1 ms\"", "\"1 ms\"\nrate = \"0 bit/s\""),
        ("upload", "uplod"),
        ("[workload]", "[workload"),
    ] {
        fs::write(home.path().join("bad.toml"), GOOD.replacen(old, new, 1)).unwrap();
        let said = refusal(home.path(), &["run", "bad.toml"]);
        assert!(said.contains("bad.toml:"), "no source line: {said}");
        all += &format!("{new}\n{said}\n");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn run_that_cannot_be_resumed_is_left_alone() {
    let home = home();
    fs::create_dir(home.path().join("folder")).unwrap();
    let mut all = String::new();
    for arguments in [
        &["run", "--resume"][..],
        &["run", "small", "--resume"],
        &["run", "--resume", "folder"],
        &["run", "--resume", "nowhere"],
        &["run", "--resume", "small.toml"],
        &["report"],
        &["report", "folder"],
    ] {
        let line = arguments.join(" ");
        all += &format!("$ tcplab {line}\n{}\n", refusal(home.path(), arguments));
    }
    assert_eq!(everything(&home.path().join("folder")), [""; 0]);
    insta::assert_snapshot!(all);
}

#[test]
fn damaged_runs_are_refused() {
    let home = home();
    let folder = home.path().join("folder");
    fs::create_dir(&folder).unwrap();
    let plan = r#"{"name": "small", "world": "kernel", "started": "2026-11-21T20:15:00Z",
        "seed": 1, "trials": 1, "first": 1, "only": [], "warm_up": 0, "retries": 2, "keep": "all",
        "tcplab": "0.1.0", "cases": ["another"]}"#;
    for (plan, said) in [
        ("{\"name\": \"sm", "plan.json is damaged: EOF while parsing"),
        (plan, "this version reads its scenario differently"),
    ] {
        fs::write(folder.join("plan.json"), plan).unwrap();
        fs::write(folder.join("scenario.toml"), GOOD).unwrap();
        let refusal = refusal(home.path(), &["run", "--resume", "folder"]);
        assert!(refusal.contains(said), "{refusal}");
    }
}

#[test]
fn unwritable_run_is_refused() {
    let home = home();
    let said = refusal(home.path(), &["run", "small.toml", "--runs", "small.toml/below"]);
    insta::assert_snapshot!(said, @r"
    error: cannot make small.toml/below/small: Not a directory (os error 20)
      try: choose another place with `--runs DIR`
    ");
    if rustix::process::geteuid().is_root() {
        // No permission stops root; /proc does.
        let said = refusal(home.path(), &["run", "small.toml", "--runs", "/proc/here"]);
        assert!(said.contains("cannot make /proc/here/small: "), "{said}");
        assert!(said.contains("--runs DIR"), "{said}");
    } else {
        let said = refusal(home.path(), &["run", "small.toml", "--runs", "/proc/1/here"]);
        assert!(said.contains("--runs DIR"), "{said}");
    }
}

/// A limit on file sizes is the full disk that anybody can make.
#[test]
fn file_size_limit_is_reported() {
    let home = home();
    let program = env!("CARGO_BIN_EXE_tcplab");
    // In blocks of 512 or 1024 bytes; not even the plan fits.
    let line = format!("ulimit -f 0 && exec '{program}' run small.toml");
    let output = Command::new("sh").args(["-c", &line]).current_dir(home.path()).output().unwrap();
    let said = refused(&output, "ulimit -f 0");
    assert!(said.contains("scenario.toml: File too large"), "{said}");
    assert!(said.contains("ulimit -f unlimited"), "{said}");
    assert_eq!(everything(&home.path().join("runs/small")), [""; 0], "half a run");
}

#[test]
fn full_disk_is_reported() {
    let home = home();
    fs::create_dir(home.path().join("runs")).unwrap();
    let program = env!("CARGO_BIN_EXE_tcplab");
    // Room for the directories and nothing else. The mount is seen by this command only.
    let line = format!(
        "mount -t tmpfs -o size=4k,nr_inodes=20 none runs || exit 77; \
         head -c 4096 /dev/zero > runs/ballast; '{program}' run small.toml; code=$?; \
         find runs -name 'small*' -exec echo left over: {{}} + >&2; exit $code"
    );
    let unshare = |private: &[&str]| {
        Command::new("unshare")
            .args(private)
            .args(["sh", "-c", &line])
            .current_dir(home.path())
            .output()
    };
    let output = match unshare(&["--mount"]) {
        Ok(output) if output.status.code() == Some(2) => Ok(output),
        _ => unshare(&["--user", "--map-root-user", "--mount"]),
    };
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return skipped("unshare(1) is not installed, so no disk was filled");
        }
        output => output.unwrap(),
    };
    if output.status.code() != Some(2) && text(&output.stderr).contains("ermi") {
        return skipped("this user may not mount a small disk to fill");
    }
    let said = refused(&output, "a full disk");
    assert!(said.contains("scenario.toml: No space left on device"), "{said}");
    assert!(said.contains("try: make room"), "{said}");
    assert!(!said.contains("left over"), "half a run: {said}");
}

#[test]
fn closed_output_does_not_panic() {
    let home = home();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for arguments in [&["scenarios"][..], &["scenarios", "interruption"], &["scenarios", "--json"]]
    {
        let output = command(home.path(), arguments).stdout(full()).output().unwrap();
        let said = refused(&output, "/dev/full");
        assert!(said.contains("cannot write to standard output: No space left"), "{said}");
    }
    // A pipe whose reader has gone.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(home.path(), &["scenarios"]).stdout(writer).output().unwrap();
    let said = refused(&output, "a broken pipe");
    assert!(said.contains("cannot write to standard output: Broken pipe"), "{said}");
    // Without anybody to tell the error to.
    let status = command(home.path(), &["run", "nosuch"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn wrong_command_line_is_refused() {
    let home = home();
    for (arguments, said) in [
        (&[][..], "Usage: tcplab"),
        (&["run"], "<SCENARIO>"),
        (&["run", "small.toml", "--trials", "0"], "0 is not in 1..=99999"),
        (&["run", "small.toml", "--io", "wire"], "[possible values: tun, packet-socket]"),
        (&["run", "small.toml", "--quick", "--trials", "2"], "cannot be used with"),
        (&["run", "small.toml", "--resume", "x", "--seed", "2"], "cannot be used with"),
        (&["measure"], "unrecognized subcommand 'measure'"),
    ] {
        let refusal = refusal(home.path(), arguments);
        assert!(refusal.contains(said), "{arguments:?}: {refusal}");
    }
}

/// What is printed as a start for one's own file is a file that can be read.
#[test]
fn printed_scenario_is_readable() {
    let home = home();
    let list = command(home.path(), &["scenarios", "--json"]).output().unwrap();
    assert!(list.status.success());
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    let list = list["scenarios"].as_array().unwrap();
    assert!(!list.is_empty());
    let plain = command(home.path(), &["scenarios"]).output().unwrap();
    for scenario in list {
        let name = scenario["name"].as_str().unwrap();
        assert!(text(&plain.stdout).contains(name), "{name} is not listed");
        let printed = command(home.path(), &["scenarios", name]).output().unwrap();
        assert!(printed.status.success());
        let read = tcplab_scenario::Scenario::parse(&text(&printed.stdout), name).unwrap();
        assert_eq!(Some(read.title.as_str()), scenario["title"].as_str());
    }
}

/// Everything that tc cannot do is told at once, with its key.
#[test]
fn tc_lists_all_it_cannot_do() {
    let home = home();
    let sides = ["--client-side", "eth1", "--server-side", "eth2"];
    let path = ["path", "tc", "-s", "mtu=1400 B", "-s", "forward.loss={every=3}"];
    let told = refusal(home.path(), &[&path[..], &sides].concat());
    for line in ["  mtu: no qdisc drops packets", "  forward.loss.every: netem drops at random"] {
        assert!(told.contains(line), "{told}");
    }
    for (side, said) in [("eth2", "both sides are eth2"), ("a b", "not an interface name")] {
        let wrong = ["path", "tc", "--client-side", side, "--server-side", "eth2"];
        let told = refusal(home.path(), &wrong);
        assert!(told.contains(said), "{told}");
    }
    // In a scenario, the place is shown.
    let scenario = "title = \"T\"\n[path]\nbackend = \"netem\"\nblackhole = \"3 s\"\nmtu = \"1400 B\"\n\
                    [workload]\nupload = \"1 kB\"\n";
    fs::write(home.path().join("netem.toml"), scenario).unwrap();
    let told = refusal(home.path(), &["run", "netem.toml"]);
    assert!(told.contains("with `backend = \"netem\"`: no qdisc drops packets"), "{told}");
    assert!(told.contains("netem.toml:5"), "{told}");
    // What only trials can use, a shell does not pretend to.
    let told = refusal(home.path(), &["shell", "-s", "backend=netem", "--", "true"]);
    assert!(told.contains("only trials are run through it"), "{told}");
}

/// A path as commands, and those that take it away.
#[test]
fn path_is_printed_as_tc_commands() {
    let home = home();
    let keys = ["-s", "rate=8 Mbit/s", "-s", "queue=64 kB", "-s", "forward.delay=20 ms"];
    let sides = ["--client-side", "eth1", "--server-side", "eth2"];
    for (name, more) in [("tc_setup", &[][..]), ("tc_undo", &["--undo"]), ("tc_json", &["--json"])]
    {
        let arguments = [&["path", "tc"], &keys[..], &sides, more].concat();
        let output = command(home.path(), &arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        insta::assert_snapshot!(name, text(&output.stdout));
    }
}

/// A connection that is opened, and 1000 bytes sent; `seq` is where the script expects them.
fn script(seq: u32) -> String {
    let end = seq + 1000;
    format!(
        "`sysctl -q net.ipv4.tcp_sack=0`\n\
         0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
         +0 bind(3, ..., ...) = 0\n\
         +0 listen(3, 1) = 0\n\
         +0 < S 0:0(0) win 1000 <mss 1000>\n\
         +0 > S. 0:0(0) ack 1 <mss 1460>\n\
         +.1 < . 1:1(0) ack 1 win 1000\n\
         +0 accept(3, ..., ...) = 4\n\
         +0 write(4, ..., 1000) = 1000\n\
         +0 > P. {seq}:{end}(1000) ack 1\n\
         +.3 close(4) = 0\n"
    )
}

#[test]
fn packetdrill_scripts_run_on_model() {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &str| {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    write("good/tcp_data.pkt", &script(1));
    write("suite/sending/right.pkt", &script(1));
    write("suite/sending/wrong.pkt", &script(2));
    write("suite/icmp/unknown.pkt", &(script(1) + "+0 < icmp unreachable net_unreachable\n"));
    write("suite/odd.pkt", "0 > X 1:1(0)\n");
    let mut all = String::new();
    for arguments in [
        &["good"][..],
        &["-v", "good/tcp_data.pkt"],
        &["suite"],
        &["--topics", "suite"],
        &["--json", "suite/sending"],
        &["suite/icmp"],
        &["suite/odd.pkt"],
        &["--stack", "model:haiku-2017-after", "good"],
        &["--stack", "linux", "good"],
        &["--stack", "model:linux-2.4", "good"],
        &["--define", "X", "good"],
        &["nowhere"],
        &["suite/empty"],
    ] {
        fs::create_dir_all(home.path().join("suite/empty")).unwrap();
        let arguments = [&["packetdrill"], arguments].concat();
        let output = command(home.path(), &arguments).output().unwrap();
        all += &format!("$ tcplab {}\n", arguments.join(" "));
        all += &(text(&output.stdout) + &text(&output.stderr));
        all += &format!("exit code {}\n\n", output.status.code().unwrap());
    }
    insta::assert_snapshot!(all);
}

/// What the founding course's tables claim, and why, in virtual time: everywhere the same.
#[test]
fn course_claims_pass_in_virtual_time() {
    let home = home();
    for name in ["sockets-course/digital-unix", "sockets-course/one-kilobyte"] {
        let output = command(home.path(), &["run", name, "--quick"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    }
}
