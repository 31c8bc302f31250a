//! Paths on the kernel's queueing disciplines: `backend = "netem"` and `tcplab path tc`.

use std::process::Command;

use serde_json::Value;
use tcplab_capture::Direction;

use crate::experiment::Experiment;
use crate::frames::Tap;
use crate::home::{Ended, Home, ended, names, skipped};
use crate::image::{Images, VERSION};
use crate::program::{Io, namespaces_allowed};

/// Words of `sh`, in a network that has `eth1` and `eth2` then.
fn with_devices(words: &str) -> String {
    format!(
        "export PATH=$PATH:/usr/sbin:/sbin\nset -e\n\
         for name in eth1 eth2; do\n\
         ip link add dev $name type veth peer name p$name\nip link set dev $name up\ndone\n{words}"
    )
}

/// Runs words of `sh` in a network namespace of their own, where `eth1` and `eth2` are.
fn in_namespace(words: &str) -> Ended {
    let script = with_devices(words);
    let root = rustix::process::geteuid().is_root();
    let user: &[&str] = if root { &[] } else { &["--user", "--map-root-user"] };
    ended(Command::new("unshare").args(user).args(["--net", "sh", "-c", &script]))
}

/// Whether ip, tc and namespaces are available; if not, prints that the test is skipped.
fn tools_allowed() -> bool {
    if !namespaces_allowed() {
        return false;
    }
    let has = in_namespace("tc -V >/dev/null").code == Some(0);
    if !has {
        skipped("ip and tc (iproute2) are not installed, or veth pairs are not allowed");
    }
    has
}

/// Whether the kernel has a qdisc of that kind.
fn has_qdisc(kind: &str) -> bool {
    let said = in_namespace(&format!("tc qdisc replace dev eth1 root {kind}")).stderr;
    !said.contains("qdisc kind is unknown")
}

/// The commands that set a path up and undo it.
fn commands(keys: &[&str]) -> [Vec<String>; 2] {
    let keys: Vec<String> = keys.iter().map(|key| format!("-s '{key}'")).collect();
    let sides = "--client-side eth1 --server-side eth2";
    let line = format!("path tc --json {sides} {}", keys.join(" "));
    let document = Home::new().json(&line);
    ["setup", "undo"].map(|part| {
        let commands = document[part].as_array().unwrap().iter();
        commands
            .map(|command| {
                let words = command["words"].as_array().unwrap().iter();
                words.map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(" ")
            })
            .collect()
    })
}

/// The rate counts IP packets, packets arrive singly, and there are no verdicts.
#[test]
fn tbf_keeps_the_rate() {
    if !tools_allowed() {
        return;
    }
    for kind in ["tbf", "pfifo"] {
        if !has_qdisc(kind) {
            return skipped(&format!("this kernel has no {kind}"));
        }
    }
    let scenario = r#"
        title = "A rate"
        [path]
        backend = "netem"
        rate    = "20 Mbit/s"
        queue   = "300 packets"
        [workload]
        upload = "8 MB"
        [repeat]
        trials = 1
    "#;
    let Some(run) = Experiment::run(scenario, Io::PacketSocket) else { return };
    let trials = run.trials();
    let trial = &trials[0];
    assert!(trial.truth.is_empty());
    assert!(trial.row.metrics.find(tcplab_scenario::metrics::LOST).is_none());
    assert!(trial.row.episodes.iter().all(|episode| episode.truth_lost.is_none()));
    let warnings = trial.row.warnings.join("\n");
    let warning = "netem made the path and logs no verdicts";
    assert!(warnings.contains(warning), "{warnings}");
    assert!(trial.record.world.notes.iter().any(|note| note.starts_with("rate: tbf sends")));
    assert!((trial.metric("payload_intact") - 1.0).abs() < f64::EPSILON);

    let [client, server] = &trial.taps;
    let longest = |tap: &Tap| tap.frames.iter().map(|frame| frame.bytes.len()).max();
    assert_eq!((longest(client), longest(server)), (Some(1500), Some(1500)));
    assert!(client.frames.iter().all(|frame| frame.comments.is_empty()));
    // The server receives what the client sent, byte by byte, one hop later (RFC 791 §3.2).
    let sent: usize = client.going(Direction::Outbound).map(|frame| frame.bytes.len()).sum();
    let came: usize = server.going(Direction::Inbound).map(|frame| frame.bytes.len()).sum();
    assert!(came <= sent && came > 8_000_000, "{came} B of {sent} B");

    let mut arrivals: Vec<(u64, usize)> =
        server.going(Direction::Inbound).map(|frame| (frame.nanos, frame.bytes.len())).collect();
    // The machine's clock may have been set back a little.
    arrivals.sort_unstable();
    // The busiest 100 ms, as a busy machine makes the others slower, and the busiest second, of
    // which a first packet that came late is a smaller part.
    let busiest = |window: u64| {
        let sums = arrivals.iter().enumerate().map(|(first, (from, _))| {
            let within = arrivals[first..].iter().take_while(|(at, _)| at - from < window);
            within.map(|(_, len)| len).sum::<usize>()
        });
        sums.max().unwrap()
    };
    let [tenth, second] = [100_000_000, 1_000_000_000].map(busiest);
    assert!(tenth >= 250_000 - 2 * 1500, "{tenth} B in 100 ms at 20 Mbit/s");
    // The bucket's content (at most 1514 B and 1 ms), and 10 ms that the first packet was late.
    let most = 2_500_000 + 1514 + 11 * 2500 + 1500;
    assert!(second <= most, "{second} B in a second at 20 Mbit/s");
    replay_is_refused(&run);
}

/// Without verdicts there is nothing to compare.
fn replay_is_refused(run: &Experiment) {
    let line = format!("replay {}", run.trials()[0].directory.display());
    run.home().refuses(&[(&line, "netem made its path, and keeps no log of verdicts")]);
}

/// Without netem nothing runs, and the error says what to do; with it, the delay is there.
#[test]
fn missing_kernel_feature_is_reported_first() {
    if !tools_allowed() {
        return;
    }
    let scenario = "title = \"Delay\"\n[path]\nbackend = \"netem\"\ndelay = \"20 ms\"\n\
                    [workload]\nupload = \"100 kB\"\n[repeat]\ntrials = 1\n";
    if has_qdisc("netem") {
        let Some(run) = Experiment::run(scenario, Io::PacketSocket) else { return };
        let rtt = run.trials()[0].metric("mean_rtt");
        assert!(rtt >= 40.0, "a round trip of {rtt} ms through 40 ms");
        return;
    }
    let home = Home::with("made.toml", scenario);
    let line = "run made.toml";
    home.refuses(&[(line, "this kernel does not have sch_netem"), (line, "modprobe sch_netem")]);
    let runs = names(&home.path("runs")).into_iter();
    let left: Vec<_> = runs.flat_map(|run| names(&home.path("runs").join(run))).collect();
    assert!(left.is_empty(), "{left:?}");
    let doctor = home.run("doctor");
    assert!(doctor.stdout.contains("this kernel has no netem"), "{}", doctor.stdout);
}

/// Where `sh` can be run with queueing disciplines.
enum Place {
    /// A namespace of this machine.
    Here,
    /// A kernel in virtual time.
    Guest(Images),
}

impl Place {
    /// Where there are these kinds; if nowhere, prints that the test is skipped.
    fn with(kinds: &[&str]) -> Option<Place> {
        if !tools_allowed() {
            return None;
        }
        if kinds.iter().all(|kind| has_qdisc(kind)) {
            return Some(Place::Here);
        }
        Images::find().map(Place::Guest)
    }

    /// The output of words of `sh`, where `eth1` and `eth2` are; each must succeed.
    fn output(&self, words: &str) -> String {
        match self {
            Place::Here => in_namespace(words).answer(words),
            Place::Guest(images) => {
                let home = Home::with("it.sh", with_devices(words));
                let line = format!(
                    "shell -q --near linux-{VERSION} --far linux-{VERSION} -s 'delay=1 ms' -- sh it.sh"
                );
                images.run(&home, &line).answer(words)
            }
        }
    }
}

/// A kind of queue, its key, and options that tc reads back.
type Queue = (&'static str, &'static str, &'static [(&'static str, f64)]);

/// Each kind that `tcplab path tc` prints. A limit has room for the packet that tbf sends next.
const QUEUES: [Queue; 7] = [
    ("pfifo", r#"queue="512 packets""#, &[("limit", 513.0)]),
    ("bfifo", r#"queue="64 kB""#, &[("limit", 65_500.0)]),
    ("pfifo_head_drop", r#"queue={drop_head="100 packets"}"#, &[("limit", 101.0)]),
    (
        "codel",
        r#"queue={codel={target="4 ms",interval="80 ms"}}"#,
        &[("limit", 1001.0), ("target", 3999.0), ("interval", 79_999.0)],
    ),
    (
        "fq_codel",
        "queue={fq_codel={flows=512}}",
        &[("limit", 10_241.0), ("flows", 512.0), ("quantum", 1514.0)],
    ),
    ("pie", r#"queue={pie={target="20 ms"}}"#, &[("limit", 1001.0)]),
    (
        "red",
        r#"queue={red={limit="400 kB",min="30 kB",max="90 kB"}}"#,
        &[("limit", 401_500.0), ("min", 30_000.0), ("max", 90_000.0)],
    ),
];

/// tc and the kernel accept each kind of queue that `tcplab path tc` prints, and read it back.
#[test]
fn kernel_accepts_every_queue() {
    let kinds: Vec<&str> = QUEUES.iter().map(|(kind, ..)| *kind).chain(["tbf"]).collect();
    let Some(place) = Place::with(&kinds) else { return };
    let devices = "echo; tc -j qdisc show; echo; ip -j link show";
    let words = QUEUES.iter().map(|(_, queue, _)| {
        let [setup, undo] = commands(&[r#"forward.rate="20 Mbit/s""#, &format!("forward.{queue}")])
            .map(|commands| commands.join("\n"));
        format!("{setup}\necho; tc -j qdisc show dev eth2\n{undo}\n{devices}\n")
    });
    let output = place.output(&format!("{devices}\n{}", words.collect::<String>()));
    let mut documents = output.lines().filter(|line| !line.is_empty()).map(|line| {
        serde_json::from_str::<Vec<Value>>(line).unwrap_or_else(|error| panic!("{line}: {error}"))
    });
    let mut next = || documents.next().expect("one more document");
    let before = [next(), next()].map(|it| kinds_of(&it));
    for (kind, _, options) in QUEUES {
        let shown = next();
        let [root, child] = &shown[..] else { panic!("{shown:?}") };
        assert_eq!((&root["kind"], &root["options"]["rate"]), (&"tbf".into(), &2_500_000.into()));
        assert_eq!((&child["kind"], &child["parent"]), (&kind.into(), &"1:1".into()));
        for (option, asked) in options {
            let read = child["options"][*option].as_f64().unwrap_or_else(|| panic!("{child}"));
            assert!((read - asked).abs() <= 1.0, "{kind} {option}: {read} instead of {asked}");
        }
        assert_eq!([next(), next()].map(|it| kinds_of(&it)), before, "{kind} is removed");
    }
}

/// The qdiscs or devices of a document of `tc` or `ip`.
fn kinds_of(document: &[Value]) -> Vec<String> {
    let kind = |one: &Value| format!("{} {} {}", one["kind"], one["dev"], one["ifname"]);
    document.iter().map(kind).collect()
}

/// Settings of netem, and what tc reads back of them.
const SETTINGS: [(&[&str], &str); 8] = [
    (&[r#"delay="7.5 ms""#, r#"jitter="2 ms""#], "delay 7.5ms  2ms rate"),
    (&[r#"delay="5 ms""#, r#"jitter={normal="1600 us"}"#], "delay 5ms  1.6ms rate"),
    (&[r#"delay="5 ms""#, r#"jitter={pareto="1 ms",reorder=true}"#], "delay 5ms  1ms"),
    (&[r#"delay="5 ms""#, r#"jitter={pareto_normal="1 ms"}"#], "delay 5ms  1ms rate"),
    (
        &[r#"loss={gilbert_elliott={p="1 %",r="25 %",bad="90 %",good="2 %"}}"#],
        "loss gemodel p 1% r 25% 1-h 90% 1-k 2%",
    ),
    (
        &[r#"loss="0.0000001 %""#, r#"duplicate="1 %""#, r#"corrupt="0.5 %""#],
        "duplicate 1% corrupt 0.5%",
    ),
    (&[r#"mark="5 %""#], "loss 5% ecn"),
    (&[r#"reorder={probability="1 %",extra="20 ms"}"#], "delay 20ms reorder 99% gap 1"),
];

/// The kernel accepts the settings of netem, and tc reads them back.
#[test]
fn netem_settings_are_read_back() {
    let Some(place) = Place::with(&["netem"]) else { return };
    let words = SETTINGS.iter().map(|(keys, _)| {
        let [setup, undo] = commands(keys).map(|commands| commands.join("\n"));
        format!("{setup}\ntc qdisc show dev eth2\n{undo}\n")
    });
    let output = place.output(&words.collect::<String>());
    let shown: Vec<&str> = output.lines().collect();
    assert_eq!(shown.len(), SETTINGS.len(), "{output}");
    for ((keys, read), line) in SETTINGS.iter().zip(shown) {
        assert!(line.contains(read), "{keys:?}: {read} is not in {line}");
    }
    // A device between the two sides needs a module that guests do not have.
    if matches!(place, Place::Here) {
        let [setup, _] = commands(&[r#"rate="10 Mbit/s""#, r#"delay="5 ms""#]);
        place.output(&setup.join("\n"));
    }
}
