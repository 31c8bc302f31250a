//! What settings a stack can have, where their types allow more.

use tcplab_units::Bytes;

use crate::Config;

/// The largest buffer or window: Linux keeps their sizes as an `int` (`sysctl_tcp_rmem`).
pub(crate) const MOST_MEMORY: Bytes = Bytes::new(i32::MAX as u64);
/// A whole, in 256ths.
const WHOLE: u32 = 256;
/// The least MSS that Linux takes from a peer (`tcp_parse_options`) or an application
/// (`TCP_MAXSEG`): options must fit beside data.
pub(crate) const LEAST_MSS: u32 = 88;
/// The largest window scale (RFC 7323 section 2.3).
const MOST_SCALE: u8 = 14;

/// A setting that is out of its range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutOfRange {
    /// Section and key, with a dot between, of each setting that could be changed.
    pub keys: &'static [&'static str],
    /// The range, in words.
    pub message: String,
}

impl Config {
    /// Whether all settings are in their ranges.
    ///
    /// # Errors
    /// Which one is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        self.check_memory()?;
        let Config { handshake, timeout, recovery, acks, window, .. } = self;
        let first_is_less = timeout.least <= timeout.most;
        let delays_are = acks.delay[0] <= acks.delay[1];
        let rules: [(bool, &'static [&'static str], &str); 8] = [
            (
                handshake.mss == 0 || u32::from(handshake.mss) >= LEAST_MSS,
                &["handshake.mss"],
                "`mss` is at least 88 B, so that options fit; 0: what fits the MTU",
            ),
            (
                handshake.window_scale.is_none_or(|scale| scale <= MOST_SCALE),
                &["handshake.window_scale"],
                "`window_scale` is at most 14 (RFC 7323 section 2.3)",
            ),
            (
                first_is_less,
                &["timeout.least", "timeout.most"],
                "`least` is longer than `most`: no timeout is both",
            ),
            (
                (1..=i32::MAX as u32).contains(&recovery.dupthresh),
                &["recovery.dupthresh"],
                "`dupthresh` is from 1 to 2,147,483,647 duplicate ACKs",
            ),
            (window.initial >= 1, &["window.initial"], "`initial` is at least 1 segment"),
            (acks.every >= 1, &["acks.every"], "`every` is at least 1 segment"),
            (delays_are, &["acks.delay"], "the least delay is longer than the most"),
            (
                self.host.pool != Some(0),
                &["host.pool"],
                "`pool` is at least 1 packet buffer; without it there is no limit",
            ),
        ];
        match rules.into_iter().find(|(holds, ..)| !holds) {
            Some((_, keys, message)) => Err(OutOfRange { keys, message: message.into() }),
            None => Ok(()),
        }
    }

    fn check_memory(&self) -> Result<(), OutOfRange> {
        let (sending, receiving) = (&self.sending, &self.receiving);
        let of_buffer = |key, [first, most]: [Bytes; 2]| {
            let message = if most > MOST_MEMORY {
                too_much()
            } else if first > most {
                "the buffer begins larger than its largest size".into()
            } else if first == Bytes::ZERO {
                "the buffer has at least 1 B: nothing passes through one without room".into()
            } else {
                return Ok(());
            };
            Err(OutOfRange { keys: key, message })
        };
        of_buffer(&["sending.buffer"], sending.buffer)?;
        of_buffer(&["receiving.buffer"], receiving.buffer)?;
        let sizes: [(&'static [&'static str], Option<Bytes>); 3] = [
            (&["sending.most_asked"], Some(sending.most_asked)),
            (&["receiving.most_asked"], Some(receiving.most_asked)),
            (&["receiving.most_window"], receiving.most_window),
        ];
        if let Some((keys, _)) = sizes.into_iter().find(|(_, size)| *size > Some(MOST_MEMORY)) {
            return Err(OutOfRange { keys, message: too_much() });
        }
        if !(1..=WHOLE).contains(&receiving.window_share) {
            let message = format!("`window_share` is from 1 to {WHOLE}");
            return Err(OutOfRange { keys: &["receiving.window_share"], message });
        }
        Ok(())
    }
}

fn too_much() -> String {
    format!("buffers and windows have at most {} B", MOST_MEMORY.as_u64())
}
