//! What must hold of every drawing, and one drawing whole.

use tcplab_trace::{Basis, HandshakeKind, SeenFrom, StepCause};
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::TcpFlags;

use super::*;

fn walk(end: Endpoint, steps: &[(TcpState, Event)]) -> StateWalk {
    let mut from = TcpState::Closed;
    let edges = steps.iter().enumerate().map(|(index, &(to, event))| {
        let at = Instant::ZERO + Span::from_millis(10 * index as u64);
        let packet = StepCause { at, frame: index as u64 + 1, flags: TcpFlags::ACK, by: end };
        let packet = (to != TcpState::Listen).then_some(packet);
        let from = std::mem::replace(&mut from, to);
        let at = packet.map(|packet| packet.at);
        Edge { step: index + 1, from, to, event, basis: Basis::Seen, packet, at }
    });
    let edges = edges.collect();
    let address = if end == Endpoint::Client { "10.98.0.1:32768" } else { "10.98.0.2:5001" };
    let (address, start) = (address.parse().unwrap(), Some(TcpState::Closed));
    StateWalk { end, address, seen_from: SeenFrom::Beside, start, edges }
}

fn walks(client: &[(TcpState, Event)], server: &[(TcpState, Event)]) -> StateWalks {
    StateWalks {
        client: walk(Endpoint::Client, client),
        server: walk(Endpoint::Server, server),
        opening: HandshakeKind::ThreeWay,
        close: None,
        time_wait: Vec::new(),
    }
}

const OPEN: [(TcpState, Event); 2] =
    [(TcpState::SynSent, Event::ActiveOpen), (TcpState::Established, Event::SynAck)];
const ACCEPTED: [(TcpState, Event); 3] = [
    (TcpState::Listen, Event::PassiveOpen),
    (TcpState::SynReceived, Event::Syn),
    (TcpState::Established, Event::AckOfSyn),
];

/// From one state's border to the other's.
#[test]
fn every_edge_of_the_figure_is_drawn() {
    for known in DIAGRAM {
        let route = Route::of(known.from, known.to);
        let route = route.unwrap_or_else(|| panic!("{known:?} is not drawn"));
        let touches = |state: TcpState, (x, y): (i64, i64)| {
            StatePosition::ALL.iter().filter(|place| place.state == state).any(|place| {
                (place.x - x).abs() <= BOX.0 / 2 + 2 && (place.y - y).abs() <= BOX.1 / 2 + 2
            })
        };
        let (start, (end, _)) = (route.start(), route.end());
        assert!(touches(known.from, start) && touches(known.to, end), "{known:?}");
    }
}

/// An RST can arrive in any state.
#[test]
fn rst_is_drawn_from_every_state() {
    for state in TcpState::ALL {
        if matches!(state, TcpState::Closed | TcpState::Listen) {
            continue;
        }
        let route = Route::walked(state, TcpState::Closed);
        let (x, y, anchor) = route.unwrap_or_else(|| panic!("{state:?}")).label();
        // The width of the longest line: step, frame, flags, time.
        let width = 150;
        let (left, right) = match anchor {
            "start" => (x, x + width),
            "middle" => (x - width / 2, x + width / 2),
            _ => (x - width, x),
        };
        assert!(left >= 0 && right <= WIDTH && y < HEIGHT - 2 * LINE, "{state:?}");
    }
}

#[test]
fn state_walk_is_drawn() {
    let client = [
        &OPEN[..],
        &[
            (TcpState::FinWait1, Event::Close),
            (TcpState::FinWait2, Event::AckOfFin),
            (TcpState::TimeWait, Event::Fin),
        ],
    ]
    .concat();
    let server = [
        &ACCEPTED[..],
        &[(TcpState::CloseWait, Event::Fin), (TcpState::Closed, Event::ResetReceived)],
    ]
    .concat();
    let walks = walks(&client, &server);
    let svg = state_diagram(&StateDiagram { title: "<A & B>", walks: Some(&walks) });
    assert!(!svg.contains("<A & B>") && svg.contains("&lt;A &amp; B&gt;"));
    assert_eq!(svg.matches(r#"class="walked client""#).count(), 1 + client.len());
    assert_eq!(svg.matches(r#"class="walked server""#).count(), 1 + server.len());
    // One dot in each last state; the RST leads to the lower CLOSED.
    assert_eq!(svg.matches("<circle").count(), 2);
    assert!(svg.contains(r#"class="there server" cx="838" cy="898""#), "{svg}");
    let drawn = state_diagram(&StateDiagram { title: "A life", walks: Some(&walks) });
    insta::assert_snapshot!(drawn.replace("><", ">\n<"));
}

#[test]
fn unknown_ends_are_drawn() {
    let mut walks = walks(&OPEN, &[]);
    walks.server.start = None;
    let drawn = state_diagram(&StateDiagram { title: "", walks: Some(&walks) });
    assert!(drawn.contains("not captured"));
    walks.server.start = Some(TcpState::Established);
    let drawn = state_diagram(&StateDiagram { title: "", walks: Some(&walks) });
    assert!(drawn.contains("in ESTABLISHED throughout"));
}

/// No packet shows it, but when it was is known.
#[test]
fn user_timeout_is_drawn_with_its_time() {
    let timeout = |state| [&OPEN[..], &[(state, Event::UserTimeout)]].concat();
    let mut walks = walks(&timeout(TcpState::Closed), &ACCEPTED);
    let last = walks.client.edges.last_mut().unwrap();
    (last.packet, last.at) = (None, Some(Instant::from_nanos(5_602_228_630)));
    let svg = state_diagram(&StateDiagram { title: "", walks: Some(&walks) });
    assert!(svg.contains(">user timeout</text>"), "{svg}");
    assert!(svg.contains(">3 · inferred 5.6022 s</text>"), "{svg}");
    // It ends a connection, as an RST does.
    assert!(svg.contains(r#"class="there client" cx="822" cy="898""#), "{svg}");
    let mut both = walks.clone();
    both.server.edges.push(Edge { event: Event::ResetReceived, ..both.client.edges[2] });
    let svg = state_diagram(&StateDiagram { title: "", walks: Some(&both) });
    assert!(svg.contains(">RST; user timeout</text>"), "{svg}");
}

/// Both ends walk the same edges, some beside the figure, and end by RST in each state.
#[test]
fn labels_never_overlap() {
    let close = |state| match state {
        TcpState::FinWait1 => vec![(TcpState::FinWait1, Event::Close)],
        TcpState::FinWait2 => {
            vec![(TcpState::FinWait1, Event::Close), (TcpState::FinWait2, Event::AckOfFin)]
        }
        TcpState::Closing => {
            vec![(TcpState::FinWait1, Event::Close), (TcpState::Closing, Event::Fin)]
        }
        TcpState::CloseWait => vec![(TcpState::CloseWait, Event::Fin)],
        _ => Vec::new(),
    };
    let opens = [&OPEN[..], &ACCEPTED[..]];
    for (client, server) in TcpState::ALL.iter().flat_map(|it| TcpState::ALL.map(|is| (*it, is))) {
        for (one, other) in [(0, 1), (0, 0), (1, 1)] {
            let walk = |open: usize, state| {
                let reset = vec![(TcpState::Closed, Event::ResetReceived)];
                if open == 1 && state == TcpState::SynReceived {
                    return [&ACCEPTED[..2], &[(TcpState::Listen, Event::ResetReceived)]].concat();
                }
                [opens[open].to_vec(), close(state), reset].concat()
            };
            let walks = walks(&walk(one, client), &walk(other, server));
            let labels = labels([Some(&walks.client), Some(&walks.server)]);
            for (index, label) in labels.iter().enumerate() {
                let clear = |other: &Label| !overlap(label.area(), other.area());
                let texts = |label: &Label| format!("{:?}", label.lines);
                for beside in &labels[index + 1..] {
                    assert!(clear(beside), "{} over {}", texts(label), texts(beside));
                }
                let [left, top, right, bottom] = label.area();
                let is_inside = left >= 0 && top >= 0 && right <= WIDTH && bottom <= HEIGHT;
                assert!(is_inside, "{} at {:?}", texts(label), label.area());
            }
        }
    }
}

/// Of a long capture, with numbers of seven digits.
#[test]
fn labels_of_large_numbers_stay_inside() {
    let closing = [
        &OPEN[..],
        &[
            (TcpState::FinWait1, Event::Close),
            (TcpState::FinWait2, Event::AckOfFin),
            (TcpState::TimeWait, Event::Fin),
        ],
    ]
    .concat();
    let answering = [
        &ACCEPTED[..],
        &[
            (TcpState::CloseWait, Event::Fin),
            (TcpState::LastAck, Event::Close),
            (TcpState::Closed, Event::AckOfFin),
        ],
    ]
    .concat();
    let mut walks = walks(&closing, &answering);
    for walk in [&mut walks.client, &mut walks.server] {
        for edge in &mut walk.edges {
            edge.at = edge.at.map(|_| Instant::from_nanos(117_428_250_000));
            edge.packet = edge.packet.map(|it| StepCause { frame: 1_313_638, ..it });
        }
    }
    let labels = labels([Some(&walks.client), Some(&walks.server)]);
    let lines = labels.iter().flat_map(|it| it.lines.iter().map(move |line| (it, line)));
    let mut times = 0;
    for (label, (_, text)) in lines.filter(|(_, (class, _))| class.starts_with("\"walk ")) {
        let room = room(label.x, label.anchor) as f64;
        assert!(width(text) * WIDEST <= room, "{text} in {room} px");
        times += usize::from(text.ends_with("117.4283 s"));
    }
    assert_eq!(times, 10);
}
