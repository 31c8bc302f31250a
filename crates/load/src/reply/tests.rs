use std::sync::OnceLock;

use proptest::prelude::*;

use super::*;

const GOOD: Option<Fault> = None;

fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|at| at % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|two| &bytes[two[0]..two[1]]).collect()
}

#[rustfmt::skip]
const ANSWERS: &[(&str, Option<Fault>, u64)] = &[
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", GOOD, 5),
    ("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", GOOD, 0),
    ("HTTP/1.0 200 OK\r\n\r\nuntil the end", GOOD, 13),
    ("HTTP/1.1 204 No Content\r\n\r\n", GOOD, 0),
    ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", GOOD, 0),
    ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", GOOD, 1),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", GOOD, 5),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\nA \n0123456789\n0\nT: x\n\n", GOOD, 15),
    ("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", Some(Fault::Status(404)), 2),
    ("HTTP/1.1 500 Oh\r\n\r\n", Some(Fault::Status(500)), 0),
    ("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", Some(Fault::Closed), 5),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", Some(Fault::Closed), 5),
    ("HTTP/1.1 200 OK\r\nConte", Some(Fault::Closed), 0),
    ("", Some(Fault::Closed), 0),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", Some(Fault::Protocol), 0),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", Some(Fault::Protocol), 1),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", Some(Fault::Protocol), 0),
    ("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", Some(Fault::Protocol), 0),
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", Some(Fault::Protocol), 0),
    ("SSH-2.0-OpenSSH_9.2\r\n", Some(Fault::Protocol), 0),
];

#[test]
fn answers_are_judged() {
    for (text, fault, length) in ANSWERS {
        assert_eq!(verdict(&[text.as_bytes()]), (*fault, *length), "{text:?}");
        let single: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(verdict(&single), (*fault, *length), "{text:?} in single bytes");
    }
}

#[test]
fn bytes_after_response_are_unexpected() {
    let text = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n";
    assert_eq!(verdict(&[text]).0, Some(Fault::Protocol));
}

#[test]
fn connections_stay_or_end() {
    for (text, keeps) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: foo, Close\r\n\r\n", false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n", true),
    ] {
        let mut reply = Reply::new(Kind::Http, &Standard::None);
        let verdict = reply.receive(text.as_bytes(), &Standard::None);
        assert_eq!(verdict, Verdict::Good { keeps }, "{text:?}");
    }
}

#[test]
fn echo_is_compared() {
    let standard = Standard::Fixed(crate::Reference::of(b"0123456789").into());
    for (pieces, expected) in [
        (&[&b"01234"[..], b"56789"][..], Verdict::Good { keeps: true }),
        (&[b"01234", b"5678"], Verdict::More),
        (&[b"01234", b"5678x"], Verdict::Bad(Fault::Body, KeepsAfter(true))),
        (&[b"0123456789a"], Verdict::Bad(Fault::Protocol, KeepsAfter(false))),
    ] {
        let mut reply = Reply::new(Kind::Exactly(10), &standard);
        let verdicts = pieces.iter().map(|piece| reply.receive(piece, &standard));
        assert_eq!(verdicts.last(), Some(expected), "{pieces:?}");
    }
}

#[test]
fn bodies_are_held_against_the_first() {
    let standard = Standard::First(OnceLock::new());
    let judge = |body: &str| {
        let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        Reply::new(Kind::Http, &standard).receive(text.as_bytes(), &standard)
    };
    assert_eq!(judge("hello"), Verdict::Good { keeps: true });
    assert_eq!(judge("hello"), Verdict::Good { keeps: true });
    assert_eq!(judge("hullo"), Verdict::Bad(Fault::Body, KeepsAfter(true)));
    assert_eq!(judge("hell"), Verdict::Bad(Fault::Body, KeepsAfter(true)));
}

proptest! {
    #[test]
    fn cut_anywhere_an_answer_is_the_same(
        which in 0..ANSWERS.len(),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let (text, fault, length) = ANSWERS[which];
        prop_assert_eq!(verdict(&cut(text.as_bytes(), &cuts)), (fault, length));
    }

    #[test]
    fn arbitrary_bytes_get_a_result(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cuts in prop::collection::vec(any::<usize>(), 0..4),
    ) {
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let whole = [&head[..], &bytes].concat();
        let (whole_verdict, of_pieces) = (verdict(&[&whole]), verdict(&cut(&whole, &cuts)));
        // Bytes behind a whole response are an error only in the same read.
        let is_unreadable = whole_verdict.0 == Some(Fault::Protocol);
        prop_assert!(of_pieces == whole_verdict || is_unreadable, "{:?} {:?}", whole_verdict, of_pieces);
        verdict(&cut(&bytes, &cuts));
    }
}
