//! Trends of a few lines.

use super::*;

fn line(name: &str, means: &[f64]) -> TrendLine {
    let point = |(level, mean): (usize, &f64)| TrendPoint {
        level,
        mean: *mean,
        interval: Some((mean * 0.9, mean * 1.1)),
    };
    TrendLine { name: name.into(), points: means.iter().enumerate().map(point).collect() }
}

fn levels(numbers: &[f64]) -> Vec<(f64, String)> {
    numbers.iter().map(|number| (*number, number.to_string())).collect()
}

fn room(scene: &Trend<'_>) -> Room {
    Room::of(scene, TrendScale::over(scene.lines), &Looks::default())
}

fn drawn(numbers: &[f64], lines: &[TrendLine]) -> String {
    let levels = levels(numbers);
    let scene = Trend {
        title: "response <time>",
        over: "concurrency",
        levels: &levels,
        is_numeric: true,
        values: "response time, ms",
        lines,
    };
    trend(&scene, TrendScale::over(lines), &Looks::default()).0
}

#[test]
fn levels_of_equal_ratio_are_equally_far_apart_where_they_span_a_decade() {
    let lines = [line("fork", &[1.0, 2.0, 3.0])];
    for (numbers, is_even) in [
        ([1.0, 4.0, 16.0], true),
        ([1.0, 2.0, 4.0], false),
        // Equally far apart as they are.
        ([50.0, 2_550.0, 5_050.0], true),
    ] {
        let levels = levels(&numbers);
        let scene = Trend {
            title: "",
            over: "",
            levels: &levels,
            is_numeric: true,
            values: "",
            lines: &lines,
        };
        let x = room(&scene).places;
        let found = (x[1] - x[0] - (x[2] - x[1])).abs() < 1e-9;
        assert_eq!(found, is_even, "{numbers:?}");
    }
}

#[test]
fn all_points_intervals_and_names_are_drawn() {
    let svg = drawn(&[1.0, 8.0], &[line("fork", &[1.0, 2.0]), line("a < b", &[3.0, 4.0])]);
    assert_eq!(svg.matches(r#"class="line""#).count(), 2);
    assert_eq!(svg.matches(r#"class="interval""#).count(), 4);
    assert_eq!(svg.matches(r#"class="mark""#).count(), 4 + 2, "points and names");
    assert!(svg.contains("a &lt; b") && svg.contains("response &lt;time&gt;"), "{svg}");
}

#[test]
fn single_point_is_drawn_and_non_finite_values_are_skipped() {
    let mut lone = line("one", &[5.0, f64::NAN]);
    lone.points[0].interval = None;
    let svg = drawn(&[1.0, 2.0], &[lone, line("none", &[])]);
    assert_eq!(svg.matches(r#"class="mark""#).count(), 2);
    assert_eq!(svg.matches(r#"class="line""#).count(), 0);
    assert!(!svg.contains("NaN"), "{svg}");
}

#[test]
fn zero_is_on_the_scale_unless_the_values_span_decades() {
    let near = TrendScale::over(&[line("a", &[10.0, 12.0])]);
    assert_eq!((near.0.low, near.0.is_log), (0.0, false));
    assert!(near.0.high > 13.2, "the intervals are on it: {near:?}");
    let far = TrendScale::over(&[line("a", &[0.3, 300.0])]);
    assert!(far.0.is_log && far.0.low < 0.27 && far.0.high > 330.0, "{far:?}");
    let marks: Vec<String> = far.0.marks(6).into_iter().map(|(_, label)| label).collect();
    assert_eq!(marks, ["1", "10", "100"]);
    let some = TrendScale::over(&[line("a", &[0.5, 20.0])]);
    let marks: Vec<String> = some.0.marks(6).into_iter().map(|(_, label)| label).collect();
    assert_eq!(marks, ["0.5", "1", "2", "5", "10", "20"]);
}

#[test]
fn wide_interval_is_clipped() {
    let mut wild = line("a", &[10.0, 12.0]);
    wild.points[1].interval = Some((-500.0, 524.0));
    assert!(TrendScale::over(&[wild]).0.high < 20.0);
}

#[test]
fn interval_beyond_the_axis_ends_in_an_arrowhead() {
    let heads = |interval: (f64, f64), up: AxisLooks| {
        let mut one = line("a", &[10.0, 12.0]);
        (one.points[0].interval, one.points[1].interval) = (None, Some(interval));
        let levels = levels(&[1.0, 2.0]);
        let looks = Looks { up, ..Looks::default() };
        let scene = Trend {
            title: "",
            over: "",
            levels: &levels,
            is_numeric: true,
            values: "",
            lines: &[one],
        };
        let scale = TrendScale::over(scene.lines);
        let svg = trend(&scene, scale, &looks).0;
        let d = svg.split_once(r#"class="interval" d=""#).unwrap().1.split_once('"').unwrap().0;
        (d.matches('L').count() / 2, cut_intervals(&scene, scale, &looks))
    };
    let own = AxisLooks::default;
    assert_eq!(heads((11.0, 13.0), own()), (0, 0));
    assert_eq!(heads((11.0, 524.0), own()), (1, 1));
    assert_eq!(heads((-500.0, 524.0), own()), (2, 1));
    assert_eq!(heads((11.0, 13.0), AxisLooks { from: Some(11.5), ..own() }), (1, 1));
    // A logarithmic axis never comes to zero.
    assert_eq!(heads((0.0, 13.0), AxisLooks { is_log: Some(true), ..own() }), (1, 1));
}

#[test]
fn names_are_a_row_apart_inside_the_picture() {
    let apart = |wanted: &[f64]| super::apart(wanted, NAME_ROW, (TOP, HEIGHT - BOTTOM));
    let places = apart(&[250.0, 251.0, 252.0, 400.0]);
    assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= NAME_ROW - 1e-9), "{places:?}");
    assert!(places[3] <= HEIGHT - BOTTOM);
    assert_eq!(apart(&[100.0, 200.0]), [100.0, 200.0]);
    let many = apart(&[TOP; 40]);
    assert!(many.iter().all(|it| (TOP - 1e-9..=HEIGHT - BOTTOM + 1e-9).contains(it)), "{many:?}");
}

/// Regression: a wide name beside the topmost line left the picture.
#[test]
fn wide_names_fit() {
    let lines = [line("memory", &[5.0, 9.0]), line("a name that nobody has room for", &[1.0])];
    let levels = levels(&[1.0, 2.0]);
    for lines in [&lines[..1], &lines[..]] {
        let scene =
            Trend { title: "", over: "", levels: &levels, is_numeric: true, values: "", lines };
        let right = room(&scene).right;
        let name = fitted(&lines.last().unwrap().name, NAMES_MOST);
        assert!(right + 19.0 + width(&name) <= WIDTH, "{name} from {right}");
    }
    assert!(drawn(&[1.0, 2.0], &lines).contains("…</text>"));
}

/// A line between categories would say that there is something between them.
#[test]
fn categories_are_points_without_a_line() {
    let levels = levels(&[0.0, 1.0]);
    let lines = [line("fork", &[1.0, 2.0])];
    let scene = Trend {
        title: "t",
        over: "server",
        levels: &levels,
        is_numeric: false,
        values: "ms",
        lines: &lines,
    };
    let svg = trend(&scene, TrendScale::over(&lines), &Looks::default()).0;
    assert_eq!(svg.matches(r#"class="line""#).count(), 0, "{svg}");
    assert_eq!(svg.matches(r#"class="mark""#).count(), 2 + 1, "points and the name");
}

/// Regression: labels without room were left out.
#[test]
fn every_level_has_a_label_without_overlaps() {
    for many in [3, 12, 30] {
        let numbers: Vec<f64> = (0..many).map(f64::from).collect();
        let levels: Vec<(f64, String)> =
            numbers.iter().map(|n| (*n, format!("level-{n}"))).collect();
        let lines = [line("", &numbers)];
        let scene = Trend {
            title: "",
            over: "",
            levels: &levels,
            is_numeric: false,
            values: "",
            lines: &lines,
        };
        let svg = trend(&scene, TrendScale::over(&lines), &Looks::default()).0;
        assert_eq!(svg.matches(r#"class="level"#).count(), levels.len());
        assert_eq!(svg.contains("upright"), many > 3, "{svg}");
    }
    let places = apart(&[60.0, 61.0, 62.0, 300.0], LABEL_ROW, (LEFT, WIDTH));
    assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LABEL_ROW), "{places:?}");
}

/// Of two hundred levels labels lay upon one another.
#[test]
fn levels_without_room_have_labels_at_even_steps() {
    let numbers: Vec<f64> = (0..200).map(f64::from).collect();
    let levels = levels(&numbers);
    let lines = [line("", &numbers)];
    let scene =
        Trend { title: "", over: "", levels: &levels, is_numeric: true, values: "", lines: &lines };
    let svg = trend(&scene, TrendScale::over(&lines), &Looks::default()).0;
    let upright = svg.split("upright\" transform=\"translate(").skip(1);
    let at: Vec<f64> =
        upright.map(|rest| rest.split(' ').next().unwrap().parse().unwrap()).collect();
    assert!((20..=60).contains(&at.len()), "{at:?}");
    assert!(at.windows(2).all(|pair| pair[1] - pair[0] >= LABEL_ROW - 0.1), "{at:?}");
}

#[test]
fn table_has_the_numbers() {
    let levels = levels(&[1.0, 2.0]);
    let mut lone = line("fork, <b>", &[4.0]);
    lone.points[0].interval = None;
    let scene = Trend {
        title: "t",
        over: "clients",
        levels: &levels,
        is_numeric: true,
        values: "response, ms",
        lines: &[lone],
    };
    let csv = "line,clients,\"response, ms\",low,high\n\"fork, <b>\",1,4,,\n";
    assert_eq!(trend_table(&scene).csv(), csv);
}

fn looking(lines: &[TrendLine], looks: &Looks) -> (String, usize) {
    let levels = levels(&[1.0, 2.0, 4.0]);
    let scene = Trend {
        title: "t",
        over: "clients",
        levels: &levels,
        is_numeric: true,
        values: "ms",
        lines,
    };
    trend(&scene, TrendScale::over(lines), looks)
}

#[test]
fn what_lies_outside_of_ranges_is_cut_and_counted() {
    let lines = [line("a", &[10.0, 20.0, 90.0])];
    let up = AxisLooks { from: Some(0.0), until: Some(50.0), ..AxisLooks::default() };
    let (svg, outside) = looking(&lines, &Looks { up, ..Looks::default() });
    assert_eq!(outside, 1);
    assert_eq!(svg.matches(r#"class="mark""#).count(), 2 + 1, "points and the name");
    let d = svg.split_once(r#"class="line" d=""#).unwrap().1.split_once('"').unwrap().0;
    assert!(d.ends_with(" 26.0"), "the line leaves at the upper edge: {d}");
    let across = AxisLooks { from: Some(1.5), ..AxisLooks::default() };
    let (svg, outside) = looking(&lines, &Looks { across, ..Looks::default() });
    assert_eq!((outside, svg.matches(r#"class="level""#).count()), (1, 2), "{svg}");
    let far = AxisLooks { from: Some(1e3), ..AxisLooks::default() };
    let (svg, outside) = looking(&lines, &Looks { up: far, ..Looks::default() });
    assert_eq!((outside, svg.contains("NaN"), svg.contains("mark")), (3, false, false), "{svg}");
}

#[test]
fn zero_has_no_place_on_a_scale_that_the_reader_makes_logarithmic() {
    let lines = [line("a", &[0.0, 20.0, 30.0])];
    let up = AxisLooks { is_log: Some(true), ..AxisLooks::default() };
    let (svg, outside) = looking(&lines, &Looks { up, ..Looks::default() });
    assert_eq!((outside, svg.contains("NaN"), svg.contains("inf")), (1, false, false), "{svg}");
}

#[test]
fn labels_and_colours_are_those_of_the_reader() {
    let looks = Looks {
        across: AxisLooks { label: Some("<how many>".into()), ..AxisLooks::default() },
        up: AxisLooks { label: Some("seconds & more".into()), ..AxisLooks::default() },
        colours: vec![("a".into(), "#123456".parse().unwrap())],
    };
    let (svg, _) = looking(&[line("a", &[1.0]), line("b", &[2.0])], &looks);
    assert!(svg.contains("&lt;how many&gt;") && svg.contains("seconds &amp; more"), "{svg}");
    let own = r##"<g class="own" color="#123456">"##;
    assert_eq!((svg.matches(own).count(), svg.matches(r#"<g class="line-1">"#).count()), (2, 2));
}

/// Names of many lines would overlap beside these.
#[test]
fn names_of_many_lines_are_below() {
    let lines: Vec<TrendLine> =
        (0..60).map(|it| line(&format!("run <{it}>"), &[1.0, 2.0, f64::from(it)])).collect();
    let (svg, _) = looking(&lines, &Looks::default());
    assert_eq!(svg.matches(r#"class="name""#).count(), 60);
    assert_eq!(svg.matches("leader").count(), 0);
    assert_eq!(svg.matches("<title>run &lt;").count(), 60, "each line says its name");
    let beside = looking(&lines[..16], &Looks::default()).0;
    assert_eq!((beside.matches("leader").count(), beside.matches("<title>").count()), (16, 1));
}

/// It would cross the others, and look like data.
#[test]
fn no_leader_starts_at_an_earlier_level() {
    let lines = [line("whole", &[1.0, 2.0, 3.0]), line("ends early", &[4.0])];
    let svg = drawn(&[1.0, 2.0, 3.0], &lines);
    assert_eq!(svg.matches("leader").count(), 1);
    assert_eq!(svg.matches(r#"class="name""#).count(), 2);
    // Nothing was measured at the last level.
    let svg = drawn(&[1.0, 2.0, 3.0], &[line("a", &[1.0, 2.0]), line("b", &[4.0, 3.0])]);
    assert_eq!((svg.matches("leader").count(), svg.matches(r#"class="name""#).count()), (0, 2));
}
