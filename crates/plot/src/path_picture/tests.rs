use super::*;
use crate::scale::Across;
use tcplab_path::{Direction, PathSpec};
use tcplab_units::Rate;

fn outlooks(json: &str, seconds: u64) -> [Outlook; 2] {
    let path: PathSpec = serde_json::from_str(json).unwrap();
    let until = Instant::ZERO + Span::from_secs(seconds);
    Direction::BOTH.map(|direction| path.link(direction).unwrap().outlook(until, 1, 20))
}

fn drawn(json: &str) -> String {
    let [forward, reverse] = &outlooks(json, 10);
    path_picture(&PathPicture { title: "A <path>", forward, reverse })
}

fn lines(svg: &str) -> String {
    svg.replace("><", ">\n<")
}

fn keys(svg: &str) -> Vec<&str> {
    let after = svg.split(r#"<path class="key "#).skip(1);
    after
        .map(|rest| {
            let rest = &rest[rest.find("<text").unwrap()..];
            &rest[rest.find('>').unwrap() + 1..rest.find("</text>").unwrap()]
        })
        .collect()
}

#[test]
fn a_path_whose_directions_are_alike() {
    let json = r#"{ "queue": "100 packets", "delay": "20 ms", "jitter": "5 ms",
        "interruption": { "every": "4 s", "lasting": "200 ms" }, "loss": { "every": 100 },
        "rate": { "start": "12 Mbit/s", "steps": [{ "at": "5 s", "to": "6 Mbit/s" }] } }"#;
    insta::assert_snapshot!(lines(&drawn(json)));
}

#[test]
fn a_path_whose_directions_differ() {
    let json = r#"{ "delay": { "start": "20 ms", "steps": [
                        { "at": "2 s", "to": "60 ms", "over": "2 s" }] },
        "forward": { "rate": "3 Mbit/s", "queue": "64 kB", "cross": "1 Mbit/s", "blackhole": "8 s" },
        "reverse": { "rate": "25 Mbit/s", "queue": { "fq_codel": {} }, "loss": "0.12 %" } }"#;
    let [forward, reverse] = &outlooks(json, 10);
    let svg = path_svg(&PathPicture { title: "A <path>", forward, reverse });
    let style = svg.find("<style>").unwrap()..svg.find("</style>").unwrap();
    assert!(svg[style.clone()].contains("color-scheme: light dark") && svg[style].contains(STYLE));
    assert!(svg.starts_with(r#"<svg xmlns="http://www.w3.org/2000/svg" "#));
    insta::assert_snapshot!(lines(&svg.replace(STYLE, "...")));
}

#[test]
fn keys_name_constant_values() {
    for (json, words) in [
        ("{}", vec!["both directions: 0 ms", "both directions: none"]),
        (
            r#"{ "rate": "1 Gbit/s", "queue": "10 packets", "delay": "15 µs", "loss": "0.0012 %" }"#,
            vec![
                "both directions: 1 Gbit/s",
                "both directions: 15 µs",
                "queue full: + 120 µs",
                "both directions: 0.0012 %",
            ],
        ),
        (
            r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s" }, "queue": { "pie": {} } }"#,
            vec![
                "both directions: 30.5 Mbit/s",
                "both directions: 0 ms",
                "queue at its target: + 15 ms",
                "both directions: none",
            ],
        ),
        // What rules drop is not at random.
        (
            r#"{ "drop": { "probability": "20 %" } }"#,
            vec!["both directions: 0 ms", "both directions: none at random"],
        ),
        // It changes.
        (
            r#"{ "events": [{ "at": "7 s", "loss": "5 %" }] }"#,
            vec!["both directions: 0 ms", "both directions"],
        ),
        (
            r#"{ "rate": "8 Mbit/s", "queue": "10 packets",
                 "stages": [{ "rate": "80 Mbit/s", "queue": { "codel": {} } }] }"#,
            vec![
                "both directions: 8 Mbit/s",
                "both directions: 0 ms",
                "queue full or at target: + 20 ms",
                "both directions: none",
            ],
        ),
        (
            r#"{ "forward": { "rate": "500 kbit/s", "queue": "5 packets" },
                 "interruption": { "at": ["1 s", "2 s", "9.9 s"], "lasting": "200 ms" } }"#,
            vec![
                "forward: 500 kbit/s",
                "reverse: unlimited",
                "both directions: 0 ms",
                "forward queue full: + 120 ms",
                "both directions: none",
                "outage: 3 times, 500 ms in all",
            ],
        ),
    ] {
        assert_eq!(keys(&drawn(json)), words, "{json}");
    }
}

#[test]
fn outages_that_are_not_all_there_are_more() {
    let json = r#"{ "interruption": { "every": "10 ms", "lasting": "1 ms" } }"#;
    let [forward, reverse] = &outlooks(json, 3_600);
    let svg = path_picture(&PathPicture { title: "A <path>", forward, reverse });
    assert_eq!(keys(&svg).last(), Some(&"outage: more than 100000 × 1 ms"));
    assert!(svg.contains("Interruptions are shown until 1000.01 s"), "{svg}");
}

/// A packet of 1500 B for each 12,000 s at a bit per second.
#[test]
fn labels_of_long_delays_fit() {
    for (queue, unit) in [
        ("2 packets", "Delay, s"),
        ("10 packets", "Delay, h"),
        ("1000 packets", "Delay, days"),
        ("4000000000 packets", "Delay, days"),
    ] {
        let svg = drawn(&format!(r#"{{ "rate": "1 bit/s", "queue": "{queue}" }}"#));
        assert!(svg.contains(&format!(">{unit}</text>")), "{unit}: {svg}");
        let after = svg.split(r#"<text class="value""#).skip(1);
        let labels = after.map(|rest| &rest[rest.find('>').unwrap() + 1..rest.find('<').unwrap()]);
        let most = labels.map(|label| label.chars().count()).max().unwrap();
        assert!(most as f64 * LETTER < (LEFT - 8) as f64, "{queue}: {most} letters");
    }
}

#[test]
fn many_keys_are_short() {
    // Five names with values do not fit.
    let json = r#"{ "jitter": "5 ms",
        "forward": { "delay": "123.456 ms", "rate": "3.21 Mbit/s", "queue": "123 packets" },
        "reverse": { "delay": "23.456 ms", "rate": "2.34 Mbit/s", "queue": "234 packets" } }"#;
    let svg = drawn(json);
    assert!(keys(&svg).contains(&"forward queue full"), "{:?}", keys(&svg));
    assert!(svg.contains("forward queue full: + 460 ms"), "the summary names what is left out");
}

#[test]
fn short_outages_are_visible_and_joined() {
    let outage = |from: u64, until: u64| Outage {
        from: Instant::from_nanos(from * 1_000_000),
        until: Instant::from_nanos(until * 1_000_000),
    };
    let frame = Frame { left: 0, top: 0, across: 1_000, height: 100, width: 1_000 };
    let across = Across::Time;
    let window = Window { across, from: 0.0, until: 100.0, low: 0.0, high: 1.0 };
    // A pixel is 100 ms.
    let outages = [outage(10_000, 10_010), outage(20_000, 20_300), outage(20_310, 20_400)];
    assert_eq!(
        bars("outage", &outages, frame, &window, (5, 6)),
        r#"<path class="outage" d="M99.0 5h2.0v6h-2.0ZM200.0 5h4.5v6h-4.5Z"/>"#
    );
    assert_eq!(bars("outage", &[], frame, &window, (5, 6)), "");
}

#[test]
fn rates_have_a_suitable_unit() {
    for (bits, expected) in [
        (1_536_000, "1.54 Mbit/s"),
        (999, "999 bit/s"),
        (12_500, "12.5 kbit/s"),
        (10_000_000_000, "10 Gbit/s"),
        (100_000_000_000_000_000, "100,000 Tbit/s"),
        (0, "0 Mbit/s"),
    ] {
        let rate = Rate::from_bits_per_second(bits);
        assert_eq!(spoken_rate(super::bits(Some(rate))), expected);
    }
}

#[test]
fn lines_below_a_pixel_apart_are_alike() {
    let steps = |values: &[(u64, f64)]| -> Steps {
        values.iter().map(|(at, value)| (Instant::from_nanos(*at), *value)).collect()
    };
    let ramp = steps(&[(0, 0.0), (10, 100.0), (20, 100.5), (30, 101.0)]);
    for (other, are_alike) in [
        (&[(0, 0.0), (10, 100.0), (15, 100.3), (20, 100.6), (30, 101.0)][..], true),
        (&[(0, 0.0), (9, 100.0), (20, 100.5), (30, 101.0)], false),
        (&[(0, 0.0), (10, 98.0)], false),
        (&[(0, 0.0)], false),
    ] {
        assert_eq!(alike(&ramp, &steps(other)), are_alike, "{other:?}");
    }
    assert!(!alike(&steps(&[(0, 100.0)]), &steps(&[(0, 100.01)])), "levels are exact");
}

#[test]
fn long_titles_are_shortened_above_the_panes() {
    let title = ["rate='10 Mbit/s'"; 12].join(", ");
    let [forward, reverse] = &outlooks("{}", 10);
    let svg = path_picture(&PathPicture { title: &title, forward, reverse });
    let shown = shortened(&title);
    assert!(shown.chars().count() < 110 && shown.ends_with("'10 Mbit/s' …"), "{shown}");
    assert!(svg.contains(&format!(">{}</text>", escape(&shown))), "{svg}");
    assert!(svg.contains(&format!("<title>{}</title>", escape(&title))), "{svg}");
    assert_eq!(shortened("short"), "short");
}

fn small(json: &str) -> String {
    let [forward, reverse] = &outlooks(json, 10);
    small_path_picture(&PathPicture { title: "A path", forward, reverse })
}

#[test]
fn small_picture_has_the_shapes_of_the_large_one_and_no_words() {
    let json = r#"{ "delay": "20 ms", "jitter": "5 ms", "loss": "1 %", "queue": "100 packets",
        "interruption": { "every": "4 s", "lasting": "200 ms" },
        "forward": { "rate": "3 Mbit/s" }, "reverse": { "rate": "25 Mbit/s" } }"#;
    let svg = small(json);
    assert!(!svg.contains("<text") && svg.contains(r#"aria-hidden="true""#), "{svg}");
    let classes = |svg: &str| {
        let shapes = svg.split(r#"<path class=""#).skip(1).map(|it| it.split('"').next().unwrap());
        let mut all: Vec<String> = shapes
            .filter(|it| ["line ", "jitter ", "queue "].iter().any(|kind| it.starts_with(kind)))
            .map(Into::into)
            .collect();
        all.sort();
        all
    };
    assert_eq!(classes(&svg), classes(&drawn(json)));
    insta::assert_snapshot!(lines(&svg));
}

/// Where the line of a picture's first pane, the rate, begins: from the top, as a share.
fn height_of_rate(json: &str) -> f64 {
    let svg = small(json);
    let rest = &svg[svg.find(r#"<path class="line "#).unwrap()..];
    let place = &rest[rest.find(r#"d="M"#).unwrap() + 4..];
    let row = place.split(' ').nth(1).unwrap();
    let row: String = row.chars().take_while(char::is_ascii_digit).collect();
    row.parse::<f64>().unwrap() / CHART_ROWS as f64
}

#[test]
fn small_pictures_have_one_logarithmic_scale() {
    let rate = |rate: &str| height_of_rate(&format!(r#"{{ "rate": "{rate}" }}"#));
    let [slow, fast, faster] = ["1 Mbit/s", "10 Mbit/s", "1 Gbit/s"].map(rate);
    assert!(faster < fast && fast < slow, "{slow} {fast} {faster}");
    // Two factors of ten are twice as far apart as one.
    assert!(((fast - faster) - 2.0 * (slow - fast)).abs() < 1e-3, "{slow} {fast} {faster}");
    // What is beyond the scale is at its end.
    assert!(rate("51 kbit/s") > 0.998 && rate("1 Tbit/s") < 0.001);
    // No loss has no line.
    assert_eq!(
        small(r#"{ "rate": "1 Mbit/s", "delay": "5 ms" }"#).matches("\"line both").count(),
        2
    );
}
