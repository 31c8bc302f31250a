use super::*;

fn point(name: &str, across: f64, up: f64) -> ParetoPoint {
    let estimate = |mean: f64| Estimate { mean, interval: Some((mean * 0.9, mean * 1.1)) };
    ParetoPoint { name: name.into(), kind: 0, across: estimate(across), up: estimate(up) }
}

/// Response time across, throughput upwards.
fn scene<'a>(points: &'a [ParetoPoint], kinds: &'a [String]) -> Pareto<'a> {
    let across = ParetoAxis { name: "response time, ms", is_lower_better: true };
    let up = ParetoAxis { name: "goodput, Mbit/s", is_lower_better: false };
    Pareto { title: "buffers", across, up, kinds, points }
}

#[test]
fn front_has_points_not_beaten_in_both() {
    let points = [
        point("slow and late", 40.0, 3.0),
        point("fast but late", 50.0, 24.0),
        point("soon but slow", 10.0, 4.0),
        point("between", 20.0, 20.0),
        point("as soon, slower", 10.0, 2.0),
        point("unknown", f64::NAN, 99.0),
    ];
    let kinds = [String::new()];
    let names = |scene: &Pareto<'_>| -> Vec<String> {
        front(scene).into_iter().map(|index| scene.points[index].name.clone()).collect()
    };
    let scene = scene(&points, &kinds);
    assert_eq!(names(&scene), ["soon but slow", "between", "fast but late"]);
    // With the other directions better, other points are.
    let other = Pareto {
        across: ParetoAxis { is_lower_better: false, ..scene.across },
        up: ParetoAxis { is_lower_better: true, ..scene.up },
        ..scene
    };
    assert_eq!(names(&other), ["fast but late", "slow and late", "as soon, slower"]);
}

#[test]
fn equal_points_beat_neither() {
    let points = [point("one", 10.0, 4.0), point("other", 10.0, 4.0)];
    assert_eq!(front(&scene(&points, &[String::new()])), [0, 1]);
    assert_eq!(front(&scene(&[], &[String::new()])), [0_usize; 0]);
}

#[test]
fn the_front_is_a_line_of_steps_with_names_and_the_rest_is_muted() {
    let kinds = ["lan".to_owned(), "a < b".to_owned()];
    let mut points = vec![point("5", 10.0, 4.0), point("20", 20.0, 20.0), point("43", 60.0, 19.0)];
    points[1].kind = 1;
    let drawn = pareto(&scene(&points, &kinds));
    let steps = drawn.svg.split(r#"class="front" d=""#).nth(1).expect("there is a line");
    let steps = steps.split('"').next().unwrap_or_default();
    assert_eq!(steps.matches(['H', 'V']).count(), 2, "{steps}");
    assert_eq!(drawn.svg.matches(" beaten").count(), 1);
    assert_eq!(drawn.svg.matches(r#"class="interval""#).count(), 6);
    // Of the front and of the key.
    assert_eq!(drawn.svg.matches(r#"class="name""#).count(), 2 + 2);
    assert!(drawn.svg.contains("a &lt; b"), "{}", drawn.svg);
    assert_eq!(
        drawn.table.csv(),
        "name,kind,\"response time, ms\",\"goodput, Mbit/s\",unbeaten\n\
         5,lan,10,4,true\n20,a < b,20,20,true\n43,lan,60,19,false\n"
    );
}

#[test]
fn single_point_has_no_front_and_non_finite_values_are_skipped() {
    let mut lone = point("one", 10.0, 4.0);
    lone.across.interval = None;
    lone.up.interval = Some((f64::NAN, f64::INFINITY));
    let drawn = pareto(&scene(&[lone, point("none", 1.0, f64::NAN)], &[String::new()]));
    assert!(!drawn.svg.contains("NaN") && !drawn.svg.contains(r#"class="front""#));
    assert_eq!(drawn.svg.matches("<circle").count(), 1);
}

#[test]
fn names_cover_neither_points_nor_one_another() {
    // As close as points of a front can be.
    let points: Vec<ParetoPoint> = (0..6)
        .map(|n| point(&format!("level {n}"), 10.0 + 0.4 * f64::from(n), 20.0 + 0.2 * f64::from(n)))
        .chain([point("far", 100.0, 1.0)])
        .collect();
    let svg = pareto(&scene(&points, &[String::new()])).svg;
    let places: Vec<(f64, f64)> = svg
        .split(r#"class="name" x=""#)
        .skip(1)
        .map(|rest| {
            let mut numbers = rest.split('"').step_by(2).filter_map(|text| text.parse().ok());
            (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default())
        })
        .collect();
    assert_eq!(places.len(), 6);
    for (index, one) in places.iter().enumerate() {
        for other in &places[index + 1..] {
            let apart = (one.0 - other.0).abs() >= width("level 0") - 0.1
                || (one.1 - other.1).abs() >= NAME_HEIGHT - 0.1;
            assert!(apart, "{places:?}");
        }
    }
}

#[test]
fn bold_names_stay_in_the_picture() {
    let kinds = [String::new()];
    for far in 0..60 {
        let points = [point("auto", 10.0 + f64::from(far) * 0.02, 20.0), point("b", 10.0, 4.0)];
        let svg = pareto(&scene(&points, &kinds)).svg;
        let names = svg.split(r#"class="name" x=""#).skip(1);
        for name in names {
            let (x, rest) = name.split_once('"').unwrap();
            let text = rest.split_once('>').unwrap().1.split_once('<').unwrap().0;
            let right = x.parse::<f64>().unwrap() + width(text) * BOLDER;
            assert!(right <= WIDTH + 0.1, "{text} ends at {right}");
        }
    }
}

#[test]
fn wide_interval_is_clipped() {
    let mut wild = point("wild", 12.0, 4.0);
    wild.across.interval = Some((-500.0, 524.0));
    let points = [point("one", 10.0, 4.0), wild];
    assert!(Places::of(&scene(&points, &[String::new()])).across.high < 20.0);
}
