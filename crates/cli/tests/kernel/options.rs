//! Socket options: requested, effective, refused.

use std::fs;

use tcplab_recording::{OptionRecord, Recording};
use tcplab_workload::Outcome::{self, Adjusted, AsAsked, Clamped, Default, Doubled, Inherited};

use crate::experiment::{only_entry, tiny};
use crate::program::namespaces_allowed;

const ASKED: &str = r#"
[client]
socket = { rcvbuf = "64 KiB", sndbuf = "1 GB", linger = "5 s", maxseg = 1000, congestion = "no-such", if_refused = "record" }

[server]
socket   = { backlog = 7, defer_accept = "5 s", keepalive = true, keepidle = "20 s", nodelay = true }
accepted = { keepidle = "9 s", user_timeout = "8 s" }
"#;

/// What was asked for and what it was, of all three sockets; once in each world, which agree.
#[test]
fn options_are_read_back_on_all_sockets() {
    if !namespaces_allowed() {
        return;
    }
    for world in ["kernel", "sim"] {
        let home = tempfile::tempdir().unwrap();
        // A model without that congestion control is none at all.
        let asked = match world {
            "sim" => ASKED.replace(r#"congestion = "no-such""#, "ip_tos = 16"),
            _ => ASKED.into(),
        };
        let ended = tiny(home.path(), &asked, &["--world", world]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        // Lines are broken to the terminal's width.
        let told = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("was refused"), "{world}: {}", ended.stdout);
        let directory = only_entry(&home.path().join("runs/tiny"));
        let trial = only_entry(&directory.join("trials"));
        let record = Recording::open(&trial).unwrap().record().unwrap();
        let check = |options: &[OptionRecord], expected: &[(&str, &str, Outcome)]| {
            for (name, effective, outcome) in expected {
                let found = options.iter().find(|option| option.name == *name).unwrap();
                let told = (found.effective.as_str(), found.outcome);
                assert_eq!(told, (*effective, *outcome), "{world}: {name}: {found:?}");
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
        let table = fs::read_to_string(directory.join("options.csv")).unwrap();
        assert!(table.contains(",client,rcvbuf,SO_RCVBUF,B,65536,,"), "{table}");
        let page = fs::read_to_string(directory.join("report.html")).unwrap();
        assert!(page.contains("<td>SO_LINGER</td>"), "{world}");
    }
}

#[test]
fn refused_option_fails_trial_unless_recorded() {
    if !namespaces_allowed() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    for (side, parts) in [
        (
            "[client]\nsocket = { congestion = \"no-such\" }",
            ["the client's socket does not take congestion = no-such: ENOENT", "tcplab doctor"],
        ),
        (
            "[server]\naccepted = { congestion = \"no-such\" }",
            ["the socket that the server accepted does not take congestion", "tcplab doctor"],
        ),
    ] {
        let ended = tiny(home.path(), side, &["--world", "kernel"]);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        for part in parts {
            assert!(ended.stderr.contains(part), "`{part}` is missing: {}", ended.stderr);
        }
    }
}
