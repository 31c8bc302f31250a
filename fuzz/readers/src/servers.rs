//! What servers and their clients read from one another.

use std::sync::Arc;

use tcplab_load::Fault;
use tcplab_load::foreign::verdict;
use tcplab_servers::{After, Body, Files, Found, Http, Missing, Moment, Output, Service};

struct Page;

impl Files for Page {
    fn find(&self, path: &str, _now: &Moment) -> Result<Found, Missing> {
        assert!(path.starts_with('/') && !path.contains('\0'), "{path:?} is no path");
        assert!(path.split('/').all(|part| part != ".."), "{path:?} leads out");
        match path {
            "/" => Ok(Found::new("index.html", Body::Bytes((*b"hello").into()), None)),
            _ => Err(Missing::NotThere),
        }
    }
}

/// Two bytes for the cuts, then HTTP as requests and as an answer: cuts change nothing.
pub(crate) fn http(bytes: &[u8]) {
    let (cuts, bytes) = bytes.split_at(bytes.len().min(2));
    let cut = |cut: Option<&u8>| {
        cut.map_or(0, |cut| usize::from(*cut) * bytes.len() / usize::from(u8::MAX))
    };
    let (from, to) = (cut(cuts.first()), cut(cuts.get(1)));
    let (from, to) = (from.min(to), from.max(to));
    let pieces = [&bytes[..from], &bytes[from..to], &bytes[to..]];
    assert_eq!(serve(&pieces), serve(&[bytes]), "a request cut is another");
    // Bytes behind a whole response are an error only in the same read.
    let (whole, cut) = (verdict(&[bytes]), verdict(&pieces));
    let is_unreadable = whole.0 == Some(Fault::Protocol);
    assert!(cut == whole || is_unreadable, "an answer cut is another: {whole:?}, {cut:?}");
}

/// What a server answers, and how it wants to end.
fn serve(pieces: &[&[u8]]) -> (Vec<u8>, After) {
    let moment = Moment::at(784_111_777);
    let mut session = Http::new(Arc::new(Page)).open();
    let (mut unread, mut answer, mut after) = (Vec::new(), Vec::new(), After::Continue);
    for piece in pieces {
        unread.extend_from_slice(piece);
        loop {
            let mut output = Output::default();
            let taken = session.advance(&unread, &moment, &mut output);
            assert!(taken <= unread.len(), "it takes what is there");
            unread.drain(..taken);
            answer.extend_from_slice(output.pending());
            if after == After::Continue {
                after = output.after();
            }
            if taken == 0 && output.is_empty() {
                break;
            }
        }
        assert!(unread.len() < 16 << 10, "what is too long is refused");
    }
    session.end(&unread, &moment, &mut Output::default());
    (answer, after)
}
