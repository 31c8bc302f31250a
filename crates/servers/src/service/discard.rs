//! What comes is thrown away (RFC 863).

use super::{Service, Session};
use crate::calendar::Moment;
use crate::output::{After, Output};

/// The service.
#[derive(Debug)]
pub(crate) struct Discard;

impl Service for Discard {
    fn open(&self) -> Box<dyn Session> {
        Box::new(Discard)
    }
}

impl Session for Discard {
    fn advance(&mut self, input: &[u8], _now: &Moment, _output: &mut Output) -> usize {
        input.len()
    }

    fn end(&mut self, _unread: &[u8], _now: &Moment, output: &mut Output) {
        output.count_request();
        output.end(After::Close);
    }
}
