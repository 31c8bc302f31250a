//! The small services that inetd(8) has built in: echo, discard, daytime.

use super::{Service, Session};
use crate::calendar::Moment;
use crate::output::{After, Output};

/// Returns what it receives (RFC 862).
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

/// Throws away what it receives (RFC 863).
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

/// Sends the time of day as text, and closes (RFC 867).
#[derive(Debug)]
pub(crate) struct Daytime;

impl Service for Daytime {
    fn open(&self) -> Box<dyn Session> {
        Box::new(DaytimeSession { is_answered: false })
    }
}

struct DaytimeSession {
    is_answered: bool,
}

impl Session for DaytimeSession {
    fn advance(&mut self, input: &[u8], now: &Moment, output: &mut Output) -> usize {
        if !self.is_answered {
            self.is_answered = true;
            output.count_request();
            output.push(now.daytime().as_bytes());
            // RFC 867: any data received is thrown away.
            output.end(After::Linger);
        }
        input.len()
    }
}
