//! The page in a real browser: its script runs, zooms and changes the theme without an error.

use std::fs;
use std::path::Path;
use std::process::Command;
use tcplab_report::{CaptureSums, GraphChoice, ShownConnection, TracePage};
use tcplab_results::Case;

use super::page::page;
use super::synthetic;

/// Before the page's own script: records errors, and schedules frames itself, because a headless
/// browser draws at its own times.
const LISTEN: &str = "<script>
window.wrong = [];
window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 16);
addEventListener('error', (event) => wrong.push(event.message));
</script>";

/// Uses the page as a reader would, and reports in the page's title. Each step waits for its
/// effect, with a limit.
const USE: &str = "<script>
addEventListener('load', async () => {
  const seen = {};
  const marks = () => [...document.querySelectorAll('.graph text')].map((t) => t.textContent).join();
  const background = () => getComputedStyle(document.body).backgroundColor;
  const button = (label) => [...document.querySelectorAll('button')].find((b) => label.test(b.textContent));
  const comes = async (what) => {
    for (let tries = 0; tries < 200 && !what(); tries++) await new Promise((done) => setTimeout(done, 50));
    return what();
  };
  seen.tools = await comes(() => !document.querySelector('.tools').hidden);
  // Every graph shows the pointer's time once drawn; the button forces drawing where a headless
  // browser reports no size.
  button(/^All$/).click();
  const graph = document.querySelector('.time-sequence');
  const { left, top } = graph.getBoundingClientRect();
  const place = { clientX: left + 66, clientY: top + 99, bubbles: true };
  seen.rows = document.querySelector('.bars').querySelectorAll('.row').length;
  seen.read = await comes(() => {
    graph.dispatchEvent(new PointerEvent('pointermove', place));
    return document.querySelector('.bars').closest('figure').querySelector('.readout').textContent.split(' s · ')[1];
  });
  const whole = marks();
  button(/Interruption 1/).click();
  seen.zoomed = await comes(() => marks() !== whole);
  const light = background();
  button(/Dark|Light/).click();
  seen.dark = await comes(() => background() !== light);
  // A figure is drawn as the reader chooses, and saved as it is shown.
  const figure = document.querySelector('.main-picture figure');
  seen.ways = [];
  for (const button of figure.querySelectorAll('.ways button')) {
    button.focus();
    button.click();
    const shown = [...figure.querySelectorAll('.way')].filter((way) => way.checkVisibility());
    const [first] = numbers(figure, pictureOf(figure)).split('\\n');
    const pressed = figure.querySelector('.ways [aria-pressed=true]').textContent;
    seen.ways.push([pressed, shown.length, pictureOf(figure).classList[1], first.split(',')[0], document.activeElement === button]);
  }
  seen.wrong = wrong;
  document.title = 'SEEN' + JSON.stringify(seen);
});
</script>";

#[test]
fn report_page_works_in_browser() {
    let (run, recordings) = synthetic::run(1);
    let page = page(&run, &recordings);
    if let Some(seen) = seen_in(&page, USE) {
        assert_eq!(
            seen,
            r#"{"tools":true,"rows":3,"read":"client write","zoomed":true,"dark":true,"ways":[["Dots",1,"spread","name",true],["Boxes",1,"boxes","name",true],["Bars",1,"mean-bars","bar",true]],"wrong":[]}"#
        );
    }
}

/// Opens a packed trial by its address, saves figures of every kind, and reads the limits.
const SAVE: &str = "<script>
addEventListener('load', async () => {
  const seen = { kinds: {} };
  const comes = async (what) => {
    for (let tries = 0; tries < 200 && !what(); tries++) await new Promise((done) => setTimeout(done, 50));
    return Boolean(what());
  };
  const packed = [...document.querySelectorAll('details.trial')].at(-1);
  seen.packed = Boolean(packed.querySelector('script.packed'));
  location.hash = `${packed.id}-episode-1`;
  seen.unpacked = await comes(() => packed.open && packed.querySelector('.episode') && packed.querySelector('.export'));
  const limits = packed.querySelector('.limits svg').getBoundingClientRect();
  seen.limits = limits.width > 300 && limits.height > 15 && packed.querySelectorAll('.limits rect').length;
  let keyed = 0;
  const kind = (figure) => pictureOf(figure).getAttribute('class') || 'limits';
  for (const figure of [...document.querySelectorAll('figure')].filter((it) => it.querySelector('.export'))) {
    const name = kind(figure).replace(' live', '');
    if (name in seen.kinds) continue;
    const sizes = [];
    for (const ending of ['svg', 'png', 'csv']) sizes.push((await exported(figure, ending))?.size ?? 0);
    seen.kinds[name] = sizes.every((size) => size > 60) && sizes[1] > 1000;
    const saved = new DOMParser().parseFromString(await (await exported(figure, 'svg')).text(), 'image/svg+xml');
    const keys = [...figure.querySelectorAll('.legend .key:not([aria-pressed=false], [data-off])')].map((key) => key.textContent);
    const named = [...saved.querySelectorAll('svg > text')].map((text) => text.textContent);
    if (keys.length && !keys.every((key) => named.includes(key))) wrong.push(`${name}: ${keys} in ${named}`);
    keyed += Math.sign(keys.length);
  }
  if (keyed < 3) wrong.push(`${keyed} figures with keys`);
  // By the keyboard alone.
  const button = document.querySelector('.export button');
  button.focus();
  button.click();
  const down = () => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
  down(); down();
  seen.menu = document.activeElement.dataset.kind;
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  seen.closed = !document.querySelector('.menu') && document.activeElement === button;
  seen.wrong = wrong;
  document.title = 'SEEN' + JSON.stringify(seen);
});
</script>";

#[test]
fn figures_are_saved_and_packed_trials_unpacked() {
    let (run, recordings) = synthetic::run(3);
    let page = page(&run, &recordings);
    let Some(seen) = seen_in(&page, SAVE) else { return };
    let before = r#"{"kinds":{"#;
    let after =
        r#""packed":true,"unpacked":true,"limits":16,"menu":"csv","closed":true,"wrong":[]}"#;
    assert!(seen.starts_with(before) && seen.ends_with(after), "{seen}");
    for kind in
        ["scene spread", "trend", "scene ecdf", "pane", "graph time-sequence", "graph chart"]
            .into_iter()
            .chain(["graph bars", "limits", "ladder", "path-picture"])
    {
        assert!(seen.contains(&format!("\"{kind}\":true")), "{kind} of {seen}");
    }
    assert!(!seen.contains("false"), "{seen}");
}

/// Zooms over very many packets, and reports what is drawn where.
const ZOOM: &str = "<script>
addEventListener('load', async () => {
  const seen = {};
  const comes = async (what) => {
    for (let tries = 0; tries < 200 && !what(); tries++) await new Promise((done) => setTimeout(done, 50));
    return Boolean(what());
  };
  await comes(() => groups.size);
  const group = [...groups.values()][0], graph = group.graphs[0], { canvas } = graph;
  graph.layout(1000);
  const picture = async (from, until) => {
    group.show(from, until);
    group.draw();
    await canvas.levels.settled();
    group.draw();
    const { data } = canvas.canvas.getContext('2d').getImageData(0, 0, canvas.canvas.width, canvas.canvas.height);
    let sum = 0, inked = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3]) { inked++; sum = (sum * 31 + i + data[i]) % 1000000007; }
    return [sum, inked];
  };
  const [from, until] = group.whole, middle = (from + until) / 2;
  const whole = await picture(from, until);
  const counts = { ...canvas.drawn };
  const close = await picture(middle, middle + 0.02);
  const aside = await picture(middle + 0.01, middle + 0.03);
  seen.inked = [whole, close, aside].every(([, inked]) => inked > 100);
  seen.moves = whole[0] !== close[0] && close[0] !== aside[0];
  seen.few = counts.data < 9000 && counts.fast > 100;
  // Every retransmission of the stretch.
  const fast = canvas.levels.layers.find((layer) => layer.class === 'fast');
  let all = 0;
  canvas.levels.seen(fast, 0, 1e15, 0, (strokes) => { all += strokes.x.length; });
  await canvas.levels.settled();
  all = 0;
  canvas.levels.seen(fast, 0, 1e15, 0, (strokes) => { all += strokes.x.length; });
  seen.again = all;
  // A dot of the lengths, where several segments are drawn as one and where each is by itself.
  const lengths = group.graphs.find((it) => it.points);
  lengths.layout(1000);
  seen.lengths = [];
  for (const stretch of [1, 0.002]) {
    group.show(middle, middle + stretch);
    group.draw();
    await lengths.canvas.levels.settled();
    group.draw();
    lengths.point(middle + stretch / 3, lengths.valueToY(1448));
    seen.lengths.push(lengths.readout.textContent);
  }
  seen.saved = (await exported(graph.figure, 'svg')).size > 5000 && (await exported(graph.figure, 'png')).size > 5000;
  seen.wrong = wrong;
  document.title = 'SEEN' + JSON.stringify(seen);
});
</script>";

#[test]
fn very_many_packets_are_drawn_at_each_zoom() {
    let trace = synthetic::large(60_000);
    let connection = &trace.connections[0];
    let again = connection.forward.segments.iter();
    let again = again.filter(|segment| segment.kind != tcplab_trace::SegmentKind::New).count();
    let shown = [ShownConnection { index: 0, connection, findings: &[], packets: &[] }];
    let mut page = Vec::new();
    let what = TracePage {
        name: "many",
        trace: &trace,
        sums: &CaptureSums::of(&trace.connections),
        shown: &shown,
        choice: &GraphChoice::default(),
    };
    tcplab_report::write_trace(&what, &mut page).expect("a Vec takes what it is given");
    let page = String::from_utf8(page).expect("it is text");
    assert!(page.len() < 2_500_000, "{} bytes", page.len());
    let Some(seen) = seen_in(&page, ZOOM) else { return };
    let expected = r#"{"inked":true,"moves":true,"few":true,"again":N,"lengths":["0.6782 s · 1,448 bytes, retransmission","0.3456 s · 1,448 bytes, data"],"saved":true,"wrong":[]}"#;
    assert_eq!(seen, expected.replace('N', &again.to_string()));
}

/// Makes the page in a frame narrower and wider, and reports at each width, pixels: whether the
/// theme button can be clicked at both ends of the page and covers no link, whether nothing is too
/// wide, whether graphs have text, whether what can be moved sideways shows it, and what text is
/// smaller than 10 pixels.
const LAYOUT: &str = "<script>
addEventListener('load', async () => {
  const seen = {}, frame = document.querySelector('iframe');
  const inside = frame.contentDocument, view = frame.contentWindow;
  const button = [...inside.querySelectorAll('button')].find((it) => /Dark|Light/.test(it.textContent));
  inside.querySelectorAll('details').forEach((it) => { it.open = true; });
  for (const width of [320, 400, 630, 700, 850, 1200]) {
    frame.style.width = `${width}px`;
    const reached = (top) => {
      view.scrollTo({ top, behavior: 'instant' });
      const { left, right, top: above, bottom } = button.getBoundingClientRect();
      return left >= 0 && right <= width && inside.elementFromPoint((left + right) / 2, (above + bottom) / 2) === button;
    };
    const clear = [...inside.querySelectorAll('.bar a')].every((link) => {
      const { right } = link.getBoundingClientRect(), box = link.parentElement.getBoundingClientRect();
      return Math.min(right, box.right) <= button.getBoundingClientRect().left;
    });
    const moved = [...inside.querySelectorAll('figure, .scroll')].filter((it) => it.scrollWidth > it.clientWidth + 1);
    const shadowed = moved.every((it) => view.getComputedStyle(it).backgroundImage !== 'none');
    const size = (text) => {
      const { a, b } = text.getScreenCTM();
      return parseFloat(view.getComputedStyle(text).fontSize) * Math.hypot(a, b);
    };
    const drawn = () => [...inside.querySelectorAll('svg text')].filter((it) => it.getClientRects().length > 0);
    const small = () => drawn().filter((it) => size(it) < 9.95).map((it) => it.closest('svg').getAttribute('class'));
    // As a frame in a headless browser may not tell that its size has changed.
    view.eval('groups').forEach((group) => group.resize());
    const fits = inside.documentElement.scrollWidth <= width, all = drawn().length > 50;
    seen[width] = [reached(0) && reached(1e6) && clear, fits && shadowed, all, ...new Set(small())];
  }
  document.title = 'SEEN' + JSON.stringify(seen);
});
</script>";

#[test]
fn report_page_fits_narrow_and_wide_windows() {
    let (run, recordings) = synthetic::run(1);
    let page = page(&run, &recordings).replacen("<head>", &format!("<head>{LISTEN}"), 1);
    let page = page.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let outer = format!(
        "<!doctype html><html><head></head><body style=\"margin:0\">\
         <iframe style=\"height:900px;border:0\" srcdoc=\"{page}\"></iframe></body></html>"
    );
    let Some(seen) = seen_in(&outer, LAYOUT) else { return };
    let fits = "[true,true,true]";
    let widths = ["320", "400", "630", "700", "850", "1200"];
    let all: Vec<String> = widths.map(|width| format!("\"{width}\":{fits}")).into();
    assert_eq!(seen, format!("{{{}}}", all.join(",")));
}

/// On so many pages of paper: the outlines of packets and trials stay on the screen.
const PAGES: usize = 8;

/// Also of a run of many variants with a long scenario.
#[test]
fn report_page_prints() {
    let (mut run, recordings) = synthetic::run(1);
    print_in(PAGES, &page(&run, &recordings));
    let experiments = tcplab_scenario::catalogue();
    let (_, long) = experiments.iter().find(|(name, _)| *name == "interruption").unwrap();
    run.scenario = (*long).into();
    let first = run.cases[0].clone();
    run.cases = (0..20).map(|nth| Case { name: format!("{nth}"), ..first.clone() }).collect();
    print_in(PAGES, &page(&run, &recordings));
}

/// Prints the page on at most so many pages of paper.
fn print_in(most: usize, page: &str) {
    let place = tempfile::tempdir().unwrap();
    let (file, paper) = (place.path().join("report.html"), place.path().join("report.pdf"));
    fs::write(&file, page).unwrap();
    let printed = browser(place.path())
        .arg(format!("--print-to-pdf={}", paper.display()))
        .arg(format!("file://{}", file.display()))
        .output();
    if printed.is_ok() {
        let pdf = fs::read(&paper).expect("it was printed");
        assert!(pdf.starts_with(b"%PDF") && pdf.len() > 50_000, "{} bytes", pdf.len());
        let text = String::from_utf8_lossy(&pdf);
        let pages = text.matches("/Type /Page\n").count();
        assert!((1..=most).contains(&pages), "{pages} pages");
    }
}

/// Which parts of the page the short print hides.
const HIDDEN_IN_PRINT: &str = "<script>
addEventListener('load', () => {
  const print = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule.media?.mediaText === 'print');
  const hiding = print.flatMap((rule) => [...rule.cssRules]).filter((rule) => rule.style?.display === 'none');
  const hidden = (part) => hiding.some((rule) => document.querySelector(part).matches(rule.selectorText));
  document.querySelector('#factors').insertAdjacentHTML('beforeend', '<div class=\"factor other\"></div>');
  document.title = 'SEEN' + JSON.stringify(['div.scenario', 'h3.scenario', '.factor.answered', '.factor.other', '#episodes'].map(hidden));
});
</script>";

/// It says how to repeat the run, with the scenario below, and shows the answer's factor.
#[test]
fn short_print_has_the_scenario() {
    let (run, recordings) = synthetic::run(1);
    let Some(seen) = seen_in(&page(&run, &recordings), HIDDEN_IN_PRINT) else { return };
    assert_eq!(seen, "[false,false,false,true,true]");
}

/// A headless browser with a directory of its own.
fn browser(home: &Path) -> Command {
    let mut browser = Command::new("chromium");
    browser
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1200,2000",
        ])
        .arg(format!("--user-data-dir={}", home.join("profile").display()))
        .env("HOME", home);
    browser
}

/// What the page's script reports between `SEEN` in the title and its end; what the browser made of
/// the page without a report. None without a browser.
#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
pub(crate) fn seen_in(page: &str, reader: &str) -> Option<String> {
    let page = page.replacen("<head>", &format!("<head>{LISTEN}"), 1).replacen(
        "</body>",
        &format!("{reader}</body>"),
        1,
    );
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("report.html");
    fs::write(&file, page).unwrap();
    let browser = browser(place.path())
        .args(["--virtual-time-budget=40000", "--run-all-compositor-stages-before-draw"])
        .arg("--dump-dom")
        .arg(format!("file://{}", file.display()))
        .output();
    let browser = match browser {
        Ok(browser) => browser,
        Err(error) => {
            eprintln!("SKIPPED: chromium cannot be started: {error}");
            return None;
        }
    };
    let dom = String::from_utf8_lossy(&browser.stdout);
    let seen = dom.split_once("SEEN").and_then(|(_, rest)| rest.split_once("</title>"));
    Some(seen.map_or(&*dom, |(seen, _)| seen).to_owned())
}
