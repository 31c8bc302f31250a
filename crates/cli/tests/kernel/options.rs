//! Socket options: requested, effective, refused.

use tcplab_recording::{OptionRecord, Recording};
use tcplab_workload::Outcome::{self, Adjusted, AsAsked, Clamped, Default, Doubled, Inherited};

use crate::experiment::tiny;
use crate::home::Home;
use crate::program::namespaces_allowed;

const ASKED: &str = r#"
[client]
socket = { rcvbuf = "64 KiB", sndbuf = "1 GB", linger = "5 s", maxseg = 1000, congestion = "no-such", if_refused = "record" }

[server]
socket   = { backlog = 7, defer_accept = "5 s", keepalive = true, keepidle = "20 s", nodelay = true }
accepted = { keepidle = "9 s", user_timeout = "8 s" }
"#;

/// Requested and effective values of all three sockets, equal in both worlds.
#[test]
fn options_are_read_back_on_all_sockets() {
    if !namespaces_allowed() {
        return;
    }
    for world in ["kernel", "sim"] {
        let home = Home::new();
        // A model without that congestion control does not exist.
        let asked = match world {
            "sim" => ASKED.replace(r#"congestion = "no-such""#, "ip_tos = 16"),
            _ => ASKED.into(),
        };
        let text = tiny(&home, &asked, &format!("--world {world}")).answer(world);
        // Lines are broken to the terminal's width.
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains("was refused"), "{world}: {text}");
        let directory = home.only("runs/tiny");
        let trial = home.only(directory.join("trials"));
        let record = Recording::open(&trial).unwrap().record().unwrap();
        let check = |options: &[OptionRecord], expected: &[(&str, &str, Outcome)]| {
            for (name, effective, outcome) in expected {
                let found = options.iter().find(|option| option.name == *name).unwrap();
                let got = (found.effective.as_str(), found.outcome);
                assert_eq!(got, (*effective, *outcome), "{world}: {name}: {found:?}");
            }
        };
        check(
            &record.client.options,
            &[
                ("rcvbuf", "131072 B", Doubled),
                ("linger", "5 s", AsAsked),
                ("keepalive", "off", Default),
            ],
        );
        // 1000, less 12 bytes of timestamps; at the end a kernel's socket is no longer connected.
        let size = record.client.options.iter().find(|option| option.name == "maxseg").unwrap();
        assert_eq!(size.connected.as_ref().unwrap_or(&size.effective), "988", "{world}");
        let sent = record.client.options.iter().find(|option| option.name == "sndbuf").unwrap();
        assert_eq!(sent.outcome, Clamped, "{world}");
        assert!(sent.because.as_ref().unwrap().starts_with("net.core.wmem_max = "), "{sent:?}");
        check(
            &record.server.listener,
            &[
                ("backlog", "7", AsAsked),
                ("defer_accept", "7 s", Adjusted),
                ("keepidle", "20 s", AsAsked),
            ],
        );
        check(
            &record.server.options,
            &[
                ("keepalive", "on", Inherited),
                ("nodelay", "on", Inherited),
                ("keepidle", "9 s", AsAsked),
                ("user_timeout", "8 s", AsAsked),
            ],
        );
        let table = home.text(directory.join("options.csv"));
        assert!(table.contains(",client,rcvbuf,SO_RCVBUF,B,65536,,"), "{table}");
        let page = home.text(directory.join("report.html"));
        assert!(page.contains("<td>SO_LINGER</td>"), "{world}");
    }
}

/// Of a connection that is open when the trial's time is over, options are those of its path.
#[test]
fn options_of_open_connections_are_read_while_the_path_is_there() {
    if !namespaces_allowed() {
        return;
    }
    let idle = "title = \"Idle\"\npath = { delay = \"1 ms\" }\nrepeat = { trials = 1 }\n\
                limits = { trial = \"1 s\" }\n[workload]\nmay_fail = true\n\
                client = [\"write 1 B\", \"read up to 1 B\", \"close\"]\n\
                server = [\"read up to 1 B\", \"read up to 1 B\", \"close\"]\n";
    for world in ["kernel", "sim"] {
        let home = Home::new();
        home.write("idle.toml", idle);
        home.run(&format!("run idle.toml --no-calibration --world {world}")).answer(world);
        let trial = home.only(home.only("runs/idle").join("trials"));
        let record = Recording::open(&trial).unwrap().record().unwrap();
        for options in [&record.client.options, &record.server.options] {
            let size = options.iter().find(|option| option.name == "maxseg").unwrap();
            assert_eq!(size.effective, "1448", "{world}: {size:?}");
        }
    }
}

#[test]
fn absent_congestion_control_is_refused() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    for (side, parts) in [
        (
            "[client]\nsocket = { congestion = \"no-such\" }",
            [
                "case base: this kernel has no congestion control \"no-such\"",
                "modprobe tcp_no-such",
            ],
        ),
        (
            "[server]\naccepted = { congestion = \"no-such\" }",
            [
                "case base: this kernel has no congestion control \"no-such\"",
                "modprobe tcp_no-such",
            ],
        ),
    ] {
        let ended = tiny(&home, side, "--world kernel");
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        for part in parts {
            assert!(ended.stderr.contains(part), "`{part}` is missing: {}", ended.stderr);
        }
    }
}
