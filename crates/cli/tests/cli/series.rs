//! All experiments of a directory, one after the other, in virtual time.

use std::fs;

use crate::{command, home, refusal, text};

/// Claims that its goodput is no less than so many Mbit/s.
fn experiment(least: u32) -> String {
    format!(
        r#"title = "Small"

[path]
rate = "10 Mbit/s"

[workload]
upload = "10 kB"

[repeat]
trials = 1

[[expect]]
claim    = "It is fast"
metric   = "goodput"
at_least = "{least} Mbit/s"
"#
    )
}

#[test]
fn a_directory_is_run_in_order_and_each_experiment_has_its_line() {
    let home = home();
    fs::create_dir(home.path().join("series")).unwrap();
    // The second claims what cannot be.
    for (name, least) in [("one", 0), ("two", 1000), ("three", 0)] {
        fs::write(home.path().join(format!("series/{name}.toml")), experiment(least)).unwrap();
    }
    let output = command(home.path(), &["run", "series", "--world", "sim"]).output().unwrap();
    let (answer, told) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "the worst counts: {told}");
    let last: Vec<&str> = answer.lines().rev().take(3).collect();
    for (line, (name, came)) in last.iter().rev().zip([
        ("one", "✓ 1 of 1 claims held"),
        ("three", "✓ 1 of 1 claims held"),
        ("two", "✗ 0 of 1 claims held"),
    ]) {
        assert!(line.starts_with(&format!("series/{name}.toml")) && line.contains(came), "{line}");
        let report = line.rsplit("  ").next().unwrap();
        assert!(report.contains(&format!("runs/{name}/")), "{line}");
        assert!(home.path().join(report).is_file(), "{report}");
    }
    assert!(told.contains("experiment 2 of 3: series/three.toml"), "{told}");
}

#[test]
fn nothing_of_a_series_is_run_if_a_file_of_it_cannot_be_read() {
    let home = home();
    fs::create_dir(home.path().join("series")).unwrap();
    fs::write(home.path().join("series/good.toml"), experiment(0)).unwrap();
    fs::write(home.path().join("series/wrong.toml"), "title = 1\n").unwrap();
    let said = refusal(home.path(), &["run", "series", "--world", "sim"]);
    assert!(said.contains("series/wrong.toml"), "{said}");
    let said = refusal(home.path(), &["run", "haiku-tcp", "--resume"]);
    assert!(said.contains("haiku-tcp has 4 experiments"), "{said}");
}

#[test]
fn a_folder_of_the_catalogue_is_listed_with_what_runs_it() {
    let home = home();
    let listed = text(&command(home.path(), &["scenarios"]).output().unwrap().stdout);
    assert!(listed.starts_with("  interruption "), "{listed}");
    assert!(listed.contains("\nhaiku-tcp/  4 experiments: tcplab run haiku-tcp\n"), "{listed}");
    let document = "from: [gsoc_2017] tcp optimization report 5";
    assert_eq!(listed.matches(document).count(), 1, "told once for the folder: {listed}");
}
