use super::*;

#[test]
fn step_survives_serialisation() {
    for (text, again) in [
        ("write 100 B", None),
        ("write 100B", Some("write 100 B")),
        ("write  10 kB in 100 B", Some("write 10 kB in 100 B")),
        ("write 100 B in 10 kB", Some("write 100 B")),
        ("write 5 B more", None),
        ("write 1 B urgent", None),
        ("write 10 B in 5 B more urgent", None),
        ("write 10 kB in 1 kB retry 10 ms", None),
        ("write 5 B retry 1s", Some("write 5 B retry 1 s")),
        ("read 100 B", None),
        ("read 1 MB in 4 KiB", Some("read 1 MB in 4.096 kB")),
        ("read to end", None),
        ("read to end in 10 B", None),
        ("read up to 3 B", None),
        ("read urgent", None),
        ("await urgent", None),
        ("at mark", None),
        ("sleep 3 s", None),
        ("shutdown both", None),
        ("cork on", None),
        ("nodelay off", None),
        ("quickack on", None),
        ("begin request", None),
        ("end response", None),
        ("connect", None),
        ("accept", None),
        ("close", None),
        ("vanish", None),
    ] {
        let step: Step = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(step.to_string(), again.unwrap_or(text));
        let json = serde_json::to_string(&step).unwrap();
        assert_eq!(serde_json::from_str::<Step>(&json).unwrap(), step, "{text}");
    }
    let text = r#"{"repeat":3,"steps":["write 1 B",{"repeat":2,"steps":["sleep 1 s"]}]}"#;
    let step: Step = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&step).unwrap(), text);
    assert_eq!(step.to_string(), "3 times: write 1 B, 2 times: sleep 1 s");
}

#[test]
fn unknown_step_gives_error() {
    for (text, expected) in [
        ("wait 3 s", "`wait 3 s` is not a step of a program; the steps are `write AMOUNT"),
        ("", "`` is not a step of a program"),
        (
            "write",
            "`write`: expected `write AMOUNT [in SIZE] [more] [urgent] [retry SPAN]`, found the end",
        ),
        ("write 100", "`write 100`: `100` has no unit: give an amount of data such as `100 MB`"),
        ("write 3 s", "`write 3 s`: `s` is not a unit of an amount of data"),
        ("write 0 B", "`write 0 B` moves no data"),
        ("write 17 MiB", "`write 17 MiB` passes more than 16 MiB to one call"),
        (
            "write 1 B now",
            "`write 1 B now`: expected `write AMOUNT [in SIZE] [more] [urgent] [retry SPAN]`, found `now`",
        ),
        ("write 1 B retry 0 ms", "`write 1 B retry 0 ms` retries without a pause"),
        ("read to 5 B", "`read to 5 B`: expected `read to end [in SIZE]`, found `5`"),
        ("sleep 5 B", "`sleep 5 B`: `B` is not a unit of a time span"),
        (
            "shutdown reading",
            "`shutdown reading`: expected `shutdown read|write|both`, found `reading`",
        ),
        ("cork maybe", "`cork maybe`: expected `cork on|off`, found `maybe`"),
        ("at end", "`at end`: expected `at mark`, found `end`"),
        ("close now", "`close now`: expected `close`, found `now`"),
    ] {
        let error = text.parse::<Step>().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
    let error = serde_json::from_str::<Step>(r#"{"repeat": 0, "steps": ["close"]}"#).unwrap_err();
    assert!(error.to_string().starts_with("a repetition needs steps"), "{error}");
}
