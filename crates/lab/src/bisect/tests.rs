use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::process::Command;

use tcplab_results::{Case, Claim, Failure, Run};
use tcplab_scenario::Scenario;

use super::*;
use crate::error::LabError;

/// A repository with commits that are known by one letter.
struct History {
    folder: tempfile::TempDir,
    clock: Cell<u32>,
}

impl History {
    /// None where there is no git.
    fn new() -> Option<History> {
        if Command::new("git").arg("--version").output().is_err() {
            eprintln!("SKIPPED: there is no git");
            return None;
        }
        let history = History { folder: tempfile::tempdir().unwrap(), clock: Cell::new(0) };
        history.git(&["init", "--quiet", "--initial-branch", "main"]);
        Some(history)
    }

    /// Commits A to C, then D and E on a branch from B, F which merges them, G and H:
    ///
    /// ```text
    /// A - B - C ----- F - G - H
    ///      \- D - E -/
    /// ```
    fn with_merge() -> Option<History> {
        let history = History::new()?;
        history.commit("A", "core");
        history.commit("B", "core");
        history.git(&["checkout", "--quiet", "-b", "side"]);
        history.commit("D", "net");
        history.commit("E", "net");
        history.git(&["checkout", "--quiet", "main"]);
        history.commit("C", "core");
        history.git(&["merge", "--quiet", "--no-ff", "-m", "F", "side"]);
        history.git(&["tag", "F"]);
        history.commit("G", "net");
        history.commit("H", "core");
        Some(history)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn git(&self, arguments: &[&str]) {
        let time = format!("{} +0000", 1_700_000_000 + self.clock.get());
        let mut git = Command::new("git");
        git.env_remove("GIT_DIR").arg("-C").arg(self.path());
        git.args([
            "-c",
            "user.name=Ann",
            "-c",
            "user.email=ann@host",
            "-c",
            "commit.gpgsign=false",
        ]);
        git.env("GIT_AUTHOR_DATE", &time).env("GIT_COMMITTER_DATE", &time);
        let ended = git.args(arguments).output().unwrap();
        assert!(ended.status.success(), "{arguments:?}: {ended:?}");
    }

    fn commit(&self, name: &str, folder: &str) {
        self.clock.set(self.clock.get() + 1);
        fs::create_dir_all(self.path().join(folder)).unwrap();
        fs::write(self.path().join(folder).join(name), "").unwrap();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", name]);
        self.git(&["tag", name]);
    }

    fn repository(&self) -> Repository {
        Repository::open(self.path()).unwrap()
    }

    /// What is asked of it.
    fn asked(&self, good: &str, bad: &str) -> Bisection {
        let repository = self.repository();
        Bisection::between(&repository, good, bad).unwrap()
    }
}

fn scenario() -> Scenario {
    Scenario::parse(
        "title = \"t\"\npath = { delay = \"1 ms\" }\nworkload = { upload = \"1 kB\" }\n",
        "x",
    )
    .unwrap()
}

/// Bisects with a verdict for each commit; returns what was tested, and what came out.
fn search(
    history: &History,
    asked: Bisection,
    verdict: impl Fn(&str) -> StepVerdict,
) -> (String, Result<BisectOutcome, BisectError>) {
    let runs = tempfile::tempdir().unwrap();
    let mut record = BisectRecord::open(runs.path(), &scenario(), asked).unwrap();
    let mut tested = String::new();
    let outcome = bisect(&history.repository(), &mut record, |record, task| {
        let step = &mut record.bisection.steps[task.step];
        tested += &step.commit.subject;
        step.verdict = Some(verdict(&step.commit.subject));
        Ok::<(), BisectError>(())
    });
    (tested, outcome)
}

/// Commits that have the change are bad.
fn with(commits: &'static str) -> impl Fn(&str) -> StepVerdict {
    |name| if commits.contains(name) { StepVerdict::Bad } else { StepVerdict::Good }
}

fn names(outcome: &BisectOutcome) -> String {
    outcome.commits.iter().map(|commit| commit.subject.as_str()).collect()
}

#[test]
fn each_commit_of_a_history_with_a_merge_is_found() {
    let Some(history) = History::with_merge() else { return };
    for (culprit, changed) in [
        ("B", "BCDEFGH"),
        ("C", "CFGH"),
        ("D", "DEFGH"),
        ("E", "EFGH"),
        ("F", "FGH"),
        ("G", "GH"),
        ("H", "H"),
    ] {
        let (tested, outcome) = search(&history, history.asked("A", "H"), with(changed));
        let outcome = outcome.unwrap();
        assert_eq!(names(&outcome), culprit, "tested {tested}");
        assert!(tested.starts_with("AH") && tested.len() <= 5, "{culprit}: tested {tested}");
        assert_eq!(tested.as_bytes()[outcome.after], culprit.as_bytes()[0], "tested {tested}");
        assert!(!changed.contains(&tested[outcome.before..=outcome.before]), "tested {tested}");
    }
}

#[test]
fn files_of_the_commit_are_named() {
    let Some(history) = History::with_merge() else { return };
    let files = |changed| search(&history, history.asked("A", "H"), with(changed)).1.unwrap().files;
    assert_eq!(files("GH"), ["net/G"]);
    assert_eq!(files("FGH"), ["net/D", "net/E"], "of a merge, beside its first parent");
}

#[test]
fn repair_is_found_where_bad_is_older() {
    let Some(history) = History::with_merge() else { return };
    let (tested, outcome) = search(&history, history.asked("H", "A"), with("ABCDE"));
    assert_eq!(names(&outcome.unwrap()), "F");
    assert!(tested.starts_with("HA"), "{tested}");
}

#[test]
fn skipped_commits_are_worked_around_or_stay_suspect() {
    let Some(history) = History::with_merge() else { return };
    let skipping = |skipped: &'static str, changed| {
        move |name: &str| {
            if skipped.contains(name) { StepVerdict::Skipped } else { with(changed)(name) }
        }
    };
    let (tested, outcome) = search(&history, history.asked("A", "H"), skipping("E", "GH"));
    assert_eq!(names(&outcome.unwrap()), "G", "tested {tested}");
    let (tested, outcome) = search(&history, history.asked("A", "H"), skipping("F", "FGH"));
    let outcome = outcome.unwrap();
    assert_eq!(names(&outcome), "GF", "tested {tested}");
    assert!(outcome.files.is_empty());
    let (tested, outcome) = search(&history, history.asked("A", "H"), skipping("BCDEFG", "GH"));
    assert_eq!(names(&outcome.unwrap()).len(), 7, "tested {tested}");
}

#[test]
fn paths_leave_out_other_commits() {
    let Some(history) = History::with_merge() else { return };
    let asked = Bisection { paths: vec!["net".into()], ..history.asked("A", "H") };
    let (tested, outcome) = search(&history, asked, with("EFGH"));
    assert_eq!(names(&outcome.unwrap()), "E", "tested {tested}");
    assert!(tested[2..].chars().all(|name| "DEG".contains(name)), "tested {tested}");
}

/// C changes `core` alone; the first commit of `net` that has its change is G.
#[test]
fn commit_beside_the_paths_is_found_all_the_same() {
    let Some(history) = History::with_merge() else { return };
    let asked = Bisection { paths: vec!["net".into()], ..history.asked("A", "H") };
    let (tested, outcome) = search(&history, asked, with("CFGH"));
    let outcome = outcome.unwrap();
    assert_eq!((names(&outcome).as_str(), &outcome.files[..]), ("C", &["core/C".into()][..]));
    assert!(tested.contains('F'), "the parent of G: {tested}");
}

#[test]
fn commit_of_the_paths_is_proved_by_its_parent() {
    let Some(history) = History::with_merge() else { return };
    let asked = Bisection { paths: vec!["net".into()], ..history.asked("A", "H") };
    let (tested, outcome) = search(&history, asked, with("GH"));
    assert_eq!(names(&outcome.unwrap()), "G");
    assert!(tested.ends_with('F') && tested.len() <= 6, "{tested}");
}

#[test]
fn skipped_commits_are_tested_again_by_the_same_command() {
    let Some(history) = History::with_merge() else { return };
    let runs = tempfile::tempdir().unwrap();
    for (skipped, found) in [("F", "GF"), ("", "F"), ("F", "F")] {
        let asked = history.asked("A", "H");
        let mut record = BisectRecord::open(runs.path(), &scenario(), asked).unwrap();
        record.bisection.retry_skipped();
        let outcome = match record.bisection.outcome.clone() {
            Some(outcome) => outcome,
            None => bisect(&history.repository(), &mut record, |record, task| {
                let step = &mut record.bisection.steps[task.step];
                let name = step.commit.subject.as_str();
                let is_skipped = skipped.contains(name);
                step.verdict =
                    Some(if is_skipped { StepVerdict::Skipped } else { with("FGH")(name) });
                Ok::<(), BisectError>(())
            })
            .unwrap(),
        };
        assert_eq!(names(&outcome), found);
    }
}

#[test]
fn paths_without_the_change_are_not_blamed() {
    let Some(history) = History::with_merge() else { return };
    let asked = || Bisection { paths: vec!["net".into()], ..history.asked("A", "H") };
    let (tested, outcome) = search(&history, asked(), with("H"));
    assert_eq!(names(&outcome.unwrap()), "H", "tested {tested}");
    let nowhere = Bisection { paths: vec!["nowhere".into()], ..asked() };
    let (tested, error) = search(&history, nowhere, with("H"));
    assert!(tested.is_empty() && matches!(error, Err(BisectError::NothingToTest { .. })));
}

#[test]
fn ends_that_are_not_as_they_are_said_to_be_are_refused() {
    let Some(history) = History::with_merge() else { return };
    let (tested, error) = search(&history, history.asked("A", "H"), with("ABCDEFGH"));
    assert_eq!(tested, "A");
    assert!(matches!(error.unwrap_err(), BisectError::NotGood { .. }));
    let (tested, error) = search(&history, history.asked("A", "H"), with(""));
    assert_eq!(tested, "AH");
    assert!(matches!(error.unwrap_err(), BisectError::NotBad { .. }));
    let (_, error) = search(&history, history.asked("A", "H"), |_| StepVerdict::Skipped);
    assert!(matches!(error.unwrap_err(), BisectError::Untested { .. }));
}

#[test]
fn interrupted_bisection_goes_on_and_tests_nothing_twice() {
    let Some(history) = History::with_merge() else { return };
    let runs = tempfile::tempdir().unwrap();
    let (mut tested, mut found) = (String::new(), None);
    for _ in 0..9 {
        let asked = history.asked("A", "H");
        let mut record = BisectRecord::open(runs.path(), &scenario(), asked).unwrap();
        let mut is_first = true;
        let outcome = bisect(&history.repository(), &mut record, |record, task| {
            if !std::mem::take(&mut is_first) {
                return Err(BisectError::from(LabError::Stopped));
            }
            let step = &mut record.bisection.steps[task.step];
            tested += &step.commit.subject;
            step.verdict = Some(with("EFGH")(&step.commit.subject));
            Ok(())
        });
        match outcome {
            Ok(outcome) => found = Some(names(&outcome)),
            Err(error) => assert!(error.is_stop(), "{error}"),
        }
    }
    assert_eq!(found.as_deref(), Some("E"), "tested {tested}");
    let all: std::collections::BTreeSet<char> = tested.chars().collect();
    assert_eq!(all.len(), tested.len(), "tested {tested}");
}

#[test]
fn repository_is_left_as_it_was() {
    let Some(history) = History::with_merge() else { return };
    let state = || {
        let mut all: Vec<(String, u64)> = Vec::new();
        for folder in ["", ".git", ".git/refs/heads", ".git/refs", ".git/logs"] {
            for entry in fs::read_dir(history.path().join(folder)).unwrap().flatten() {
                let length = entry.metadata().unwrap().len();
                all.push((format!("{folder}/{}", entry.file_name().to_string_lossy()), length));
            }
        }
        all.sort();
        all
    };
    let before = state();
    search(&history, history.asked("A", "H"), with("EFGH")).1.unwrap();
    assert_eq!(state(), before);
}

#[test]
fn commits_and_their_order_are_checked() {
    let Some(history) = History::with_merge() else { return };
    let repository = history.repository();
    let error = |good, bad| Bisection::between(&repository, good, bad).unwrap_err();
    assert!(matches!(error("A", "nonsense"), BisectError::UnknownRevision { .. }));
    assert!(matches!(error("--all", "H"), BisectError::UnknownRevision { .. }));
    assert!(matches!(error("H", "main"), BisectError::SameCommit(_)));
    let unrelated = error("C", "E");
    assert!(unrelated.remedy().unwrap().contains("(\"B\")"), "{unrelated}");
    let asked = history.asked("main~1", "main");
    assert_eq!((asked.good.subject.as_str(), asked.good.author.as_str()), ("G", "Ann <ann@host>"));
    assert_eq!(asked.good.date, "2023-11-14T22:13:26+00:00");
    let nowhere = tempfile::tempdir().unwrap();
    let error = Repository::open(nowhere.path()).unwrap_err();
    assert!(matches!(error, BisectError::NotARepository { .. }), "{error}");
}

#[test]
fn subdirectory_and_bare_clone_are_the_repository() {
    let Some(history) = History::with_merge() else { return };
    let inside = Repository::open(&history.path().join("net")).unwrap();
    let top = history.path().canonicalize().unwrap();
    assert_eq!(inside.root().canonicalize().unwrap(), top);
    let bare = tempfile::tempdir().unwrap();
    let place = bare.path().to_str().unwrap();
    history.git(&["clone", "--quiet", "--bare", history.path().to_str().unwrap(), place]);
    assert_eq!(Repository::open(bare.path()).unwrap().commit("H").unwrap().subject, "H");
}

fn claim(name: &str, held: bool, is_judged: bool) -> Claim {
    let (claim, check) = (name.to_owned(), String::new());
    Claim {
        claim,
        check,
        held,
        is_judged,
        needs: 5,
        held_alone: 1,
        trials: 1,
        over: None,
        found: String::new(),
    }
}

#[test]
fn claims_that_count_decide() {
    use StepVerdict::{Bad, Good};
    let (held, fails, open) = ((true, true), (false, true), (true, false));
    for (one, other, counted, verdict) in [
        (held, held, &["a", "b"][..], Some(Good)),
        (held, fails, &["a", "b"], Some(Bad)),
        (held, fails, &["a"], Some(Good)),
        (open, fails, &["a", "b"], Some(Bad)),
        (open, held, &["a", "b"], None),
        (open, held, &["b"], Some(Good)),
    ] {
        let claims = vec![claim("a", one.0, one.1), claim("b", other.0, other.1)];
        let run = Run { claims, ..Run::default() };
        let counted: Vec<String> = counted.iter().map(ToString::to_string).collect();
        let found = verdict_of(&run, &counted).ok().map(|found| found.unwrap());
        assert_eq!(found, verdict, "{one:?} {other:?} {counted:?}");
    }
}

#[test]
fn failed_trial_says_nothing_of_the_claims() {
    let failure = Failure {
        number: 2,
        seed: 1,
        directory: "trials/cubic-2".into(),
        attempts: 1,
        reason: "the kernel panicked".into(),
    };
    let case = Case { name: "cubic".into(), failures: vec![failure], ..Case::default() };
    let run = Run { cases: vec![case], claims: vec![claim("a", false, true)], ..Run::default() };
    let found = verdict_of(&run, &["a".into()]).unwrap();
    assert_eq!(found.unwrap_err(), "trial 2 of case cubic failed: the kernel panicked");
}

#[test]
fn claim_that_needs_more_trials_is_refused_before_anything_is_built() {
    let scenario = |check: &str| {
        let text = format!(
            "title = \"t\"\npath = {{ delay = \"1 ms\" }}\nworkload = {{ upload = \"1 kB\" }}\n\
             repeat = {{ trials = 5 }}\n[[expect]]\nclaim = \"c\"\nmetric = \"transfer_time\"\n\
             trials = 5\n{check}\n"
        );
        Scenario::parse(&text, "x").unwrap()
    };
    let median = scenario("of = \"median\"\nat_most = \"1 s\"");
    let error = claims_of(&median, &[], Some(3)).unwrap_err();
    assert!(matches!(error, BisectError::NotJudged { needs: 5, trials: 3, .. }), "{error}");
    assert_eq!(claims_of(&median, &[], None).unwrap(), ["c"]);
    // Each trial alone may break it.
    let each = scenario("at_most = \"1 s\"");
    assert_eq!(claims_of(&each, &[], Some(3)).unwrap(), ["c"]);
}

#[test]
fn last_step_is_the_one_after_which_nothing_is_left() {
    let Some(history) = History::with_merge() else { return };
    let runs = tempfile::tempdir().unwrap();
    let asked = history.asked("A", "H");
    let mut record = BisectRecord::open(runs.path(), &scenario(), asked).unwrap();
    let mut tasks = Vec::new();
    bisect(&history.repository(), &mut record, |record, task| {
        tasks.push((task.commits, task.left));
        let step = &mut record.bisection.steps[task.step];
        step.verdict = Some(with("H")(&step.commit.subject));
        Ok::<(), BisectError>(())
    })
    .unwrap();
    for (commits, left) in &tasks[2..] {
        assert_eq!(*left == 0, *commits <= 2, "{commits} commits, {left} steps left: {tasks:?}");
    }
}
