//! Two captures side by side.

use tcplab_quantities as q;
use tcplab_results::comparison::Divergence;
use tcplab_results::comparison::{Fact, Value};
use tcplab_scenario::Better;
use tcplab_units::rounded::{self, with_unit};
use tcplab_units::{Span, visible_line};

use super::markdown::escaped;
use crate::compared::signed_percent;

/// A smaller change of one connection is called neither better nor worse: timing alone makes it.
const NOTABLE: f64 = 0.05;

/// A connection in both captures.
#[derive(Debug, Clone)]
pub struct CapturedPair {
    /// The ends in A and in B.
    pub names: [String; 2],
    /// Its place in either capture, from 0.
    pub places: [usize; 2],
    /// What was compared.
    pub facts: Vec<Fact>,
    /// Where the two first differ; computed for some pairs only.
    pub divergence: Option<Divergence>,
}

/// The pairs as text: what differs in each, the first in full.
pub fn captures_text(names: &[String; 2], pairs: &[CapturedPair], alone: [usize; 2]) -> String {
    let [a, b] = names.each_ref().map(|name| visible_line(name));
    let mut text = format!("A: {a}\nB: {b}\n");
    text += &left_out(alone);
    for pair in pairs {
        let [a, b] = &pair.names;
        let [x, y] = pair.places;
        text += &format!("\nA's connection {x}: {a}\nB's connection {y}: {b}\n");
        let differing: Vec<&Fact> = pair.facts.iter().filter(|fact| fact.differs()).collect();
        if differing.is_empty() {
            text += "  no differences\n";
        }
        let width = |of: &dyn Fn(&Fact) -> String| {
            differing.iter().map(|fact| of(fact).chars().count()).max().unwrap_or_default()
        };
        let name = |fact: &Fact| fact.name.clone();
        let (wide, one, two) =
            (width(&name), width(&|f| value(f, 0)).max(1), width(&|f| value(f, 1)).max(1));
        let mut about = "";
        for fact in &differing {
            if fact.about != about {
                about = &fact.about;
                text += &format!("  {about}\n");
            }
            let line = format!(
                "    {:<wide$}  {:>one$}  {:>two$}  {}",
                fact.name,
                value(fact, 0),
                value(fact, 1),
                change(fact)
            );
            text += &format!("{}\n", line.trim_end());
        }
        if let Some(divergence) = &pair.divergence {
            text += &format!("  {}\n", parting(divergence));
        }
    }
    text += "\nOne connection each: differences may be due to chance.\n";
    text
}

/// The same as Markdown for a pull request.
pub fn captures_markdown(names: &[String; 2], pairs: &[CapturedPair], alone: [usize; 2]) -> String {
    let [a, b] = names.each_ref().map(|name| escaped(name));
    let mut text = format!("### tcplab: {a} (A) and {b} (B)\n\n{}", left_out(alone));
    for pair in pairs {
        text +=
            &format!("\n**{}** and **{}**\n\n", escaped(&pair.names[0]), escaped(&pair.names[1]));
        text += "| | | A | B | |\n|---|---|--:|--:|--:|\n";
        for fact in pair.facts.iter().filter(|fact| fact.differs()) {
            let cells = [&fact.about, &fact.name, &value(fact, 0), &value(fact, 1), &change(fact)];
            let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
            text += &format!("| {} |\n", cells.join(" | "));
        }
        if let Some(divergence) = &pair.divergence {
            text += &format!("\n{}\n", escaped(&parting(divergence)));
        }
    }
    text
}

fn left_out([a, b]: [usize; 2]) -> String {
    let unmatched = [("A", a), ("B", b)].into_iter().filter(|(_, count)| *count > 0);
    let lines =
        unmatched.map(|(side, count)| format!("{count} more in {side}: unmatched or not shown\n"));
    lines.collect::<Vec<String>>().concat()
}

/// The first difference of two transfers, in words.
pub(super) fn parting(divergence: &Divergence) -> String {
    let [a, b] = &divergence.words;
    let data = if divergence.is_of_data { " with data" } else { "" };
    match divergence.same {
        0 => format!("They differ from the first packet{data}. A: {a}. B: {b}."),
        1 => format!("The first packet{data} is the same. Then, A: {a}. B: {b}."),
        same => format!("The first {same} packets{data} are the same. Then, A: {a}. B: {b}."),
    }
}

pub(super) fn value(fact: &Fact, side: usize) -> String {
    match &fact.values[side] {
        Some(Value::Number(seconds)) if fact.unit == "s" => {
            rounded::span(Span::from_nanos((seconds * 1e9).round().max(0.0) as u64))
        }
        Some(Value::Number(number)) => with_unit(*number, fact.unit),
        Some(Value::Text(text)) => text.clone(),
        None if fact.name == q::GOODPUT.label => "no rate".into(),
        None if is_by_sack(&fact.name) => "no SACK".into(),
        None => "not captured".into(),
    }
}

fn is_by_sack(name: &str) -> bool {
    [q::RETRANSMISSIONS_BY_SACK, q::RETRANSMISSIONS_BY_RACK, q::RETRANSMISSIONS_SPURIOUS_BY_DSACK]
        .iter()
        .any(|quantity| quantity.label == name)
}

pub(super) fn change(fact: &Fact) -> String {
    let Some(change) = fact.change() else { return String::new() };
    let verdict = match (fact.better, change > 0.0) {
        (Better::Neither, _) => "",
        _ if change.abs() < NOTABLE => "",
        (Better::Higher, true) | (Better::Lower, false) => " better",
        _ => " worse",
    };
    format!("{}{verdict}", signed_percent(change))
}
