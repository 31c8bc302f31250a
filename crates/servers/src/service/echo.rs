//! What comes goes back (RFC 862).

use super::{Service, Session};
use crate::calendar::Moment;
use crate::output::Output;

/// The service.
#[derive(Debug)]
pub(crate) struct Echo;

impl Service for Echo {
    fn open(&self) -> Box<dyn Session> {
        Box::new(Echo)
    }
}

impl Session for Echo {
    fn advance(&mut self, input: &[u8], _now: &Moment, output: &mut Output) -> usize {
        let taken = input.len().min(output.room());
        output.push(&input[..taken]);
        if taken > 0 {
            output.count_request();
        }
        taken
    }
}
