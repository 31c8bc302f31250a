//! One run has one verdict: the report, the terminal, `tcplab compare` and the files agree, for
//! every scenario of the catalogue that runs in virtual time.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;
use tcplab_scenario::Scenario;

use crate::home::Home;

/// What a model cannot do, as `tcplab` says when asked.
const KERNEL_ALONE: [(&str, &str); 4] = [
    ("baselines", "same host"),
    ("buffer-size", "same host"),
    ("concurrent-servers", "load on a server"),
    ("one-kilobyte-linux", "same host"),
];
/// The first cases of a file, trials of each, and what each transfers at most: enough for every
/// kind of verdict.
const CASES: usize = 4;
const TRIALS: usize = 8;
const AMOUNT: &str = "300 kB";
/// How long flows send in files, and here.
const LONG: &str = "lasting = \"30 s\"";
const SHORT: &str = "lasting = \"2 s\"";

#[test]
fn catalogue_verdicts_agree_in_all_outputs() {
    let mut files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios"));
    // Those that name kernels need their images.
    files.retain(|file| !fs::read_to_string(file).unwrap().contains("\"linux-5.10\""));
    assert!(files.len() > KERNEL_ALONE.len());
    let (next, seen) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    let work = || {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let verdicts = agreeing(file);
            seen.lock().unwrap().extend(verdicts);
        }
    };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    // In the first sentences and in the grids of `[[compare]]`.
    let all = ["sentence better", "sentence equivalent", "sentence inconclusive"];
    let seen = seen.into_inner().unwrap();
    assert!(all.iter().all(|it| seen.contains(*it)), "{seen:?}");
    assert!(seen.iter().any(|it| it.starts_with("grid ")), "{seen:?}");
}

/// Every scenario below the catalogue's folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    let entries = fs::read_dir(folder).unwrap();
    let mut found: Vec<PathBuf> = entries.flat_map(|it| below(it.unwrap().path())).collect();
    found.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    found.sort();
    found
}

/// Runs a scenario; gives the verdicts that all outputs agree on.
fn agreeing(file: &Path) -> Vec<String> {
    let name = file.file_stem().unwrap().to_string_lossy();
    let source = small(&fs::read_to_string(file).unwrap());
    let home = &Home::with("it.toml", &source);
    if let Some((_, why)) = KERNEL_ALONE.iter().find(|(known, _)| *known == name) {
        home.refuses(&[("run it.toml --world sim", why), ("run it.toml --world sim", "kernel")]);
        return Vec::new();
    }
    let scenario = Scenario::parse(&source, "it").unwrap();
    let mut line = format!("run it.toml --world sim --jobs 1 --trials {TRIALS}");
    for case in scenario.cases.iter().take(CASES) {
        line += &format!(" --case '{}'", case.name);
    }
    let ended = home.run(&line);
    assert!(matches!(ended.code, Some(0 | 1)), "{name}: {}", ended.stderr);
    let run = home.only("runs/it");
    let one = run.join("report.html");
    let page = if one.exists() { one } else { run.join("report/index.html") };
    let run = Outputs {
        name: name.into(),
        home,
        place: run.display().to_string(),
        page: unescaped(&home.text(page)),
        terminal: ended.stdout,
    };
    let mut verdicts = run.grids();
    verdicts.extend(run.sentence());
    verdicts
}

/// Large transfers are made small, and flows that are sent as long as they may are made short: also
/// those of variants, as in `"workload.upload" = "10 MB"`.
fn small(source: &str) -> String {
    let mut source = source.replace(LONG, SHORT);
    for key in ["upload", "download"] {
        let parts: Vec<&str> = source.split(key).collect();
        let rest = parts[1..].iter().map(|part| {
            let value = part.trim_start_matches(['"', ' ', '=']);
            let assigned = &part[..part.len() - value.len()];
            match value.split_once('"') {
                Some((amount, rest)) if assigned.contains('=') && amount.ends_with("MB") => {
                    format!("{key}{assigned}{AMOUNT}\"{rest}")
                }
                _ => format!("{key}{part}"),
            }
        });
        source = parts[0].to_owned() + &rest.collect::<String>();
    }
    source
}

fn unescaped(text: &str) -> String {
    let signs = [("&#34;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    // Before units.
    let signs = signs.into_iter().chain([("\u{a0}", " ")]);
    signs.fold(text.to_owned(), |text, (escaped, sign)| text.replace(escaped, sign))
}

/// What a run printed and wrote.
struct Outputs<'a> {
    name: String,
    home: &'a Home,
    place: String,
    page: String,
    terminal: String,
}

impl Outputs<'_> {
    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.home.text(format!("{}/{file}", self.place))).unwrap()
    }

    /// As JSON and as Markdown, which has every row, too.
    fn compare(&self, options: &str) -> (Value, String) {
        let of = |form: &str| {
            let line = format!("compare {} {options} --fail-on never {form}", self.place);
            self.home.answer(&line)
        };
        (serde_json::from_str(&of("--json")).unwrap(), of("--markdown -"))
    }

    /// The comparisons that the scenario asks for.
    fn grids(&self) -> Vec<String> {
        let whole = self.json("run.json")["comparisons"].take();
        let asked = whole.as_array().cloned().unwrap_or_default();
        if asked.is_empty() {
            return Vec::new();
        }
        assert_eq!(self.json("comparisons.json")["comparisons"], whole, "{}", self.name);
        let mut verdicts = Vec::new();
        for found in &asked {
            let [a, b] = [0, 1].map(|side| found["sides"][side]["label"].as_str().unwrap());
            let rows = found["rows"].as_array().unwrap();
            assert!(!rows.is_empty(), "{}: {found}", self.name);
            // Of one comparison also the thresholds that it names.
            assert_eq!(asked.len(), 1, "{}: say here how to ask for each", self.name);
            let (again, _) = self.compare("");
            assert!(is_same(&again["rows"], &found["rows"]), "{}: {again}\n{found}", self.name);
            let metrics: Vec<&str> =
                found["metrics"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            let by = found["by"].as_str().unwrap();
            let levels = format!("--by {by} --levels '{a},{b}' --metrics {}", metrics.join(","));
            let threshold = match &rows[0]["threshold"]["share"] {
                Value::Number(share) => format!("--threshold {}%", share.as_f64().unwrap() * 100.0),
                _ => String::new(),
            };
            let (again, _) = self.compare(&format!("{levels} {threshold}"));
            assert!(is_same(&again["rows"], &found["rows"]), "{}: {again}\n{found}", self.name);
            let counts = counts(rows);
            let tally = format!("{b} against {a}: {counts}\n");
            assert!(self.terminal.contains(&tally), "{}: `{tally}` is missing", self.name);
            let (_, grid) = self.page.split_once("<section id=\"verdicts\">").unwrap();
            assert!(grid.contains(&counts), "{}: `{counts}` is missing", self.name);
            verdicts.extend(rows.iter().map(|row| format!("grid {}", kind(row))));
        }
        verdicts
    }

    /// The first sentence of the report.
    fn sentence(&self) -> Vec<String> {
        let Some((_, rest)) = self.page.split_once("<p class=\"lead answer\">") else {
            return Vec::new();
        };
        let sentence = rest.split("</p>").next().unwrap();
        let Some((head, _)) = sentence.split_once("; against ") else {
            let is_simple = !sentence.contains(" against ");
            assert!(is_simple, "{}: {sentence}", self.name);
            return Vec::new();
        };
        let levels = self.levels();
        let said = |(key, level): &&(String, String)| {
            let last = key.rsplit('.').next().unwrap().replace('_', " ");
            head.ends_with(&format!("{last} {level}"))
        };
        let best = levels.iter().find(said);
        let (factor, best) = best.unwrap_or_else(|| panic!("{}: {head}", self.name));
        let mut verdicts = Vec::new();
        for clause in sentence.split("; against ").skip(1) {
            let others = levels.iter().filter(|(key, level)| key == factor && level != best);
            // Of two that begin alike the longer.
            let is_it = |it: &&(String, String)| clause.starts_with(&format!("{}: ", it.1));
            let other = others.filter(is_it).max_by_key(|(_, level)| level.len());
            let (_, other) = other.unwrap_or_else(|| panic!("{}: {clause}", self.name));
            // Commas in names of levels part them.
            if [best, other].iter().any(|level| level.contains([',', '\''])) {
                continue;
            }
            let by = format!("--by '{factor}' --levels '{other},{best}'");
            let main = self.compare(&by).0["metrics"][0].as_str().unwrap().to_owned();
            let (found, table) = self.compare(&format!("{by} --metrics {main}"));
            let is_over_cases = found["rows"].as_array().unwrap().len() > 1
                && !clause[other.len()..]
                    .starts_with(&format!(": {}", in_cases(found["rows"].as_array().unwrap())));
            let (found, table) = if is_over_cases {
                self.compare(&format!("{by} --over-cases --metrics {main}"))
            } else {
                (found, table)
            };
            verdicts.extend(self.clause(&clause[other.len() + 2..], &found, &table));
        }
        verdicts
    }

    /// Whether a clause of the sentence says what the comparison found.
    fn clause(&self, clause: &str, found: &Value, table: &str) -> Vec<String> {
        let context = format!("{}: {clause}", self.name);
        let rows = found["rows"].as_array().unwrap();
        let index = if let [_] = &rows[..] {
            0
        } else {
            let all = in_cases(rows);
            if all.starts_with("identical") {
                assert!(clause.starts_with(&all), "{context}");
                return rows.iter().map(|row| format!("sentence {}", kind(row))).collect();
            }
            let (counted, named) = clause.split_once(", largest at ").expect(&context);
            assert_eq!(counted, all, "{context}");
            let is_named =
                |row: &Value| named.starts_with(&format!("{}: ", row["case"].as_str().unwrap()));
            rows.iter().position(is_named).expect(&context)
        };
        let (row, all) = (&rows[index], table.split_once("<details>").unwrap().1);
        let line = all.lines().filter(|line| line.starts_with("| ")).nth(index + 1).unwrap();
        let cells: Vec<&str> = line.trim_matches(['|', ' ']).split(" | ").collect();
        let [trials, a, interval, verdict] = [2, 3, 7, 10].map(|cell| cells[cell]);
        let said = verdict.replacen("inconclusive: ", "inconclusive, ", 1);
        assert!(clause.contains(&format!("{said} (")), "{context}\n{line}");
        if row["is_exact"] == true {
            let b = cells[4];
            let said =
                if verdict == "identical" { a.to_owned() } else { format!("{b} instead of {a}, ") };
            assert!(clause.contains(&format!("({said}")), "{context}\n{line}");
            return vec![format!("sentence {}", kind(row))];
        }
        assert!(clause.contains(&format!("; {trials})")), "{context}\n{line}");
        if verdict == "identical" {
            assert!(clause.contains(&format!("({a}; ")), "{context}\n{line}");
        } else {
            assert!(clause.contains(&format!(" has {a}; ")), "{context}\n{line}");
            let says = clause.contains(&format!(", 95 % CI {interval}; "));
            assert_eq!(says, row["interval"].is_array(), "{context}\n{line}");
            self.change(clause, row);
        }
        vec![format!("sentence {}", kind(row))]
    }

    /// Whether the change that a clause names is that of the figures.
    fn change(&self, clause: &str, row: &Value) {
        let number = |value: &Value| value.as_f64().unwrap();
        let difference = number(&row["difference"]);
        if row["is_ratio"] != true || difference == 0.0 {
            return;
        }
        let share = difference / number(&row["medians"][0]);
        let said = clause.split_once(" (").unwrap().1.split([',', ';']);
        let said: String = said.take(2).collect();
        let figure = |end: &str| -> Option<f64> {
            let text = said.split_once(end)?.0.replace('−', "-");
            text.trim_start_matches('+').trim().parse().ok()
        };
        let close = match (figure("×"), figure("%")) {
            (Some(ratio), _) => (ratio - share - 1.0).abs() <= 0.5,
            (_, Some(percent)) => (percent - share * 100.0).abs() <= 0.051,
            _ => false,
        };
        assert!(close, "{}: `{clause}` says {said}, the figures {share}", self.name);
    }

    /// Factors and their levels.
    fn levels(&self) -> BTreeSet<(String, String)> {
        let run = self.json("run.json");
        let cases = run["cases"].as_array().unwrap().iter();
        let pairs = cases.flat_map(|case| case["levels"].as_array().unwrap().iter());
        pairs.map(|pair| [0, 1].map(|at| pair[at].as_str().unwrap().to_owned()).into()).collect()
    }
}

/// Equal but for the last digit of numbers, which reading a file may change.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(ones), Value::Object(others)) => {
            let is_in =
                |(key, a): (&String, &Value)| others.get(key).is_some_and(|b| is_same(a, b));
            ones.len() == others.len() && ones.iter().all(is_in)
        }
        _ => match (one.as_f64(), other.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * a.abs(),
            _ => one == other,
        },
    }
}

/// A verdict's kind, as files name it.
fn kind(row: &Value) -> &str {
    let verdict = &row["verdict"];
    let object = || verdict.as_object().unwrap().keys().next().unwrap();
    verdict.as_str().unwrap_or_else(|| object())
}

/// As in `better in 2 cases, inconclusive in 1`; `identical in 3 cases`.
fn in_cases(rows: &[Value]) -> String {
    let is_identical = |row: &Value| row["verdict"]["equivalent"]["identical"] == true;
    let noun = |count: usize| if count == 1 { "case" } else { "cases" };
    if rows.iter().all(is_identical) {
        return format!("identical in {} {}", rows.len(), noun(rows.len()));
    }
    let counts = counts(rows);
    let each = counts.split(", ").enumerate().map(|(index, it)| {
        let (count, kind) = it.split_once(' ').unwrap();
        let noun = format!(" {}", noun(count.parse().unwrap()));
        format!("{kind} in {count}{}", if index == 0 { &noun } else { "" })
    });
    each.collect::<Vec<_>>().join(", ")
}

/// As in `2 better, 1 inconclusive`.
fn counts(rows: &[Value]) -> String {
    let kinds = ["better", "worse", "different", "equivalent", "inconclusive"];
    let counted = kinds.iter().filter_map(|it| {
        let count = rows.iter().filter(|row| kind(row) == *it).count();
        (count > 0).then(|| format!("{count} {it}"))
    });
    counted.collect::<Vec<_>>().join(", ")
}
