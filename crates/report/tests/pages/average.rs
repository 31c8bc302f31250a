//! The reader's own choice of a span and of samples, in a browser.

use tcplab_plot::RttKind;
use tcplab_report::{CaptureSums, GraphChoice, ShownConnection, TracePage};
use tcplab_trace::Segment;
use tcplab_units::Span;

use super::browser::seen_in;
use super::synthetic::captured;

/// Averages over 0.5 s, then asks for what is not possible, and shows samples by SACK.
const CHOOSE: &str = "<script>
addEventListener('load', async () => {
  const seen = {}, control = document.querySelector('.average'), input = control.querySelector('input');
  const figure = control.previousElementSibling, type = async (value) => {
    input.value = value;
    input.dispatchEvent(new Event('input'));
    await new Promise((done) => setTimeout(done, 50));
  };
  const graph = [...groups.values()][0].graphs.find((it) => it.figure === figure);
  const before = graph.read().map((layer) => layer.path.getAttribute('d'));
  seen.first = input.value;
  for (let i = 0; i < 100 && !/0\\.5 s/.test(figure.querySelector('.title').textContent); i++) await type('0.5');
  seen.title = figure.querySelector('.title').textContent;
  seen.redrawn = graph.read().every((layer, i) => layer.path.getAttribute('d') !== before[i]);
  const packed = JSON.parse(new TextDecoder().decode(await unpacked(control.querySelector('.amounts').textContent)));
  seen.peak = Math.max(...movingAverage(amountsOf(packed.sent), 5e5).rates).toFixed(3);
  await type('0');
  seen.fault = control.querySelector('.fault').textContent;
  seen.kept = figure.querySelector('.title').textContent === seen.title;
  const trips = [...document.querySelectorAll('figure')].find((it) => it.querySelector('.points .rtt'));
  const key = (name) => trips.querySelector(`button[data-layer=\"${name}\"]`), shown = (name) => getComputedStyle(trips.querySelector(`path.${name}`)).display !== 'none';
  seen.shown = [shown('rtt'), shown('rtt-sack'), key('rtt-sack').getAttribute('aria-pressed')];
  key('rtt-sack').click();
  seen.chosen = [shown('rtt-sack'), key('rtt-sack').getAttribute('aria-pressed')];
  document.title = 'SEEN' + JSON.stringify(seen);
});
</script>";

#[test]
fn reader_chooses_span_and_samples() {
    let trace = captured("loss1_cubic.snd");
    let connection = &trace.connections[1];
    let shown = [ShownConnection { index: 1, connection, findings: &[], packets: &[] }];
    let mut page = Vec::new();
    let what = TracePage {
        name: "choice",
        trace: &trace,
        sums: &CaptureSums::of(&trace.connections),
        shown: &shown,
        choice: &GraphChoice {
            rtt: vec![RttKind::Once, RttKind::Repaired],
            average: Some(Span::from_millis(100)),
        },
    };
    tcplab_report::write_trace(&what, &mut page).expect("a Vec takes what it is given");
    let page = String::from_utf8(page).expect("it is text");
    assert!(page.contains("Throughput, moving average over 100 ms"));
    let Some(seen) = seen_in(&page, CHOOSE) else { return };
    let peak = peak(&connection.forward.segments, connection.first.as_nanos());
    let expected = r#"{"first":"0.1","title":"Throughput, moving average over 0.5 s","redrawn":true,"peak":"PEAK","fault":"Use 0.001 to 3600 seconds.","kept":true,"shown":[true,false,"false"],"chosen":[true,"true"]}"#;
    assert_eq!(seen, expected.replace("PEAK", &format!("{peak:.3}")));
}

/// The most Mbit/s in any half second, from the packets.
fn peak(segments: &[Segment], first: u64) -> f64 {
    let micros = |segment: &Segment| (segment.at.as_nanos() - first) / 1_000;
    let sum = |end: u64| -> u64 {
        let inside = |it: &&Segment| micros(it) <= end && micros(it) + 500_000 > end;
        segments.iter().filter(inside).map(|it| it.payload.as_u64()).sum()
    };
    let most = segments.iter().map(|it| sum(micros(it))).max().unwrap_or(0);
    most as f64 * 8.0 / 500_000.0
}
