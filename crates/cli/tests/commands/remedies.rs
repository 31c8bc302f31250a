//! Errors that say what to do, and guess nothing.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::errors::SMALL;
use crate::home::{Ended, Home, ended, names};
use crate::limited::FewProcesses;

/// A scenario, a capture, and files with short names.
fn home() -> Home {
    let home = Home::with("mine.toml", SMALL);
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth");
    let packed = std::path::Path::new(corpus).join("nots_loss1.snd.pcap.zst");
    let mut plain = Vec::new();
    let mut source = tcplab_capture::Source::open(&packed).unwrap();
    source.read_to_end(&mut plain).unwrap();
    home.write("slow.pcap", plain);
    for name in ["v", "e", "x.csv"] {
        home.write(name, "");
    }
    home
}

/// In a shell, behind what limits it or takes its output.
fn shell(home: &Home, line: &str) -> Ended {
    let line = line.replace("tcplab", concat!("'", env!("CARGO_BIN_EXE_tcplab"), "'"));
    let mut command = Command::new("sh");
    command.env("TCPLAB_KERNELS", "kernels");
    ended(command.args(["-c", &line]).current_dir(home.path("")).env("NO_COLOR", "1"))
}

#[test]
fn no_file_is_guessed_where_none_is_missing() {
    let home = home();
    let refusal = home.refusal("trace slow.pcap -c 7");
    assert_eq!(
        refusal, "error: no connection 7: there are 2, numbered from 0\n",
        "the files `v` and `e` have nothing to do with it"
    );
    symlink("loop.toml", home.path("loop.toml")).unwrap();
    let refusal = home.refusal("run loop.toml");
    assert!(refusal.contains("symbolic links") && !refusal.contains("did you mean"), "{refusal}");
    let full = shell(&home, "tcplab trace slow.pcap -c 0 > /dev/full");
    assert_eq!(full.code, Some(2));
    assert!(full.stderr.contains("try: make room on that disk"), "{}", full.stderr);
    assert!(!full.stderr.contains("did you mean"), "{}", full.stderr);
}

#[test]
fn lone_connection_is_named() {
    let home = home();
    let port = home.json("trace slow.pcap --json")["connections"][1]["client_port"].clone();
    for view in ["", "--json"] {
        let line = format!("trace slow.pcap --filter 'port {port}' {view} -c 1");
        assert_eq!(
            home.refusal(&line),
            "error: no connection 1: the only one is number 0\n  try: -c 0\n"
        );
    }
}

#[test]
fn output_on_a_full_disk_is_named_once() {
    let home = home();
    home.answer("run mine.toml --world sim --trials 2");
    let run = home.only("runs/mine").display().to_string();
    for line in [
        format!("export {run} --table trials --format csv -o /dev/full"),
        "trace slow.pcap --html /dev/full".into(),
        "trace slow.pcap --json=/dev/full".into(),
        format!("compare {run} {run} --html /dev/full"),
    ] {
        let ended = home.run(&line);
        assert_eq!(ended.code, Some(2), "{line}");
        let expected = "error: cannot write /dev/full: No space left on device (os error 28)\n  \
                        try: make room on that disk, or write to another\n";
        assert!(ended.stderr.ends_with(expected), "{line}: {}", ended.stderr);
    }
}

#[test]
fn missing_capture_is_not_called_a_run() {
    let home = home();
    for line in ["compare slow.pcap nosuch.pcap", "compare nosuch.pcap slow.pcap"] {
        let refusal = home.refusal(line);
        assert!(refusal.starts_with("error: cannot open nosuch.pcap: "), "{refusal}");
        assert!(refusal.contains("try: check the name"), "{refusal}");
    }
    assert!(home.refusal("compare slow.pcap slwo.pcap").contains("did you mean `slow.pcap`?"));
}

#[test]
fn filter_in_the_place_of_a_file_names_its_flag() {
    let refusal = home().refusal("trace slow.pcap tcp.port==5001");
    assert!(refusal.ends_with("try: `--filter 'tcp.port==5001'` chooses packets\n"), "{refusal}");
}

#[test]
fn socket_options_are_found_by_what_they_do() {
    let home = Home::new();
    assert!(home.answer("sockopts nagle").contains("TCP_NODELAY"));
    home.refuses(&[("sockopts SO_RECVBUF", "did you mean `SO_RCVBUF`?")]);
}

#[test]
fn folder_of_scenarios_is_listed() {
    let home = Home::new();
    let listed = home.answer("scenarios sockets-course");
    assert!(listed.contains("\n  sockets-course/baselines\n"), "{listed}");
    assert!(!listed.contains("haiku-tcp"), "{listed}");
    assert_eq!(listed, home.answer("scenarios sockets-course/"));
}

#[test]
fn misspelt_congestion_control_is_refused_before_the_first_trial() {
    let matrix = "[matrix]\n\"client.socket.congestion\" = [\"reno\", \"cubik\"]\n";
    let home = Home::with("cc.toml", format!("{SMALL}\n{matrix}"));
    for line in ["run cc.toml --world sim --dry-run", "run cc.toml --world sim"] {
        let refusal = home.refusal(line);
        assert!(refusal.contains("`cubik` is no congestion control of a model"), "{refusal}");
        assert!(refusal.contains("try: did you mean `cubic`? there are bbr, "), "{refusal}");
        assert!(!home.exists("runs"));
    }
}

/// What only its owner may read is neither missing nor incomplete.
#[test]
fn what_this_user_may_not_read_is_said_with_its_remedy() {
    let Some(few) = FewProcesses::new() else { return };
    let home = &few.home;
    home.write("closed/plan.json", "{}");
    home.write("closed/DONE", "");
    let allow = |mode| fs::set_permissions(home.path("closed"), Permissions::from_mode(mode));
    allow(0o000).unwrap();
    for line in [
        "run --resume closed",
        "report closed",
        "plot closed",
        "compare closed closed",
        "export closed",
        "states closed",
        "replay closed",
        "advise closed",
        "clean closed",
    ] {
        let refusal = ended(&mut few.command(50, line)).refusal(line);
        let remedy =
            "\n  try: let its owner do this: only they may read it (`chmod -R go+rX closed` ";
        assert!(refusal.contains("Permission denied"), "{line}: {refusal}");
        assert!(refusal.contains(remedy), "{line}: {refusal}");
    }
    // A run by its name, and a capture.
    home.write("runs/mine/20261121T201500-00ff/plan.json", "{}");
    home.write("closed.pcap", "");
    let run = home.path("runs/mine/20261121T201500-00ff");
    for path in [&run, &home.path("closed.pcap")] {
        fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
    }
    for (line, closed) in [
        ("report mine", "runs/mine/20261121T201500-00ff"),
        ("plot mine", "runs/mine/20261121T201500-00ff"),
        ("compare mine mine", "runs/mine/20261121T201500-00ff"),
        ("export mine", "runs/mine/20261121T201500-00ff"),
        ("states mine", "runs/mine/20261121T201500-00ff"),
        ("advise mine", "runs/mine/20261121T201500-00ff"),
        ("trace closed.pcap", "closed.pcap"),
    ] {
        let refusal = ended(&mut few.command(50, line)).refusal(line);
        assert!(refusal.contains("Permission denied"), "{line}: {refusal}");
        assert!(refusal.contains(&format!("(`chmod -R go+rX {closed}` ")), "{line}: {refusal}");
    }
    fs::set_permissions(&run, Permissions::from_mode(0o755)).unwrap();
    // Neither are all runs in a folder.
    home.make_directory("several");
    // Only root moves a directory that is closed.
    allow(0o755).unwrap();
    let moved = home.path("several/closed");
    fs::rename(home.path("closed"), &moved).unwrap();
    fs::set_permissions(&moved, Permissions::from_mode(0o000)).unwrap();
    let line = "clean several --runs --dry-run";
    let refusal = ended(&mut few.command(50, line)).refusal(line);
    assert!(refusal.contains("Permission denied"), "{refusal}");
    assert!(refusal.contains("(`chmod -R go+rX several/closed` "), "{refusal}");
    fs::set_permissions(&moved, Permissions::from_mode(0o755)).unwrap();
}

/// Though a scenario file has a similar name.
#[test]
fn run_that_is_not_finished_is_told_as_such_by_its_name() {
    let home = home();
    home.answer("run mine.toml --world sim --trials 2");
    let run = home.only("runs/mine");
    fs::remove_file(run.join("run.json")).unwrap();
    let last = names(&run.join("trials")).pop().unwrap();
    fs::remove_dir_all(run.join("trials").join(last)).unwrap();
    for line in ["report mine", "plot mine", "compare mine mine", "export mine", "advise mine"] {
        let refusal = home.refusal(line);
        assert!(refusal.contains(" is unfinished: it has "), "{line}: {refusal}");
        assert!(refusal.contains("--resume runs/mine/"), "{line}: {refusal}");
    }
    assert!(home.refusal("report mine").contains("it has 1 of 2 trials"));
}

/// Outputs are tried before the work, not after it.
#[test]
fn output_that_cannot_be_written_is_refused_before_the_work() {
    let home = home();
    home.write("file", "");
    home.refuses(&[
        ("load http://127.0.0.1:9/ --json=nowhere/x.json", "cannot write nowhere/x.json"),
        ("load 127.0.0.1:9 --bulk upload --json=file/x.json", "cannot write file/x.json"),
        ("shell --json=nowhere/x.json -- touch ran", "cannot write nowhere/x.json"),
        ("bridge - none none --json=nowhere/x.json", "cannot write nowhere/x.json"),
        ("run mine.toml --world sim --json=nowhere/x.json", "cannot write nowhere/x.json"),
        ("run mine.toml --world sim --junit nowhere/x.xml", "cannot write nowhere/x.xml"),
        ("rfc6349 --path lte --world sim --json=nowhere/x.json", "cannot write nowhere/x.json"),
        ("advise lte --world sim --json=nowhere/x.json", "cannot write nowhere/x.json"),
    ]);
    assert!(!home.exists("ran") && !home.exists("runs"));
    // The command makes this folder itself.
    home.answer("run mine.toml --trials 1 --world sim -q --json=runs/x.json");
    assert!(home.exists("runs/x.json"));
    // A disk that is full when all is done.
    let refusal =
        home.refusal("run mine.toml --trials 1 --world sim -q --runs more --json=/dev/full");
    let run = home.only("more/mine");
    let run = Path::new("more/mine").join(run.file_name().unwrap());
    let said = format!("write its results with: tcplab report {} --json=FILE\n", run.display());
    assert!(refusal.contains("cannot write /dev/full: ") && refusal.ends_with(&said), "{refusal}");
}

/// A file is told for what it is, and a name beside others is not taken for a file.
#[test]
fn remedies_are_about_what_was_typed() {
    let home = home();
    home.write("base.json", "{}");
    home.answer("run mine.toml --trials 1 --world sim -q");
    home.refuses(&[
        ("plot base.json", "it is a file, not a directory try: pass a run directory (RUNS/<name>/"),
        ("compare mine.toml", "mine.toml is a scenario or path file: `tcplab run mine.toml`"),
        ("compare slow.pcap", "slow.pcap is a capture; pass a second capture to compare"),
        ("compare e", "e: not a capture: it is empty"),
    ]);
    let refusal = home.refusal("plot base.json");
    assert!(!refusal.contains("newest"), "plot needs a run: {refusal}");
    let refusal = home.refusal("export mine --table trails");
    assert!(refusal.contains("did you mean `trials`?") && !refusal.contains("try:"), "{refusal}");
}

#[test]
fn few_descriptors_are_said_with_their_remedy() {
    let home = home();
    let few = shell(&home, "ulimit -n 8; tcplab run mine.toml --world sim");
    assert_eq!(few.code, Some(2), "{}{}", few.stdout, few.stderr);
    assert!(few.stderr.contains("Too many open files"), "{}", few.stderr);
    assert!(
        few.stderr.contains("try: raise the limit on descriptors (`ulimit -n"),
        "{}",
        few.stderr
    );
}

#[test]
fn names_of_files_stay_on_their_line() {
    let home = Home::with("a\nb.toml", "title = 3\n");
    let refusal = home.refusal("run 'a\nb.toml'");
    assert!(refusal.contains("a\\nb.toml:1:") && !refusal.contains("a\nb"), "{refusal}");
}

#[test]
fn argument_that_is_no_text_is_named() {
    let home = Home::new();
    let name = OsStr::from_bytes(b"\xff.toml");
    let refusal = || ended(home.command("run").arg(name)).refusal("a strange name");
    let said = "error: '\u{fffd}.toml' is not UTF-8 text, which this command needs";
    // There is no such file to rename.
    assert!(refusal().starts_with(&format!("{said}\n")), "{}", refusal());
    fs::write(home.path(name), "").unwrap();
    assert!(refusal().starts_with(&format!("{said}: rename the file")), "{}", refusal());
}

/// A body that never ends keeps a connection busy, not the command.
#[test]
fn answer_without_end_is_given_up_after_the_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            std::thread::spawn(move || {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
                let piece = vec![b'x'; 1 << 16];
                while stream.write_all(&piece).is_ok() {}
            });
        }
    });
    let line = format!("load http://{address}/ -c 1 --duration 200ms --timeout 1h --no-check");
    let loaded = Home::new().run(&line);
    assert_eq!(loaded.code, Some(1), "{}", loaded.stderr);
    let said = "1 answers were still arriving 1 s after the end";
    assert!(loaded.stderr.contains(said), "{}", loaded.stderr);
    assert!(!loaded.stdout.contains("errors"), "{}", loaded.stdout);
}

/// Too few trials for a question are said before any is run, and none where one decides.
#[test]
fn question_that_trials_cannot_answer_is_said_before_the_run() {
    let home = Home::new();
    for (scenario, trials, said) in [
        ("tuning/satellite", "9", None),
        ("tuning/satellite", "3", Some("3 pairs of trials of bbr against cubic")),
        ("flows/round-trips", "7", None),
        ("tuning/mobile", "9", None),
        ("tuning/mobile", "1", Some("1 pair of trials of bbr against cubic")),
        ("throughput-vs-response/round-trip", "1", None),
    ] {
        let line = format!("run {scenario} --world sim --dry-run --trials {trials} --json");
        let found = home.json(&line);
        let warnings: Vec<&str> =
            found["warnings"].as_array().unwrap().iter().filter_map(|it| it.as_str()).collect();
        let questions: Vec<&&str> =
            warnings.iter().filter(|it| it.starts_with("question: ")).collect();
        let is_said = said.is_none_or(|said| questions.iter().any(|it| it.contains(said)));
        assert!(questions.len() == usize::from(said.is_some()) && is_said, "{line}: {warnings:?}");
    }
}
