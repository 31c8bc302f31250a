//! What an application says of its own work.

use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Span};

use super::calls::CallRow;
use super::datagrams::DatagramReport;
use crate::payload::Digest;

/// What an application does on its connection, for the most part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Writes the payload; of two that write, the one that writes more.
    #[default]
    Sender,
    /// Reads it.
    Receiver,
}

/// The report of one application on a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppReport {
    /// What it did.
    pub role: Role,
    /// Payload bytes that its socket took, or that it read.
    #[serde(with = "tcplab_units::number")]
    pub bytes: Bytes,
    /// XXH3 of these bytes, 128 bits in hexadecimal.
    pub digest: String,
    /// Writes that took, or reads that gave, at least one byte.
    pub calls: u64,
    /// When it began: before connecting, or when the connection was accepted.
    #[serde(rename = "started_ns")]
    pub started: Option<Instant>,
    /// When its first byte was written or read.
    #[serde(rename = "first_byte_ns")]
    pub first_byte: Option<Instant>,
    /// When its last byte was written or read.
    #[serde(rename = "last_byte_ns")]
    pub last_byte: Option<Instant>,
    /// When it saw the other end's end of stream: for a sender, the proof that everything was
    /// read.
    #[serde(rename = "finished_ns")]
    pub finished: Option<Instant>,
    /// Bytes that arrived where none were due: data read by a sender whose peer has none to send.
    #[serde(rename = "stray_bytes", with = "tcplab_units::number")]
    pub stray: Bytes,
    /// The other direction, where it carried anything: what a sender read, what a receiver wrote.
    pub back: Option<BackReport>,
    /// The urgent bytes that were written, or read out of band.
    pub urgent: Option<UrgentReport>,
    /// Its calls in order, equal consecutive ones in one row.
    pub log: Vec<CallRow>,
    /// Requests and when their responses were there.
    pub exchanges: Vec<Exchange>,
    /// Requests beyond those that are kept.
    pub exchanges_left_out: u64,
    /// What it counted of its datagrams, where it has them in place of a connection.
    pub datagrams: Option<DatagramReport>,
    /// Processor time of its thread, system calls included; of several connections of all their
    /// threads. None of a model, and where it was not looked at.
    #[serde(rename = "processor_ns", with = "tcplab_units::number")]
    pub processor: Option<Span>,
}

impl AppReport {
    /// The report of an application that did nothing.
    pub fn of_nothing(role: Role) -> AppReport {
        AppReport { role, ..AppReport::default() }
    }

    /// Whether this receiver read exactly what that sender wrote; a byte read out of band counts
    /// where it was written as urgent.
    pub fn has_all_of(&self, sender: &AppReport) -> bool {
        let whole = self.bytes == sender.bytes && self.digest == sender.digest;
        let rest = sender.urgent.as_ref().and_then(|urgent| urgent.rest.as_ref());
        let out_of_band = self.urgent.as_ref().map_or(0, |urgent| urgent.count);
        let all = self.bytes.as_u64() + out_of_band == sender.bytes.as_u64();
        let back =
            |report: &AppReport| report.back.as_ref().map(|back| (back.bytes, back.digest.clone()));
        (whole || all && rest == Some(&self.digest)) && back(self) == back(sender)
    }
}

impl AppReport {
    /// The largest number of rows of the logs of many connections.
    const ROWS_MAX: usize = 20_000;

    /// The account of many connections of one end as one: sums, the first and last times, and a
    /// digest of their digests, whatever their order. Nothing, of none.
    pub fn of_all(reports: Vec<AppReport>) -> Option<AppReport> {
        let mut all = reports.into_iter();
        let mut sum = all.next()?;
        let rest: Vec<AppReport> = all.collect();
        if rest.is_empty() {
            return Some(sum);
        }
        let mut digests = vec![std::mem::take(&mut sum.digest)];
        let mut back_digests: Vec<String> = sum.back.iter().map(|it| it.digest.clone()).collect();
        for (index, one) in rest.into_iter().enumerate() {
            digests.push(one.digest);
            sum.bytes += one.bytes;
            sum.calls += one.calls;
            sum.stray += one.stray;
            sum.processor = sum.processor.zip(one.processor).map(|(sum, one)| sum + one);
            sum.started = Instant::earlier(sum.started, one.started);
            sum.first_byte = Instant::earlier(sum.first_byte, one.first_byte);
            sum.last_byte = sum.last_byte.max(one.last_byte);
            sum.finished = sum.finished.max(one.finished);
            if let Some(back) = one.back {
                back_digests.push(back.digest);
                let bytes = sum.back.map_or(Bytes::ZERO, |it| it.bytes) + back.bytes;
                sum.back = Some(BackReport { bytes, digest: String::new() });
            }
            let connection = index as u64 + 1;
            let rows = one.log.into_iter().map(|row| CallRow { connection, ..row });
            sum.log.extend(rows.take(AppReport::ROWS_MAX.saturating_sub(sum.log.len())));
            sum.exchanges.extend(one.exchanges);
            sum.exchanges_left_out += one.exchanges_left_out;
        }
        sum.digest = Digest::of_texts(digests);
        if let Some(back) = &mut sum.back {
            back.digest = Digest::of_texts(back_digests);
        }
        sum.log.sort_by_key(|row| (row.began, row.connection));
        Some(sum)
    }
}

/// What went against the main direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackReport {
    /// How much.
    #[serde(with = "tcplab_units::number")]
    pub bytes: Bytes,
    /// XXH3 of it, as above.
    pub digest: String,
}

/// Urgent bytes of an application.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrgentReport {
    /// How many were written as urgent, or read out of band.
    pub count: u64,
    /// XXH3 of what was written without them.
    pub rest: Option<String>,
}

/// A request and its response, as the application saw them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// When the request began.
    #[serde(rename = "asked_ns")]
    pub asked: Instant,
    /// When its response was there.
    #[serde(rename = "answered_ns")]
    pub answered: Option<Instant>,
}
