//! Results summed up.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};
use tcplab_packetdrill::ScriptOutcome;

use super::outcome::{Kind, Outcome, sum};

/// A table of topics, failures, and unsupported constructs.
pub(super) fn text(results: &[Outcome]) -> String {
    let topics = by_topic(results);
    let width = topics.keys().map(|topic| topic.len()).max().unwrap_or(0).max("topic".len());
    let mut text = format!("{:width$}", "topic");
    for kind in Kind::ALL {
        let _ = write!(text, "  {:>11}", kind.name());
    }
    text += "\n";
    let mut row = |name: &str, counts: [usize; 4]| {
        let _ = write!(text, "{name:width$}");
        for count in counts {
            let _ = write!(text, "  {:>11}", shown_count(count));
        }
        text += "\n";
    };
    for (topic, results) in &topics {
        row(topic, counted(results.iter().copied()));
    }
    row("all", counted(results.iter()));
    for outcome in results {
        let path = outcome.script.path.display();
        match &outcome.result {
            Ok((ScriptOutcome::Failed(failure), _)) => {
                let _ = write!(text, "\nfailed: {path}:{failure}\n");
            }
            Err(why) => {
                let _ = write!(text, "\nunreadable: {path}{}\n", why.behind_name());
            }
            Ok(_) => {}
        }
    }
    let constructs = constructs(results);
    if !constructs.is_empty() {
        text += "\nunsupported constructs, and the number of scripts that use them:\n";
        for (construct, count) in constructs {
            let _ = writeln!(text, "  {count:4}  {construct}");
        }
    }
    text + "\n" + &sum(results)
}

pub(super) fn json(results: &[Outcome]) -> Vec<Value> {
    let one = |(topic, results): (&str, Vec<&Outcome>)| {
        let mut shown = counts(results.into_iter());
        shown["topic"] = json!(topic);
        shown
    };
    by_topic(results).into_iter().map(one).collect()
}

/// How many scripts passed, failed and so on.
pub(super) fn counts<'a>(results: impl Iterator<Item = &'a Outcome>) -> Value {
    let pairs = Kind::ALL.iter().zip(counted(results));
    Value::Object(pairs.map(|(kind, count)| (kind.name().to_owned(), json!(count))).collect())
}

/// Unsupported constructs, the most frequent first, with the number of scripts.
pub(super) fn constructs(results: &[Outcome]) -> Vec<(&str, usize)> {
    let mut all: BTreeMap<&str, usize> = BTreeMap::new();
    for outcome in results {
        if let Ok((ScriptOutcome::Unsupported(found), _)) = &outcome.result {
            *all.entry(&found.construct).or_default() += 1;
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all
}

pub(super) fn by_topic(results: &[Outcome]) -> BTreeMap<&str, Vec<&Outcome>> {
    let mut topics: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in results {
        topics.entry(&outcome.script.topic).or_default().push(outcome);
    }
    topics
}

pub(super) fn shown_count(count: usize) -> String {
    if count == 0 { "·".to_owned() } else { count.to_string() }
}

pub(super) fn counted<'a>(results: impl Iterator<Item = &'a Outcome>) -> [usize; 4] {
    let mut counts = [0; 4];
    results.for_each(|outcome| counts[outcome.kind() as usize] += 1);
    counts
}
