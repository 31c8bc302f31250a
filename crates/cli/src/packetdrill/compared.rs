//! The results of several stacks side by side.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::outcome::{Kind, StackResults, sum};
use super::shown;
use super::topics::{by_topic, counted, shown_count};

/// A table of topics with passed, failed and unsupported scripts of each stack, and the scripts
/// whose results differ.
pub(super) fn topics(all: &[StackResults]) -> String {
    let tables: Vec<_> = all.iter().map(|results| by_topic(&results.outcomes)).collect();
    let names: BTreeSet<&str> = tables.iter().flat_map(|table| table.keys().copied()).collect();
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0).max("topic".len());
    let kinds = shown_kinds(all);
    let wide = |results: &StackResults| {
        let columns: usize = kinds.iter().map(|kind| kind.name().len() + 1).sum();
        columns.max(results.stack.len() + 1)
    };
    let mut text = format!("{:width$}", "");
    for results in all {
        let _ = write!(text, "  {:>1$}", results.stack, wide(results));
    }
    let _ = write!(text, "\n{:width$}", "topic");
    for results in all {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        let names = names.join(" ");
        let _ = write!(text, "  {names:>0$}", wide(results));
    }
    text += "\n";
    let mut row = |name: &str, counts: Vec<[usize; 4]>| {
        let _ = write!(text, "{name:width$}");
        for (results, counts) in all.iter().zip(counts) {
            let one = |kind: &Kind| {
                format!(" {:>1$}", shown_count(counts[*kind as usize]), kind.name().len())
            };
            let cells: String = kinds.iter().map(one).collect();
            let _ = write!(text, "  {cells:>0$}", wide(results));
        }
        text += "\n";
    };
    for name in &names {
        let of_stack = |table: &std::collections::BTreeMap<&str, Vec<_>>| {
            counted(table.get(name).into_iter().flatten().copied())
        };
        row(name, tables.iter().map(of_stack).collect());
    }
    row("all", all.iter().map(|results| counted(results.outcomes.iter())).collect());
    text + &differences(all) + &unreadable(all) + "\n" + &sums(all)
}

/// A line for each script, with its result on each stack, and why where they differ.
pub(super) fn scripts(all: &[StackResults], verbose: bool) -> String {
    let width = |results: &StackResults| results.stack.len().max("unsupported".len());
    let mut text = String::new();
    for results in all {
        let _ = write!(text, "{:1$}  ", results.stack, width(results));
    }
    text += "script\n";
    for nth in 0..all.first().map_or(0, |first| first.outcomes.len()) {
        for results in all {
            let kind = results.outcomes[nth].kind().name();
            let _ = write!(text, "{kind:0$}  ", width(results));
        }
        let _ = writeln!(text, "{}", all[0].outcomes[nth].script.path.display());
    }
    if verbose {
        for results in all {
            let _ = write!(text, "\n{}\n", results.stack);
            text += &shown::text(&results.outcomes, true);
        }
    }
    text + &differences(all) + &unreadable(all) + "\n" + &sums(all)
}

/// Where not all stacks have the same result, that of each.
fn differences(all: &[StackResults]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let differ = |nth: &usize| {
        let kinds: Vec<Kind> = all.iter().map(|results| results.outcomes[*nth].kind()).collect();
        kinds.iter().any(|kind| *kind != kinds[0])
    };
    let differing: Vec<usize> = (0..first.outcomes.len()).filter(differ).collect();
    if differing.is_empty() {
        return "\nAll stacks have the same result on each script.\n".into();
    }
    let mut text = format!("\nscripts with different results: {}\n", differing.len());
    for nth in differing {
        let _ = write!(text, "\n{}\n", first.outcomes[nth].script.path.display());
        for results in all {
            let outcome = &results.outcomes[nth];
            let why = outcome.why().map(|why| format!(": {why}")).unwrap_or_default();
            let _ = writeln!(text, "  {}: {}{why}", results.stack, outcome.kind().name());
        }
    }
    text
}

/// Why no stack could read a script.
fn unreadable(all: &[StackResults]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let mut text = String::new();
    for (nth, outcome) in first.outcomes.iter().enumerate() {
        if let Err(why) = &outcome.result
            && all.iter().all(|results| results.outcomes[nth].kind() == Kind::Unreadable)
        {
            let path = outcome.script.path.display();
            let _ = write!(text, "\nunreadable: {path}{}\n", why.behind_name());
        }
    }
    text
}

fn sums(all: &[StackResults]) -> String {
    let one = |results: &StackResults| format!("{}: {}", results.stack, sum(&results.outcomes));
    all.iter().map(one).collect::<Vec<_>>().concat()
}

/// Unreadable scripts have a column where there are some.
fn shown_kinds(all: &[StackResults]) -> Vec<Kind> {
    let has = |kind: Kind| {
        all.iter().flat_map(|results| &results.outcomes).any(|outcome| outcome.kind() == kind)
    };
    Kind::ALL.into_iter().filter(|kind| *kind != Kind::Unreadable || has(*kind)).collect()
}
