//! The page in a real browser: its script runs, zooms and changes the theme without an error.

use std::fs;
use std::process::Command;

use super::synthetic;

/// Stands before the page's own script: hears of every error, and gives frames their time, since a
/// browser without a window draws them when it likes.
const LISTEN: &str = "<script>
window.wrong = [];
window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 16);
addEventListener('error', (event) => wrong.push(event.message));
</script>";

/// Does what a reader would, and leaves what was seen in the page's title. Each step waits for what
/// it brings about, but not for ever.
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
  // The time of the pointer is read out in every graph, once it is drawn: a browser without a
  // window may not say how large it is, and a button has it drawn all the same.
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
  seen.wrong = wrong;
  document.title = 'SEEN' + JSON.stringify(seen);
});
</script>";

#[test]
fn the_page_works_in_a_browser() {
    let (run, recordings) = synthetic::run(1);
    let load = |trial: &tcplab_lab::Trial| {
        let found = recordings.iter().find(|(directory, _)| *directory == trial.directory);
        found.map(|(_, data)| data.clone()).ok_or("no such trial")
    };
    let page = tcplab_report::render(&run, load).expect("a made-up run can be shown");
    if let Some(seen) = seen_in(&page, USE) {
        assert_eq!(
            seen,
            r#"{"tools":true,"rows":3,"read":"client write","zoomed":true,"dark":true,"wrong":[]}"#
        );
    }
}

/// What a page's reader, who is a script, leaves of what it saw: all between the word `SEEN` in the
/// title and its end; what the browser made of the page where there is none. Nothing without a
/// browser.
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
    let browser = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1200,2000",
        ])
        .args(["--virtual-time-budget=40000", "--run-all-compositor-stages-before-draw"])
        .arg("--dump-dom")
        .arg(format!("--user-data-dir={}", place.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .env("HOME", place.path())
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
