//! The calls of an application, written down in a bounded room.

use std::borrow::Cow;

use tcplab_units::{Bytes, Instant, Span};

use crate::report::{CallRow, Exchange};

/// The number of rows stored in order. Later calls are added to the last row of the same step and
/// result, so that a program of endless repetitions has a finite log.
const ROWS_MAX: usize = 4_096;
/// The number of requests stored with their times.
const EXCHANGES_MAX: usize = 10_000;

/// The log of an application.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    rows: Vec<Row>,
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) exchanges_left_out: u64,
    /// The first of the kept ones that has no response.
    open: usize,
}

/// Calls of one step with one result.
#[derive(Debug, Clone)]
struct Row {
    step: usize,
    calls: CallRow,
}

/// A call that has returned.
#[derive(Debug, Clone)]
pub(crate) struct Returned {
    /// Where in the program.
    pub(crate) step: usize,
    pub(crate) call: &'static str,
    pub(crate) result: Cow<'static, str>,
    pub(crate) bytes: u64,
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
}

impl Log {
    const KINDS: usize = 8;

    /// A step for a call that has a row of its own while there is room for rows; then that of its
    /// `kind`, below [`Log::KINDS`].
    pub(crate) fn own_step(&self, kind: usize) -> usize {
        if self.rows.len() < ROWS_MAX { Log::KINDS + self.rows.len() } else { kind }
    }

    /// A call has returned; `asked` is only asked where it begins a row.
    pub(crate) fn write(&mut self, returned: Returned, asked: impl FnOnce() -> String) {
        self.write_about(returned, String::new(), asked);
    }

    /// The same of a call that the application knows more about.
    pub(crate) fn write_about(
        &mut self,
        returned: Returned,
        about: String,
        asked: impl FnOnce() -> String,
    ) {
        if let Some(last) = self.rows.last_mut()
            && last.is_of(&returned)
        {
            return last.take(&returned);
        }
        if self.rows.len() >= ROWS_MAX
            && let Some(like) = self.rows.iter_mut().rev().find(|row| row.is_of(&returned))
        {
            like.calls.scattered = true;
            return like.take(&returned);
        }
        let Returned { step, call, result, bytes, began, ended } = returned;
        let took = ended.since(began);
        let calls = CallRow {
            call: call.into(),
            asked: asked(),
            about,
            result,
            count: 1,
            bytes: Bytes::new(bytes),
            began,
            ended,
            took,
            longest: took,
            connection: 0,
            scattered: false,
        };
        self.rows.push(Row { step, calls });
    }

    /// A request begins.
    pub(crate) fn ask(&mut self, now: Instant) {
        if self.exchanges.len() == EXCHANGES_MAX {
            self.exchanges_left_out += 1;
        } else {
            self.exchanges.push(Exchange { asked: now, answered: None });
        }
    }

    /// The response to the oldest open one is there.
    pub(crate) fn answer(&mut self, now: Instant) {
        if let Some(exchange) = self.exchanges.get_mut(self.open) {
            exchange.answered = Some(now);
            self.open += 1;
        }
    }

    pub(crate) fn rows(&self) -> Vec<CallRow> {
        self.rows.iter().map(|row| row.calls.clone()).collect()
    }
}

impl Row {
    fn is_of(&self, returned: &Returned) -> bool {
        self.step == returned.step && self.calls.result == returned.result
    }

    fn take(&mut self, returned: &Returned) {
        let took: Span = returned.ended.since(returned.began);
        let calls = &mut self.calls;
        calls.count += 1;
        calls.bytes += Bytes::new(returned.bytes);
        calls.ended = returned.ended;
        calls.took += took;
        calls.longest = calls.longest.max(took);
        // It was of the first.
        calls.about.clear();
    }
}
