use super::*;
use crate::STYLE;
use crate::boxes::BoxShape;

fn picture(content: Content) -> Picture {
    Picture { title: "goodput".into(), values: "goodput, Mbit/s".into(), content }
}

fn line(name: &str, means: &[f64], interval: Option<(f64, f64)>) -> TrendLine {
    let point = |(level, mean): (usize, &f64)| TrendPoint { level, mean: *mean, interval };
    TrendLine { name: name.into(), points: means.iter().enumerate().map(point).collect() }
}

fn trend(levels: &[(f64, &str)], is_numeric: bool, lines: Vec<TrendLine>) -> Picture {
    let levels = levels.iter().map(|(number, text)| (*number, (*text).to_owned())).collect();
    let scale = TrendScale::over(&lines);
    picture(Content::Trend { over: "loss".into(), levels, is_numeric, lines, scale })
}

const LEVELS: [(f64, &str); 4] = [(0.0, "0 %"), (0.5, "0.5 %"), (2.0, "2 %"), (5.0, "5 %")];

#[test]
fn levels_that_are_numbers_are_at_their_places_and_joined() {
    let lines = vec![line("reno", &[8.0, 6.0, 4.0, 2.0], Some((1.0, 9.0))), line("", &[1.0], None)];
    insta::assert_snapshot!(trend(&LEVELS, true, lines).pgf("50 % of _x_", &Looks::default()));
}

#[test]
fn levels_that_are_texts_have_marks_alone() {
    let lines = vec![line("a", &[1.0, 2.0], None), line("<b>", &[2.0, 1.0], None)];
    let text = trend(&[(0.0, "codel"), (1.0, "pie")], false, lines).pgf("t", &Looks::default());
    assert!(text.contains("xticklabels={{codel},{pie}}"), "{text}");
    assert!(text.contains("\\addlegendentry{\\textless{}b\\textgreater{}}"), "{text}");
    let plots: Vec<&str> = text.lines().filter(|line| line.starts_with("\\addplot")).collect();
    assert_eq!(plots.len(), 2, "{text}");
    assert!(plots.iter().all(|plot| plot.contains("only marks")), "{text}");
    assert!(text.contains("\n(-0.06,1)\n") && text.contains("\n(0.06,2)\n"), "beside: {text}");
}

#[test]
fn scales_ranges_labels_and_colours_are_those_of_the_reader() {
    let lines = vec![line("reno", &[1.0, 10.0, 1e4, 1e6], None)];
    let picture = trend(&[(1.0, "1"), (10.0, "10"), (100.0, "100"), (1e3, "1k")], true, lines);
    let own = picture.pgf("t", &Looks::default());
    assert!(own.contains("xmode=log") && own.contains("ymode=log"), "as in the SVG: {own}");
    let axis = |from, until, is_log| AxisLooks { from, until, is_log, label: Some("<&>".into()) };
    let looks = Looks {
        across: axis(None, None, Some(false)),
        up: axis(Some(4.0), Some(12.0), None),
        colours: vec![("reno".into(), "#cc3311".parse().unwrap())],
    };
    let text = picture.pgf("t", &looks);
    assert!(!text.contains("xmode") && text.contains("  ymin=4, ymax=12,"), "{text}");
    assert_eq!(text.matches("label={\\textless{}\\&\\textgreater{}}").count(), 2, "{text}");
    assert!(text.contains("\\definecolor{tcplabcc3311}{HTML}{CC3311}"), "{text}");
    // The line enters at 4, leaves at 12, and has one mark.
    let places: Vec<&str> = text.lines().filter(|line| line.starts_with('(')).collect();
    assert_eq!(places, ["(4,4)", "(10,10)", "(10.018018,12)", "(10,10)"], "{text}");
}

#[test]
fn distributions_are_steps_in_percent() {
    let lines = vec![("a".to_owned(), vec![3.0, 1.0, 2.0, 2.0]), ("b_c".to_owned(), vec![2.0])];
    insta::assert_snapshot!(picture(Content::Ecdf(lines)).pgf("ECDF", &Looks::default()));
    let values: Vec<f64> = (0..100_000).map(|n| f64::from(n) / 7.0).collect();
    let many = picture(Content::Ecdf(vec![("a".into(), values)]));
    let text = many.pgf("ECDF", &Looks::default());
    assert!(text.len() < 80_000 && !text.contains("legend{"), "{}", text.len());
    let mut looks = Looks::default();
    (looks.across.from, looks.across.is_log) = (Some(5.0), Some(true));
    looks.up.from = Some(90.0);
    let text = many.pgf("ECDF", &looks);
    assert!(text.contains("xmode=log") && text.contains("ymin=90, ymax=100"), "{text:.900}");
    assert!(text.contains("\n(5,80)\n"), "near enough for TeX: {text:.900}");
}

#[test]
fn rows_have_dots_boxes_and_bars() {
    let spread = SpreadRow {
        name: "a".into(),
        values: vec![1.0, 2.0, 30.0],
        quartiles: Some((1.0, 2.0, 16.0)),
        middle: Some(2.0),
        interval: Some((1.0, 90.0)),
    };
    let boxed = |name: &str, shape, dots: &[f64]| BoxRow {
        name: name.into(),
        values: dots.into(),
        shape,
        dots: dots.into(),
    };
    let few = boxed("few", None, &[4.0, 6.0]);
    let shape = BoxShape { quartiles: (2.0, 3.0, 5.0), whiskers: (1.0, 9.0) };
    let boxed = boxed("a_b", Some(shape), &[11.0]);
    let bar = |name: &str, mean: f64, interval| BarRow { name: name.into(), mean, interval };
    let bars = vec![bar("a", 0.25, Some((0.0, 0.637))), bar("b", 0.1, Some((-90.0, 0.2)))];
    let mut looks = Looks::default();
    looks.across.until = Some(20.0);
    looks.colours.push(("a".into(), "orange".parse().unwrap()));
    let contents = [Content::Spread(vec![spread]), Content::Boxes(vec![boxed, few])];
    let mut all: String = contents.map(|it| picture(it).pgf("Rows", &looks)).concat();
    let bars = picture(Content::Bars(bars));
    all += &bars.pgf("Bars", &Looks::default());
    insta::assert_snapshot!(all);
    assert_eq!(bars.cut_intervals(&Looks::default()), 1);
}

#[test]
fn no_text_becomes_a_command() {
    let safe = r"\textbackslash{}input\{x\}\textasciicircum{}\textasciitilde{}\$\_\textbar{}";
    assert_eq!(escape(r"\input{x}^~$_|"), safe);
}

#[test]
fn colours_are_those_of_light_pages() {
    let names =
        ["data", "retransmission", "acks", "timeout", "edge", "sack", "plot-ink", "plot-muted"];
    for (name, digits) in names.iter().zip(LIGHT) {
        assert!(STYLE.contains(&format!("--{name}: light-dark(#{digits}, ")), "{name}");
    }
}
