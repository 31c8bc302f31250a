//! Results, script by script.

use std::fmt::Write;

use serde_json::{Value, json};
use tcplab_packetdrill::{Line, ScriptOutcome};

use super::outcome::{Outcome, StackResults, sum};
use super::topics;

/// A line for each script, more where it did not pass, and the sum.
pub(super) fn text(results: &[Outcome], verbose: bool) -> String {
    let mut text = String::new();
    for outcome in results {
        let path = outcome.script.path.display();
        let kind = outcome.kind().name();
        let _ = match &outcome.result {
            Ok((ScriptOutcome::Passed(_), _)) => writeln!(text, "{kind:11}  {path}"),
            Ok((ScriptOutcome::Failed(failure), _)) => {
                writeln!(text, "{kind:11}  {path}:{failure}")
            }
            Ok((ScriptOutcome::Unsupported(found), _)) => {
                writeln!(text, "{kind:11}  {path}:{}: {}", found.at, found.construct)
            }
            Err(why) => writeln!(text, "{kind:11}  {path}{}", why.behind_name()),
        };
        if let Some((verdict, lines)) = outcome.result.as_ref().ok().filter(|_| verbose) {
            for line in lines {
                let _ = writeln!(text, "  {line}");
            }
            if let ScriptOutcome::Passed(left) = verdict
                && !left.is_empty()
            {
                let _ = writeln!(text, "  unexpected packets:");
                for packet in left {
                    let _ = writeln!(text, "    {packet}");
                }
            }
        }
    }
    text + "\n" + &sum(results)
}

/// The results of the first stack; those of others beside them.
pub(super) fn json(all: &[StackResults], verbose: bool) -> Value {
    let mut stacks = all.iter().map(|results| of_stack(results, verbose));
    let mut shown = stacks.next().unwrap_or_default();
    let others: Vec<Value> = stacks.collect();
    if !others.is_empty() {
        shown["other_stacks"] = json!(others);
    }
    shown
}

fn of_stack(all: &StackResults, verbose: bool) -> Value {
    let results = &all.outcomes;
    let scripts: Vec<Value> = results.iter().map(|one| script(one, verbose)).collect();
    json!({
        "stack": all.stack,
        "scripts": scripts,
        "topics": topics::json(results),
        "unsupported": topics::constructs(results)
            .into_iter()
            .map(|(construct, count)| json!({ "construct": construct, "scripts": count }))
            .collect::<Vec<Value>>(),
        "total": topics::counts(results.iter()),
    })
}

fn script(outcome: &Outcome, verbose: bool) -> Value {
    let mut shown = json!({
        "file": outcome.script.path.display().to_string(),
        "topic": outcome.script.topic,
        "result": outcome.kind().name(),
    });
    match &outcome.result {
        Ok((ScriptOutcome::Passed(left), _)) => shown["not_asked_for"] = json!(left),
        Ok((ScriptOutcome::Failed(failure), _)) => {
            shown["line"] = failure.at.line.into();
            shown["column"] = failure.at.column.into();
            shown["what"] = json!(failure.what);
            shown["expected"] = json!(failure.expected);
            shown["actual"] = json!(failure.actual);
        }
        Ok((ScriptOutcome::Unsupported(found), _)) => {
            shown["line"] = found.at.line.into();
            shown["column"] = found.at.column.into();
            shown["construct"] = json!(found.construct);
        }
        Err(why) => shown["what"] = json!(why.to_string()),
    }
    if let Some((_, lines)) = outcome.result.as_ref().ok().filter(|_| verbose) {
        shown["dialogue"] = lines.iter().map(line).collect();
    }
    shown
}

fn line(line: &Line) -> Value {
    json!({
        "time_ns": line.time.as_nanos(),
        "line": line.at.map(|at| at.line),
        "text": line.text,
        "cause": line.cause,
    })
}
