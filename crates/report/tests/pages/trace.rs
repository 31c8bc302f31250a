//! The page of a trace, from captures of the corpus: complete, and alive in a real browser.

use std::collections::BTreeSet;
use std::path::Path;
use tcplab_findings::examine;
use tcplab_report::{
    CaptureSums, GraphChoice, ShownConnection, TracePage, page_frames, write_trace,
};
use tcplab_trace::{Connection, ConnectionNumbers, Frame, Limit, Note, PacketBytes, Trace};
use tcplab_units::Instant;
use tcplab_wire::LinkType;

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
            choice: &GraphChoice::default(),
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
    // Windows of each; and the throughput, but of the control connection, which has none.
    assert_eq!(count("<svg class=\"graph chart\""), 4);
    assert_eq!(count("aria-label=\"Throughput, moving average over"), 1);
    assert_eq!(count("<div class=\"average\""), 1);
    // Lengths of segments in each direction; only a capture at the sender shows the RTT, over time
    // and by sequence number.
    assert_eq!(count("aria-label=\"Segment lengths: "), 3);
    assert_eq!(count("aria-label=\"RTT. "), count("data-across=\"sequence\""));
    assert_eq!(count("<svg class=\"graph points\""), 7);
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
            choice: &GraphChoice::default(),
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

/// Points at the last dot of both graphs of points, zooms that over sequence numbers, saves both.
const POINTS: &str = "<script>
addEventListener('load', async () => {
  const comes = async (what) => {
    for (let tries = 0; tries < 200 && !what(); tries++) await new Promise((done) => setTimeout(done, 50));
  };
  await comes(() => groups.size);
  const [timed, ordered] = [...groups.values()];
  for (const group of [timed, ordered]) {
    for (const graph of group.graphs) graph.layout(1000);
    group.draw();
  }
  const both = [timed.graphs.find((graph) => graph.points), ordered.graphs[0]];
  const seen = { read: [], rows: [] };
  for (const graph of both) {
    const layer = graph.read().find(({ name }) => ['data', 'rtt'].includes(name));
    const at = graph.x[0] + (layer.xs.at(-1) / graph.units[0]) * (graph.x[1] - graph.x[0]);
    graph.point(at, graph.valueToY(graph.toValue(layer.ys.at(-2))));
    seen.read.push(graph.readout.textContent);
    const rows = (await (await exported(graph.figure, 'csv')).text()).trim().split('\\n');
    seen.rows.push(rows[0], rows.filter((row) => row.startsWith(layer.name)).at(-1));
  }
  const [from, until] = [timed.from, timed.until];
  ordered.tools.querySelector('[data-zoom]').click();
  ordered.draw();
  seen.alone = timed.from === from && timed.until === until && ordered.zoomed;
  seen.marks = [...ordered.graphs[0].svg.querySelectorAll('.time')].every((mark) => /^[0-9.,]+ [kM]?B$/.test(mark.textContent));
  seen.wrong = wrong;
  document.title = 'SEEN' + JSON.stringify(seen);
});
</script>";

#[test]
fn points_are_read_and_saved_in_browser() {
    let page = page(&captured("loss1_cubic.snd"), &[1]);
    let Some(seen) = seen_in(&page, POINTS) else { return };
    let expected = concat!(
        r#"{"read":["5.3558 s · 1,448 bytes, data","seq 5437278 · RTT 23.092 ms"],"#,
        r#""rows":["layer,time_s,bytes","data,5.355784,1448","layer,sequence,ms","#,
        r#""rtt,5437278,23.092"],"alone":true,"marks":true,"wrong":[]}"#,
    );
    assert_eq!(seen, expected);
}

const OPEN_PACKETS: &str = "<script>
addEventListener('load', async () => {
  const seen = {};
  const fold = document.querySelector('details.packets');
  fold.open = true;
  const view = await openPackets(fold);
  seen.packets = view.buttons.size;
  view.buttons.get('13').click();
  seen.head = fold.querySelector('h4').textContent;
  const row = [...fold.querySelectorAll('.fields tr')].find((it) => it.cells[0].textContent === 'source port');
  row.click();
  const marked = () => [...fold.querySelectorAll('.dump b.on')].map((it) => it.textContent).join(' ');
  seen.field = marked();
  fold.querySelectorAll('.dump b')[8].click();
  seen.byte = [...fold.querySelectorAll('.fields tr.on')].map((it) => it.cells[0].textContent).join();
  document.querySelector('.ladder .frame.opens').dispatchEvent(new MouseEvent('click', { bubbles: true }));
  await openPackets(fold);
  await new Promise((done) => setTimeout(done, 50));
  seen.ladder = fold.querySelector('h4').textContent.startsWith(`Frame ${document.querySelector('.ladder .frame.opens').textContent},`);
  seen.wrong = wrong;
  document.title = 'SEEN' + JSON.stringify(seen);
});
</script>";

/// The packets of a connection that its page opens.
fn packets(connection: &Connection, findings: &[tcplab_findings::Finding]) -> Vec<PacketBytes> {
    let numbers = [ConnectionNumbers::new(1, connection)];
    let frames = page_frames(connection, findings);
    assert!((20..=200).contains(&frames.len()), "{frames:?}");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let mut reader = tcplab_capture::open(corpus.join("blackout.snd.pcap.zst")).unwrap();
    let mut packets = Vec::new();
    for number in 1..=*frames.last().unwrap() {
        let record = reader.next_record().unwrap().unwrap();
        if frames.contains(&number) {
            let frame = Frame {
                original_len: record.original_len,
                ..Frame::whole(0, LinkType::RawIp, record.captured)
            };
            packets.push(PacketBytes::new((number, Instant::ZERO), &frame, &numbers));
        }
    }
    packets
}

#[test]
fn packets_open_as_bytes_in_browser() {
    let trace = captured("blackout.snd");
    let connection = &trace.connections[1];
    let findings = examine(connection);
    let packets = packets(connection, &findings);
    let shown = [ShownConnection { index: 1, connection, findings: &findings, packets: &packets }];
    let sums = CaptureSums::of(&trace.connections);
    let mut page = Vec::new();
    let what = TracePage {
        name: "blackout.pcap",
        trace: &trace,
        sums: &sums,
        shown: &shown,
        choice: &GraphChoice::default(),
    };
    write_trace(&what, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert_eq!(unbalanced(&page), Vec::<String>::new());
    let Some(seen) = seen_in(&page, OPEN_PACKETS) else { return };
    let expected = r#"{"packets":N,"head":"Frame 13, 0.000000 s: 60 bytes, 10.98.0.2:5201 → 10.98.0.1:44552","field":"14 51","byte":"TTL","ladder":true,"wrong":[]}"#;
    assert_eq!(seen, expected.replace('N', &packets.len().to_string()));
}
