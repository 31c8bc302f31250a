use super::{Names, Program, Stopped, Trouble};

fn field(name: &str) -> Option<i64> {
    Some(match name {
        "tcpi_snd_cwnd" => 10,
        "tcpi_rtt" => 20_000,
        "tcpi_options" => 7,
        "tcpi_ca_state" => 3,
        _ => return None,
    })
}

fn run(text: &str) -> Result<(), String> {
    printed(text).map(drop)
}

/// The lines that the program prints.
fn printed(text: &str) -> Result<Vec<String>, String> {
    let program = Program::parse(text).map_err(|error| format!("{}: {}", error.at, error.what))?;
    let mut lines = Vec::new();
    let ran = program.run(&mut Names::default(), &field, &mut |line| lines.push(line));
    ran.map(|()| lines).map_err(|stopped| stopped.trouble.to_string())
}

#[test]
fn assertion_true_in_python_passes() {
    for text in [
        "",
        "assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd",
        "assert 15000 <= tcpi_rtt <= 25000, 'rtt=%d' % tcpi_rtt",
        "assert (tcpi_options & TCPI_OPT_SYN_DATA) == 0, tcpi_options",
        "assert tcpi_options & 4 | 32 == 36",
        "assert tcpi_ca_state == TCP_CA_Recovery; assert tcpi_snd_cwnd != 11",
        "cwnd = 9\ncwnd += 1; assert tcpi_snd_cwnd == cwnd # so it is\n\n",
        "assert tcpi_snd_cwnd == 10 and not tcpi_rtt == 1 or 1 / 0",
        "print(tcpi_snd_cwnd, 'a;b'); assert 2 + 3 * 4 == 14 and (2 + 3) * 4 == 20",
        "assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd; \\\nassert 1 < 2",
        "assert (tcpi_snd_cwnd ==\n  10), 'x'",
        "assert -7 // 2 == -4 and -7 % 2 == 1 and 7 / 2 == 3.5 and ~0 == -1",
        "assert 1 << 3 == 8 and 0x10 >> 2 == 4 and 5 ^ 1 == 4 and True and not False",
        "assert tcpi_rtt / 1000 <= 20.0",
        "import math\nassert 1",
    ] {
        assert_eq!(run(text), Ok(()), "{text}");
    }
}

#[test]
fn print_gives_values() {
    for (text, lines) in [
        ("print(tcpi_snd_cwnd)", &["10"][..]),
        (
            "print('cwnd', tcpi_snd_cwnd,\n 1 + 1); print(); print('%d us' % tcpi_rtt)",
            &["cwnd 10 2", "", "20000 us"],
        ),
        ("print ((1 + 2) * 3, (1, 2),)", &["9 (1, 2)"]),
        ("print 'cwnd', tcpi_snd_cwnd\nprint", &["cwnd 10", ""]),
    ] {
        assert_eq!(printed(text).unwrap(), lines, "{text}");
    }
    assert_eq!(run("print(tcpi_new)"), Err("`tcpi_new` is not known".into()));
}

#[test]
fn program_stops_at_its_statement() {
    for (text, at, trouble) in [
        ("import sys; sys.exit(1)", 12, Trouble::Call("sys.exit".into())),
        ("\nprint(1)\n  os.system('(id')\nassert 0", 12, Trouble::Call("os.system".into())),
        ("x = 1 # é\nassert tcpi_new", 11, Trouble::UnknownName("tcpi_new".into())),
    ] {
        let ran = Program::parse(text).unwrap().run(&mut Names::default(), &field, &mut drop);
        assert_eq!(ran, Err(Stopped { at, trouble }), "{text}");
    }
}

#[test]
fn assertion_false_shows_values() {
    for (text, message) in [
        ("assert tcpi_snd_cwnd == 9", "tcpi_snd_cwnd == 9 does not hold: 10 == 9"),
        (
            "assert 1 < tcpi_rtt <= 2, 'rtt=%d us, %s' % (tcpi_rtt, 'so')",
            "1 < tcpi_rtt <= 2 does not hold: 1 < 20000 <= 2 (rtt=20000 us, so)",
        ),
        ("assert 1 == 1 and 2 == 3", "1 == 1 and 2 == 3 does not hold: 2 == 3"),
        ("assert not 1", "not 1 does not hold: not 1"),
        ("assert tcpi_new == 9", "`tcpi_new` is not known"),
        ("x += 1", "`x` is not known"),
        ("assert 1 / 0", "cannot compute Divide of 1 and 0"),
        ("assert 1 << 63", "cannot compute ShiftLeft of 1 and 63"),
        ("assert 'a' < 1", "a and 1 have no order between them"),
    ] {
        assert_eq!(run(text), Err(message.into()), "{text}");
    }
}

#[test]
fn python_unknown_syntax_gives_position() {
    for (text, message) in [
        ("assert", "6: expected a value, found the code's end"),
        ("assert (1", "9: expected `)`, found the code's end"),
        ("for x in y", "4: expected `assert`, an assignment or `print`, found `for x in y`"),
        ("assert 1 1", "9: expected the statement's end, found `1`"),
        ("assert 'a", "7: unterminated string: add `'`"),
        ("assert 1a", "7: `1a` is not a number"),
        ("print(", "6: expected `,` or `)`, found the code's end"),
        ("print(1 +)", "9: expected a value, found `)`"),
        ("print(1 2)", "8: expected `,` or `)`, found `2)`"),
        ("print 1)", "7: expected the statement's end, found `)`"),
        ("exit(", "4: unterminated call: add `)`"),
    ] {
        let message = message.replace("4: expected `assert`", "0: expected `assert`");
        assert_eq!(run(text), Err(message), "{text}");
    }
    let deep = format!("assert {}1", "(".repeat(9_999));
    assert!(run(&deep).unwrap_err().ends_with("nested too deeply"));
}

#[test]
fn python_names_in_later_code_keep_values() {
    let mut names = Names::default();
    Program::parse("cwnd = 10").unwrap().run(&mut names, &field, &mut drop).unwrap();
    let again = Program::parse("cwnd += 1\nassert cwnd == 12").unwrap();
    let found = again.run(&mut names, &field, &mut drop).unwrap_err();
    assert_eq!(found.at, 10);
    assert!(matches!(found.trouble, Trouble::Broken { found, .. } if found == "11 == 12"));
}

#[test]
fn python_program_lists_needed_fields() {
    let text = "cwnd = 1; print(tcpi_rto); assert tcpi_rtt > cwnd and tcpi_ca_state == TCP_CA_Open";
    assert_eq!(Program::parse(text).unwrap().fields(), ["tcpi_rto", "tcpi_rtt", "tcpi_ca_state"]);
}
