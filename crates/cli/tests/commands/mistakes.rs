//! Mistakes that people make, each with its cause and its remedy, to be read aloud.

use std::fmt::Write as _;
use std::path::Path;

use crate::errors::{SMALL, refusals};
use crate::home::Home;

/// Scenarios, captures and scripts, as somebody has them in a directory.
fn home() -> Home {
    let home = Home::with("mine.toml", SMALL);
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/groundtruth");
    let packed = Path::new(corpus).join("nots_loss1.snd.pcap.zst");
    let mut plain = Vec::new();
    let mut source = tcplab_capture::Source::open(&packed).unwrap();
    std::io::Read::read_to_end(&mut source, &mut plain).unwrap();
    // A header without a packet.
    home.write("none.pcap", &plain[..24]);
    home.write("slow.pcap", plain);
    home.write("empty.pcap", "");
    home.write("notes.txt", "The transfer was slow today.\n");
    home.write("data.pkt", "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n");
    home
}

#[test]
fn wrong_commands_and_flags_name_the_right_ones() {
    insta::assert_snapshot!(refusals(
        &home(),
        &[
            "rnu mine.toml",
            "mine.toml",
            "slow.pcap",
            "data.pkt",
            "interruption",
            "lossy-wifi",
            "dsl-25",
            "help trcae",
            "path shwo",
            "run mine.toml --tirals 3",
            "run mine.toml --world kernl",
            "server ehco",
            "annotate slow.pcap",
            "init",
            "path list",
            "path dsl-25",
            "rfc6349 dsl-25",
            "rfc6349 --path dsl-25 false",
            "run mine.toml true",
            "bridge dsl-25 a b true",
            "bench 'curl -O x' false",
            "bench dsl-25 -- true false",
            "advise",
        ]
    ));
}

/// What other programs call it, a flag where a key is due, and the like.
#[test]
fn flags_of_other_programs_name_those_here() {
    insta::assert_snapshot!(refusals(
        &home(),
        &[
            "run mine.toml --json out.json",
            "run mine.toml -o out",
            "run mine.toml -s rate=10M",
            "trace slow.pcap --quiet",
            "trace slow.pcap --stream 1",
            "trace slow.pcap -c 10.98.0.1:45274",
            "trace slow.pcap -o slow.html",
            "trace slow.pcap --json out.json",
            "trace --html slow.pcap",
            "trace -r slow.pcap",
            "trace --client slow.pcap --server slow.pcap --html page.html",
            "trace slow.pcap --filter 'src host 10.98.0.1'",
            "shell --rate 10M -- true",
            "shell --loss=1% -- true",
            "shell --path dsl-25 -- true",
            "shell -s rate=10M delay=20ms -- true",
            "shell dsl-25 curl",
            "load http://127.0.0.1:9/ -n 100",
            "server notes.txt",
            "server --service http",
        ]
    ));
}

#[test]
fn flags_that_would_be_left_unused_are_refused() {
    insta::assert_snapshot!(refusals(
        &home(),
        &[
            "advise dsl-25 --no-trials --loss 1%",
            "advise --set rate=10M --no-trials --queue 10ms",
            "compare a b --over-cases",
            "compare a b --levels x,y",
            "trace slow.pcap --listing --hex-svg x.svg",
            "states slow.pcap --state listen --case x",
            "load echo://127.0.0.1:9 --serve notes.txt",
            "load http://127.0.0.1:9/ --size 5",
            "load echo://127.0.0.1:9 --expect notes.txt",
            "load echo://127.0.0.1:9 --bulk upload --size 3",
            "load http://127.0.0.1:9/ --bulk download",
            "server --udp --design epoll",
        ]
    ));
}

#[test]
fn wrong_names_name_the_nearest() {
    insta::assert_snapshot!(refusals(
        &home(),
        &[
            "run interuption",
            "run lossy-wify",
            "run mine",
            "scenarios haiku-tcp/los",
            "metrics transfer_tme",
            "path show dls-25",
            "path presets lte-handoverr",
            "advise --path dls-25",
            "compare mine.toml mine.toml --threshold goodputt=3%",
            "packetdrill --stack model:linux-6.81 data.pkt",
            "export slow.pcap --table segmnts",
        ]
    ));
}

#[test]
fn wrong_places_are_told_apart() {
    let home = home();
    home.write("run/plan.json", "{}");
    home.make_directory("nothing");
    insta::assert_snapshot!(refusals(
        &home,
        &[
            "run slow.pcap",
            "run notes.txt",
            "run mien.toml",
            "trace mine.toml",
            "trace slwo.pcap",
            "trace slow",
            "trace notes.txt",
            "trace empty.pcap",
            "trace run",
            "trace nothing",
            "trace slow.pcap -c 99",
            "compare mine.toml run",
            "compare slow.pcap",
            "export nothere.pcap",
            "replay slow.pcap",
            "replay nothere",
            "report slow.pcap",
            "states slwo.pcap",
            "packetdrill nothere.pkt",
            "path show slow.pcap",
            "shell slow.pcap -- true",
        ]
    ));
}

#[test]
fn wrong_values_name_the_right_ones() {
    insta::assert_snapshot!(refusals(
        &home(),
        &[
            "run mine.toml --trials 0",
            "run mine.toml --seed abc",
            "run mine.toml --seed -3",
            "path show -s rate=10",
            "path show -s rate=10MB",
            "path show -s rate=10Mbit/h",
            "path show -s rate=5M -s queue=50m",
            "path show -s rtt=40ms -s forward.delay=5ms",
            "path show -s loss=0.01",
            "path show -s loss=101%",
            "path show -s delay=0,5s",
            "path show -s dely=5ms",
            "path show -s dly=5ms -s rat=3MB -s loss=3",
            "advise --rtt 40 --rate 50M",
            "advise --rtt 40ms --rate 50",
            "advise --rtt 100ms --rate 50MB",
            "load http://127.0.0.1:9/ --rate 10Mbit",
            "load echo://127.0.0.1:9 --size 64mb",
            "load ftp://127.0.0.1/",
            "load http://127.0.0.1:99999/",
            "shell - --mtu 20 -- true",
            "server --port http",
        ]
    ));
}

/// What people write is what tcplab writes, as far as it can be only one thing.
#[test]
fn units_are_read_as_people_write_them() {
    let home = Home::new();
    let shown = |keys: &str| home.answer(&format!("path show {keys}"));
    for (written, plain) in [
        ("-s rate=10M", "-s 'rate=10 Mbit/s'"),
        ("-s rate=10Mbit", "-s 'rate=10 Mbit/s'"),
        ("-s rate=10Mbps", "-s 'rate=10 Mbit/s'"),
        ("-s rate=1MBps", "-s 'rate=8 Mbit/s'"),
        ("-s rate=5M -s queue=64KB", "-s 'rate=5 Mbit/s' -s 'queue=64 kB'"),
        // 5 Mbit/s for 50 ms are 31,250 bytes.
        ("-s rate=5M -s queue=50ms", "-s 'rate=5 Mbit/s' -s 'queue=31250 B'"),
        ("-s rtt=40ms", "-s 'delay=20 ms'"),
        ("dsl-25 -s rtt=40ms", "dsl-25 -s 'delay=20 ms'"),
    ] {
        assert_eq!(body(&shown(written)), body(&shown(plain)), "{written}");
    }
    // Neither is dropped.
    let both = "give either `rtt` or `delay`";
    home.refuses(&[
        ("path show -s delay=5ms -s rtt=40ms", both),
        ("path show -s rtt=40ms -s delay=5ms", both),
    ]);
    let varying = "-s 'rate={ start=\"2 Mbit/s\", steps=[{ at=\"1 s\", to=\"6 Mbit/s\" }], \
                   repeat=\"2 s\" }' -s queue=100ms";
    // The mean is 4 Mbit/s.
    assert!(shown(varying).contains("50 kB"), "{}", shown(varying));
    let advised = |figures: &str| home.answer(&format!("advise --no-trials {figures}"));
    assert_eq!(
        advised("--rtt 100ms --rate 50M --payload 10M"),
        advised("--rtt '100 ms' --rate '50 Mbit/s' --payload '10 MB'")
    );
}

/// Without the line that repeats the command line.
fn body(shown: &str) -> &str {
    shown.split_once('\n').unwrap().1
}

#[test]
fn outputs_without_their_flag_leave_the_others() {
    let home = home();
    let ended = home.run("trace slow.pcap --html page.html --ladder-svg ladder.svg");
    assert_eq!(ended.code, Some(2));
    insta::assert_snapshot!(ended.stderr);
    assert!(home.text("page.html").starts_with("<!"));
    assert!(!home.exists("ladder.svg"));
}

/// A run of two stacks, and its directory there.
fn two_stacks() -> (Home, String) {
    let scenario = format!(
        "{SMALL}\n[matrix]\n\"client.stack\" = [\"model:linux-6.18\", \"model:osx-10.7\"]\n\
         [server]\nstack = \"model:linux-6.18\"\n"
    );
    let home = Home::with("two.toml", scenario);
    let made = home.run("run two.toml --world sim --trials 2");
    assert_eq!(made.code, Some(0), "{}{}", made.stdout, made.stderr);
    let run = home.only("runs/two");
    let run = run.strip_prefix(home.path("")).unwrap().display().to_string();
    (home, run)
}

#[test]
fn run_is_named_by_its_scenario() {
    let (home, run) = two_stacks();
    for command in [
        "compare RUN --by stack",
        "compare RUN RUN",
        "advise RUN --no-trials",
        "report RUN",
        "export RUN",
        "states RUN --case model-linux-6.18",
    ] {
        let of = |name: &str| home.run(&command.replace("RUN", name)).stdout;
        let whole = of(&run);
        assert!(!whole.is_empty(), "{command}");
        for name in ["two", "runs/two"] {
            assert_eq!(of(name), whole, "{command} {name}");
        }
    }
}

/// Both ends captured each packet: merged, all would look duplicated by the network.
#[test]
fn recording_is_joined_not_merged() {
    let (home, run) = two_stacks();
    let trials = home.path(&run).join("trials");
    let trial = std::fs::read_dir(trials).unwrap().next().unwrap().unwrap().path();
    let trial = trial.strip_prefix(home.path("")).unwrap().display().to_string();
    let [client, server] = ["client", "server"].map(|end| format!("{trial}/{end}.pcapng"));
    let joined = home.answer(&format!("trace {trial}"));
    assert_eq!(joined, home.answer(&format!("trace --client {client} --server {server}")));
    assert!(joined.contains("  Both captures were taken by one clock: "), "{joined}");
    assert!(joined.ends_with(&format!("\nWhat limited it: `tcplab trace {client}`\n")), "{joined}");
    home.refuses(&[
        (&format!("trace {trial} -c 0"), "is a recording of both ends: pass one, "),
        (&format!("trace {trial} --html page.html"), "is a recording of both ends"),
        (&format!("advise {trial}"), "is a recording of a trial: `tcplab trace"),
    ]);
}

#[test]
fn advice_is_given_for_a_path_by_name() {
    let home = home();
    let advised = |rest: &str| home.answer(&format!("advise --no-trials {rest}"));
    assert_eq!(advised("dsl-25"), advised("--path dsl-25"));
    assert_eq!(advised("mine.toml"), advised("--path mine.toml"));
    let keys = advised("-s rate=10M -s delay=20ms");
    assert!(keys.contains("10.0 Mbit/s, no random loss"), "{keys}");
    assert!(keys.contains("from client to server"), "{keys}");
    home.refuses(&[(
        "advise slow.pcap -s loss=1%",
        "slow.pcap is no path: `-s` sets keys of a path",
    )]);
}

#[test]
fn factors_and_levels_name_the_nearest() {
    let (home, run) = two_stacks();
    let mut all = String::new();
    for rest in [
        "",
        "--by stakc",
        "--by colour",
        "--by stack --levels model:linux-6.8,model:osx-10.7",
        "--by stack --metrics transfer_tme",
    ] {
        let refusal = home.refusal(&format!("compare {run} {rest}"));
        writeln!(all, "$ tcplab compare RUN {rest}\n{}", refusal.replace(&run, "RUN")).unwrap();
    }
    insta::assert_snapshot!(all);
}

/// Several mistakes of a file, each in its line.
#[test]
fn all_mistakes_of_a_file_are_shown() {
    let home = Home::with(
        "bad.toml",
        "title = \"Bad\"\n[path]\nrate = \"10MB\"\ndealy = \"5 ms\"\n[workload]\nupload = \"64\"\n\
         [[expect]]\nclaim = \"quick\"\nmetric = \"transfertime\"\nat_most = \"1 s\"\n",
    );
    insta::assert_snapshot!(refusals(&home, &["run bad.toml"]));
}

#[test]
fn taken_port_is_named() {
    let home = Home::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refusal = home.refusal(&format!("server --port {port}"));
    insta::assert_snapshot!(refusal.replace(&port, "PORT"));
    drop(taken);
    // Nobody listens there now.
    let refusal = home.refusal(&format!("load http://127.0.0.1:{port}/"));
    insta::assert_snapshot!(refusal.replace(&port, "PORT"));
}
