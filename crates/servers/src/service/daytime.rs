//! The time of day as text, and the end (RFC 867).

use super::{Service, Session};
use crate::calendar::Moment;
use crate::output::{After, Output};

/// The service.
#[derive(Debug)]
pub(crate) struct Daytime;

impl Service for Daytime {
    fn open(&self) -> Box<dyn Session> {
        Box::new(Told { is_told: false })
    }
}

struct Told {
    is_told: bool,
}

impl Session for Told {
    fn advance(&mut self, input: &[u8], now: &Moment, output: &mut Output) -> usize {
        if !self.is_told {
            self.is_told = true;
            output.count_request();
            output.push(now.daytime().as_bytes());
            // RFC 867: any data received is thrown away.
            output.end(After::Linger);
        }
        input.len()
    }
}
