//! Errors: exit code 2, a message with cause and remedy, and no partial files.

use std::fs::File;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

use crate::home::{Ended, Home, ended, everything, skipped};
use crate::states::check_stands_alone;

pub(crate) const SMALL: &str = r#"title = "Small"

[path]
delay = "1 ms"

[workload]
upload = "1 kB"
"#;

fn home() -> Home {
    Home::with("small.toml", SMALL)
}

/// Each command with its error, for a snapshot; none starts a run.
pub(crate) fn refusals(home: &Home, lines: &[&str]) -> String {
    let refusal = |line: &&str| format!("$ tcplab {line}\n{}\n", home.refusal(line));
    let all = lines.iter().map(refusal).collect();
    assert!(!home.exists("runs"), "{:?}", everything(&home.path("")));
    all
}

#[test]
fn unknown_scenario_is_refused() {
    let home = home();
    home.make_directory("folder");
    home.make_directory("folder.toml");
    home.write("latin.toml", [b"title = \"x\"\n# caf", &[0xe9][..], b"\n"].concat());
    home.write("empty.toml", "");
    insta::assert_snapshot!(refusals(
        &home,
        &[
            "run intrruption",
            "run missing.toml",
            "run folder",
            "run folder.toml",
            "run latin.toml",
            "run empty.toml",
            "scenarios nosuch",
        ]
    ));
}

#[test]
fn path_plot_is_drawn_or_refused() {
    let home = home();
    let svg = home.answer("path plot small.toml");
    check_stands_alone(&svg);
    let written = home.run("path plot small.toml -o small.svg");
    assert_eq!(written.stderr, "small.svg: 10 s of the path\n");
    assert_eq!(home.text("small.svg"), svg);
    assert_eq!(everything(&home.path("")).len(), 2, "nothing half-written stays");
    let json = home.json("path plot small.toml --json --duration '1 s' -s 'loss=1 %'");
    assert_eq!(json["until_ns"], 1_000_000_000);
    assert_eq!(json["forward"]["moments"][0]["delay_ns"], 1_000_000);
    // The ending says what is written.
    home.run("path plot small.toml -o small.csv");
    let table = home.text("small.csv");
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows[0].starts_with("direction,at_ns,rate_bits_per_second,"), "{table}");
    assert!(rows[1].starts_with("forward,0,") && table.contains("\nreverse,0,"), "{table}");
    home.run("path plot small.toml -o small.json");
    assert_eq!(home.text("small.json"), home.answer("path plot small.toml --json"));
    // A converter reads it as it is, or there is none.
    let picture = home.run("path plot small.toml -o small.png");
    match picture.code {
        Some(0) => assert!(home.bytes("small.png").starts_with(b"\x89PNG")),
        _ => assert!(picture.stderr.contains("no converter of SVG"), "{}", picture.stderr),
    }
    insta::assert_snapshot!(refusals(
        &home,
        &[
            "path plot small.toml -o drawn.gif",
            "path plot nosuch",
            "path plot small.toml --duration '2 h'",
            "path plot small.toml --duration '0 s'",
            "path plot small.toml --duration 5",
            "path plot small.toml -s delay=soon",
            "path plot small.toml -o nowhere/small.svg",
        ]
    ));
}

/// A name that is right is not taken for that of a file with a similar one, and not beside another.
#[test]
fn preset_is_refused_by_its_name() {
    let home = home();
    home.refuses(&[("path show dsl-25 -s preset=lte", "is another: name one of them")]);
    home.write("lte-handover.svg", "");
    let refusal = home.run("path tc lte-handover --client-side a --server-side b").refusal("tc");
    assert!(refusal.contains("change these keys") && !refusal.contains("svg"), "{refusal}");
}

/// A row of a recording's path log.
const ROW: &str = r#"{"frame":1,"id":7,"direction":"forward","size_bytes":1500,"entered_ns":5,"left_ns":9,"fate":"delivered"}"#;

#[test]
fn export_is_complete_or_absent() {
    let log = format!("{ROW}\n{}\n", ROW.replace('7', "8"));
    let home = Home::with("recording/path.jsonl", &log);
    home.write("recording/DONE", "");
    let export = |rest: &str| home.run(&format!("export recording --table path {rest}"));
    let list = home.answer("export recording");
    assert!(list.starts_with("path  A row for each packet"), "{list}");
    assert_eq!(export("--format parquet").stderr, "path.parquet: 2 rows\n");
    let parquet = home.bytes("path.parquet");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let printed = home.command("export recording --table path --format parquet -o -").output();
    assert_eq!(printed.unwrap().stdout, parquet);
    assert_eq!(export("--format jsonl -o log").stderr, "log: 2 rows\n");
    let written = home.text("log");
    let first: serde_json::Value = serde_json::from_str(written.lines().next().unwrap()).unwrap();
    assert_eq!((&first["frame"], &first["left_ns"]), (&1.into(), &9.into()));
    assert!(first["queued_ns"].is_null() && first["marked"] == false, "{first}");
    // A file that the shell opened is appended to.
    let shared = File::options().append(true).open(home.path("log")).unwrap();
    let mut more = home.command("export recording --table path --format jsonl -o /dev/stdout");
    assert!(more.stdout(shared).stderr(Stdio::null()).status().unwrap().success());
    assert_eq!(home.text("log"), written.repeat(2));
    // The first table, where none is named; a format that there is not is no CSV.
    assert_eq!(home.run("export recording -o first.csv").stderr, "first.csv: 2 rows\n");
    assert!(home.text("first.csv").starts_with("frame,"), "{}", home.text("first.csv"));
    let before = everything(&home.path(""));

    for (place, error) in [
        ("first.json", "error: no format `.json`: end FILE in .csv, .jsonl, .parquet or .arrow"),
        ("/dev/full", "error: cannot write /dev/full: No space left on device"),
        ("recording", "error: cannot write recording: Is a directory"),
    ] {
        let refusal = export(&format!("-o {place}")).refusal(place);
        assert!(refusal.starts_with(error), "{refusal}");
    }
    home.write("recording/path.jsonl", format!("{log}no row\n"));
    for format in ["parquet", "jsonl", "csv", "arrow"] {
        let refusal = export(&format!("--format {format} -o log")).refusal(format);
        assert!(refusal.contains("path.jsonl") && !refusal.contains("cannot write"), "{refusal}");
    }
    assert_eq!(home.text("log"), written.repeat(2));
    assert_eq!(everything(&home.path("")), before, "nothing half-written stays");
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
        home.write("bad.toml", SMALL.replacen(old, new, 1));
        let refusal = home.refusal("run bad.toml");
        assert!(refusal.contains("bad.toml:"), "no source line: {refusal}");
        all += &format!("{new}\n{refusal}\n");
    }
    assert!(!home.exists("runs"));
    insta::assert_snapshot!(all);
}

#[test]
fn run_that_cannot_be_resumed_is_left_alone() {
    let home = home();
    home.make_directory("folder");
    insta::assert_snapshot!(refusals(
        &home,
        &[
            "run --resume",
            "run small --resume",
            "run --resume folder",
            "run --resume nowhere",
            "run --resume small.toml",
            "report",
            "report folder",
        ]
    ));
    assert!(everything(&home.path("folder")).is_empty());
}

#[test]
fn damaged_runs_are_refused() {
    let home = home();
    home.write("folder/scenario.toml", SMALL);
    let plan = r#"{"name": "small", "world": "kernel", "started": "2026-11-21T20:15:00Z",
        "seed": 1, "trials": 1, "first": 1, "only": [], "warm_up": 0, "retries": 2, "keep": "all",
        "tcplab": "0.1.0", "cases": ["another"]}"#;
    for (plan, error) in [
        ("{\"name\": \"sm", "plan.json is damaged: EOF while parsing"),
        (plan, "this version reads its scenario differently"),
    ] {
        home.write("folder/plan.json", plan);
        home.refuses(&[("run --resume folder", error)]);
    }
    assert!(!home.exists("runs"));
}

#[test]
fn unwritable_run_is_refused() {
    let home = home();
    let refusal = home.refusal("run small.toml --runs small.toml/below");
    insta::assert_snapshot!(refusal, @r"
    error: cannot make small.toml/below/small: Not a directory (os error 20)
      try: choose another place with `--runs DIR`
    ");
    // No permission stops root; /proc does.
    let is_root = rustix::process::geteuid().is_root();
    let (place, error) = if is_root {
        ("/proc/here", "cannot make /proc/here/small: ")
    } else {
        ("/proc/1/here", "--runs DIR")
    };
    let refusal = home.refusal(&format!("run small.toml --runs {place}"));
    assert!(refusal.contains(error) && refusal.contains("--runs DIR"), "{refusal}");
}

/// Anybody can set a limit on file sizes, which fails like a full disk.
#[test]
fn file_size_limit_is_reported() {
    let home = home();
    let program = env!("CARGO_BIN_EXE_tcplab");
    // In blocks of 512 or 1024 bytes; not even the plan fits.
    let line = format!("ulimit -f 0 && exec '{program}' run small.toml");
    let run = ended(Command::new("sh").args(["-c", &line]).current_dir(home.path("")));
    let refusal = run.refusal("ulimit -f 0");
    assert!(refusal.contains("scenario.toml: File too large"), "{refusal}");
    assert!(refusal.contains("ulimit -f unlimited"), "{refusal}");
    assert!(everything(&home.path("runs/small")).is_empty(), "half a run");
}

/// Runs a scenario on a disk of so much room, of which the ballast is taken; none where this user
/// may not have one. What is left of the run is at the end of the errors.
fn on_small_disk(home: &Home, room: &str, ballast: u32, line: &str) -> Option<Ended> {
    home.make_directory("runs");
    let program = env!("CARGO_BIN_EXE_tcplab");
    // Only this command sees the mount.
    let line = format!(
        "mount -t tmpfs -o {room} none runs || exit 77; \
         head -c {ballast} /dev/zero > runs/ballast; '{program}' {line}; code=$?; \
         find runs -name 'small*' -exec echo left over: {{}} + >&2; exit $code"
    );
    let unshare = |private: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.args(private).args(["sh", "-c", &line]).current_dir(home.path("")).output()
    };
    let output = match unshare(&["--mount"]) {
        Ok(output) if output.status.code() == Some(2) => Ok(output),
        _ => unshare(&["--user", "--map-root-user", "--mount"]),
    };
    let run = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skipped("unshare(1) is not installed, so no disk was filled");
            return None;
        }
        output => Ended::from(output.unwrap()),
    };
    if run.code != Some(2) && run.stderr.contains("ermi") {
        skipped("this user may not mount a small disk to fill");
        return None;
    }
    Some(run)
}

#[test]
fn full_disk_is_reported() {
    // Room for the directories and nothing else.
    let room = "size=4k,nr_inodes=20";
    let Some(run) = on_small_disk(&home(), room, 4096, "run small.toml") else { return };
    let refusal = run.refusal("a full disk");
    assert!(refusal.contains("scenario.toml: No space left on device"), "{refusal}");
    assert!(refusal.contains("try: make room"), "{refusal}");
    assert!(!refusal.contains("left over"), "half a run: {refusal}");
}

#[test]
fn disk_that_fills_while_recording_is_reported() {
    let home = Home::with("small.toml", SMALL.replace("1 kB", "1 MB"));
    let line = "run small.toml --world sim --snaplen whole";
    let Some(run) = on_small_disk(&home, "size=700k", 0, line) else { return };
    let refusal = run.refusal("a disk that fills");
    assert!(refusal.contains(".pcapng: No space left on device"), "{refusal}");
    assert!(refusal.contains("try: make room"), "{refusal}");
    assert!(!refusal.contains("left over"), "half a trial: {refusal}");
}

#[test]
fn closed_output_does_not_panic() {
    let home = home();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for line in
        ["scenarios", "scenarios interruption", "scenarios --json", "--help", "run -h", "--version"]
    {
        let refusal = ended(home.command(line).stdout(full())).refusal(line);
        assert!(refusal.contains("cannot write to standard output: No space left"), "{refusal}");
    }
    // A pipe whose reader has enough, as `head` has.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    for line in ["scenarios", "run --help"] {
        let unread = ended(home.command(line).stdout(writer.try_clone().unwrap()));
        assert_eq!((unread.code, &*unread.stderr), (Some(0), ""), "{line}");
    }
    // The error cannot be written either.
    let status = home.command("run nosuch").stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn wrong_command_line_is_refused() {
    let home = home();
    home.refuses(&[
        ("", "Usage: tcplab"),
        ("run", "<SCENARIO>"),
        ("run small.toml --trials 0", "0 is out of range: use 1 to 99999"),
        ("run small.toml --io wire", "[possible values: tun, packet-socket]"),
        ("run small.toml --quick --trials 2", "cannot be used with"),
        ("run small.toml --resume x --seed 2", "cannot be used with"),
        ("measure", "unrecognized subcommand 'measure'"),
    ]);
    assert!(!home.exists("runs"));
}

#[test]
fn printed_scenario_is_readable() {
    let home = home();
    let list = home.json("scenarios --json");
    let list = list["scenarios"].as_array().unwrap();
    assert!(!list.is_empty());
    let plain = home.answer("scenarios");
    for scenario in list {
        let name = scenario["name"].as_str().unwrap();
        assert!(plain.contains(name), "{name} is not listed");
        let printed = home.answer(&format!("scenarios {name}"));
        let read = tcplab_scenario::Scenario::parse(&printed, name).unwrap();
        assert_eq!(Some(read.title.as_str()), scenario["title"].as_str());
    }
}

/// All at once, each with its key.
#[test]
fn tc_lists_all_it_cannot_do() {
    let home = home();
    let path = "path tc -s 'mtu=1400 B' -s forward.loss={every=3}";
    let refusal = home.refusal(&format!("{path} --client-side eth1 --server-side eth2"));
    for line in ["  mtu: no qdisc drops packets", "  forward.loss.every: netem drops at random"] {
        assert!(refusal.contains(line), "{refusal}");
    }
    let scenario = "title = \"T\"\n[path]\nbackend = \"netem\"\nblackhole = \"3 s\"\nmtu = \"1400 B\"\n\
                    [workload]\nupload = \"1 kB\"\n";
    home.write("netem.toml", scenario);
    home.refuses(&[
        ("path tc --client-side eth2 --server-side eth2", "both sides are eth2"),
        ("path tc --client-side 'a b' --server-side eth2", "not an interface name"),
        // In a scenario, with the line.
        ("run netem.toml", "with `backend = \"netem\"`: no qdisc drops packets"),
        ("run netem.toml", "netem.toml:5"),
        // A shell refuses what only trials can use.
        ("shell -s backend=netem -- true", "only trials are run through it"),
    ]);
    assert!(!home.exists("runs"));
}

#[test]
fn path_is_printed_as_tc_commands() {
    let home = home();
    let keys = "-s 'rate=8 Mbit/s' -s 'queue=64 kB' -s 'forward.delay=20 ms'";
    for (name, more) in [("tc_setup", ""), ("tc_undo", "--undo"), ("tc_json", "--json")] {
        let line = format!("path tc {keys} --client-side eth1 --server-side eth2 {more}");
        insta::assert_snapshot!(name, home.answer(&line));
    }
}

/// A connection that sends 1000 bytes, which the script expects at `seq`.
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
    let home = Home::with("good/tcp_data.pkt", script(1));
    home.write("suite/sending/right.pkt", script(1));
    home.write("suite/sending/wrong.pkt", script(2));
    home.write("suite/icmp/unknown.pkt", script(1) + "+0 < icmp echo_request\n");
    home.write("suite/odd.pkt", "0 > X 1:1(0)\n");
    let mut all = String::new();
    for rest in [
        "good",
        "-v good/tcp_data.pkt",
        "suite",
        "--topics suite",
        "--json suite/sending",
        "suite/icmp",
        "suite/odd.pkt",
        "--stack model:haiku-2017-after good",
        "--stack linux good",
        "--stack model:linux-2.4 good",
        "--define X good",
        "nowhere",
        "suite/empty",
    ] {
        home.make_directory("suite/empty");
        let line = format!("packetdrill {rest}");
        let Ended { code, stdout, stderr } = home.run(&line);
        let code = code.unwrap();
        all += &format!("$ tcplab {line}\n{stdout}{stderr}exit code {code}\n\n");
    }
    insta::assert_snapshot!(all);
}

/// FreeBSD's rules, each in a script of our own.
#[test]
fn packetdrill_says_why_scripts_are_unreadable() {
    let home = Home::new();
    home.write("latin.pkt", b"0 \xff");
    home.write("long.pkt", format!("0 {}", "?".repeat(50_000)));
    for stacks in ["", "--stack model:linux-6.18 --stack model:osx-10.7", "--topics"] {
        let run = home.run(&format!("packetdrill {stacks} latin.pkt long.pkt"));
        assert_eq!(run.code, Some(2), "{stacks}: {}", run.stderr);
        let text = run.stdout;
        assert!(text.contains(" latin.pkt: not UTF-8: convert the file\n"), "{stacks}: {text}");
        assert!(text.contains(" long.pkt:1:3: "), "{stacks}: {text}");
        assert!(text.lines().all(|line| line.len() < 200), "{stacks}");
    }
}

#[test]
fn packetdrill_scripts_of_freebsd_pass_on_its_model() {
    let scripts =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../packetdrill/tests/scripts/freebsd").to_owned();
    let count = std::fs::read_dir(&scripts).unwrap().count();
    assert!(count >= 14);
    let line = format!("packetdrill --stack freebsd-15 {scripts}");
    let Ended { code, stdout, .. } = Home::new().run(&line);
    let last = format!("{count} passed, 0 failed, 0 unsupported");
    assert!(code == Some(0) && stdout.trim_end().ends_with(&last), "{stdout}");
}

/// Tables of the founding course, with the reasons.
#[test]
fn course_claims_pass_in_virtual_time() {
    let home = home();
    for name in ["sockets-course/digital-unix", "sockets-course/one-kilobyte"] {
        home.answer(&format!("run {name} --quick"));
    }
}
