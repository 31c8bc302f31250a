//! What to do about a problem.

use super::Problem;
use super::suggest::{nearest, suggest};
use crate::metrics::METRICS;
use crate::sections::VARIED_SECTIONS;

impl Problem {
    /// What to do, where the message does not say it.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Problem::UnknownKey { key, allowed, .. } => suggest(key, allowed, "the keys here are"),
            Problem::UnknownWord { word, allowed } => suggest(word, allowed, "use one of"),
            Problem::NoSuchPreset { name, known } => {
                let near = nearest(name, known.iter().map(String::as_str));
                let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
                format!("{near}`tcplab path presets` lists them")
            }
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
                format!("vary keys of {}", VARIED_SECTIONS.join(", "))
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
            Problem::NotSelected { .. } => "use `endpoint` and `nth` for metrics of endpoints, \
                 requests and calls, `call` for those of calls, `flow` for numbers of trials and \
                 requests"
                .into(),
            Problem::NoSuchFlow { name, flows } if flows.is_empty() => {
                format!("the scenario has no flows: leave it out, or add `[flow.{name}]`")
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

    /// Help with plots and comparisons.
    fn help_with_pictures(&self) -> Option<String> {
        Some(match self {
            Problem::NotVariedHere { factors, .. } if factors.is_empty() => {
                "nothing is varied: add a `[matrix]`".into()
            }
            Problem::NotVariedHere { key, factors } => suggest(key, factors, "the matrix varies"),
            Problem::ThresholdAlone(_) => "add it to `metrics`, or leave its threshold out".into(),
            Problem::NotCompared(_) => "compare metrics of trials, such as `goodput`".into(),
            Problem::WhichLevels { levels, .. } => {
                let all = levels.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
                match &levels[..] {
                    [first, .., last] => format!("write two of {all}: [\"{first}\", \"{last}\"]"),
                    _ => format!("its only level is {all}"),
                }
            }
            Problem::NotDrawn(_) => "plot a metric of trials, such as `goodput`".into(),
            Problem::NoMultipath => {
                "write `through = \"mptcp\"` in `[workload]`, or leave `second_path` out".into()
            }
            Problem::NothingToDrawOver => {
                "vary a number or a quantity, such as `\"workload.write_size\" = [\"1 kB\", \"64 kB\"]`"
                    .into()
            }
            Problem::NoMerit(_) => "choose a metric that has one: `tcplab metrics` lists them".into(),
            Problem::AgainstItself(_) => "name another metric, or another flow's".into(),
            Problem::AgainstNothing => "add `against`, or write `flow` for the flow of `metric`".into(),
            Problem::OnePoint => "vary something, or leave `against` out".into(),
            Problem::NoNumbers(_) => {
                "use numbers, or quantities of one kind such as \"1 kB\" and \"64 KiB\"".into()
            }
            Problem::OverItself(_) => "name another factor, or leave `by` out".into(),
            _ => return None,
        })
    }

    /// Help with the choice and repetition of cases.
    fn help_with_design(&self) -> Option<&'static str> {
        Some(match self {
            Problem::TrialsAndUntil => {
                "leave `trials` out: `until.min` and `until.max` bound the number of trials"
            }
            Problem::NoWidth => "write a share of the mean, such as \"2 %\"",
            Problem::NoNumberOfTrials(_) => "name one such as `transfer_time` or `goodput`",
            Problem::TooManyCases { .. } => {
                "exclude combinations with `exclude` in `[design]`, \
                 or take a sample of them, such as\n\
                 sample = { latin_hypercube = 100 }"
            }
            Problem::TooLarge { .. } => "write fewer cases, or shorter lists and traces",
            Problem::NoPair => {
                "write lists of keys, such as\npairs = [[\"path.rate\", \"path.delay\"]]"
            }
            Problem::ExcludesNothing => {
                "leave it out, or check `pairs`: paired factors \
                 never combine freely"
            }
            Problem::ExcludesAll => {
                "write the levels to exclude, such as\n\
                 exclude = [{ \"path.delay\" = \"500 ms\", \"client.socket.congestion\" = \"bbr\" }]"
            }
            Problem::NotOneSample => {
                "write one of them, such as\nsample = { latin_hypercube = 40 }"
            }
            Problem::SampleTooLarge { .. } => "leave `sample` out to run them all",
            Problem::NoSample { .. } => "take a smaller sample, exclude less, or use `random`",
            Problem::NoCaseLeft | Problem::NothingToCompare => {
                "check `exclude`, `pairs` and `sample` in `[design]`; \
                 `tcplab run --dry-run` lists the cases"
            }
            _ => return None,
        })
    }

    /// Whether the schema's description of the key helps.
    pub(crate) fn wants_description(&self) -> bool {
        matches!(
            self,
            Problem::Value(_) | Problem::UnknownWord { .. } | Problem::Path(_) | Problem::Socket(_)
        )
    }
}

fn missing(key: &str, table: Option<&str>) -> String {
    let example = match (table, key) {
        (None, "title") => "title = \"What the experiment tests, in a line\"",
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
