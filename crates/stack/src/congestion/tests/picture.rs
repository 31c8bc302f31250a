//! The windows as a picture: `docs/congestion-controls.svg`, which has to be what the controls do.

use std::fmt::Write as _;
use std::fs;
use std::path::Path as File;

use super::driver::{Driver, Row};
use super::usual;
use crate::congestion::{NAMES, NO_THRESHOLD, State};

/// Seconds shown, and segments of cwnd.
const SECONDS: f64 = 20.0;
const SEGMENTS: f64 = 300.0;
/// Pixels of a panel's graph, and of a panel with its title and labels.
const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 110.0;
const STEP: (f64, f64) = (470.0, 168.0);
const MARGIN: (f64, f64) = (48.0, 72.0);

/// Okabe and Ito's colours, lightened for dark.
const STYLE: &str = "svg{color-scheme:light dark;font:12px/1 system-ui,sans-serif}
rect{fill:light-dark(#fff,#171b20)}
text{fill:light-dark(#646d77,#8d97a2)}
.name,.head{fill:light-dark(#30363d,#ccd3da);font-weight:600}
.head{font-size:16px}
path,circle{fill:none;vector-effect:non-scaling-stroke}
.axis{stroke:light-dark(#c9ced4,#3a424b)}
.pipe{stroke:light-dark(#009e73,#3fcf9f);stroke-dasharray:2 4}
.full{stroke:light-dark(#b98a00,#d9b13b);stroke-dasharray:2 4}
.ssthresh{stroke:light-dark(#a66bc0,#cfa2e0)}
.cwnd{stroke:light-dark(#0072b2,#5cb8ee);stroke-width:1.6}
circle.loss{fill:light-dark(#d55e00,#ff8a3d)}";

fn x(row: &Row) -> f64 {
    row.time.as_secs_f64() / SECONDS * WIDTH
}

fn y(segments: f64) -> f64 {
    HEIGHT - segments.min(SEGMENTS) / SEGMENTS * HEIGHT
}

/// A line through the values there are.
fn line(rows: &[Row], value: impl Fn(&Row) -> u32) -> String {
    let mut path = String::new();
    let known = rows.iter().filter(|row| value(row) != NO_THRESHOLD);
    for (index, row) in known.enumerate() {
        let pen = if index == 0 { 'M' } else { 'L' };
        write!(path, "{pen}{:.1} {:.1}", x(row), y(f64::from(value(row)))).expect("to a string");
    }
    path
}

fn panel(svg: &mut String, name: &str, at: (f64, f64)) -> std::fmt::Result {
    let mut driver = Driver::new(name, usual());
    let rows: Vec<Row> = (driver.run_rounds(400).iter())
        .take_while(|row| row.time.as_secs_f64() <= SECONDS)
        .cloned()
        .collect();
    let pipe = usual().product();
    let full = pipe + 50.0;
    writeln!(svg, "<g transform=\"translate({} {})\">", at.0, at.1)?;
    writeln!(svg, "<text class=\"name\" x=\"0\" y=\"-8\">{name}</text>")?;
    writeln!(svg, "<path class=\"axis\" d=\"M0 0V{HEIGHT}H{WIDTH}\"/>")?;
    for segments in [0.0, 100.0, 200.0, 300.0] {
        let y = y(segments) + 4.0;
        writeln!(svg, "<text x=\"-6\" y=\"{y:.1}\" text-anchor=\"end\">{segments}</text>")?;
    }
    for seconds in [0.0, 5.0, 10.0, 15.0, 20.0] {
        let x = seconds / SECONDS * WIDTH;
        let y = HEIGHT + 16.0;
        writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{seconds} s</text>")?;
    }
    writeln!(svg, "<path class=\"pipe\" d=\"M0 {:.1}H{WIDTH}\"/>", y(pipe))?;
    writeln!(svg, "<path class=\"full\" d=\"M0 {:.1}H{WIDTH}\"/>", y(full))?;
    writeln!(svg, "<path class=\"ssthresh\" d=\"{}\"/>", line(&rows, |row| row.ssthresh))?;
    writeln!(svg, "<path class=\"cwnd\" d=\"{}\"/>", line(&rows, |row| row.cwnd))?;
    let lost = |row: &&Row| matches!(row.state, State::Recovery | State::Loss);
    for row in rows.iter().filter(lost) {
        let (x, y) = (x(row), y(f64::from(row.cwnd)));
        writeln!(svg, "<circle class=\"loss\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\"/>")?;
    }
    writeln!(svg, "</g>")
}

fn picture() -> Result<String, std::fmt::Error> {
    let rows = u32::try_from(NAMES.len().div_ceil(2)).expect("there are few");
    let (width, height) = (STEP.0 * 2.0 + 8.0, MARGIN.1 + f64::from(rows) * STEP.1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">\n<title>The congestion window by \
         round trip</title>\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\"/>\n"
    );
    writeln!(
        svg,
        "<text class=\"head\" x=\"14\" y=\"22\">The congestion window by round trip: 8 Mbit/s, \
         100 ms, a queue of 50 segments</text>\n<text x=\"14\" y=\"41\">segments of 1,000 bytes; \
         blue cwnd, violet ssthresh, green what the path holds, yellow what path and queue hold, \
         orange rounds with losses</text>"
    )?;
    for (row, pair) in NAMES.chunks(2).enumerate() {
        let down = MARGIN.1 + STEP.1 * f64::from(u32::try_from(row).expect("there are few"));
        for (name, right) in pair.iter().zip([MARGIN.0, MARGIN.0 + STEP.0]) {
            panel(&mut svg, name, (right, down))?;
        }
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// `TCPLAB_BLESS=1` writes it.
#[test]
fn picture_of_all_controls_matches_snapshot() {
    let file = File::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/congestion-controls.svg");
    let drawn = picture().expect("a string takes everything");
    if std::env::var_os("TCPLAB_BLESS").is_some() {
        fs::write(&file, &drawn).expect("the docs can be written");
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == drawn,
        "docs/congestion-controls.svg is out of date: TCPLAB_BLESS=1 cargo test -p tcplab-stack picture"
    );
}
