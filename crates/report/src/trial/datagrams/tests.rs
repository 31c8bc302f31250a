use tcplab_results::DatagramMark;

use super::*;

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

fn row(from: Endpoint, of: [u32; 2], sent: u64, arrived: Option<u64>) -> DatagramRow {
    let [request, attempt] = of;
    DatagramRow {
        from,
        kind: if from == Endpoint::Client { DatagramKind::Request } else { DatagramKind::Answer },
        mark: Some(DatagramMark { request, attempt }),
        packet: sent,
        is_copy: false,
        sent: ms(sent),
        arrived: arrived.map(ms),
        lost: arrived.is_none().then(|| "dropped by random loss".into()),
        frame: Some(sent + 1),
    }
}

fn request(asked: u64, tries: &[u64], answered: Option<(u64, u32)>) -> RequestReport {
    RequestReport {
        asked: ms(asked),
        tries: tries.iter().map(|at| ms(*at)).collect(),
        answered: answered.map(|(at, _)| ms(at)),
        answer_to: answered.map(|(_, attempt)| attempt),
        ..RequestReport::default()
    }
}

/// The first answered at once, the second after a retry, the third never.
fn all() -> Correspondence {
    let (client, server) = (Endpoint::Client, Endpoint::Server);
    Correspondence {
        requests: vec![
            request(0, &[0], Some((20, 1))),
            request(20, &[20, 120], Some((140, 2))),
            request(140, &[140, 240], None),
        ],
        datagrams: vec![
            row(client, [1, 1], 0, Some(10)),
            row(server, [1, 1], 10, Some(20)),
            row(client, [2, 1], 20, None),
            row(client, [2, 2], 120, Some(130)),
            row(server, [2, 2], 130, Some(140)),
            row(client, [3, 1], 140, None),
            row(client, [3, 2], 240, Some(250)),
            row(server, [3, 2], 250, None),
        ],
    }
}

fn view(all: Correspondence) -> DatagramsView {
    DatagramsView::of(&TrialData {
        client: tcplab_trace::Trace::default(),
        server: tcplab_trace::Trace::default(),
        samples: vec![],
        timed_out: [None; 2],
        vanished: [None; 2],
        interruptions: vec![],
        path: tcplab_path::PathSpec::default(),
        queues: tcplab_recording::Queues::Logged(vec![]),
        correspondence: Some(all),
        duration: Span::ZERO,
    })
    .unwrap()
}

#[test]
fn story_counts_requests_and_datagrams() {
    assert_eq!(
        view(all()).story,
        "No TCP connection: the endpoints exchanged UDP datagrams. Of 3 requests, 1 was \
         answered at the first try, 1 after a retransmission, 1 never. Of 8 datagrams on the path, \
         3 were lost."
    );
}

#[test]
fn request_rows_have_outcome_and_fates() {
    let rows = view(all()).rows;
    let outcomes: Vec<_> = rows.iter().map(|row| (row.class, &*row.outcome)).collect();
    assert_eq!(
        outcomes,
        [
            ("answered", "answered"),
            ("retried", "answered, by the answer to try 2"),
            ("unanswered", "no answer in time")
        ]
    );
    let fates: Vec<_> = rows[1].fates.iter().map(|it| (&*it.text, it.lost)).collect();
    assert_eq!(
        fates,
        [
            ("try 1 lost: dropped by random loss", true),
            ("try 2 arrived after 110.0 ms", false),
            ("answer 2 arrived after 120.0 ms", false),
        ]
    );
    assert_eq!((&*rows[1].asked, &*rows[1].response), ("0.0200", "120.00"));
}

/// Others are folded.
#[test]
fn ladder_shows_requests_with_retries_or_loss() {
    let shown = view(all());
    let ladder = shown.ladder.unwrap();
    for text in [
        "2 datagrams of other requests",
        "request 2, try 1",
        "answer to request 2, try 2",
        "request 3 gets",
        "100 ms of silence",
    ] {
        assert!(ladder.contains(text), "{text}");
    }
    assert!(!ladder.contains("request 1, try 1"));
    assert_eq!(shown.shown, "2 requests with retries, loss or no answer");
    let smooth = Correspondence {
        requests: all().requests[..1].to_vec(),
        datagrams: all().datagrams[..2].to_vec(),
    };
    assert!(view(smooth).ladder.is_none());
}
