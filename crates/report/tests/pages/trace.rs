//! The page of a trace, from captures of the corpus: complete, and alive in a real browser.

use std::collections::BTreeSet;
use tcplab_findings::examine;
use tcplab_report::{CaptureSums, ShownConnection, TracePage, write_trace};
use tcplab_trace::{Connection, Limit, Note, Trace};
use tcplab_units::Instant;

use crate::browser::seen_in;
use crate::synthetic::captured;

fn page(trace: &Trace, shown: &[usize]) -> String {
    let findings: Vec<_> = shown.iter().map(|&i| examine(&trace.connections[i])).collect();
    let shown: Vec<ShownConnection<'_>> = shown
        .iter()
        .zip(&findings)
        .map(|(&index, findings)| ShownConnection {
            index,
            connection: &trace.connections[index],
            findings,
            packets: &[],
        })
        .collect();
    let mut page = Vec::new();
    write_trace(
        &TracePage {
            name: "blackout.pcap",
            trace,
            sums: &CaptureSums::of(&trace.connections),
            shown: &shown,
        },
        &mut page,
    )
    .unwrap();
    String::from_utf8(page).unwrap()
}

/// A trace with losses and more, and its page.
fn made() -> (Trace, String) {
    let mut trace = captured("blackout.snd");
    trace.notes.push(Note { frame: Some(7), text: "cut off".into() });
    let page = page(&trace, &[1, 0]);
    (trace, page)
}

/// Names of elements that are not closed, without scripts and styles.
fn unbalanced(page: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "</{name}> closes something else");
        } else if !tag.ends_with('/') && !["meta", "!doctype"].contains(&name) {
            open.push(name.to_owned());
        }
        if ["script", "style"].contains(&tag) {
            rest = &rest[rest.find(&format!("</{tag}>")).expect("raw text ends")..];
        }
    }
    open
}

#[test]
fn trace_page_is_complete() {
    let (trace, page) = made();
    assert_eq!(unbalanced(&page), Vec::<String>::new());
    let count = |text: &str| page.matches(text).count();
    let flow = &trace.connections[1].forward;
    assert!(!flow.episodes.is_empty());
    // One direction of the transfer, both of the control connection.
    assert_eq!(count("<svg class=\"graph time-sequence\""), 3);
    // Windows of each; only a capture at the sender shows the RTT; and the throughput, but of the
    // control connection, which has none.
    assert_eq!(count("<svg class=\"graph chart\""), 6);
    assert_eq!(count("aria-label=\"Throughput per"), 1);
    let episodes: usize =
        trace.connections.iter().map(|c| c.forward.episodes.len() + c.reverse.episodes.len()).sum();
    assert_eq!(count("<svg class=\"ladder\""), episodes);
    assert_eq!(count("<details class=\"trial connection\""), 2);
    let path_rate = format!("path rate {:.1} %", 100.0 * flow.shares.share(Limit::Path));
    for text in ["Frame 7: cut off", "ACK loss", &path_rate, "10.98.0.1:", "retransmitted"] {
        assert!(count(text) > 0, "{text}");
    }
    let ids: BTreeSet<&str> =
        page.split(" id=\"").skip(1).filter_map(|s| s.split('"').next()).collect();
    for target in page.split(" href=\"#").skip(1).filter_map(|s| s.split('"').next()) {
        assert!(ids.contains(target), "a link leads to #{target}, which is not there");
    }
    for foreign in ["http:", "https:", "url(", "fetch(", " src=", "<link", "@import"] {
        assert_eq!(count(foreign), 0, "{foreign}");
    }
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
}

#[test]
fn foreign_text_is_escaped() {
    let evil = "\"'></title></script></style><script>alert(1)</script>&<!--";
    let ends = ["10.0.0.1:1", "[::1]:2"].map(|end| end.parse().unwrap());
    let trace = Trace {
        connections: vec![Connection::between(ends[0], ends[1])],
        notes: vec![Note { frame: None, text: evil.into() }],
        ..Trace::default()
    };
    let finding = tcplab_findings::Finding {
        severity: tcplab_findings::Severity::Harm,
        cost: tcplab_findings::Cost::NONE,
        remedy: None,
        rule: "rule",
        statement: evil.into(),
        frames: vec![],
        at: Instant::ZERO,
    };
    let shown = [ShownConnection {
        index: 0,
        connection: &trace.connections[0],
        findings: &[finding],
        packets: &[],
    }];
    let mut page = Vec::new();
    write_trace(
        &TracePage {
            name: evil,
            trace: &trace,
            sums: &CaptureSums::of(&trace.connections),
            shown: &shown,
        },
        &mut page,
    )
    .unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(!page.contains("<script>alert") && !page.contains("<!--"));
    assert_eq!(page.matches("<script").count(), 2, "the page's own");
    assert_eq!(unbalanced(&page), Vec::<String>::new());
    assert!(page.contains("<p>No data.</p>"));
}

#[test]
fn capture_without_connections_gives_a_page() {
    let page = page(&Trace::default(), &[]);
    assert!(page.contains("No TCP connection in the capture."));
}

const USE: &str = "<script>
addEventListener('load', async () => {
  const seen = {};
  const marks = () => [...document.querySelectorAll('.graph text')].map((t) => t.textContent).join();
  const button = (label) => [...document.querySelectorAll('button')].find((b) => label.test(b.textContent));
  const comes = async (what) => {
    for (let tries = 0; tries < 200 && !what(); tries++) await new Promise((done) => setTimeout(done, 50));
    return what();
  };
  seen.tools = await comes(() => !document.querySelector('.tools').hidden);
  const whole = marks();
  button(/Episode 1/).click();
  seen.zoomed = await comes(() => marks() !== whole);
  const near = marks();
  button(/^All/).click();
  seen.back = await comes(() => marks() !== near);
  const far = marks();
  button(/Show in graphs/).click();
  seen.shown = await comes(() => marks() !== far);
  seen.wrong = wrong;
  document.title = 'SEEN' + JSON.stringify(seen);
});
</script>";

#[test]
fn trace_page_works_in_browser() {
    let (_, page) = made();
    if let Some(seen) = seen_in(&page, USE) {
        assert_eq!(seen, r#"{"tools":true,"zoomed":true,"back":true,"shown":true,"wrong":[]}"#);
    }
}
