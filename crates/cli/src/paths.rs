//! `tcplab path`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;
use tcplab_actions::{preset, read_path, unknown_path};
use tcplab_path::{DelaySpec, Direction, ElementPlan, LinkPlan};
use tcplab_quantities::{PATH_DOCUMENT, PATHS_DOCUMENT};
use tcplab_scenario::{PathFile, presets};
use tcplab_units::{Bytes, Rate, Span};

use crate::arguments::{PathArguments, PathCommand, PresetsArguments, ShowArguments};
use crate::output::{answer_or_json, hanging, listed, text_columns};
use crate::path_choice::find;
use crate::{picture, tc, verify};

pub(crate) fn path(arguments: &PathArguments) -> Result<ExitCode> {
    match &arguments.command {
        PathCommand::Presets(arguments) => list(arguments)?,
        PathCommand::Show(arguments) => show(arguments)?,
        PathCommand::Plot(arguments) => return picture::plot(arguments),
        PathCommand::Verify(arguments) => return verify::verify(arguments),
        PathCommand::Tc(arguments) => tc::tc(arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(arguments: &PresetsArguments) -> Result<()> {
    let asked = arguments.name.as_deref();
    let chosen = presets()
        .iter()
        .filter(|(known, _)| asked.is_none_or(|name| *known == name))
        .map(|(name, source)| read_path(source, name, name, &[], Path::new("")))
        .collect::<Result<Vec<PathFile>>>()?;
    if let Some(name) = asked.filter(|_| chosen.is_empty()) {
        return Err(unknown_path(name));
    }
    answer_or_json(&PATHS_DOCUMENT, &arguments.json, &listed("paths", &chosen), || {
        asked.and_then(preset).map_or_else(|| table(&chosen), str::to_owned)
    })
}

fn table(all: &[PathFile]) -> String {
    let width = all.iter().map(|preset| preset.name.len()).max().unwrap_or_default();
    let (mut text, columns) = (String::new(), text_columns());
    for PathFile { name, title, reference, .. } in all {
        text += &format!("{name:width$}  {}\n", title.as_deref().unwrap_or_default());
        let reference = reference.as_deref().unwrap_or_default();
        text += &hanging(&format!("{:width$}    ", ""), reference, columns);
    }
    text + "\n`tcplab path presets NAME` prints one, as a start for your own; \
            `tcplab path show NAME` describes it.\n"
}

fn show(arguments: &ShowArguments) -> Result<()> {
    let file = find(&arguments.choice)?;
    let round_trip = file.path.round_trip();
    let links = Direction::BOTH
        .map(|direction| file.path.link(direction).map(|plan| (direction, plan)))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let mut shown = serde_json::to_value(&file)?;
    shown["base_rtt_ns"] = json!(round_trip.as_nanos());
    for (direction, plan) in &links {
        shown[direction.name()] = json!({
            "elements": plan,
            "words": plan.describe(),
            "delay_ns": plan.delay().as_nanos(),
            "rate_bits_per_second": plan.rate().map(Rate::bits_per_second),
            "bdp_bytes": bdp(plan, round_trip).map(Bytes::as_u64),
        });
    }
    answer_or_json(&PATH_DOCUMENT, &arguments.json, &shown, || description(&file, &links))
}

/// What fills the path in one round trip, without the time in queues, at the rate that bottlenecks
/// and policers let through.
fn bdp(plan: &LinkPlan, round_trip: Span) -> Option<Bytes> {
    plan.least_rate().map(|rate| rate.bytes_in(round_trip))
}

fn description(file: &PathFile, links: &[(Direction, LinkPlan)]) -> String {
    let round_trip = file.path.round_trip();
    let mut text = format!("{}\n", file.title.as_deref().unwrap_or(&file.name));
    if let Some(reference) = &file.reference {
        text += &hanging("  ", reference, text_columns());
    }
    for (direction, plan) in links {
        text += &format!(
            "\n{}\n",
            match direction {
                Direction::Forward => "forward (client to server, near to far)",
                Direction::Reverse => "reverse",
            }
        );
        for sentence in plan.describe() {
            text += &hanging("  ", &sentence, text_columns());
        }
        if let Some(bdp) = bdp(plan, round_trip) {
            text += &format!("  Bandwidth-delay product: {bdp}.\n");
        }
    }
    let when = if changes(links) {
        ", in the mean over a repetition where it repeats, else at the start"
    } else {
        ""
    };
    let base = format!("Base RTT {round_trip} (without queueing and serialisation{when}).");
    text + "\n" + &hanging("", &base, text_columns())
}

/// Whether a delay changes with time.
fn changes(links: &[(Direction, LinkPlan)]) -> bool {
    let mut elements = links.iter().flat_map(|(_, plan)| &plan.elements);
    elements.any(|element| match element {
        ElementPlan::Delay(plan) => matches!(plan.delay, DelaySpec::Schedule(_)),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 Mbit/s times 20 ms.
    #[test]
    fn policer_below_the_bottleneck_decides_the_bandwidth_delay_product() {
        for (keys, bytes) in [
            (
                r#""rate": "10 Mbit/s", "police": { "rate": "1 Mbit/s", "burst": "15 kB" }"#,
                Some(2_500),
            ),
            (
                r#""rate": "10 Mbit/s", "police": { "rate": "30 Mbit/s", "burst": "15 kB" }"#,
                Some(25_000),
            ),
            (r#""police": { "rate": "1 Mbit/s", "burst": "15 kB" }"#, Some(2_500)),
            (r#""loss": "1 %""#, None),
        ] {
            let path: tcplab_path::PathSpec =
                serde_json::from_str(&format!(r#"{{ "delay": "10 ms", {keys} }}"#)).unwrap();
            let plan = path.link(Direction::Forward).unwrap();
            assert_eq!(bdp(&plan, path.round_trip()).map(Bytes::as_u64), bytes, "{keys}");
        }
    }
}
