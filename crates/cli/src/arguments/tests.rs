use clap::CommandFactory;

use std::path::PathBuf;

use tcplab_units::Span;

use super::*;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");

#[test]
fn definition_is_consistent() {
    Cli::command().debug_assert();
}

#[cfg(unix)]
#[test]
fn only_a_file_with_an_odd_name_can_be_renamed() {
    use std::os::unix::ffi::OsStrExt;
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::write(&file, "").unwrap();
    assert!(of_no_text(file.as_os_str()).ends_with("needs: rename the file, or make a link to it"));
    let command = of_no_text(OsStr::from_bytes(b"echo caf\xe9"));
    assert_eq!(command, "'echo caf\u{fffd}' is not UTF-8 text, which this command needs");
}

#[test]
fn resume_accepts_directory_or_none() {
    for (line, expected) in [
        ("tcplab run --resume", Some(None)),
        ("tcplab run interruption --resume", Some(None)),
        ("tcplab run --resume runs/x/y", Some(Some(PathBuf::from("runs/x/y")))),
        ("tcplab run interruption", None),
    ] {
        let Command::Run(arguments) = Cli::parse_from(line.split(' ')).command else {
            panic!("{line} is a run");
        };
        assert_eq!(arguments.resume, expected, "{line}");
    }
    assert!(Cli::try_parse_from(["tcplab", "run"]).is_err());
}

#[test]
fn spin_outside_range_is_refused() {
    let spin = |value: &str| {
        let lines = [
            &["tcplab", "run", "interruption", "--spin", value][..],
            &["tcplab", "shell", "--spin", value],
            &["tcplab", "bridge", "-", "a", "b", "--spin", value],
        ];
        let parsed = lines.map(|line| match Cli::try_parse_from(line).map(|cli| cli.command) {
            Ok(Command::Run(arguments)) => Ok(arguments.tuning.tuning().spin),
            Ok(Command::Shell(arguments)) => Ok(arguments.using.tuning.tuning().spin),
            Ok(Command::Bridge(arguments)) => Ok(arguments.using.tuning.tuning().spin),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        });
        let [run, shell, bridge] = parsed;
        // Errors end with each command's own usage.
        assert_eq!((run.is_ok(), run.clone().ok()), (shell.is_ok(), shell.ok()), "{value}");
        assert_eq!(run.clone().ok(), bridge.ok(), "{value}");
        run
    };
    for (value, micros) in [("0 µs", 0), ("60 µs", 60), ("150µs", 150), ("1 ms", 1000)] {
        assert_eq!(spin(value), Ok(Span::from_micros(micros)), "{value}");
    }
    for (value, why) in [
        ("1001 µs", "1001 µs is out of range: use 0 ns to 1 ms"),
        ("1 s", "1 s is out of range"),
        ("60", "60"),
        ("60 Mbit/s", "60 Mbit/s"),
    ] {
        let error = spin(value).unwrap_err();
        assert!(error.contains(why) && error.contains("--spin"), "{value}: {error}");
    }
}

/// An argument that is needed is not missed by clap where another is given that conflicts with it.
/// What needs it would then be ignored, so it conflicts with the other, too.
#[test]
fn needed_argument_is_missed_beside_all_others() {
    let mut tcplab = Cli::command();
    tcplab.build();
    let mut commands = vec![&tcplab];
    let (mut needs, mut ignored) = (0, Vec::new());
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands());
        let arguments: Vec<&clap::Arg> = command.get_arguments().collect();
        let conflict = |one: &clap::Arg, other: &clap::Arg| {
            let of = |it: &clap::Arg, other: &clap::Arg| {
                command.get_arg_conflicts_with(it).iter().any(|it| it.get_id() == other.get_id())
            };
            of(one, other) || of(other, one)
        };
        for argument in &arguments {
            for id in needed(argument) {
                let found = arguments.iter().find(|it| it.get_id().as_str() == id);
                let Some(needed) = found else { continue };
                needs += 1;
                let hiding = arguments.iter().filter(|it| conflict(it, needed));
                let hiding = hiding.filter(|it| !conflict(it, argument));
                ignored.extend(hiding.map(|it| {
                    let [name, argument, it] =
                        [command.get_name(), argument.get_id().as_str(), it.get_id().as_str()];
                    format!("{name}: `{argument}` conflicts with `{it}` as `{id}` does")
                }));
            }
        }
    }
    assert!(needs > 25, "clap shows what an argument requires: {needs}");
    assert!(ignored.is_empty(), "declare:\n{}", ignored.join("\n"));
}

/// The arguments that this one requires, which clap tells nowhere else.
fn needed(argument: &clap::Arg) -> Vec<String> {
    let shown = format!("{argument:?}");
    let list = shown.split_once(" requires: [").map_or("", |(_, rest)| rest);
    let list = list.split(']').next().unwrap_or_default();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn page_equals_help() {
    let page = page();
    if std::env::var_os("TCPLAB_BLESS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        written == page,
        "docs/cli.md is out of date: regenerate it with `TCPLAB_BLESS=1 cargo test -p tcplab`"
    );
}

/// The help of every command, as a terminal 100 columns wide shows it.
fn page() -> String {
    let mut page = "# The command line\n\nMade from the definitions that parse it \
                    (`TCPLAB_BLESS=1 cargo test -p tcplab`).\n"
        .to_owned();
    let mut tcplab = definition().term_width(100);
    tcplab.build();
    page += &section(&mut tcplab);
    let names: Vec<String> = tcplab
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
        .map(|command| command.get_name().to_owned())
        .collect();
    for name in names {
        let command = tcplab.find_subcommand_mut(&name).expect("just listed");
        page += &section(command);
        for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
            page += &section(inner);
        }
    }
    page
}

fn section(command: &mut clap::Command) -> String {
    let name = command.get_bin_name().unwrap_or("tcplab").to_owned();
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    format!("\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end())
}
