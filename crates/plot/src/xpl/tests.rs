//! Every line is xplot's, and the graphs of real captures are those that tcptrace draws.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tcplab_capture::Reader;
use tcplab_trace::{
    Ack, Analyzer, Connection, FlowId, Proof, Range, Segment, SegmentKind, Sink, Timer,
};
use tcplab_units::{Bytes, Instant, Offset, Span};

use super::sink::name;
use super::*;
use crate::RttKind;

#[derive(Debug, Default)]
struct Memory(BTreeMap<String, Vec<u8>>);

impl XplFiles for Memory {
    fn append(&mut self, name: &str, begins: bool, text: &[u8]) -> io::Result<()> {
        let file = self.0.entry(name.to_owned()).or_default();
        assert_eq!(begins, file.is_empty(), "{name} begins once");
        file.extend_from_slice(text);
        Ok(())
    }
}

/// A stroke: colour, command, numbers.
type Stroke = (String, String, Vec<String>);

/// The content of a valid xplot file: types, title, strokes, words.
struct Drawn {
    title: String,
    strokes: Vec<Stroke>,
    words: Vec<(String, Vec<String>, String)>,
}

const COLORS: [&str; 9] =
    ["white", "green", "red", "blue", "yellow", "purple", "orange", "magenta", "pink"];
const TYPES: [&str; 5] = ["timeval", "dtime", "unsigned", "signed", "double"];
const MARKS: [&str; 17] = [
    "x",
    "dot",
    "plus",
    "box",
    "diamond",
    "uarrow",
    "darrow",
    "larrow",
    "rarrow",
    "utick",
    "dtick",
    "ltick",
    "rtick",
    "htick",
    "vtick",
    "invisible",
    "_",
];

/// Parses a file by the format's grammar; panics if it is invalid.
fn parsed(file: &str) -> Drawn {
    assert!(file.ends_with("\ngo\n"), "the last line is `go`");
    let mut lines = file.lines();
    let types: Vec<&str> = lines.next().unwrap().split(' ').collect();
    assert!(types.len() == 2 && types.iter().all(|kind| TYPES.contains(kind)), "{types:?}");
    let number = |text: &&str| text.parse::<f64>().is_ok_and(f64::is_finite);
    let mut drawn = Drawn { title: String::new(), strokes: vec![], words: vec![] };
    let (mut color, mut ended) = (String::new(), false);
    while let Some(line) = lines.next() {
        assert!(!ended, "nothing comes after `go`");
        let words: Vec<&str> = line.split(' ').collect();
        let (command, mut rest) = (words[0], &words[1..]);
        let mut now = color.clone();
        if let [before @ .., last] = rest
            && COLORS.contains(last)
        {
            (rest, now) = (before, (*last).to_owned());
        }
        let numbers = || rest.iter().map(ToString::to_string).collect::<Vec<_>>();
        match (command, rest.len()) {
            ("title", 0) => drawn.title = lines.next().unwrap().to_owned(),
            ("xlabel" | "ylabel", 0) => assert!(!lines.next().unwrap().is_empty()),
            ("go", 0) => ended = true,
            (name, 0) if COLORS.contains(&name) => color = name.to_owned(),
            ("line" | "dline", 4) if rest.iter().all(number) => {
                drawn.strokes.push((now, command.to_owned(), numbers()));
            }
            ("atext" | "btext" | "ltext" | "rtext" | "ctext", 2) if rest.iter().all(number) => {
                drawn.words.push((now, numbers(), lines.next().unwrap().to_owned()));
            }
            (mark, 2) if MARKS.contains(&mark) && rest.iter().all(number) => {
                drawn.strokes.push((now, command.to_owned(), numbers()));
            }
            _ => panic!("not a line of xplot: {line}"),
        }
    }
    assert!(!drawn.title.is_empty());
    drawn
}

/// A capture of the corpus, unpacked.
fn unpacked(name: &str, place: &Path) -> PathBuf {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/groundtruth")
        .join(format!("{name}.pcap.zst"));
    let path = place.join(name);
    let mut packed = tcplab_capture::Source::open(&packed).unwrap();
    std::io::copy(&mut packed, &mut std::fs::File::create(&path).unwrap()).unwrap();
    path
}

fn drawn(capture: &Path) -> BTreeMap<String, String> {
    let epoch = tcplab_trace::analyze(Reader::open(capture).unwrap()).epoch_nanos;
    let sink = XplSink::new(Memory::default(), &XplGraph::ALL, Some(epoch));
    let mut analyzer = Analyzer::with_sink(sink);
    analyzer.read(Reader::open(capture).unwrap());
    let (_, sink) = analyzer.finish_into();
    let (count, Memory(files)) = sink.finish().unwrap();
    assert_eq!(count, files.len() as u64);
    files.into_iter().map(|(name, text)| (name, String::from_utf8(text).unwrap())).collect()
}

/// tcptrace's files of the same capture, with sequence numbers from 0.
fn theirs(capture: &Path, place: &Path) -> Option<BTreeMap<String, String>> {
    let done = Command::new("tcptrace")
        .args(["-n", "-S", "-R", "-T", "-N", "-F", "-y", "-zy", "--noshowzerolensegs"])
        .arg(capture)
        .current_dir(place)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !done.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: tcptrace cannot be run, so nothing was compared");
        return None;
    }
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "xpl") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            files.insert(name, std::fs::read_to_string(path).unwrap());
        }
    }
    Some(files)
}

/// Without colours: tcptrace classifies retransmissions differently.
fn places(strokes: &[Stroke], which: impl Fn(&Stroke) -> bool) -> Vec<(&str, &[String])> {
    let chosen = strokes.iter().filter(|stroke| which(stroke));
    let mut chosen: Vec<_> = chosen.map(|(_, command, at)| (command.as_str(), &at[..])).collect();
    chosen.sort_unstable();
    chosen
}

/// Time and value of the dots of one colour.
fn dots(drawn: &Drawn, color: &str) -> BTreeMap<String, Vec<f64>> {
    let mut dots: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (own, command, at) in &drawn.strokes {
        if own == color && command == "dot" {
            dots.entry(at[0].clone()).or_default().push(at[1].parse().unwrap());
        }
    }
    dots
}

fn compare(case: &str, ours: &Drawn, theirs: &Drawn) {
    assert_eq!(ours.title, theirs.title, "{case}");
    if case.contains("tput") {
        for color in ["red", "blue"] {
            let (ours, theirs) = (dots(ours, color), dots(theirs, color));
            assert!(ours.keys().eq(theirs.keys()), "{case}: not at the same times");
            for (at, values) in ours {
                // Theirs are truncated after floating-point division.
                let close = values.iter().zip(&theirs[&at]).all(|(a, b)| (a - b).abs() <= 1.0);
                assert!(close, "{case} at {at}: {values:?}, theirs {:?}", theirs[&at]);
            }
        }
    } else if case.contains("tsg") {
        // They begin an end's graph with a dot at the other end's first packet.
        let beginning = |s: &Stroke| s.0 == "green" && s.1 == "dot";
        let ours = places(&ours.strokes, |_| true);
        let theirs = places(&theirs.strokes, |stroke| !beginning(stroke));
        let differs = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
        assert_eq!((differs, ours.len()), (None, theirs.len()), "{case}");
    } else if case.contains("ssize") {
        for color in ["red", "blue"] {
            assert_eq!(dots(ours, color), dots(theirs, color), "{case}: {color}");
        }
    } else if case.contains("rtt") {
        let (ours, theirs) = (dots(ours, "red"), dots(theirs, "red"));
        // After a loss they skip data sent before a repair and acknowledged with it; here all data
        // sent before the latest repair is skipped.
        let strays = ours.keys().filter(|at| !theirs.contains_key(*at)).count()
            + theirs.keys().filter(|at| !ours.contains_key(*at)).count();
        let allowed = if case.contains(".rcv") { theirs.len() / 50 } else { 0 };
        assert!(strays <= allowed, "{case}: {strays} of {} at other times", theirs.len());
        for (at, values) in ours.into_iter().filter(|(at, _)| theirs.contains_key(at)) {
            let whole: Vec<f64> = values.iter().map(|value| value.trunc()).collect();
            assert_eq!(whole, theirs[&at], "{case} at {at}: theirs are whole milliseconds");
        }
    } else {
        // Theirs count one byte more, and pure ACKs too.
        let (ours, theirs) = (dots(ours, "red"), dots(theirs, "red"));
        for (at, values) in ours {
            for value in values {
                assert!(theirs[&at].contains(&(value + 1.0)), "{case} at {at}: {value} in flight");
            }
        }
    }
}

const NEW: SegmentKind = SegmentKind::New;

fn small<S: XplFiles>(sink: &mut XplSink<S>) {
    let flow = FlowId { connection: 0, forward: true };
    let at = |micros: u64| Instant::from_nanos(micros * 1_000);
    let range = |start, end| Range { start: Offset::new(start), end: Offset::new(end) };
    let segment = |micros, start, end, kind| Segment {
        at: at(micros),
        frame: micros,
        flags: tcplab_wire::TcpFlags::NONE,
        range: range(start, end),
        payload: Bytes::new(end - start),
        syn: false,
        fin: false,
        psh: false,
        kind,
        timer: None,
        proof: Proof::default(),
        in_flight: Bytes::new(1_000),
        comment: None,
        dropped: false,
    };
    let ack = |micros, number, window| Ack {
        at: at(micros),
        frame: micros,
        flags: tcplab_wire::TcpFlags::NONE,
        ack: Offset::new(number),
        window: Some(Bytes::new(window)),
        sack: vec![],
        dsack: None,
        duplicate: false,
        copied: false,
        reset: false,
        zero: false,
        has_data: false,
        in_flight: Bytes::ZERO,
        comment: None,
        dropped: false,
    };
    sink.segment(flow, Segment { syn: true, payload: Bytes::ZERO, ..segment(0, 0, 1, NEW) });
    sink.ack(flow, ack(20_000, 1, 5_000));
    sink.segment(flow, segment(20_100, 1, 1_001, NEW));
    sink.segment(flow, Segment { psh: true, ..segment(20_200, 1_001, 2_001, NEW) });
    let block = vec![range(1_001, 2_001)];
    sink.ack(flow, Ack { sack: block, duplicate: true, ..ack(40_200, 1, 5_000) });
    let timer = Some(Timer::Retransmission);
    sink.segment(
        flow,
        Segment { timer, ..segment(240_000, 1, 1_001, SegmentKind::TimeoutRetransmission) },
    );
    sink.ack(flow, ack(260_000, 2_001, 0));
    sink.segment(
        flow,
        Segment { fin: true, payload: Bytes::ZERO, ..segment(270_000, 2_001, 2_002, NEW) },
    );
    sink.ack(flow, Ack { dsack: Some(range(1, 1_001)), ..ack(1_290_000, 2_002, 3_000) });
    let ends = ["10.0.0.1:40000", "[2001:db8::1]:80"].map(|end| end.parse().unwrap());
    sink.connection(0, &Connection::between(ends[0], ends[1]));
}

#[test]
fn a_small_graph() {
    let mut sink = XplSink::new(Memory::default(), &XplGraph::ALL, None);
    small(&mut sink);
    let (count, Memory(files)) = sink.finish().unwrap();
    assert_eq!(count, 5);
    let mut shown = String::new();
    for (name, text) in files {
        let text = String::from_utf8(text).unwrap();
        parsed(&text);
        shown += &format!("== {name}\n{text}");
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn only_chosen_graphs_are_drawn() {
    let mut sink = XplSink::new(Memory::default(), &XplGraph::ALL, None).only([1].into());
    small(&mut sink);
    assert_eq!(sink.finish().unwrap().0, 0);
    let mut sink = XplSink::new(Memory::default(), &[XplGraph::RoundTrips], None);
    small(&mut sink);
    let (_, Memory(files)) = sink.finish().unwrap();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["a2b_rtt.xpl"]);
}

#[test]
fn names_after_z_have_two_letters() {
    for (connection, forward, expected) in [
        (0, true, "a2b_tsg.xpl"),
        (0, false, "b2a_tsg.xpl"),
        (12, true, "y2z_tsg.xpl"),
        (13, true, "aa2ab_tsg.xpl"),
        (351, false, "aab2aaa_tsg.xpl"),
    ] {
        assert_eq!(name(connection, forward, XplGraph::TimeSequence), expected);
    }
}

#[test]
fn full_disk_is_reported_once() {
    struct Full(u32);
    impl XplFiles for Full {
        fn append(&mut self, _name: &str, _begins: bool, _text: &[u8]) -> io::Result<()> {
            self.0 += 1;
            assert_eq!(self.0, 1, "asked again after the disk was full");
            Err(io::ErrorKind::StorageFull.into())
        }
    }
    let mut sink = XplSink::new(Full(0), &XplGraph::ALL[..2], None);
    small(&mut sink);
    assert!(sink.has_failed());
    let Err(error) = sink.finish() else { panic!("the disk is full") };
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn graphs_match_tcptrace() {
    let place = tempfile::tempdir().unwrap();
    for name in ["loss1_cubic.snd", "loss1_cubic.rcv", "rwnd_limited.snd", "nosack_loss1.snd"] {
        let capture = unpacked(name, place.path());
        let ours = drawn(&capture);
        let there = tempfile::tempdir().unwrap();
        let theirs = theirs(&capture, there.path());
        for (file, text) in &ours {
            let graph = parsed(text);
            if file.ends_with("_rttseq.xpl") {
                // Not theirs: the samples are those over time.
                let over_time = parsed(&ours[&file.replace("_rttseq", "_rtt")]);
                let values = |drawn: &Drawn| -> Vec<String> {
                    let dots = drawn.strokes.iter().filter(|stroke| stroke.1 == "dot");
                    dots.map(|(_, _, at)| at[1].clone()).collect()
                };
                assert_eq!(values(&graph), values(&over_time), "{name} {file}");
            } else if let Some(theirs) = &theirs {
                compare(&format!("{name} {file}"), &graph, &parsed(&theirs[file]));
            }
        }
        for file in theirs.iter().flat_map(BTreeMap::keys).filter(|file| !ours.contains_key(*file))
        {
            let of_data = ["tput", "owin", "ssize"].iter().any(|graph| file.contains(graph));
            assert!(
                of_data,
                "{name} {file}: only a graph of data, where none are, may be left out"
            );
        }
    }
}

/// Wireshark's way to average, with the sum of a window taken from the packets.
#[test]
fn chosen_samples_and_average_are_drawn() {
    let home = tempfile::tempdir().unwrap();
    let capture = unpacked("loss1_cubic.snd", home.path());
    let span = Span::from_millis(250);
    let graphs = [XplGraph::Throughput, XplGraph::RoundTrips];
    let sink = XplSink::new(Memory::default(), &graphs, None);
    let mut analyzer = Analyzer::with_sink(sink.samples(&RttKind::ALL).averaged_over(Some(span)));
    analyzer.read(Reader::open(&capture).unwrap());
    let (_, Memory(files)) = analyzer.finish_into().1.finish().unwrap();
    let trace = tcplab_trace::analyze(Reader::open(&capture).unwrap());
    let flow = &trace.connections[1].forward;

    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    let dots = |name: &str| -> Vec<(f64, f64)> {
        let text = text(name);
        let dots = text.lines().filter_map(|line| line.strip_prefix("dot "));
        let number = |text: &str| text.parse::<f64>().unwrap();
        dots.filter_map(|it| it.split_once(' ')).map(|(x, y)| (number(x), number(y))).collect()
    };
    let trips = crate::round_trips(flow);
    assert_eq!(dots("c2d_rtt.xpl").len(), trips.len());
    for color in ["red", "orange", "pink", "purple"] {
        assert!(text("c2d_rtt.xpl").lines().any(|line| line == color), "{color}");
    }

    let data: Vec<&Segment> = flow.segments.iter().filter(|it| it.payload > Bytes::ZERO).collect();
    let drawn = dots("c2d_tput.xpl");
    assert_eq!(drawn.len(), data.len());
    for (segment, (_, drawn)) in data.iter().zip(drawn).step_by(17) {
        let is_inside = |it: &&&Segment| it.at + span > segment.at && it.frame <= segment.frame;
        let bytes: u64 = data.iter().filter(is_inside).map(|it| it.payload.as_u64()).sum();
        let expected = bytes as f64 / span.as_secs_f64();
        // Times are joined to a 65,536th of the span.
        assert!(
            (drawn - expected).abs() <= 2.0 * 1448.0 / span.as_secs_f64(),
            "{drawn} {expected}"
        );
    }
}
