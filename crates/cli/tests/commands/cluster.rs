//! `tcplab sweep` and `tcplab archive` are Python's: it gets the command line, and answers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::home::{Home, ended};

/// A Python that has the package, prints its arguments and ends with 7; or one that has not.
fn with_python(home: &Home, line: &str, has_package: bool) -> Command {
    let found = if has_package { "exit 0" } else { "exit 1" };
    let script =
        format!("#!/bin/sh\nif [ \"$1\" = -c ]; then {found}; fi\nprintf '%s\\n' \"$@\"\nexit 7\n");
    home.write("bin/python3", script);
    let rights = fs::Permissions::from_mode(0o755);
    fs::set_permissions(home.path("bin/python3"), rights).unwrap();
    let mut command = home.command(line);
    command.env("PATH", home.path("bin"));
    command
}

#[test]
fn python_gets_the_arguments_and_gives_the_exit_code() {
    for line in [
        "sweep my.toml --dask tcp://head:8786 --trials 9 -o 's3://bucket/a b' --json=x.json",
        "archive 's3://bucket/*.pcap' other.pcap --ray auto --filter 'port 443' --output place",
        "sweep my.toml -o place -j 4 --per-task 2 --seed 1 --world sim --kernel 6.12 --tables trials -q",
    ] {
        let home = Home::new();
        let end = ended(&mut with_python(&home, line, true));
        assert_eq!(end.code, Some(7), "{line}: {}", end.stderr);
        let said = end.stdout.lines().collect::<Vec<_>>().join(" ");
        assert_eq!(said, format!("-m tcplab.commands {}", line.replace('\'', "")));
    }
}

#[test]
fn missing_package_is_an_error_with_a_remedy() {
    for (line, remedy) in [
        ("sweep my.toml -o place", "target/wheels/*.whl)\", in"),
        ("sweep my.toml -o place --dask tcp://x:1", "target/wheels/*.whl)[dask]\", in"),
        ("archive x.pcap -o place --ray auto", "target/wheels/*.whl)[ray]\", in"),
    ] {
        let home = Home::new();
        let end = ended(&mut with_python(&home, line, false));
        assert_eq!(end.code, Some(2), "{line}");
        assert!(end.stderr.contains("needs the Python package tcplab"), "{}", end.stderr);
        assert!(end.stderr.contains(remedy), "{line}: {}", end.stderr);
    }
}

#[test]
fn mistakes_are_found_before_python() {
    Home::new().refuses(&[
        ("sweep my.toml", "--output <PLACE>"),
        ("sweep my.toml -o x --dask a:1 --ray auto", "cannot be used with"),
        ("sweep my.toml -o x --trials 0", "0 is out of range: use 1 or more"),
        ("sweep my.toml -o x --trials 5000000000", "is out of range: use 1 to 4294967295"),
        ("archive -o x", "<CAPTURE>"),
        ("archive x.pcap -o x --shards 0", "0 is out of range"),
    ]);
}

#[test]
fn python_begins_with_interrupts_held_back() {
    let home = Home::new();
    let mut command = with_python(&home, "sweep my.toml -o place", true);
    let script = "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\nwhile read -r name value; do\n\
                  [ \"$name\" = SigBlk: ] && echo $value\ndone < /proc/$$/status\nexit 7\n";
    home.write("bin/python3", script);
    let end = ended(&mut command);
    let held = u64::from_str_radix(end.stdout.trim(), 16).unwrap();
    assert_eq!((held, end.code), (1 << 1, Some(7)), "SIGINT alone: {}", end.stderr);
}
