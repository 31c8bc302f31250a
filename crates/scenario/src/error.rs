//! What can be wrong with a scenario file, told with its place and what would be right.

use std::fmt;
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use tcplab_path::PathError;
use tcplab_workload::{SocketError, WorkloadError};

use crate::fault::Fault;
use crate::key::Key;
use crate::metrics::METRICS;
use crate::schema;

/// A scenario that cannot be run. As a [`Diagnostic`] it shows the place in the file.
#[derive(Debug)]
pub struct ScenarioError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    problem: Problem,
    span: Range<usize>,
    /// What is said at the place, and below it.
    label: String,
    help: Option<String>,
    file: NamedSource<String>,
}

impl ScenarioError {
    pub(crate) fn new(fault: Fault, source: &str, name: &str) -> ScenarioError {
        ScenarioError::in_section(&Key::default(), fault, source, name)
    }

    /// The same for a file that is by itself what a scenario has in `section`: its keys are said
    /// as they stand in it, and described as in a scenario.
    pub(crate) fn in_section(
        section: &Key,
        fault: Fault,
        source: &str,
        name: &str,
    ) -> ScenarioError {
        let Fault { problem, span, key } = fault;
        let described = key.as_ref().filter(|_| problem.wants_description());
        let description = described
            .and_then(|key| Some(format!("{key}: {}", schema::description(&section.join(key))?)));
        let help = [problem.help(), description].into_iter().flatten().collect::<Vec<_>>();
        ScenarioError(Box::new(Inner {
            label: match key {
                Some(key) if !matches!(problem, Problem::MissingKey { .. }) => key.to_string(),
                _ => "here".into(),
            },
            help: (!help.is_empty()).then(|| help.join("\n")),
            span: first_line(span, source),
            file: NamedSource::new(format!("{name}.toml"), source.to_string()),
            problem,
        }))
    }

    /// The same error, naming the file as the reader of the message knows it.
    #[must_use]
    pub fn in_file(mut self, path: &str) -> ScenarioError {
        let source = self.0.file.inner().clone();
        self.0.file = NamedSource::new(path, source);
        self
    }

    /// What is wrong.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// The line it is in, from 1.
    pub fn line(&self) -> usize {
        self.0.file.inner()[..self.0.span.start].matches('\n').count() + 1
    }
}

/// A place that spans many lines is shown by its first.
fn first_line(span: Range<usize>, source: &str) -> Range<usize> {
    let start = span.start.min(source.len());
    let text = source.get(start..span.end.min(source.len())).unwrap_or_default();
    start..start + text.find(['\r', '\n']).unwrap_or(text.len())
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.problem.fmt(f)
    }
}

impl std::error::Error for ScenarioError {}

impl Diagnostic for ScenarioError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.0.file)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new_with_span(Some(self.0.label.clone()), self.0.span.clone());
        Some(Box::new(std::iter::once(label)))
    }
}

/// What can be wrong with a scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant and field is told in the message above it")]
pub enum Problem {
    #[error("not TOML: {0}")]
    Syntax(String),
    #[error("unknown key `{key}`{}", within(.table.as_deref()))]
    UnknownKey { key: String, table: Option<String>, allowed: Vec<String> },
    #[error("`{key}` is missing{}", within(.table.as_deref()))]
    MissingKey { key: String, table: Option<String> },
    #[error("{0}")]
    Value(String),
    #[error("`{word}` is not known here")]
    UnknownWord { word: String, allowed: Vec<String> },
    #[error(transparent)]
    Path(PathError),
    #[error("`{name}` is not a preset")]
    NoSuchPreset { name: String, known: Vec<String> },
    #[error("{0}")]
    File(String),
    #[error(transparent)]
    Workload(WorkloadError),
    #[error(transparent)]
    Socket(SocketError),
    #[error("looking at sockets more often than every 1 ms would slow down what is looked at")]
    SampledTooOften,
    #[error("a trial that may take no time cannot be run")]
    NoTime,
    #[error("the number of trials must be from 1 to {most}")]
    Trials { most: u32 },
    /// More retries than make sense.
    #[error("a flawed trial is run again at most {most} times: give `retries` from 0 to {most}")]
    Retries { most: u32 },
    #[error("the number of blocks that do not count must be from 0 to {most}")]
    WarmUp { most: u32 },
    #[error("`trials` fixes the number of trials, which `until` finds out")]
    TrialsAndUntil,
    #[error("an interval without width is never reached")]
    NoWidth,
    #[error("the number of blocks must be from {least} to {most}")]
    Blocks { least: u32, most: u32 },
    #[error("`{0}` is no number that each trial has, so it has no interval over trials")]
    NoNumberOfTrials(String),

    #[error("`matrix` is not a table")]
    MatrixNotATable,
    #[error("`{0}` is not a key")]
    NotAKey(String),
    #[error("`{0}` is the same for all cases and cannot be varied")]
    NotVaried(String),
    #[error("the levels of `{0}` are not a list")]
    LevelsNotAList(String),
    #[error("the level `{0}` is not a table of the keys that it sets")]
    LevelNotATable(String),
    #[error("`{0}` has no levels")]
    NoLevels(String),
    #[error("`{key}` has the level `{level}` twice")]
    LevelTwice { key: String, level: String },
    #[error("`{0}` is varied twice")]
    FactorTwice(String),
    #[error("the matrix has more than {most} cases")]
    TooManyCases { most: usize },
    #[error("`{0}` advances with two lists of keys")]
    PairedTwice(String),
    #[error("{0} cannot advance together: they have {1} and {2} levels")]
    PairsUnequal(String, usize, usize),
    #[error("what advances together are two keys or more")]
    NoPair,
    #[error("this leaves out nothing: no case has these levels together")]
    ExcludesNothing,
    #[error("this leaves no case")]
    ExcludesAll,
    #[error("a sample is either a `latin_hypercube` or `random`")]
    NotOneSample,
    #[error("a sample has from 1 to {most} cases")]
    SampleSize { most: usize },
    #[error("a sample of {wanted} cannot be drawn: there are only {there} combinations")]
    SampleTooLarge { wanted: usize, there: usize },
    #[error("no sample of {wanted} was found that has none of the excluded combinations")]
    NoSample { wanted: usize },
    #[error("`{0}` is not a table, so there is no `{1}`")]
    NotATable(String, String),

    #[error("`{0}` is not a metric")]
    UnknownMetric(String),
    #[error("the claim says nothing of `{0}`")]
    NothingClaimed(String),
    #[error("`{check}` does not fit `{metric}`, whose values are texts")]
    NotForTexts { check: &'static str, metric: String },
    #[error("`{check}` looks at every value, `of` picks one number")]
    NotForStatistic { check: &'static str },
    #[error("`{found}` is not a value of `{metric}`")]
    NotAValue { found: String, metric: &'static str, wanted: String },
    #[error("{message}")]
    Quantity { message: String, metric: &'static str },
    #[error("`at_least` is above `at_most`: nothing can be both")]
    NothingBetween,
    #[error("`{check}` has an empty list")]
    EmptyList { check: &'static str },
    #[error("`{key}` is not varied, so `where` cannot select by it")]
    NotAFactor { key: String, factors: Vec<String> },
    #[error("`relative_to` takes one level of each factor it names, and at least one")]
    NotOneLevel,
    #[error("`{0}` cannot be compared with another case's: it is no number that each trial has")]
    NotRelative(String),
    #[error("`{key}` does not select among values of `{metric}`")]
    NotSelected { key: &'static str, metric: &'static str },
    #[error("`{name}` is not one of the flows")]
    NoSuchFlow { name: String, flows: Vec<String> },
    #[error("`nth` counts from 1")]
    NoZeroth,
    #[error("`{0}` cannot be drawn: it is no number that each trial has")]
    NotDrawn(String),
    #[error("the matrix varies no number over which this could be drawn")]
    NothingToDrawOver,
    #[error("the levels of `{0}` are not all numbers")]
    NoNumbers(String),
    #[error("`{0}` has no better direction")]
    NoMerit(String),
    #[error("`{0}` against itself is a line that says nothing")]
    AgainstItself(String),
    #[error("`against_flow` without `against` is the flow of nothing")]
    AgainstNothing,
    #[error("nothing is varied, so there would be one point")]
    OnePoint,
    #[error("`{key}` is not varied")]
    NotVariedHere { key: String, factors: Vec<String> },
    #[error("`{0}` cannot be both the axis and the lines")]
    OverItself(String),
    #[error("`{0}` cannot be compared: it is not one number for each trial")]
    NotCompared(String),
    #[error("`{0}` is named twice")]
    NamedTwice(String),
    #[error("what is compared are two levels of `{key}`")]
    WhichLevels { key: String, levels: Vec<String> },
    #[error("the claim is about no case: none with these levels is in the design")]
    NoCaseLeft,
    #[error("there is nothing to compare with: no case with these levels is in the design")]
    NothingToCompare,
    #[error("no case has `{key}` = `{level}`")]
    NoSuchLevel { key: String, level: String, levels: Vec<String> },
}

fn within(table: Option<&str>) -> String {
    table.map(|table| format!(" in `{table}`")).unwrap_or_default()
}

impl Problem {
    /// What would be right, where the message does not say.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Problem::UnknownKey { key, allowed, .. } => suggest(key, allowed, "the keys here are"),
            Problem::UnknownWord { word, allowed } => suggest(word, allowed, "use one of"),
            Problem::NoSuchPreset { name, known } => suggest(name, known, "the presets are"),
            Problem::MissingKey { key, table } => missing(key, table.as_deref()),
            Problem::Workload(error) => error.help().into(),
            Problem::SampledTooOften => "write a time of at least \"1 ms\"".into(),
            Problem::NoTime => "write a time such as \"120 s\"".into(),
            Problem::MatrixNotATable
            | Problem::NotAKey(_)
            | Problem::LevelsNotAList(_)
            | Problem::NoLevels(_) => "write a quoted key and a list of its levels, such as\n\
                 \"client.socket.congestion\" = [\"reno\", \"cubic\"]"
                .into(),
            Problem::LevelNotATable(name) => format!(
                "write what it sets, such as\n\"{name}\" = {{ \"client.socket.congestion\" = \"reno\" }}"
            ),
            Problem::NotVaried(_) => {
                format!("vary keys of {}", crate::file::VARIED_SECTIONS.join(", "))
            }
            Problem::UnknownMetric(name) => {
                let known = METRICS.iter().map(|metric| metric.name);
                let near = nearest(name, known).map(|near| format!("did you mean `{near}`? "));
                format!("{}`tcplab metrics` lists them", near.unwrap_or_default())
            }
            Problem::NothingClaimed(_) => {
                "add at_least, at_most, equals, one_of, includes or excludes".into()
            }
            Problem::NotForTexts { .. } => "use equals, one_of, includes or excludes".into(),
            Problem::NotForStatistic { .. } => "use at_least, at_most, equals or one_of".into(),
            Problem::NotAValue { found, wanted, .. } if wanted.contains('`') => {
                let words: Vec<String> =
                    wanted.split('`').skip(1).step_by(2).map(String::from).collect();
                suggest(found, &words, "its values are")
            }
            Problem::NotAValue { wanted, .. } => format!("write {wanted}"),
            Problem::NotAFactor { key, factors } if !factors.is_empty() => {
                suggest(key, factors, "the matrix varies")
            }
            Problem::NotAFactor { .. } => "leave `where` out: there is only one case".into(),
            Problem::NotSelected { .. } => "`endpoint` and `nth` are for metrics of endpoints, \
                 requests and calls, `call` for those of calls, `flow` for numbers of trials and \
                 requests"
                .into(),
            Problem::NoSuchFlow { name, flows } if flows.is_empty() => {
                format!("there are no flows: leave it out, or write `[flow.{name}]`")
            }
            Problem::NoSuchFlow { name, flows } => suggest(name, flows, "the flows are"),
            Problem::NoSuchLevel { level, levels, .. } => suggest(level, levels, "its levels are"),
            _ => {
                let design = || self.help_with_design().map(Into::into);
                return self.help_with_pictures().or_else(design);
            }
        };
        Some(help)
    }

    /// The same of what is wrong with what the report draws and compares.
    fn help_with_pictures(&self) -> Option<String> {
        Some(match self {
            Problem::NotVariedHere { factors, .. } if factors.is_empty() => {
                "nothing is varied: add a `[matrix]`".into()
            }
            Problem::NotVariedHere { key, factors } => suggest(key, factors, "the matrix varies"),
            Problem::NotCompared(_) => "compare metrics of trials, such as `goodput`".into(),
            Problem::WhichLevels { levels, .. } => {
                let all = levels.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
                match &levels[..] {
                    [first, .., last] => format!("write two of {all}: [\"{first}\", \"{last}\"]"),
                    _ => format!("its only level is {all}"),
                }
            }
            Problem::NotDrawn(_) => "draw a metric of trials, such as `goodput`".into(),
            Problem::NothingToDrawOver => {
                "vary a number or a quantity, such as `\"workload.write_size\" = [\"1 kB\", \"64 kB\"]`"
                    .into()
            }
            Problem::NoMerit(_) => "`tcplab metrics` says of which less or more is better".into(),
            Problem::AgainstItself(_) => "name another metric, or another flow's".into(),
            Problem::AgainstNothing => "write `flow` for that of `metric`".into(),
            Problem::OnePoint => "vary something, or leave `against` out".into(),
            Problem::NoNumbers(_) => {
                "numbers, or quantities of one kind, such as \"1 kB\" and \"64 KiB\"".into()
            }
            Problem::OverItself(_) => "name another factor, or leave `by` out".into(),
            _ => return None,
        })
    }

    /// The same of what is wrong with how cases are chosen and repeated.
    fn help_with_design(&self) -> Option<&'static str> {
        Some(match self {
            Problem::TrialsAndUntil => {
                "leave `trials` out: `until.min` and `until.max` are its bounds"
            }
            Problem::NoWidth => "write a share of the mean, such as \"2 %\"",
            Problem::NoNumberOfTrials(_) => "name one such as `transfer_time` or `goodput`",
            Problem::TooManyCases { .. } => {
                "leave combinations out with `exclude` in `[design]`, \
                 or take a sample of them, such as\n\
                 sample = { latin_hypercube = 100 }"
            }
            Problem::NoPair => {
                "write lists of keys, such as\npairs = [[\"path.rate\", \"path.delay\"]]"
            }
            Problem::ExcludesNothing => {
                "leave it out, or look at `pairs`: what advances together \
                 never meets another's level"
            }
            Problem::ExcludesAll => {
                "write the levels of what is to be left out, such as\n\
                 exclude = [{ \"path.delay\" = \"500 ms\", \"client.socket.congestion\" = \"bbr\" }]"
            }
            Problem::NotOneSample => {
                "write one of them, such as\nsample = { latin_hypercube = 40 }"
            }
            Problem::SampleTooLarge { .. } => "leave `sample` out to run them all",
            Problem::NoSample { .. } => "take fewer, exclude less, or use `random`",
            Problem::NoCaseLeft | Problem::NothingToCompare => {
                "`exclude`, `pairs` and `sample` in `[design]` say which combinations are cases; \
                 `tcplab run --dry-run` lists them"
            }
            _ => return None,
        })
    }

    /// Whether what the schema says of the key helps.
    fn wants_description(&self) -> bool {
        matches!(
            self,
            Problem::Value(_) | Problem::UnknownWord { .. } | Problem::Path(_) | Problem::Socket(_)
        )
    }
}

fn missing(key: &str, table: Option<&str>) -> String {
    let example = match (table, key) {
        (None, "title") => "title = \"What the experiment is, in a line\"",
        (None, "path") => "[path]\nrate  = \"5 Mbit/s\"\ndelay = \"5 ms\"",
        (None, "workload") => "[workload]\nupload = \"10 MB\"",
        // In a scenario or in a file of a path, for both directions or one, in a stage or not.
        (Some(table), _) if table.split('.').next_back() == Some("interruption") => {
            "interruption = { every = \"5 s\", lasting = \"200 ms\" }"
        }
        (Some("expect"), _) => {
            "[[expect]]\nclaim   = \"it is fast\"\nmetric  = \"transfer_time\"\nat_most = \"20 s\""
        }
        (Some("compare"), _) => "[[compare]]\nfactor = \"client.socket.congestion\"",
        _ => return format!("add `{key}`"),
    };
    format!("add it, such as\n{example}")
}

/// The likeliest of the `known` words, and all of them.
fn suggest(word: &str, known: &[String], list: &str) -> String {
    let all = known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match nearest(word, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`? {list} {all}"),
        None => format!("{list} {all}"),
    }
}

/// The likeliest of the `known` words, if one is like it at all.
fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let like = known
        .map(|known| (distance(word, known), known))
        .filter(|(distance, known)| *distance <= (known.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance);
    like.map(|(_, near)| near)
}

/// How many letters must be added, left out, changed or swapped with their neighbour to make one
/// word of the other (Damerau 1964, in the restricted form); capitals do not count.
fn distance(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|word| word.to_lowercase().chars().collect::<Vec<_>>());
    // rows[i][j] is the distance of the first i letters of one to the first j of the other.
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let above = &rows[i - 1];
            let changed = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = changed.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_counted_letter_by_letter() {
        for (a, b, expected) in [
            ("delay", "delay", 0),
            ("dealy", "delay", 1),
            ("dlay", "delay", 1),
            ("Delay", "delay", 0),
            ("", "rate", 4),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn only_what_is_near_is_suggested() {
        let known = ["rate", "delay", "queue"].map(String::from);
        assert_eq!(
            suggest("dlay", &known, "use"),
            "did you mean `delay`? use `rate`, `delay`, `queue`"
        );
        assert_eq!(suggest("colour", &known, "use"), "use `rate`, `delay`, `queue`");
    }
}
