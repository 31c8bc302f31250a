//! What can be wrong with a scenario file.

use tcplab_path::PathError;
use tcplab_units::Bytes;
use tcplab_workload::{SocketError, WorkloadError};

mod help;
mod suggest;

pub(crate) use suggest::meant;
pub use suggest::nearest;

/// What can be wrong with a scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message above each variant explains it")]
pub enum Problem {
    #[error("invalid TOML: {0}")]
    Syntax(String),
    #[error("unknown key `{key}`{}", within(.table.as_deref()))]
    UnknownKey { key: String, table: Option<String>, allowed: Vec<String> },
    #[error("missing key `{key}`{}", within(.table.as_deref()))]
    MissingKey { key: String, table: Option<String> },
    #[error("{0}")]
    Value(String),
    #[error("unknown value `{word}`")]
    UnknownWord { word: String, allowed: Vec<String> },
    #[error(transparent)]
    Path(PathError),
    #[error("unknown preset `{name}`")]
    NoSuchPreset { name: String, known: Vec<String> },
    #[error("{0}")]
    File(String),
    #[error(transparent)]
    Workload(WorkloadError),
    #[error(transparent)]
    Socket(SocketError),
    #[error("sampling more often than every 1 ms would slow down the sockets")]
    SampledTooOften,
    #[error("the time limit of a trial must be above zero")]
    NoTime,
    #[error("`trials` must be 1 to {most}")]
    Trials { most: u32 },
    #[error("a claim can need 1 to {most} trials, as many as the scenario has")]
    ClaimTrials { most: u32 },
    #[error("`retries` must be 0 to {most}")]
    Retries { most: u32 },
    #[error("`warm_up` must be 0 to {most} blocks")]
    WarmUp { most: u32 },
    #[error("`trials` and `until` exclude each other")]
    TrialsAndUntil,
    #[error("`ci` must be above zero")]
    NoWidth,
    #[error("the number of blocks must be {least} to {most}")]
    Blocks { least: u32, most: u32 },
    #[error("`{0}` has no interval over trials: it is not one number per trial")]
    NoNumberOfTrials(String),

    #[error("`matrix` is not a table")]
    MatrixNotATable,
    #[error("invalid key `{0}`")]
    NotAKey(String),
    #[error("`{0}` cannot be varied: it is the same for all cases")]
    NotVaried(String),
    #[error("the levels of `{0}` must be a list")]
    LevelsNotAList(String),
    #[error("the level `{0}` must be a table of keys to set")]
    LevelNotATable(String),
    #[error("`{0}` has no levels")]
    NoLevels(String),
    #[error("`{key}` has the level `{level}` twice")]
    LevelTwice { key: String, level: String },
    #[error("`{key}` has a level twice: `{one}` and `{other}` are the same")]
    LevelsEqual { key: String, one: String, other: String },
    #[error("`{0}` is varied twice")]
    FactorTwice(String),
    #[error("the matrix has {found} combinations: at most {most} can be cases")]
    TooManyCases { found: u128, most: usize },
    #[error("{what} for each of {cases} cases: {found} in all, and at most {most}")]
    TooLarge { what: &'static str, cases: usize, found: Bytes, most: Bytes },
    #[error("`{0}` is in two pairs")]
    PairedTwice(String),
    #[error("{0} cannot advance together: they have {1} and {2} levels")]
    PairsUnequal(String, usize, usize),
    #[error("a pair needs at least two keys")]
    NoPair,
    #[error("this excludes nothing: no case has these levels together")]
    ExcludesNothing,
    #[error("this excludes all cases")]
    ExcludesAll,
    #[error("a sample needs one of `latin_hypercube` and `random`")]
    NotOneSample,
    #[error("a sample must have 1 to {most} cases")]
    SampleSize { most: usize },
    #[error("a sample of {wanted} is too large: there are {there} combinations")]
    SampleTooLarge { wanted: usize, there: usize },
    #[error("found no sample of {wanted} without excluded combinations")]
    NoSample { wanted: usize },
    #[error("`{0}` is not a table, so `{1}` cannot be set")]
    NotATable(String, String),

    #[error("unknown metric `{0}`")]
    UnknownMetric(String),
    #[error("the claim on `{0}` checks nothing")]
    NothingClaimed(String),
    #[error("`{check}` needs numbers, and the values of `{metric}` are texts")]
    NotForTexts { check: &'static str, metric: String },
    #[error("`{check}` needs all values, and `of` picks one number")]
    NotForStatistic { check: &'static str },
    #[error("`{found}` is not a value of `{metric}`")]
    NotAValue { found: String, metric: &'static str, wanted: String },
    #[error("{message}")]
    Quantity { message: String, metric: &'static str },
    #[error("`at_least` is above `at_most`: no value satisfies both")]
    NothingBetween,
    #[error("`{check}` is an empty list")]
    EmptyList { check: &'static str },
    #[error("`where` cannot select by `{key}`: it is not varied")]
    NotAFactor { key: String, factors: Vec<String> },
    #[error("`relative_to` needs one level of each factor it names")]
    NotOneLevel,
    #[error("`{0}` cannot be relative to another case: it is not one number per trial")]
    NotRelative(String),
    #[error("`{key}` does not apply to `{metric}`")]
    NotSelected { key: &'static str, metric: &'static str },
    #[error("unknown flow `{name}`")]
    NoSuchFlow { name: String, flows: Vec<String> },
    #[error("`nth` counts from 1")]
    NoZeroth,
    #[error("`{0}` cannot be plotted: it is not one number per trial")]
    NotDrawn(String),
    #[error("only Multipath TCP takes a second path")]
    NoMultipath,
    #[error("the matrix varies no number to plot over")]
    NothingToDrawOver,
    #[error("the levels of `{0}` are not all numbers")]
    NoNumbers(String),
    #[error("`{0}` has no better direction")]
    NoMerit(String),
    #[error("`{0}` cannot be plotted against itself")]
    AgainstItself(String),
    #[error("`against_flow` needs `against`")]
    AgainstNothing,
    #[error("the plot would have one point: nothing is varied")]
    OnePoint,
    #[error("`{key}` is not varied")]
    NotVariedHere { key: String, factors: Vec<String> },
    #[error("`{0}` cannot be both the axis and the lines")]
    OverItself(String),
    #[error("`{0}` cannot be compared: it is not one number per trial")]
    NotCompared(String),
    #[error("`{0}` has a threshold, and is not compared")]
    ThresholdAlone(String),
    #[error("`{0}` is named twice")]
    NamedTwice(String),
    #[error("a comparison needs two levels of `{key}`")]
    WhichLevels { key: String, levels: Vec<String> },
    #[error("the claim applies to no case: the design has none with these levels")]
    NoCaseLeft,
    #[error("nothing to compare with: the design has no case with these levels")]
    NothingToCompare,
    #[error("no case has `{key}` = `{level}`")]
    NoSuchLevel { key: String, level: String, levels: Vec<String> },
}

fn within(table: Option<&str>) -> String {
    table.map(|table| format!(" in `{table}`")).unwrap_or_default()
}
