use proptest::prelude::*;

use super::*;

/// Files in memory.
struct Shelf;

impl Files for Shelf {
    fn find(&self, path: &str, _now: &Moment) -> Result<Found, Missing> {
        match path {
            "/" => Ok(Found::new("index.html", Body::Bytes((*b"hello\n").into()), Some(0))),
            "/a b" => Ok(Found::new("x", Body::Bytes((*b"spaced").into()), None)),
            "/secret" => Err(Missing::Forbidden),
            "/busy" => Err(Missing::Unable),
            _ => Err(Missing::NotThere),
        }
    }
}

/// The whole answer to these pieces, and whether the server wants to end.
fn converse(pieces: &[&[u8]]) -> (String, After) {
    let moment = Moment::at(784_111_777);
    let mut session = Http::new(Arc::new(Shelf)).open();
    let (mut unread, mut answer) = (Vec::new(), Vec::new());
    let mut after = After::Continue;
    session.advance(&[], &moment, &mut Output::default());
    for piece in pieces {
        unread.extend_from_slice(piece);
        loop {
            let mut output = Output::default();
            let taken = session.advance(&unread, &moment, &mut output);
            unread.drain(..taken);
            answer.extend_from_slice(output.pending());
            if after == After::Continue {
                after = output.after();
            }
            if taken == 0 && output.is_empty() {
                break;
            }
        }
    }
    (String::from_utf8(answer).unwrap(), after)
}

/// The first line of each answer, and how it ends.
fn status_lines(request: &str) -> (Vec<String>, After) {
    let (answer, after) = converse(&[request.as_bytes()]);
    let lines = answer.lines().filter(|line| line.starts_with("HTTP/1.1 "));
    (lines.map(|line| line[9..].to_owned()).collect(), after)
}

#[test]
fn response_is_complete() {
    let (answer, after) = converse(&[b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"]);
    let expected = "HTTP/1.1 200 OK\r\nServer: tcplab\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
                    Content-Length: 6\r\nContent-Type: text/html\r\n\
                    Last-Modified: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\nhello\n";
    assert_eq!((answer.as_str(), after), (expected, After::Continue));
    let (head, _) = converse(&[b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"]);
    assert_eq!(head, expected.strip_suffix("hello\n").unwrap());
    let (old, after) = converse(&[b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"]);
    assert!(old.contains("\r\nConnection: keep-alive\r\n"), "{old}");
    assert_eq!(after, After::Continue);
}

#[rustfmt::skip]
const REQUESTS: &[(&str, &[&str], After)] = &[
    // Whole requests, one or several.
    ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", &["200 OK"], After::Continue),
    ("\r\n\nGET / HTTP/1.1\nHost: x\n\n", &["200 OK"], After::Continue),
    ("GET / HTTP/1.1\r\nHost: x\r\n\r\nHEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET /no HTTP/1.1\r\nHost: x\r\n\r\n", &["200 OK", "200 OK", "404 Not Found"], After::Continue),
    ("GET http://x/a%20b?q HTTP/1.1\r\nHost: x\r\n\r\n", &["200 OK"], After::Continue),
    ("GET http://x HTTP/1.1\r\nHost: x\r\n\r\n", &["200 OK"], After::Continue),
    // Requests that end the connection.
    ("GET / HTTP/1.1\r\nHost: x\r\nConnection: foo , Close\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", &["200 OK"], After::Close),
    ("GET / HTTP/1.0\r\n\r\n", &["200 OK"], After::Close),
    // Requests that are understood and refused; the connection continues.
    ("GET /../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", &["400 Bad Request"], After::Continue),
    ("GET /%2e%2e/x HTTP/1.1\r\nHost: x\r\n\r\n", &["400 Bad Request"], After::Continue),
    ("GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", &["400 Bad Request"], After::Continue),
    ("GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", &["400 Bad Request"], After::Continue),
    ("GET /secret HTTP/1.1\r\nHost: x\r\n\r\n", &["403 Forbidden"], After::Continue),
    ("GET /busy HTTP/1.1\r\nHost: x\r\n\r\n", &["503 Service Unavailable"], After::Continue),
    ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: x\r\n\r\n", &["405 Method Not Allowed", "200 OK"], After::Continue),
    ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", &["200 OK"], After::Continue),
    // Malformed requests; the connection ends.
    ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n", &["413 Content Too Large"], After::Linger),
    ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", &["400 Bad Request"], After::Linger),
    ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc", &["400 Bad Request"], After::Linger),
    ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", &["501 Not Implemented"], After::Linger),
    ("GET / HTTP/1.1\r\n\r\n", &["400 Bad Request"], After::Linger),
    ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", &["400 Bad Request"], After::Linger),
    ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", &["505 HTTP Version Not Supported"], After::Linger),
    ("GET / HTTP/1.1\r\nHo st: x\r\n\r\n", &["400 Bad Request"], After::Linger),
    ("\x16\x03\x01\x02\0", &["400 Bad Request"], After::Linger),
    // Incomplete requests.
    ("GET / HTTP/1.1\r\nHost: x\r\n", &[], After::Continue),
    ("", &[], After::Continue),
];

#[test]
fn requests_are_answered() {
    for (request, answers, after) in REQUESTS {
        let expected: Vec<String> = answers.iter().map(|&line| line.to_owned()).collect();
        assert_eq!(status_lines(request), (expected, *after), "{request:?}");
    }
}

#[test]
fn too_long_request_is_refused() {
    let long = "x".repeat(9000);
    for (request, answer) in [
        (format!("GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n"), "414 URI Too Long"),
        (format!("GET / HTTP/1.1\r\nHost: {long}\r\n\r\n"), "431 Request Header Fields Too Large"),
        (
            format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(100)),
            "431 Request Header Fields Too Large",
        ),
    ] {
        assert_eq!(status_lines(&request), (vec![answer.to_owned()], After::Linger));
    }
}

#[test]
fn stopping_session_answers_once_more() {
    let moment = Moment::at(0);
    let mut session = Http::new(Arc::new(Shelf)).open();
    session.stop();
    let mut output = Output::default();
    let request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2);
    assert_eq!(session.advance(&request, &moment, &mut output), request.len());
    let answer = String::from_utf8_lossy(output.pending()).into_owned();
    assert_eq!(answer.matches("200 OK").count(), 1, "{answer}");
    assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
    assert_eq!(output.after(), After::Linger);
}

#[test]
fn late_request_is_answered_with_408() {
    let moment = Moment::at(0);
    let mut session = Http::new(Arc::new(Shelf)).open();
    let mut output = Output::default();
    session.advance(b"\r\n", &moment, &mut output);
    assert_eq!(session.phase(), Phase::Idle);
    session.advance(b"GE", &moment, &mut output);
    assert_eq!(session.phase(), Phase::Request);
    session.late(&moment, &mut output);
    assert!(output.pending().starts_with(b"HTTP/1.1 408 Request Timeout\r\n"));
}

#[test]
fn files_are_found_and_nothing_outside_of_their_folder() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("site");
    std::fs::create_dir_all(folder.join("sub")).unwrap();
    for (name, content) in [("index.html", "start"), ("sub/index.html", "sub"), ("b.txt", "b")] {
        std::fs::write(folder.join(name), content).unwrap();
    }
    std::fs::write(outside.path().join("key"), "secret").unwrap();
    std::os::unix::fs::symlink("../key", folder.join("out")).unwrap();
    std::os::unix::fs::symlink("b.txt", folder.join("in")).unwrap();
    let disk = Disk::open(&folder).unwrap();
    let look = |disk: &Disk, path: &str, second: u64| {
        disk.find(path, &Moment::at(second)).map(|found| match found.body {
            Body::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Body::File(_, length) => format!("{length} bytes"),
        })
    };
    for (path, expected) in [
        ("/", Ok("start")),
        ("/index.html", Ok("start")),
        ("/sub/", Ok("sub")),
        ("/in", Ok("b")),
        ("/sub", Err(Missing::NotThere)),
        ("/none", Err(Missing::NotThere)),
        ("/out", Err(Missing::NotThere)),
        ("//etc/passwd", Err(Missing::NotThere)),
    ] {
        assert_eq!(look(&disk, path, 1), expected.map(str::to_owned), "{path}");
    }
    // What changes is seen a second later at most; so is what vanishes.
    std::fs::write(folder.join("b.txt"), vec![b'x'; 70_000]).unwrap();
    assert_eq!(look(&disk, "/in", 1), Ok("b".into()));
    assert_eq!(look(&disk, "/in", 2), Ok("70000 bytes".into()));
    std::fs::remove_file(folder.join("b.txt")).unwrap();
    assert_eq!(look(&disk, "/in", 3), Err(Missing::NotThere));
    let only = Disk::open(&outside.path().join("key")).unwrap();
    assert_eq!(look(&only, "/", 1), Ok("secret".into()));
    assert_eq!(look(&only, "/key", 1), Ok("secret".into()));
    assert_eq!(look(&only, "/site/index.html", 1), Err(Missing::NotThere));
    assert!(Disk::open(&outside.path().join("gone")).is_err());
}

proptest! {
    #[test]
    fn cut_anywhere_requests_are_answered_the_same(
        which in prop::collection::vec(0..REQUESTS.len(), 1..4),
        noise in prop::collection::vec(any::<u8>(), 0..20),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut bytes: Vec<u8> =
            which.iter().flat_map(|&at| REQUESTS[at].0.bytes()).collect();
        bytes.extend(noise);
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let pieces: Vec<&[u8]> =
            places.windows(2).map(|two| &bytes[two[0]..two[1]]).collect();
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        let whole = converse(&[&bytes]);
        prop_assert_eq!(&converse(&pieces), &whole);
        prop_assert_eq!(&converse(&single), &whole);
    }
}
