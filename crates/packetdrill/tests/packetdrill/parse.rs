//! Scripts that parse, and the errors of those that do not.

use crate::fake::Fake;
use tcplab_packetdrill::ast::Action;
use tcplab_packetdrill::{Definitions, Model, Script, run};
use tcplab_stack::{Config, FreeBsd};
use tcplab_units::Rng;

const SCRIPTS: [&str; 8] = [
    include_str!("../scripts/server.pkt"),
    include_str!("../scripts/client.pkt"),
    include_str!("../scripts/everything.pkt"),
    include_str!("../scripts/freebsd.pkt"),
    include_str!("../scripts/model/timeouts.pkt"),
    include_str!("../scripts/model/urgent.pkt"),
    include_str!("../scripts/model/endings.pkt"),
    include_str!("../scripts/model/refused.pkt"),
];

fn read(text: &str) -> Script {
    Script::parse(text, &Definitions::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn parser_each_construct_is_read() {
    insta::assert_snapshot!(shown(&read(SCRIPTS[2])));
}

#[test]
fn parser_each_construct_of_freebsd_is_read() {
    let on_freebsd = Definitions::default().with("FreeBSD", "FreeBSD");
    insta::assert_snapshot!(shown(&Script::parse(SCRIPTS[3], &on_freebsd).unwrap()));
}

fn shown(script: &Script) -> String {
    let mut shown = String::new();
    for flag in &script.options {
        shown.push_str(&format!("--{} {:?}\n", flag.name, flag.value));
    }
    for shell in script.init.iter().chain(&script.cleanup) {
        shown.push_str(&format!("{:?}\n", shell.commands));
    }
    for event in &script.events {
        shown.push_str(&match &event.action {
            Action::Inbound(spec) => format!("{} {} < {spec:?}\n", event.at.line, event.time),
            Action::Outbound(spec) => format!("{} {} > {spec:?}\n", event.at.line, event.time),
            Action::Call(call) => format!("{} {} {call:?}\n", event.at.line, event.time),
            Action::Shell(shell) => format!("{} {:?}\n", event.at.line, shell.commands),
            Action::Code(code) => format!("{} {:?}\n", event.at.line, code.program),
        });
    }
    shown
}

#[test]
fn condition_keeps_lines_of_defined_names_only() {
    let text = "--define=OWN=1\n#ifdef GIVEN\n0 close(1) = 0\n#endif\n\
                #ifdef OWN\n0 close(2) = 0\n#endif\n#ifdef OTHER\n0 > wrong\n#endif";
    let lines = |definitions: &Definitions| {
        let script = Script::parse(text, definitions).unwrap();
        script.events.iter().map(|event| event.at.line).collect::<Vec<_>>()
    };
    assert_eq!(lines(&Definitions::none().with("GIVEN", "1")), [3, 6]);
    assert_eq!(lines(&Definitions::none()), [6]);
}

#[test]
fn packet_after_parsing_is_written_identically() {
    for script in SCRIPTS.map(read) {
        for event in script.events {
            let (Action::Inbound(spec) | Action::Outbound(spec)) = &event.action else { continue };
            let sign = if matches!(event.action, Action::Inbound(_)) { '<' } else { '>' };
            let line = format!("{} {sign} {spec}", event.time);
            let again = read(&line);
            assert_eq!(again.events[0].action, event.action, "{line}");
            assert_eq!(again.events[0].time, event.time, "{line}");
        }
    }
}

#[test]
fn definition_in_script_is_replaced_by_value() {
    let text = "--define=N=5\n0 write(3, ..., N) = A\n+0 < S N:N(0) win 1 <FO TFO>";
    let definitions = Definitions::none().with("N", "6").with("A", "N").with("TFO", "aa00");
    let found = Script::parse(text, &definitions).unwrap();
    let plain = read("--define=N=5\n0 write(3, ..., 5) = N\n+0 < S 5:5(0) win 1 <FO aa00>");
    assert_eq!(format!("{:?}", found.events[1].action), format!("{:?}", plain.events[1].action));
    let Action::Call(call) = &found.events[0].action else { panic!("no call") };
    assert_eq!(format!("{:?}", call.arguments), "[Integer(3), Ellipsis, Integer(5)]");
}

#[test]
fn parse_error_shows_position() {
    let mut shown = String::new();
    for text in [
        "",
        "--",
        "0",
        "0 <",
        "-1 < . 1:1(0) win 1",
        "99999999999 < . 1:1(0) win 1",
        "0.2~0.1 > . 1:1(0)",
        "+0~1 > . 1:1(0)",
        "* < . 1:1(0) win 1",
        "0~1 close(3) = 0",
        "0 > X 1:1(0)",
        "0 > .8 1:1(0)",
        "0 > E.5 1:1(0)",
        "0 > E5. 1:1(0)",
        "0 > . 1:5(3)",
        "0 > . 1:1(70000)",
        "0 > . 1:1(0) ack x",
        "0 < . 1:1(0)",
        "0 < . 1:1(0) win 70000",
        "0 < . 1:1(0) win 1 <...>",
        "0 > [ect2] . 1:1(0)",
        "0 > [tos 0x100] . 1:1(0)",
        "0 > . 1:1(0) <mss>",
        "0 > . 1:1(0) <sack 1>",
        "0 > . 1:1(0) <TS val 1>",
        "0 > . 1:1(0) <FO abc>",
        "0 > . 1:1(0) <ECN x>",
        "0 > . 1:1(0) <nop",
        "0 close(3",
        "0 close(3)",
        "0 close(3) = ",
        "0...0 close",
        "0.3...0.2 close(3) = 0",
        "0 a(99999999999999999999) = 0",
        "0 a({b=1) = 0",
        "0 close(3) = 0 (x",
        "0 > ipv4 1.1.1.1",
        "+0 close(3) = 0\n`true`\n+0 close(4) = 0",
        "0 %{ assert 1 == }%",
        "0 %{\nassert 1\n  while }%",
        "0 > \u{fc}",
        "#ifdef\n0 close(3) = 0",
        "#ifdef 1",
        "#ifdef A\n#ifdef B\n#endif",
        "#ifdef A\n0 close(3) = 0",
        "0 close(3) = 0\n#endif",
        "#ifdef A\n#else\n#endif",
        "#ifndef A",
        "# ifdef A",
        "0 < . ...(0) win 1",
        "0 > . ...0",
        "0 > . 1:1(0)/udp",
        "0 > . 1:1(0)/udp(1)",
        "0 > . 1:1(0)/udp(1 > 70000)",
        "0 > [dscp af14] . 1:1(0)",
        "0 > [dscp 0x40] . 1:1(0)",
        "0 > [class 256] . 1:1(0)",
        "0 > [tos 0x20, ect0] . 1:1(0)",
        "0 > [hlim] . 1:1(0)",
        "0 > . 1:1(0) <md5 invalid>",
        "0 < icmp unreachable [1:1(0)/tcp(1 > 2)]",
        "a close(3) = 0",
    ] {
        let error = Script::parse(text, &Definitions::none()).expect_err(text);
        shown.push_str(&format!("{error}\n\n"));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn parser_deep_nesting_is_refused() {
    for (open, close) in [("[", "]"), ("{", "}"), ("a=", ""), ("a(", ")"), ("1|", "")] {
        let text = format!("0 f({}1{}) = 0", open.repeat(50_000), close.repeat(50_000));
        let read = Script::parse(&text, &Definitions::none());
        assert_eq!(read.is_ok(), open == "1|", "{open}");
    }
}

/// Scripts cut, doubled and scrambled: whatever comes of it, reading and running end.
#[test]
fn parser_and_run_on_any_text_terminate() {
    let mut rng = Rng::new(7, "scripts");
    let mut below = |most: usize| rng.below(most as u64) as usize;
    let pieces: Vec<&str> =
        SCRIPTS.iter().flat_map(|s| s.split_inclusive([' ', ',', '('])).collect();
    let freebsd = Config { freebsd: Some(FreeBsd::default()), ..Config::default() };
    let mut read = 0;
    for round in 0..4_000 {
        let mut bytes = SCRIPTS[round % SCRIPTS.len()].as_bytes().to_vec();
        for _ in 0..=below(3) {
            let at = below(bytes.len().max(1));
            let to = (at + below(12)).min(bytes.len());
            match below(6) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..to)),
                2 if !bytes.is_empty() => bytes[at] = below(256) as u8,
                3 => drop(bytes.splice(at..at, pieces[below(pieces.len())].bytes())),
                4 => drop(bytes.splice(at..to, below(2_000).to_string().bytes())),
                _ => bytes.insert(at, b"<>[](){}`\"%.,:|+-*~=/#\n"[below(23)]),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        match Script::parse(&text, &Definitions::default()) {
            Ok(script) => {
                read += 1;
                let _ = run(&script, &mut Fake::default());
                let _ = run(&script, &mut Model::new(Config::default()));
                let _ = run(&script, &mut Model::new(freebsd.clone()));
            }
            Err(error) => {
                assert!(error.at.line as usize <= text.lines().count() + 1, "{error}");
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(read > 200, "only {read} could be read: the rest tests no run");
}
