//! Characters without end (RFC 864).

use std::sync::LazyLock;

use super::{Service, Session};
use crate::calendar::Moment;
use crate::output::{After, Output};

/// Printing characters of ASCII, in their order.
const FIRST: u8 = b' ';
const CHARACTERS: usize = 95;
/// In a line, before its end.
const COLUMNS: usize = 72;
/// With its end.
const LINE: usize = COLUMNS + 2;
/// After as many bytes the pattern repeats: a line for each character.
const PERIOD: usize = CHARACTERS * LINE;
/// What is added at once: whole periods, so that the next piece begins as the first one did. Nobody
/// keeps a copy of it, so that it may be more than is enough.
const PIECE: usize = (4 * Output::FULL).div_ceil(PERIOD) * PERIOD;

/// The pattern that is popular (RFC 864, "Data Syntax"): each line begins one character later.
static PATTERN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let byte = |at: usize| {
        let (line, column) = (at / LINE, at % LINE);
        match column.checked_sub(COLUMNS) {
            None => FIRST + ((line + column) % CHARACTERS) as u8,
            Some(0) => b'\r',
            Some(_) => b'\n',
        }
    };
    (0..PIECE).map(byte).collect()
});

/// The service.
#[derive(Debug)]
pub(crate) struct Chargen;

struct Generating {
    is_stopping: bool,
}

/// The first `count` characters of the stream.
pub(crate) fn characters(count: usize) -> &'static [u8] {
    &PATTERN[..count.min(PIECE)]
}

impl Service for Chargen {
    fn open(&self) -> Box<dyn Session> {
        Box::new(Generating { is_stopping: false })
    }
}

impl Session for Generating {
    fn advance(&mut self, input: &[u8], _now: &Moment, output: &mut Output) -> usize {
        if output.is_empty() && !output.is_full() {
            output.push_lasting(&PATTERN);
            if self.is_stopping {
                output.end(After::Linger);
            }
        }
        // RFC 864: any data received is thrown away.
        input.len()
    }

    fn end(&mut self, _unread: &[u8], _now: &Moment, output: &mut Output) {
        output.count_request();
        output.end(After::Close);
    }

    fn stop(&mut self) {
        self.is_stopping = true;
    }

    fn always_listens(&self) -> bool {
        true
    }
}
