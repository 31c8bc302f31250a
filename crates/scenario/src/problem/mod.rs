//! What can be wrong with a scenario file.

use tcplab_path::PathError;
use tcplab_workload::{SocketError, WorkloadError};

mod help;
mod suggest;

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
