//! The script of `docs/how-to/ci.md`: a regression turns a build red, and noise does not.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use tcplab_lab::compare::{Asked, compare_runs};
use tcplab_lab::{Bench, Overrides, begin, complete, no_report, plan};
use tcplab_results::comparison::Outcome;
use tcplab_results::{Run, World};
use tcplab_scenario::{Keep, RecordingSpec, Scenario};
use tcplab_testbed::Launcher;

use crate::home::{Ended, Home, ended, names};

const UPLOAD: &str = r#"title    = "Upload"
path     = { rate = "2 Mbit/s", delay = "5 ms", loss = "1 %", jitter = { uniform = "2 ms" } }
client   = { stack = "model:linux-6.18" }
server   = { stack = "model:linux-6.18" }
workload = { upload = "20 kB" }
repeat   = { trials = 12 }

[[expect]]
claim  = "all arrives"
metric = "payload_intact"
equals = true
"#;

/// Comparisons of equal code.
const COMPARISONS: usize = 100;
/// Of them may be red: the family-wise error rate of a comparison.
const MOST_RED: usize = 5;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What this service sets.
const GITHUB: &[&str] = &["CI", "GITHUB_ACTIONS"];

/// Runs the script as a service does: with the program on its path, in a directory of its own.
fn build(home: &Home, service: &[&str]) -> Ended {
    let program = Path::new(env!("CARGO_BIN_EXE_tcplab"));
    let mut paths = vec![program.parent().unwrap().to_owned()];
    paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let mut script = Command::new("sh");
    script.arg(root().join("examples/ci/tcplab.sh").canonicalize().unwrap());
    script.args(["upload.toml", "baselines/upload.json"]).current_dir(&home.0);
    script
        .env_clear()
        .env("PATH", std::env::join_paths(paths).unwrap())
        .env("HOME", home.path("."));
    script.envs(service.iter().map(|name| (name, "true")));
    ended(&mut script)
}

#[test]
fn build_is_red_for_regression_or_failed_claim_and_green_otherwise() {
    let home = Home::with("upload.toml", UPLOAD);
    build(&home, &[]).answer("the first run, which writes the baseline");
    let baseline = home.text("baselines/upload.json");
    let same = build(&home, &[]).answer("nothing has changed");
    assert!(same.contains("identical"), "{same}");
    assert!(home.text("tcplab-results/claims.xml").contains("failures=\"0\""));

    let slower = UPLOAD.replace("delay = \"5 ms\"", "delay = \"8 ms\"");
    home.write("upload.toml", &slower);
    let red = build(&home, GITHUB);
    assert_eq!(red.code, Some(1), "{}{}", red.stdout, red.stderr);
    assert!(
        red.stderr.contains("::error title=tcplab compare::B is worse than A"),
        "{}",
        red.stderr
    );
    assert!(home.text("tcplab-results/compare.md").contains("❌"));

    let claim = "\n[[expect]]\nclaim = \"is quick, always\"\nmetric = \"transfer_time\"\nat_most = \"1 ms\"\n";
    home.write("upload.toml", format!("{UPLOAD}{claim}"));
    let red = build(&home, GITHUB);
    assert_eq!(red.code, Some(1), "{}{}", red.stdout, red.stderr);
    assert!(red.stderr.contains("::error title=is quick%2C always::"), "{}", red.stderr);
    assert_eq!(home.text("baselines/upload.json"), baseline);

    // A build that ends early leaves nothing of those before.
    assert_eq!(names(&home.only("tcplab-results/runs")).len(), 1);
    home.write("upload.toml", "title = 5");
    assert_eq!(build(&home, &[]).code, Some(2));
    for name in ["claims.xml", "compare.xml", "compare.md", "run.json"] {
        assert!(!home.exists(&format!("tcplab-results/{name}")), "{name}");
    }
}

/// A mistyped or forgotten baseline must not pass for ever; a failed run is no baseline.
#[test]
fn build_without_baseline_says_so() {
    let claim = "\n[[expect]]\nclaim = \"quick\"\nmetric = \"transfer_time\"\nat_most = \"1 ms\"\n";
    let home = Home::with("upload.toml", format!("{UPLOAD}{claim}"));
    let said = "tcplab.sh: there is no baselines/upload.json: nothing was compared";
    let red = build(&home, &[]);
    assert_eq!((red.code, red.stderr.contains(said)), (Some(1), true), "{}", red.stderr);
    assert!(!home.exists("baselines/upload.json"));
    home.write("upload.toml", UPLOAD);
    let red = build(&home, GITHUB);
    assert_eq!(red.code, Some(2), "{}", red.stderr);
    assert!(red.stderr.contains(&format!("::error::{said}")), "{}", red.stderr);
}

#[test]
fn claim_without_decision_fails_where_one_is_required() {
    let claim = "[[expect]]\nclaim = \"usually\"\nmetric = \"transfer_time\"\nof = \"mean\"\nat_most = \"10 s\"\n";
    let home = Home::with("upload.toml", format!("{UPLOAD}\n{claim}"));
    let ran = home.run("run upload.toml --world sim --trials 1 --junit open.xml");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(home.text("open.xml").contains("skipped=\"2\""), "{}", ran.stdout);
    let ran = home.run("run upload.toml --world sim --trials 1 --require-decision --junit red.xml");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    // Neither is a claim about each value decided by the first that keeps it.
    assert!(home.text("red.xml").contains("failures=\"2\" errors=\"0\" skipped=\"0\""));
}

#[test]
fn test_cases_of_junit_have_a_name_each() {
    let claim = "[[expect]]\nclaim = \"all arrives\"\nmetric = \"payload_intact\"\nequals = true\n";
    let scenario = UPLOAD.replace("12 }", "2 }\nlimits = { trial = \"10 ms\" }");
    let home = Home::with("upload.toml", format!("{scenario}\n{claim}"));
    let ran = home.run("run upload.toml --world sim --junit failed.xml");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let xml = home.text("failed.xml");
    let names: Vec<&str> = xml
        .lines()
        .filter_map(|line| line.split_once("<testcase ")?.1.split(" name=").nth(1))
        .map(|rest| rest.split(" time=").next().unwrap_or_default())
        .collect();
    let all = ["\"all arrives\"", "\"all arrives (2)\"", "\"base, trial 1\"", "\"base, trial 2\""];
    assert_eq!(names, all, "{xml}");
}

#[test]
fn outputs_that_would_be_one_are_refused() {
    let home = Home::with("upload.toml", UPLOAD);
    home.make_directory("below");
    let run = "run upload.toml --world sim --trials 1";
    home.refuses(&[
        (&format!("{run} --junit - --json"), "only one output can go to standard output (`-`)"),
        (&format!("{run} --junit one --json=./below/../one"), "two outputs would be the file one"),
        ("compare a b --html one --json=one", "two outputs would be the file one"),
        ("latency --csv - --svg - localhost", "only one output can go to standard output (`-`)"),
        ("shell --live-log one --json=one -- true", "two outputs would be the file one"),
        ("bench --export-csv one --export-json one -- true :", "two outputs would be the file one"),
    ]);
    assert!(!home.exists("one") && !home.exists("runs"));
    home.answer(&format!("{run} --junit /dev/null --json=/dev/null"));
}

/// The results of a run with this seed.
fn results(scenario: &Scenario, place: &Path, seed: u64) -> Run {
    let recording = RecordingSpec { keep: Some(Keep::None), snaplen: None };
    let overrides =
        Overrides { trials: Some(6), seed: Some(seed), recording, ..Overrides::default() };
    let plan = plan(scenario, Some(World::Simulated), || None, overrides).unwrap();
    let run = begin(&place.join(seed.to_string()), scenario.clone(), plan).unwrap();
    let nobody = Launcher { program: PathBuf::new(), arguments: Vec::new() };
    let stop = AtomicBool::new(false);
    complete(&run, &Bench::new(nobody), &stop, |_| {}, no_report).unwrap().run
}

#[test]
fn noise_is_red_in_at_most_as_many_builds_as_the_error_rate_allows() {
    let place = tempfile::tempdir().unwrap();
    let scenario = Scenario::parse(UPLOAD, "upload").unwrap();
    let of = |seed: u64| results(&scenario, place.path(), seed);
    let mut before = of(1_000);
    let mut red = 0;
    for seed in 1..=COMPARISONS as u64 {
        let after = of(1_000 + seed);
        let [a, b] = [place.path().join("a"), place.path().join("b")];
        let found = compare_runs((&a, &before), (&b, &after), &Asked::default()).unwrap();
        red += usize::from(found.count(|outcome| *outcome == Outcome::Worse) > 0);
        before = after;
    }
    assert!(red <= MOST_RED, "{red} of {COMPARISONS} comparisons of equal code are red");
}

#[test]
fn guide_has_the_files_as_they_are() {
    let guide = std::fs::read_to_string(root().join("docs/how-to/ci.md")).unwrap();
    for name in ["tcplab.sh", "github.yml", "gitlab-ci.yml", "Jenkinsfile"] {
        let file = std::fs::read_to_string(root().join("examples/ci").join(name)).unwrap();
        assert!(guide.contains(&file), "{name} differs from docs/how-to/ci.md");
    }
}
