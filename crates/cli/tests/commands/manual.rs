//! `tcplab completions` and `tcplab man`: what shells and `man` make of them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::home::{Home, skipped};

/// The commands that the help lists.
fn commands(home: &Home) -> Vec<String> {
    let help = home.run("help").stdout;
    let (_, listed) = help.split_once("Commands:\n").unwrap();
    let (listed, _) = listed.split_once("\n\n").unwrap();
    let names = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let names = names.filter(|line| !line.starts_with(' ')).filter_map(|it| it.split(' ').next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

fn has(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    let found = found.is_ok_and(|it| it.status.success());
    if !found {
        skipped(&format!("there is no {program}"));
    }
    found
}

/// What the program says to a file: nothing, where it likes it.
fn complaints(program: &str, flags: &[&str], file: &Path) -> String {
    let ended = Command::new(program).args(flags).arg(file).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    if ended.status.success() { said } else { format!("{}: {said}", ended.status) }
}

#[test]
fn completions_are_scripts_that_each_shell_reads() {
    let home = Home::new();
    let shells: [(&str, &str, &[&str]); 3] =
        [("bash", "bash", &["-n"]), ("zsh", "zsh", &["-n"]), ("fish", "fish", &["--no-execute"])];
    for (shell, program, flags) in shells {
        let ended = home.run(&format!("completions {shell}"));
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{shell}");
        for word in commands(&home).iter().map(String::as_str).chain(["--world", "--jobs"]) {
            // fish has options without their dashes.
            assert!(ended.stdout.contains(word.trim_start_matches('-')), "{shell}: {word}");
        }
        home.write(shell, &ended.stdout);
        if has(program) {
            assert_eq!(complaints(program, flags, &home.path(shell)), "", "{shell}");
        }
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = home.text(shell);
        assert!(script.contains("dsl-25 ") && script.contains("geo-satellite"), "{shell}");
        assert!(script.contains("interruption-figures/figure-7"), "{shell}");
    }
    if has("fish") {
        let asked =
            "source ./fish; complete -C 'tcplab path show geo'; complete -C 'tcplab shell dsl-2'";
        let offered = Command::new("fish").args(["-c", asked]).current_dir(home.path("")).output();
        let offered = String::from_utf8(offered.unwrap().stdout).unwrap();
        assert_eq!(offered.lines().collect::<Vec<_>>(), ["geo-satellite", "dsl-25"]);
    }
    let zsh = home.text("zsh");
    assert!(zsh.contains(":_tcplab_presets") && !zsh.contains("(_tcplab_presets)"));
    let ended = home.run("completions powershell");
    assert!(ended.stdout.contains("Register-ArgumentCompleter"), "{}", ended.stdout);
    assert_eq!(home.run("completions tcsh").code, Some(2));
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let home = Home::new();
    home.write("script", home.run("completions bash").stdout);
    if !has("bash") {
        return;
    }
    for (line, expected) in [
        ("tcplab bis", "bisect"),
        ("tcplab run --reaso", ""),
        ("tcplab run --world si", "sim"),
        ("tcplab shell dsl-2", "dsl-25"),
        ("tcplab path show geo", "geo-satellite"),
        ("tcplab bench --path geo", "geo-satellite"),
        ("tcplab run interruption-figures/figure-7", "interruption-figures/figure-7"),
        ("tcplab scenarios interruption-figures/figure-7", "interruption-figures/figure-7"),
        // Bash takes these for three words.
        ("tcplab run --world = si", "sim"),
        ("tcplab bench --by = g", "goodput"),
        ("tcplab compare --fail-on = inc", "inconclusive"),
        // What needs `=` has no next word, and what is hidden is not there.
        ("tcplab shell --ui lin", ""),
        ("tcplab run --live pla", ""),
        ("tcplab help kernel", "kernel"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
        let asked = format!(
            "source ./script; COMP_WORDS=({line}); COMP_CWORD={}; \
             _tcplab tcplab '{last}' '{before}'; echo \"${{COMPREPLY[*]}}\"",
            words.len() - 1
        );
        let ended = Command::new("bash")
            .args(["--norc", "-c", &asked])
            .current_dir(home.path(""))
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&ended.stdout).trim(), expected, "{line}: {ended:?}");
    }
}

#[test]
fn manual_has_a_page_for_each_command_that_man_reads() {
    let home = Home::new();
    let ended = home.run("man pages/man1");
    assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (Some(0), "", ""));
    let (has_mandoc, has_man) = (has("mandoc"), has("man"));
    let mut names = vec!["tcplab".to_owned()];
    names.extend(commands(&home).iter().map(|name| format!("tcplab-{name}")));
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let page = home.path(format!("pages/man1/{name}.1"));
        let text = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{name}: {error}"));
        let head = format!(".TH {name} 1 \"\" \"tcplab {}\"", env!("CARGO_PKG_VERSION"));
        assert!(text.starts_with(&head), "{name}: {text}");
        // Lines that stay as they are fit a terminal.
        let blocks = text.split("\n.nf\n").skip(1).filter_map(|it| it.split("\n.fi").next());
        let longest = blocks.flat_map(str::lines).map(|it| it.replace('\\', "").len()).max();
        assert!(longest.unwrap_or_default() <= 120, "{name}: {longest:?}");
        for part in [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS"] {
            assert!(text.contains(part), "{name}: {part}");
        }
        if has_mandoc {
            let flags = ["-T", "lint", "-W", "error"];
            assert_eq!(complaints("mandoc", &flags, &page), "", "{name}");
        }
        if has_man && name == "tcplab-trace" {
            let flags = ["--warnings", "-l", "-P", "cat"];
            assert_eq!(complaints("man", &flags, &page), "", "{name}");
        }
    }
    let synopsis = |name: &str| {
        let page = home.text(format!("pages/man1/{name}.1")).replace('\\', "");
        page.split(".SH SYNOPSIS\n").nth(1).unwrap().lines().next().unwrap().to_owned()
    };
    assert_eq!(synopsis("tcplab-bench"), "tcplab bench [OPTIONS] -- <CMD> <CMD>...");
    assert_eq!(synopsis("tcplab-shell"), "tcplab shell [OPTIONS] [PATH] [-- <CMD>...]");
    let subcommand = home.path("pages/man1/tcplab-path-show.1");
    assert!(subcommand.exists() && !home.path("pages/man1/tcplab-help.1").exists());
    // Printed, it is the same page.
    let printed = home.run("man").stdout;
    assert_eq!(printed, fs::read_to_string(home.path("pages/man1/tcplab.1")).unwrap());
    assert!(printed.contains(".SH EXAMPLES") && printed.contains("tcplab\\-trace(1)"), "{printed}");
    home.write("file", "");
    let ended = home.run("man file");
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("cannot create file"), "{}", ended.stderr);
}
