//! `tcplab shell`: only the path changes for the program, and nothing is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tcplab_path::{Cause, Fate};
use tcplab_quantities::TRAFFIC_DOCUMENT;
use tcplab_recording::{Recording, capture_file};
use tcplab_units::Endpoint;

use crate::frames::Tap;
use crate::home::{Home, ended};
use crate::processes::{Family, Machine, Member, await_that};
use crate::program::{Io, allowed, installed, namespaces_allowed};
use crate::schema::check;
use crate::unprivileged::{as_nobody, nobodys_home};

#[test]
fn exit_code_is_that_of_program() {
    for io in [Io::Tun, Io::PacketSocket] {
        if !allowed(io) {
            continue;
        }
        let home = Home::with("plain", "no program");
        for (program, code, said) in [
            (&["true"][..], 0, ""),
            (&["sh", "-c", "exit 7"], 7, ""),
            (&["sh", "-c", "kill -KILL $$"], 128 + 9, ""),
            (&["sh", "-c", "echo out; echo err >&2"], 0, "err"),
            (&["no-such-program"], 127, "cannot run no-such-program"),
            (&["./plain"], 126, "cannot run ./plain"),
        ] {
            let line = format!("shell --quiet --io {} -s 'delay=1 ms' --", io.name());
            let run = ended(home.command(&line).args(program));
            assert_eq!(run.code, Some(code), "{program:?}: {}", run.stderr);
            assert!(run.stderr.contains(said), "{program:?}: {}", run.stderr);
            let out = if said == "err" { "out\n" } else { "" };
            assert_eq!(run.stdout, out, "{program:?}");
        }
    }
}

#[test]
fn impossible_shell_is_refused() {
    let home = Home::new();
    home.make_directory("full/of");
    home.write("bad.toml", "rate = \"5 Mbit/s\"\ndelay = \"5 parsecs\"");
    for (arguments, said) in [
        ("dsl-26", "did you mean `dsl-25`?"),
        ("bad.toml", "`parsecs` is not a unit"),
        ("-s 'rat=1 Mbit/s'", "did you mean `rate`?"),
        ("--capture full", "full is not empty"),
        (
            "--far-command 'exit 3' --wait-for 80",
            "ended (exit code 3) and never listened on port 80",
        ),
        ("--expect 'goodptu >= 5 Mbit/s'", "did you mean `goodput`?"),
        ("--expect 'goodput >= 5 ms'", "goodput: `ms` is not a unit of a data rate"),
        ("--congestion cubik", "this kernel has no congestion control \"cubik\""),
    ] {
        if !(said.contains('`') || namespaces_allowed()) {
            return;
        }
        home.refuses(&[(&format!("shell {arguments} -- echo never"), said)]);
    }
}

/// Of sockets that set none themselves: connecting and accepted ones.
#[test]
fn congestion_control_applies_to_both_ends() {
    if !namespaces_allowed() || !installed(&["python3"]) {
        return;
    }
    let home = Home::new();
    // In one call each: both write to the same place at the same time.
    let print_congestion =
        "sys.stderr.write(s.getsockopt(6, 13, 16).rstrip(bytes(1)).decode() + chr(10))";
    let far = format!(
        "python3 -c 'import socket, sys; s = socket.create_server((\"\", 7)).accept()[0]; {print_congestion}'"
    );
    let near = format!(
        "import os, socket, sys; s = socket.create_connection((os.environ['TCPLAB_FAR'], 7)); \
         {print_congestion}; s.recv(1)"
    );
    for name in ["reno", "cubic"] {
        let mut shell = home.command(&format!("shell -q -s 'delay=1 ms' --congestion {name}"));
        let run = ended(shell.args(["--far-command", &far, "--", "python3", "-c", &near]));
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
        assert_eq!(run.stderr, format!("{name}\n").repeat(2));
    }
}

/// All delays add up in both directions; the machine may add more.
#[test]
fn nested_shells_chain_their_paths() {
    if !installed(&["ping"]) {
        return;
    }
    for io in [Io::Tun, Io::PacketSocket] {
        if !allowed(io) {
            continue;
        }
        let home = Home::new();
        let program = env!("CARGO_BIN_EXE_tcplab");
        let shell =
            |delay| [program, "shell", "--quiet", "--io", io.name(), "-s", delay, "--"].join(" ");
        for (line, hops, least) in [
            (format!("{} ping", shell("delay=30ms")), 0, 60.0),
            (format!("{} {} ping", shell("delay=30ms"), shell("delay=20ms")), 1, 100.0),
            (
                [shell("delay=30ms"), shell("delay=20ms"), shell("delay=10ms"), "ping".into()]
                    .join(" "),
                2,
                120.0,
            ),
        ] {
            let line = format!("{line} -c 5 -i 0.2 10.98.0.2");
            let run = ended(Command::new("sh").args(["-c", &line]).current_dir(home.path("")));
            assert_eq!(run.code, Some(0), "{line}: {}{}", run.stdout, run.stderr);
            let (_, times) = run.stdout.split_once("rtt min/avg/max/mdev = ").unwrap();
            let shortest: f64 = times.split_once('/').unwrap().0.parse().unwrap();
            assert!((least..1.5 * least).contains(&shortest), "{line}: {shortest} ms");
            // Each network between decrements the TTL.
            assert!(run.stdout.contains(&format!("ttl={}", 64 - hops)), "{}", run.stdout);
        }
    }
}

#[test]
fn program_sees_its_network() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    let seen = "echo $TCPLAB_NEAR $TCPLAB_FAR $TCPLAB_SHELL $TCPLAB_PATH";
    let run = |line: &str| {
        let mut shell = home.command("shell -q -s 'delay=1 ms' -- sh -c");
        ended(shell.arg(line)).answer(line)
    };
    assert_eq!(run(seen), "10.98.0.1 10.98.0.2 1 delay=1 ms\n");
    // Inside another shell, joined and in a network of its own.
    let inner = format!("'{}' shell -q", env!("CARGO_BIN_EXE_tcplab"));
    let joined = run(&format!("{inner} -s loss=0% -- sh -c '{seen}'"));
    assert_eq!(joined, "10.98.128.1 10.98.128.2 2 loss=0%\n");
    let apart = run(&format!("{inner} --no-join -s loss=0% -- sh -c '{seen}'"));
    assert_eq!(apart, "10.98.0.1 10.98.0.2 2 loss=0%\n");
}

#[test]
fn recording_of_shell_is_readable() {
    if !installed(&["nc"]) {
        return;
    }
    for io in [Io::Tun, Io::PacketSocket] {
        if !allowed(io) {
            continue;
        }
        let home = Home::new();
        let data = "0123456789".repeat(100_000);
        home.write("sent", &data);
        let line = "shell --capture seen --json=end.json -s 'rate=20 Mbit/s' -s 'forward.loss=2 %' \
                    --far-command 'nc -l 5000 > got' --wait-for 5000 --io";
        let mut shell = home.command(line);
        shell.args([io.name(), "--"]);
        let run = ended(shell.args(["sh", "-c", "nc -N $TCPLAB_FAR 5000 < sent; exit 4"]));
        assert_eq!(run.code, Some(4), "{}", run.stderr);
        assert!(home.text("got") == data);

        let seen = home.path("seen");
        assert_eq!(home.mode(&seen), 0o700);
        let captures = Endpoint::BOTH.map(|end| home.mode(seen.join(capture_file(end))));
        assert_eq!(captures, [0o600; 2], "captures hold what was sent");
        let recording = Recording::open(&seen).unwrap();
        let record = recording.record().unwrap();
        assert_eq!((&*record.world.name, &*record.world.device), ("kernel", io.name()));
        assert_eq!(record.client.address, "10.98.0.1");
        let truth = recording.truth().unwrap();
        let lost = truth.iter().filter(|row| row.verdict.fate == Fate::Dropped(Cause::Loss));
        let lost = lost.count();
        assert!(lost > 0 && truth.iter().all(|row| row.frame.is_some()));
        let ends = Endpoint::BOTH.map(|end| Tap::read(&seen.join(capture_file(end))));
        let frames = ends.each_ref().map(|tap| tap.frames.len());
        // Every packet left one end, and all but the lost ones arrived at the other.
        assert_eq!(frames[0] + frames[1], 2 * truth.len() - lost);
        for (end, frames) in Endpoint::BOTH.into_iter().zip(frames) {
            if let Some(theirs) = crate::tshark::frames(&seen.join(capture_file(end))) {
                assert_eq!(theirs, frames, "{}", end.name());
            }
        }
        home.answer("replay seen");
        // The summary equals the recording.
        let summary: serde_json::Value = serde_json::from_slice(&home.bytes("end.json")).unwrap();
        check(&TRAFFIC_DOCUMENT, &summary, "shell");
        let count = |way: &str, what: &str| summary["traffic"][way][what].as_u64().unwrap();
        assert_eq!(summary["exit_code"], 4);
        assert_eq!(count("forward", "dropped"), lost as u64);
        assert_eq!(summary["traffic"]["forward"]["dropped_for"]["loss"], lost as u64);
        assert_eq!(
            count("forward", "packets_in") + count("reverse", "packets_in"),
            truth.len() as u64
        );
        assert!(run.stderr.contains(&format!("dropped: loss {lost}")), "{}", run.stderr);
    }
}

#[test]
fn unprivileged_shell() {
    let Some(home) = nobodys_home() else { return };
    if !namespaces_allowed() || !installed(&["nc"]) {
        return;
    }
    home.write("sent", vec![7; 1_000_000]);
    let mut shell = as_nobody(&home, "./tcplab");
    shell.args(["shell", "--io", "packet-socket", "-s", "delay=1 ms", "--json=end.json"]);
    shell.args([
        "--far-command",
        "nc -l 5000 > got",
        "--wait-for",
        "5000",
        "--",
        "./tcplab",
        "shell",
    ]);
    let run =
        ended(shell.args(["--quiet", "--", "sh", "-c", "nc -N 10.98.0.2 5000 < sent; id -u"]));
    assert_eq!((run.code, &*run.stdout), (Some(0), "0\n"), "{}", run.stderr);
    assert_eq!(home.bytes("got"), vec![7; 1_000_000]);
    let summary = home.text("end.json");
    assert!(summary.contains("\"user-namespace\""), "{summary}");
    // Networks of other users are not joined.
    let mut join = as_nobody(&home, "./tcplab");
    let run = ended(join.args(["shell", "--join", "--", "true"]));
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("leave out --join"), "{}", run.stderr);
}

/// A shell with programs that stay: at both ends, in the background, in sessions of their own.
const STAYING: &str = "sleep 1000 & (setsid sleep 1000 &); touch ready; sleep 1000; true";

struct Staying {
    child: Child,
    family: Family,
    before: Machine,
}

impl Staying {
    fn start(home: &Home, mut shell: Command, name: &str) -> Staying {
        let _ = fs::remove_file(home.path("ready"));
        let family = Family::of(&mut shell, name);
        let before = Machine::now();
        shell.args(["shell", "--quiet", "--far-command", "sleep 1000 & sleep 1000", "--"]);
        shell.args(["sh", "-c", STAYING]).process_group(0);
        let mut child = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let is_ready = || home.exists("ready");
        let over = await_that(|| is_ready() || child.try_wait().unwrap().is_some());
        assert!(over && is_ready(), "{name}: it never was ready");
        // Three programs at the near end, two at the far one. A shell that is still starting one
        // may lose Ctrl-C: dash ignores signals between vfork(2) and execve(2).
        let sleeping =
            || family.members().iter().filter(|member| member.is_called("sleep")).count();
        assert!(await_that(|| sleeping() == 5), "{name}: {:?}", family.members());
        Staying { child, family, before }
    }

    fn end(mut self, name: &str, strike: impl FnOnce(&Staying)) -> Option<i32> {
        let had: BTreeSet<_> = self.family.namespaces();
        strike(&self);
        let code = self.child.wait().unwrap().code();
        self.family.is_gone(name, &self.before, &had);
        code
    }

    fn guard(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The process that moves the packets: the other one called tcplab.
    fn worker(&self) -> Member {
        let guard = self.guard();
        let mut members = self.family.members().into_iter();
        members.find(|member| member.is_called("tcplab") && member.pid() != guard).unwrap()
    }
}

/// Its name, the shell's exit code, and what it does.
type Strike = (&'static str, Option<i32>, fn(&Staying));

#[test]
fn killed_shell_leaves_nothing() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    let strikes: [Strike; 5] = [
        ("its first process is killed", None, |shell| {
            kill_process(shell.guard(), Signal::KILL).unwrap();
        }),
        ("its second process is killed", Some(128 + 9), |shell| assert!(shell.worker().kill())),
        // As `timeout -s KILL` does: the second process is in a group of its own.
        ("all in its foreground are killed", None, |shell| {
            kill_process_group(shell.guard(), Signal::KILL).unwrap();
        }),
        // The command gets the signal, and ends by it.
        // As a terminal sends it; the program in its background ignores it.
        ("Ctrl-C", Some(130), |shell| kill_process_group(shell.guard(), Signal::INT).unwrap()),
        ("it is asked to end", Some(128 + 15), |shell| {
            kill_process(shell.guard(), Signal::TERM).unwrap();
        }),
    ];
    for (name, code, strike) in strikes {
        let shell = Staying::start(&home, home.command(""), name);
        assert_eq!(shell.end(name, strike), code, "{name}");
    }
}

#[test]
fn killed_unprivileged_shell_leaves_nothing() {
    let Some(home) = nobodys_home() else { return };
    if !namespaces_allowed() {
        return;
    }
    let name = "nobody's first process is killed";
    Staying::start(&home, as_nobody(&home, "./tcplab"), name).end(name, |shell| {
        kill_process(shell.guard(), Signal::KILL).unwrap();
    });
}

/// With all in the foreground killed, what passed is not left on the disk either.
#[test]
fn killed_shell_leaves_no_recording() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    home.make_directory("temporary");
    let mut shell = home.command("shell -q --expect 'drops == 0' -- sh -c");
    shell.args(["touch ready; sleep 1000; true"]).env("TMPDIR", home.path("temporary"));
    let mut child = shell.process_group(0).stderr(Stdio::null()).spawn().unwrap();
    let left = || fs::read_dir(home.path("temporary")).unwrap().count();
    assert!(await_that(|| home.exists("ready")) && left() == 1);
    kill_process_group(Pid::from_child(&child), Signal::KILL).unwrap();
    assert_eq!(child.wait().unwrap().code(), None);
    assert!(await_that(|| left() == 0), "{:?}", fs::read_dir(home.path("temporary")));
}

#[test]
fn stopped_program_ends_when_asked() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    let mut shell = home.command("shell -q -- sh -c");
    let mut child = shell.arg("echo $$ >pid; kill -STOP $$; sleep 1000").spawn().unwrap();
    let is_stopped = || {
        let pid = fs::read_to_string(home.path("pid")).unwrap_or_default();
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        stat.contains(") T ")
    };
    assert!(await_that(is_stopped));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let mut code = None;
    let ended = await_that(|| {
        code = child.try_wait().unwrap().map(|status| status.code());
        code.is_some()
    });
    assert!(ended && code == Some(Some(128 + 15)), "{code:?}");
}

#[test]
fn far_program_that_failed_is_named() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    for (far, code, said) in [
        ("kill -SEGV $$", Some(139), Some("exit code 139 (signal 11)")),
        ("exit 0", Some(0), None),
        ("sleep 1000", None, None),
    ] {
        let line = format!("shell --json=end.json --far-command '{far}' -- true");
        let run = home.run(&line);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let note = "tcplab: the far program ended before the command: ";
        let found = run.stderr.lines().find_map(|line| line.strip_prefix(note));
        assert_eq!(found, said, "{}", run.stderr);
        let document = serde_json::from_slice(&home.bytes("end.json")).unwrap();
        check(&TRAFFIC_DOCUMENT, &document, "shell --far-command");
        assert_eq!(document["far_exit_code"].as_u64(), code, "{document}");
    }
}

#[test]
fn program_gets_signals_and_its_children_end() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    let trap = "trap 'exit 5' TERM; sleep 1000 & touch ready; wait";
    let mut shell = home.command("shell --quiet -- sh -c");
    shell.arg(trap);
    let family = Family::of(&mut shell, "a trap");
    let before = Machine::now();
    let mut child = shell.spawn().unwrap();
    assert!(await_that(|| home.exists("ready")));
    let had = family.namespaces();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
    family.is_gone("a trap", &before, &had);
}

#[test]
fn signal_before_the_program_begins_decides_the_exit_code() {
    if !namespaces_allowed() {
        return;
    }
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let home = Home::new();
        let far = "--far-command 'touch ready; sleep 1000' --wait-for 8000";
        let line = format!("shell --quiet {far} -- touch begun");
        let mut child = home.command(&line).stderr(Stdio::null()).spawn().unwrap();
        assert!(await_that(|| home.exists("ready")));
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(128 + signal.as_raw()));
        assert!(!home.exists("begun"));
    }
}

/// In a namespace of the test, as if it were the machine's.
#[test]
fn joined_shell_restores_the_network() {
    if !namespaces_allowed() || !installed(&["ip", "ping"]) {
        return;
    }
    let home = Home::new();
    let script = format!(
        "ip link set lo up && ip -br addr > before && sysctl -a 2> /dev/null > settings &&
         '{}' shell --quiet --join -s delay=1ms -- sh -c '
             ping -c 1 -W 9 $TCPLAB_FAR && echo near $TCPLAB_NEAR' &&
         ip -br addr > after && sysctl -a 2> /dev/null > settings-after && cat before after",
        env!("CARGO_BIN_EXE_tcplab")
    );
    let user = if rustix::process::geteuid().is_root() { "--net" } else { "--map-root-user" };
    let mut unshare = Command::new("unshare");
    let run = ended(unshare.args([user, "--net", "sh", "-c", &script]).current_dir(home.path("")));
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("near 10.98.128.1"), "{}", run.stdout);
    let text = |file| fs::read_to_string(home.path(file)).unwrap_or_default();
    assert_eq!(text("before"), text("after"));
    let kept = |text: String| -> BTreeSet<String> {
        // Counters and random numbers are not settings.
        let net = text.lines().filter(|line| line.starts_with("net.ipv4."));
        net.filter(|line| !line.contains("bpf") && !line.contains("fib_")).map(Into::into).collect()
    };
    assert_eq!(kept(text("settings")), kept(text("settings-after")));
}
