//! The option of Accurate ECN (RFC 9768 section 3.2.3).

/// Its two kinds: the counter that stands first is that of ECT(0) or that of ECT(1).
const ECT0_FIRST: u8 = 172;
const ECT1_FIRST: u8 = 174;

/// Bytes received with each codepoint, modulo 2²⁴, each counted from the start that RFC 9768
/// section 3.2.1 gives it: those of ECT(0) and ECT(1) from 1, that of CE from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccEcnOption {
    /// Whether ECT(1) stands first and ECT(0) last, as senders of mostly ECT(1) have it.
    pub ect1_first: bool,
    /// The counters in that order; CE is the second.
    pub counters: [u32; 3],
    /// How many of them are there, 0 to 3.
    pub count: u8,
}

impl AccEcnOption {
    /// Of the kind and the bytes behind the length; `None` if it is another option, or no whole
    /// counters. Bytes behind the third are passed over.
    pub fn of(kind: u8, bytes: &[u8]) -> Option<AccEcnOption> {
        let ect1_first = match kind {
            ECT0_FIRST => false,
            ECT1_FIRST => true,
            _ => return None,
        };
        let (whole, rest) = bytes.as_chunks::<3>();
        let mut counters = [0; 3];
        for (counter, [a, b, c]) in counters.iter_mut().zip(whole) {
            *counter = u32::from_be_bytes([0, *a, *b, *c]);
        }
        let count = whole.len().min(3) as u8;
        rest.is_empty().then_some(AccEcnOption { ect1_first, counters, count })
    }

    /// Kind, length and counters, and how many bytes of these are the option.
    pub fn to_bytes(self) -> ([u8; 11], usize) {
        let mut bytes = [0; 11];
        let len = 2 + 3 * usize::from(self.count.min(3));
        bytes[0] = if self.ect1_first { ECT1_FIRST } else { ECT0_FIRST };
        bytes[1] = len as u8;
        for (at, counter) in self.counters.iter().enumerate() {
            bytes[2 + 3 * at..][..3].copy_from_slice(&counter.to_be_bytes()[1..]);
        }
        (bytes, len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_of_its_own_bytes_is_same() {
        for count in 0..=3 {
            let mut counters = [0x00_0001, 0xff_ffff, 0x12_3456];
            counters[usize::from(count)..].fill(0);
            let option = AccEcnOption { ect1_first: count % 2 == 0, counters, count };
            let (bytes, len) = option.to_bytes();
            assert_eq!(AccEcnOption::of(bytes[0], &bytes[2..len]), Some(option));
        }
        assert_eq!(AccEcnOption::of(173, &[]), None);
        assert_eq!(AccEcnOption::of(174, &[1, 2]), None);
    }
}
