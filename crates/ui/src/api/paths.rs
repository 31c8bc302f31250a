//! Paths that have a name, and pictures of what a path will do.

use std::path::Path;
use std::sync::OnceLock;

use axum::Json;
use serde_json::{Value, json};
use tcplab_path::{Direction, LinkPlan, Outlook, PathSpec};
use tcplab_plot::{PathPicture, path_picture, small_path_picture};
use tcplab_scenario::presets;
use tcplab_units::{Instant, Rate, Span};

use crate::error::Refusal;
use crate::state::aside;

/// What is shown of a path, and points of a curve: about two for each pixel.
const SHOWN: [Span; 2] = [Span::from_secs(10), Span::from_secs(120)];
const POINTS: usize = 1_600;
/// The same of small pictures, which all show the same time.
const SHOWN_SMALL: Span = Span::from_secs(30);
const POINTS_SMALL: usize = 300;

/// They are in the program: each is drawn once.
static ALL: OnceLock<Value> = OnceLock::new();

/// The paths that have a name, each with pictures of what it will do.
pub(super) async fn paths() -> Result<Json<&'static Value>, Refusal> {
    aside(|| Ok(Json(ALL.get_or_init(all)))).await
}

fn all() -> Value {
    let all = presets().iter().filter_map(|(name, source)| {
        let file = tcplab_actions::read_path(source, name, name, &[], Path::new("")).ok()?;
        let title = file.title.as_deref().unwrap_or(name);
        let ends = [file.path.forward.as_ref(), file.path.reverse.as_ref()];
        let is_wireless =
            file.path.wifi.is_some() || ends.iter().flatten().any(|link| link.wifi.is_some());
        // What a form needs to offer only what is possible. In the mean, of the slower direction.
        let rates = links(&file.path).ok()?;
        let rates = outlooks(&rates, SHOWN_SMALL, 1).map(|it| it.moments.first()?.rate);
        let rate = rates.into_iter().flatten().min();
        Some(json!({
            "name": name,
            "title": file.title,
            "reference": file.reference,
            "toml": source,
            "base_rtt_ns": file.path.round_trip().as_nanos(),
            "rate_bits_per_second": rate.map(Rate::bits_per_second),
            "is_wireless": is_wireless,
            "is_queue_in_bdp": source.contains("bdp\""),
            "picture": picture(&file.path, title).ok(),
            "small": small(&file.path, title).ok(),
        }))
    });
    json!({ "paths": all.collect::<Vec<_>>() })
}

/// What a path will do, as SVG.
pub(super) fn picture(path: &PathSpec, title: &str) -> Result<String, String> {
    let links = links(path)?;
    let [least, most] = SHOWN;
    let span = links.iter().map(LinkPlan::time_to_show).fold(least, Span::max).min(most);
    let [forward, reverse] = outlooks(&links, span, POINTS);
    Ok(path_picture(&PathPicture { title, forward: &forward, reverse: &reverse }))
}

/// The same without words, to choose by.
fn small(path: &PathSpec, title: &str) -> Result<String, String> {
    let [forward, reverse] = outlooks(&links(path)?, SHOWN_SMALL, POINTS_SMALL);
    Ok(small_path_picture(&PathPicture { title, forward: &forward, reverse: &reverse }))
}

fn links(path: &PathSpec) -> Result<[LinkPlan; 2], String> {
    let link = |direction| path.link(direction).map_err(|error| error.to_string());
    Ok([link(Direction::Forward)?, link(Direction::Reverse)?])
}

fn outlooks(links: &[LinkPlan; 2], span: Span, points: usize) -> [Outlook; 2] {
    links.each_ref().map(|link| link.outlook(Instant::ZERO + span, 1, points))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_has_its_pictures_and_is_drawn_once() {
        let told = ALL.get_or_init(all);
        let paths = told["paths"].as_array().unwrap();
        assert_eq!(paths.len(), presets().len());
        for path in paths {
            let text = |key: &str| path[key].as_str().unwrap();
            let name = text("name");
            assert_eq!(path["is_wireless"], name.starts_with("wifi-"), "{name}");
            let (large, small) = (text("picture"), text("small"));
            assert!(large.contains("<text") && !small.contains("<text"), "{name}");
            // Rate and delay at least; small enough to be sent with all others.
            assert!(small.matches(r#"class="line "#).count() >= 2, "{name}: {small}");
            assert!(small.len() < 20_000, "{name}: {} bytes", small.len());
        }
        let rate = |name: &str| {
            paths.iter().find(|it| it["name"] == name).unwrap()["rate_bits_per_second"].as_u64()
        };
        // 12 Mbit/s, of each ten seconds 50 ms without.
        assert_eq!((rate("dsl-25"), rate("lte-handover")), (Some(3_000_000), Some(11_940_000)));
        let in_bdp = paths.iter().filter(|it| it["is_queue_in_bdp"] == true);
        let in_bdp: Vec<&str> = in_bdp.map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(in_bdp, ["geo-satellite", "leo-satellite", "transatlantic"]);
        // Interruptions and changes are seen.
        let of = |name: &str| paths.iter().find(|it| it["name"] == name).unwrap()["small"].as_str();
        assert!(of("bursty-losses").unwrap().contains("outage"));
        assert!(!of("lte").unwrap().contains("outage"));
        assert_ne!(of("lte"), of("lte-handover"));
    }
}
