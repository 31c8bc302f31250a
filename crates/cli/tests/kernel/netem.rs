//! Paths on the kernel's queueing disciplines: `backend = "netem"` and `tcplab path tc`.

use std::process::Command;

use serde_json::Value;
use tcplab_capture::Direction;

use crate::experiment::Experiment;
use crate::frames::Tap;
use crate::home::{Ended, Home, ended, names, skipped};
use crate::program::{Io, namespaces_allowed};

/// Runs words of `sh` in a network namespace of their own, where `eth1` and `eth2` are.
fn in_namespace(words: &str) -> Ended {
    let script = format!(
        "export PATH=$PATH:/usr/sbin:/sbin\nset -e\n\
         for name in eth1 eth2; do\n\
         ip link add dev $name type veth peer name p$name\nip link set dev $name up\ndone\n{words}"
    );
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
    // The busiest 100 ms; a busy machine makes the others slower.
    let window = 100_000_000;
    let busiest = arrivals.iter().enumerate().map(|(first, (from, _))| {
        let within = arrivals[first..].iter().take_while(|(at, _)| at - from < window);
        within.map(|(_, len)| len).sum::<usize>()
    });
    let busiest = busiest.max().unwrap();
    // 250 kB, plus the bucket's content (at most 1514 B and 1 ms), plus a late first packet.
    let within = 250_000 - 2 * 1500..250_000 + 1514 + 2 * 2500 + 1500;
    assert!(within.contains(&busiest), "{busiest} B in 100 ms at 20 Mbit/s");
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

/// tc and the kernel accept each kind of queue that `tcplab path tc` prints, and read it back. A
/// kind that this kernel lacks must at least be known to tc.
#[test]
fn kernel_accepts_every_queue() {
    if !tools_allowed() {
        return;
    }
    for (kind, queue, options) in [
        ("pfifo", r#"queue="512 packets""#, &[("limit", 512.0)][..]),
        ("bfifo", r#"queue="64 kB""#, &[("limit", 64_000.0)]),
        ("pfifo_head_drop", r#"queue={drop_head="100 packets"}"#, &[("limit", 100.0)]),
        (
            "codel",
            r#"queue={codel={target="4 ms",interval="80 ms"}}"#,
            &[("limit", 1000.0), ("target", 3999.0), ("interval", 79_999.0)],
        ),
        (
            "fq_codel",
            "queue={fq_codel={flows=512}}",
            &[("limit", 10_240.0), ("flows", 512.0), ("quantum", 1514.0)],
        ),
        ("pie", r#"queue={pie={target="20 ms"}}"#, &[("limit", 1000.0)]),
        (
            "red",
            r#"queue={red={limit="400 kB",min="30 kB",max="90 kB"}}"#,
            &[("limit", 400_000.0), ("min", 30_000.0), ("max", 90_000.0)],
        ),
    ] {
        let [setup, undo] = commands(&[r#"forward.rate="20 Mbit/s""#, &format!("forward.{queue}")]);
        let shown_qdiscs =
            in_namespace(&format!("{}\ntc -j qdisc show dev eth2", setup.join("\n")));
        if shown_qdiscs.code != Some(0) {
            assert!(
                shown_qdiscs.stderr.contains("Specified qdisc kind is unknown"),
                "{}",
                shown_qdiscs.stderr
            );
            skipped(&format!("this kernel has no {kind}; tc understood: {}", setup.join("; ")));
            continue;
        }
        let shown: Vec<Value> = serde_json::from_str(&shown_qdiscs.stdout).unwrap();
        let [root, child] = &shown[..] else { panic!("{shown:?}") };
        assert_eq!((&root["kind"], &root["options"]["rate"]), (&"tbf".into(), &2_500_000.into()));
        assert_eq!((&child["kind"], &child["parent"]), (&kind.into(), &"1:1".into()));
        for (option, asked) in options {
            let read = child["options"][*option].as_f64().unwrap_or_else(|| panic!("{child}"));
            assert!((read - asked).abs() <= 1.0, "{kind} {option}: {read} instead of {asked}");
        }
        let before = in_namespace("tc -j qdisc show; ip -j link show").stdout;
        let both = [setup.join("\n"), undo.join("\n")].join("\n");
        let after = in_namespace(&format!("{both}\ntc -j qdisc show; ip -j link show")).stdout;
        assert_eq!(kinds(&after), kinds(&before), "{kind} is removed");
    }
}

/// The qdiscs and devices in the output of `tc` and `ip`.
fn kinds(output: &str) -> Vec<String> {
    output
        .lines()
        .flat_map(|line| serde_json::from_str::<Vec<Value>>(line).unwrap_or_default())
        .map(|one| format!("{} {} {}", one["kind"], one["dev"], one["ifname"]))
        .collect()
}

/// tc knows the settings; a kernel with netem accepts them.
#[test]
fn netem_settings_are_read_back() {
    if !tools_allowed() {
        return;
    }
    let has_netem = has_qdisc("netem");
    for keys in [
        &[r#"delay="7.5 ms""#, r#"jitter="2 ms""#][..],
        &[r#"delay="5 ms""#, r#"jitter={normal="1500 ns"}"#],
        &[r#"delay="5 ms""#, r#"jitter={pareto="1 ms",reorder=true}"#],
        &[r#"delay="5 ms""#, r#"jitter={pareto_normal="1 ms"}"#],
        &[r#"loss={gilbert_elliott={p="1 %",r="25 %",bad="90 %",good="2 %"}}"#],
        &[r#"loss="0.0000001 %""#, r#"duplicate="1 %""#, r#"corrupt="0.5 %""#],
        &[r#"mark="5 %""#],
        &[r#"reorder={probability="1 %",extra="20 ms"}"#],
        &[r#"rate="10 Mbit/s""#, r#"delay="5 ms""#],
    ] {
        let [setup, _] = commands(keys);
        let output = in_namespace(&setup.join("\n"));
        if has_netem {
            assert_eq!(output.code, Some(0), "{keys:?}: {}", output.stderr);
        } else {
            let only = "Error: Specified qdisc kind is unknown.";
            assert_eq!(output.stderr.trim(), only, "{setup:#?}");
        }
    }
    if !has_netem {
        skipped("this kernel has no netem; tc knows the settings");
    }
}
