//! `tcplab shell` in virtual time: programs of others, unchanged, on kernels of the user's choice.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgid, kill_process};
use serde_json::Value;
use tcplab_kernels::Cache;
use tcplab_lab::{ShellError, VirtualShell};
use tcplab_quantities::TRAFFIC_DOCUMENT;
use tcplab_scenario::PathFile;
use tcplab_testbed::Launcher;

use crate::home::{Ended, Home, skipped};
use crate::image::{Images, VERSION};
use crate::schema::check;

/// Whether a program is on this machine; prints that the test is skipped if not.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        skipped(&format!("there is no {program}"));
    }
    found
}

/// Runs `shell` with the test's kernel at both ends.
fn shell(images: &Images, home: &Home, line: &str) -> Ended {
    images.run(home, &format!("shell --near linux-{VERSION} --far linux-{VERSION} {line}"))
}

#[test]
fn iperf3_measures_the_rate_of_the_path() {
    let Some(images) = Images::find() else { return };
    if !has("iperf3") {
        return;
    }
    let home = Home::new();
    let line = "-s 'rate=20 Mbit/s' -s 'delay=10 ms' --far-command 'iperf3 -s' --wait-for 5201 \
                --congestion reno --json=traffic.json -- sh -c 'iperf3 -c $TCPLAB_FAR -t 5 --json'";
    let run = shell(&images, &home, line);
    let stderr = run.stderr.clone();
    let iperf3: Value = serde_json::from_str(&run.answer(line)).unwrap();
    let rate = iperf3["end"]["sum_received"]["bits_per_second"].as_f64().unwrap() / 1e6;
    // Of 1,500 B, 1,448 are data.
    assert!((18.0..=19.31).contains(&rate), "{rate} Mbit/s\n{stderr}");
    assert_eq!(iperf3["end"]["sender_tcp_congestion"], "reno");
    assert!(stderr.contains("s of virtual time; near Linux 6.12."), "{stderr}");
    let traffic: Value = serde_json::from_str(&home.text("traffic.json")).unwrap();
    check(&TRAFFIC_DOCUMENT, &traffic, "shell --json");
    assert_eq!((&traffic["exit_code"], &traffic["world"]["name"]), (&0.into(), &"virtual".into()));
    let forward = &traffic["traffic"]["forward"];
    let count = |key: &str| forward[key].as_u64().unwrap();
    assert_eq!(count("packets_in"), count("packets_out") + count("dropped"));
    assert!(count("bytes_out") > 10_000_000, "{forward}");
}

#[test]
fn curl_gets_what_python_serves() {
    let Some(images) = Images::find() else { return };
    if !has("curl") || !has("python3") {
        return;
    }
    let home = Home::new();
    let content: Vec<u8> = (0..1_500_000_u32).map(|n| (n.wrapping_mul(n) / 7) as u8).collect();
    home.write("file", &content);
    let line = "-q -s 'delay=20 ms' -s 'loss=1 %' --far-command 'python3 -m http.server' -- \
                sh -c 'curl -sS -o got http://$TCPLAB_FAR:8000/file'";
    let run = shell(&images, &home, line);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("\"GET /file HTTP/1.1\" 200"), "{}", run.stderr);
    assert!(home.bytes("got") == content);
}

#[test]
fn exit_code_and_output_are_those_of_the_program() {
    let Some(images) = Images::find() else { return };
    let home = Home::with("plain", "no program");
    for (program, code, out, err) in [
        ("true", 0, "", ""),
        ("sh -c 'exit 7'", 7, "", ""),
        ("sh -c 'kill -KILL $$'", 128 + 9, "", ""),
        ("sh -c 'echo out; echo err >&2'", 0, "out\n", "err\n"),
        ("cat", 0, "", ""),
        ("no-such-program", 127, "", "cannot run no-such-program"),
        ("./plain", 126, "", "cannot run ./plain"),
        ("cat plain", 0, "no program", ""),
    ] {
        let run = shell(&images, &home, &format!("--quiet -- {program}"));
        assert_eq!((run.code, run.stdout.as_str()), (Some(code), out), "{program}: {}", run.stderr);
        assert!(run.stderr.contains(err), "{program}: {}", run.stderr);
        assert!(!err.is_empty() || run.stderr.is_empty(), "{program}: {}", run.stderr);
    }
}

/// As in real time: what ended before the command is named, and what ended well is not.
#[test]
fn far_program_that_failed_is_named() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    for (far, program, code, said) in [
        ("exit 3", "true", Some(3), Some("exit code 3")),
        ("sleep 1; kill -SEGV $$", "sleep 2", Some(139), Some("exit code 139 (signal 11)")),
        ("exit 0", "sleep 1", Some(0), None),
        // It ends with the command, or after it.
        ("sleep 1000", "true", None, None),
        ("trap \"exit 4\" TERM; sleep 1000 & wait", "sleep 1", None, None),
    ] {
        let line = format!("--json=end.json --far-command '{far}' -- {program}");
        let run = shell(&images, &home, &line);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let note = "tcplab: the far program ended before the command: ";
        let found = run.stderr.lines().find_map(|line| line.strip_prefix(note));
        assert_eq!(found, said, "{far}: {}", run.stderr);
        let document = serde_json::from_slice(&home.bytes("end.json")).unwrap();
        check(&TRAFFIC_DOCUMENT, &document, "shell --far-command");
        assert_eq!(document["far_exit_code"].as_u64(), code, "{document}");
    }
}

/// Where both go to one place, and what is printed by a program that nobody waits for.
#[test]
fn output_keeps_its_order() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    let program = "for n in 1 2 3; do echo out $n; echo err $n >&2; done; (sleep 1; echo late) & \
                   sleep 2; head -c 300000 /dev/zero | tr '\\0' x; echo";
    let line = format!("shell -q --world sim --near linux-{VERSION} -- sh -c");
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = home.command(&line);
    command.arg(program).env("TCPLAB_KERNELS", images.folder());
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut text = String::new();
    std::io::Read::read_to_string(&mut reader, &mut text).unwrap();
    assert!(child.wait().unwrap().success(), "{text}");
    let begin = "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\nlate\nx";
    assert!(text.starts_with(begin), "{text:.200}");
    assert_eq!(text.len(), begin.len() + 300_000);
}

#[test]
fn programs_see_the_files_of_the_user_and_kernels_of_their_own() {
    let Some(images) = Images::find() else { return };
    let home = Home::with("sub/in", "content");
    let program = "uname -r; cat sub/in; cp sub/in out; echo $TCPLAB_NEAR $TCPLAB_FAR $TCPLAB_PATH; \
                   ls /dev/shm /run; cat < /dev/null > /dev/stdout; \
                   cat /sys/class/net/tcplab0/mtu /proc/sys/net/ipv4/tcp_congestion_control";
    let line =
        format!("-q -s 'delay=5 ms' --mtu 1400 --congestion westwood -- sh -c \"{program}\"");
    let line = line.replace('"', "'");
    let run = shell(&images, &home, &line);
    let answer = run.answer(&line);
    let (release, rest) = answer.split_once('\n').unwrap();
    assert!(release.starts_with("6.12."), "{answer}");
    assert_eq!(rest, "content10.98.0.1 10.98.0.2 delay=5 ms\n/dev/shm:\n\n/run:\n1400\nwestwood\n");
    assert_eq!(home.text("out"), "content");
    // What the far program writes is not lost with its kernel.
    let line = "-q --far-command 'echo first > far; sleep 1000; echo never > far' -- sleep 0.1";
    assert_eq!(shell(&images, &home, line).answer(line), "");
    assert_eq!(home.text("far"), "first\n");
}

#[test]
fn same_seed_gives_the_same_packets_and_the_same_output() {
    let Some(images) = Images::find() else { return };
    if !has("iperf3") {
        return;
    }
    let home = Home::new();
    let run = |seed: u32, directory: &str| {
        let line = format!(
            "-q --seed {seed} -s 'rate=10 Mbit/s' -s 'delay=5 ms' -s 'loss=0.5 %' --capture \
             {directory} --far-command 'iperf3 -s' -- sh -c 'iperf3 -c $TCPLAB_FAR -t 2'"
        );
        shell(&images, &home, &line).answer(&line)
    };
    let (one, two, other) = (run(7, "one"), run(7, "two"), run(8, "other"));
    assert_eq!(one, two);
    assert!(one != other);
    for file in ["client.pcapng", "server.pcapng", "path.jsonl", "result.json"] {
        let [one, two] = ["one", "two"].map(|it| home.bytes(format!("{it}/{file}")));
        assert!(one == two, "{file}");
    }
    let trace = home.json("trace one --json");
    assert_eq!(trace["connections"].as_array().unwrap().len(), 2, "control and data");
    let shown = home.answer("replay one");
    assert!(shown.contains("all with equal verdicts"), "{shown}");
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    home.make_directory("full/of");
    home.refuses(&[
        ("shell --world sim -- true", "try: build one with `tcplab kernel build 7.2`"),
        ("shell --far 'iperf3 -s' -- true", "is `--far-command 'iperf3 -s'`"),
        ("shell --near 6.12 -- true", "use `linux-6.12`"),
        ("shell --near model:linux-6.18 -- true", "a model runs no programs"),
        ("shell --world sim", "an interactive shell needs real time try: name a program"),
        ("shell --world sim --join -- true", "--join exists in real time only"),
        ("shell --far linux-newest --io tun -- true", "--io exists in real time only"),
        ("shell --world sim --live -- true", "--live exists in real time only"),
        ("shell --world sim --spin 0 -- true", "--spin exists in real time only"),
        ("shell --world kernel --near linux-6.12 -- true", "--world kernel is real time"),
    ]);
    for (line, said) in [
        ("--capture full -- true", "full is not empty"),
        ("--congestion cubik -- true", "this kernel has no congestion control \"cubik\""),
        (
            "--far-command 'exit 3' --wait-for 80 -- true",
            "ended (exit code 3) and never listened on port 80",
        ),
        (
            "--far-command 'sleep 100' --wait-for 80 -- true",
            "did not listen on port 80 within 10 s",
        ),
    ] {
        let refusal = shell(&images, &home, line).refusal(line);
        assert!(refusal.contains(said), "{line}: {refusal}");
    }
    let refusal = images.run(&home, "shell --near linux-0.1 -- true").refusal("no such kernel");
    assert!(refusal.contains("there is no kernel 0.1"), "{refusal}");
}

/// A shell in which a guest may compute for so long at a time.
fn shell_of(folder: PathBuf, command: &str, longest_turn: Duration) -> Result<(), ShellError> {
    let kernel = Cache::at(folder).find(&VERSION.parse().unwrap()).unwrap();
    let path = PathFile::parse_with("", "empty", &[], &mut |name| panic!("{name:?}")).unwrap().path;
    let launcher = Launcher {
        program: env!("CARGO_BIN_EXE_tcplab").into(),
        arguments: vec!["kernel-world".into()],
    };
    let request = VirtualShell {
        path,
        description: String::new(),
        seed: 1,
        kernels: [kernel.clone(), kernel],
        command: ["sh", "-c", command].map(Into::into).to_vec(),
        far: None,
        wait_for: None,
        has_one_output: true,
        mtu: 1500,
        congestion: None,
        capture: None,
        snaplen: None,
        launcher,
        longest_turn: Some(longest_turn),
    };
    let stop = AtomicBool::new(false);
    tcplab_lab::shell(&request, &stop, &mut |_, _, _| Ok(())).map(drop)
}

/// A program that never sleeps; in a process's own time that would take 20 s.
#[test]
fn spinning_program_is_ended() {
    let Some(images) = Images::find() else { return };
    let folder = images.folder().clone();
    let error = shell_of(folder, "while :; do :; done", Duration::from_secs(2)).unwrap_err();
    let said = error.to_string();
    assert!(said.starts_with("the near end: the guest has computed for 2"), "{said}");
    assert!(error.remedy().unwrap().contains("leave out --world sim"));
}

/// A machine with other work may give a guest no processor for long.
#[test]
fn guest_that_does_not_get_the_processor_goes_on() {
    let Some(images) = Images::find() else { return };
    let directory = env!("CARGO_TARGET_TMPDIR");
    if directory.starts_with("/tmp/") {
        return skipped("a guest has a /tmp of its own");
    }
    let directory = tempfile::tempdir_in(directory).unwrap();
    let [own, begun, go] = ["own", "begun", "go"].map(|name| directory.path().join(name));
    std::os::unix::fs::symlink(images.folder(), &own).unwrap();
    let command = format!("touch {}; until [ -e {} ]; do :; done", begun.display(), go.display());
    thread::scope(|scope| {
        let shell = scope.spawn(|| shell_of(own.clone(), &command, Duration::from_secs(1)));
        await_that("the program begins", || begun.exists() || shell.is_finished());
        let mut guests = processes_of(&own.display().to_string());
        // What else is in their groups waits for them.
        guests.retain(|pid| getpgid(Some(*pid)).is_ok_and(|group| group == *pid));
        assert_eq!(guests.len(), 2);
        let tell = |signal| guests.iter().for_each(|pid| kill_process(*pid, signal).unwrap());
        tell(Signal::STOP);
        thread::sleep(Duration::from_millis(2500));
        fs::write(&go, "").unwrap();
        tell(Signal::CONT);
        shell.join().unwrap().unwrap();
    });
}

#[test]
fn signals_end_both_kernels() {
    let Some(images) = Images::find() else { return };
    for (signal, code) in
        [(Signal::INT, Some(130)), (Signal::TERM, Some(143)), (Signal::KILL, None)]
    {
        let home = Home::new();
        // As the image is a link in this directory, its processes can be told from others.
        std::os::unix::fs::symlink(images.folder(), home.path("own")).unwrap();
        let line = format!("shell -q --near linux-{VERSION} --far linux-{VERSION} -- sh -c");
        let mut command = home.command(&line);
        command.arg("echo begun > begun; sleep 100000000");
        command.env("TCPLAB_KERNELS", home.path("own"));
        let mut child = command.spawn().unwrap();
        await_that("the program begins", || home.exists("begun"));
        let own = home.path("own").display().to_string();
        assert!(processes_of(&own).len() >= 2);
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), code);
        await_that("all processes end", || processes_of(&own).is_empty());
    }
}

/// The processes that have this text in their command lines.
fn processes_of(text: &str) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let owners = entries.filter_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let pid = entry.file_name().to_str()?.parse().ok()?;
        String::from_utf8_lossy(&line).contains(text).then(|| Pid::from_raw(pid))?
    });
    owners.collect()
}

fn await_that(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < until, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}
