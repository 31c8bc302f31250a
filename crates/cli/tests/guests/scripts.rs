//! packetdrill's scripts on kernels in virtual time: our own, which pass on Linux 6.18.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::home::{Ended, Home, skipped};
use crate::image::{Images, VERSION};

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../packetdrill/tests/scripts");

/// What Linux 6.12 does not do yet, by how the scripts fail there.
const NOT_IN_6_12: [(&str, &str); 2] = [
    // An acknowledgement of what was never sent is not answered.
    ("challenge_acks", "no packet was sent by 3.3"),
    // The buffer does not grow for segments behind a gap.
    ("joined_segments", "SK_MEMINFO_RCVBUF > 131072 does not hold"),
];

fn run(images: &Images, line: &str) -> Ended {
    images.run(&Home::new(), &format!("packetdrill {line}"))
}

/// The scripts that do not pass, by name, and why.
fn failures(images: &Images, kernel: &str, folders: &[&str]) -> (usize, Vec<(String, String)>) {
    let folders: Vec<String> = folders.iter().map(|it| format!("{SCRIPTS}/{it}")).collect();
    let ended = run(images, &format!("--json --stack linux-{kernel} {}", folders.join(" ")));
    let shown: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", ended.stderr);
    });
    let scripts = shown["scripts"].as_array().unwrap();
    let failed = scripts.iter().filter(|script| script["result"] != "passed");
    let named = |script: &Value| {
        let file = script["file"].as_str().unwrap().rsplit('/').next().unwrap();
        let why = script["what"].as_str().or(script["construct"].as_str()).unwrap_or_default();
        (file.trim_end_matches(".pkt").to_owned(), why.to_owned())
    };
    (scripts.len(), failed.map(named).collect())
}

#[test]
fn kernel_on_corpus_scripts_passes() {
    let Some(images) = Images::find() else { return };
    let (count, failed) = failures(&images, VERSION, &["model", "linux-6.12", "own"]);
    assert!(count >= 66, "{count} scripts");
    let as_expected = failed.len() == NOT_IN_6_12.len()
        && failed
            .iter()
            .zip(NOT_IN_6_12)
            .all(|((name, why), (expected, part))| name == expected && why.contains(part));
    assert!(as_expected, "{failed:#?}");
}

#[test]
fn later_kernel_on_all_scripts_passes() {
    let Some(images) = Images::find() else { return };
    if !images.folder().join("7.2").exists() {
        skipped("there is no kernel 7.2: `tcplab kernel build 7.2` builds it");
        return;
    }
    let (count, failed) = failures(&images, "7.2", &["model", "linux-7.2", "own"]);
    assert!(count >= 67 && failed.is_empty(), "{count} scripts: {failed:#?}");
}

/// A blocking call, commands that are no settings, and what each of them may come to.
#[test]
fn commands_are_run_by_the_kernel_itself() {
    let Some(images) = Images::find() else { return };
    let home = Home::with("commands.sh", "#!/bin/bash\nno-such-program > /dev/null 2>&1\ntrue\n");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(home.path("commands.sh"), mode).unwrap();
    let start = "`echo 0 > /proc/sys/net/ipv4/tcp_sack\ntest $(cat /proc/sys/net/ipv4/tcp_sack) = 0`\n\
                 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n\
                 +0 listen(3, 1) = 0\n+0...0.3 accept(3, ..., ...) = 4\n\
                 +.2 < S 0:0(0) win 1000 <mss 1000,sackOK,nop,nop>\n\
                 +0 > S. 0:0(0) ack 1 <mss 1460>\n+.1 < . 1:1(0) ack 1 win 1000\n";
    for (name, rest, expected) in [
        ("blocking", "+0 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 1\n", "passed"),
        (
            "sleeping",
            "+0 `sleep 0.1`\n+0 < . 1:11(10) ack 1 win 1000\n.4~.41 > . 1:1(0) ack 11\n",
            "passed",
        ),
        (
            "failing",
            "+0 `echo something wrong; exit 3`\n",
            "failed       failing.pkt:10:4: the commands ended with exit code 3: something wrong",
        ),
        ("missing", "+0 `no-such-program`\n", "unsupported  missing.pkt:10:4: a command: "),
        (
            "missing-within",
            "+0 `no-such-program --x\ntrue`\n",
            "unsupported  missing-within.pkt:10:4: a command: no-such-program: command not found\n",
        ),
        (
            "missing-in-pipe",
            "+0 `no-such-program 2> /dev/null | grep -q x || true`\n",
            "unsupported  missing-in-pipe.pkt:10:4: a command: no-such-program: command not found\n",
        ),
        (
            "missing-in-file",
            "+0 `./commands.sh; true`\n",
            "unsupported  missing-in-file.pkt:10:4: a command: no-such-program: command not found\n",
        ),
        ("failing-within", "+0 `cat no-such-file; false; true`\n", "passed"),
        // Settings need no program, and those behind one that is refused are made, too.
        (
            "refused-within",
            "+0 `sysctl -q net.ipv4.no_such_setting=1\nethtool -K tun0 tso off gso off`\n\
             +0 write(4, ..., 1000) = 1000\n+0 > . 1:501(500) ack 1\n\
             +0 > P. 501:1001(500) ack 1\n",
            "passed",
        ),
        (
            "refused",
            "+0 `sysctl -q net.ipv4.no_such_setting=1`\n",
            "unsupported  refused.pkt:10:4: /proc/sys/net/ipv4/no_such_setting: No such file",
        ),
    ] {
        home.write(&format!("{name}.pkt"), format!("{start}{rest}"));
        let line = format!("packetdrill --stack linux-{VERSION} {name}.pkt");
        let Ended { stdout, stderr, .. } = images.run(&home, &line);
        assert!(stdout.starts_with(expected), "{stdout}{stderr}");
    }
}

#[test]
fn kernel_does_the_same_each_time() {
    let Some(images) = Images::find() else { return };
    let line = format!("-v --stack linux-{VERSION} {SCRIPTS}/model/timeouts.pkt");
    let [first, second] = [0, 1].map(|_| run(&images, &line).stdout);
    assert!(first.contains("passed") && first.lines().count() > 10, "{first}");
    assert_eq!(first, second);
}

#[test]
fn stacks_are_shown_side_by_side() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    for name in ["challenge_acks", "half_closed"] {
        let text = fs::read_to_string(format!("{SCRIPTS}/model/{name}.pkt")).unwrap();
        home.write(&format!("suite/{name}.pkt"), text);
    }
    let stacks = format!("--stack model:linux-6.18 --stack linux-{VERSION}");
    let shown = |flags: &str| {
        let line = format!("packetdrill {flags} {stacks} suite");
        let Ended { code, stdout, .. } = images.run(&home, &line);
        assert_eq!(code, Some(1), "{stdout}");
        stdout
    };
    let sums = format!(
        "\nmodel:linux-6.18: 2 passed, 0 failed, 0 unsupported\n\
         linux-{VERSION}: 1 passed, 1 failed, 0 unsupported\n"
    );
    let of_scripts = shown("");
    for part in [
        &format!("model:linux-6.18  linux-{VERSION}   script\n"),
        "passed            failed       suite/challenge_acks.pkt\n",
        "passed            passed       suite/half_closed.pkt\n",
        "\nscripts with different results: 1\n",
        &format!("  model:linux-6.18: passed\n  linux-{VERSION}: failed: 22:4: no packet was sent"),
        &sums,
    ] {
        assert!(of_scripts.contains(part), "{part}: {of_scripts}");
    }
    let by_topic = shown("--topics");
    for part in [
        "topic            passed failed unsupported   passed failed unsupported\n",
        "challenge_acks        1      ·           ·        ·      1           ·\n",
        "all                   2      ·           ·        1      1           ·\n",
        &sums,
    ] {
        assert!(by_topic.contains(part), "{part}: {by_topic}");
    }
    let json = shown("--json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["total"]["passed"], 2);
    assert_eq!(json["other_stacks"][0]["stack"], format!("linux-{VERSION}"));
    assert_eq!(json["other_stacks"][0]["total"]["failed"], 1);
}

#[test]
fn ticks_of_a_kernel_cannot_be_chosen() {
    let Some(images) = Images::find() else { return };
    let home = Home::with("a.pkt", "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n");
    let line = format!("packetdrill --hz 1000 --stack linux-{VERSION} a.pkt");
    let said = images.run(&home, &line).refusal("packetdrill");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("has 250 ticks a second"), "{said}");
}
