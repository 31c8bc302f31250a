//! TCP Fast Open (RFC 7413): data with the SYN, for clients with a cookie.

use tcplab_wire::Cookie;

use crate::{Data, Segment};

/// How a client begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FastClient {
    /// The SYN's cookie: a value, an empty one as a request, or none.
    pub cookie: Option<Cookie>,
    /// Data that goes with the SYN.
    pub data: Data,
    /// Whether the application waits to give more as soon as it may: the handshake is acknowledged
    /// together with that.
    pub more: bool,
}

/// How a server answers a SYN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FastAnswer {
    /// Without Fast Open: the data is retransmitted after the handshake.
    #[default]
    Plain,
    /// The same, and the SYN-ACK carries a cookie for the next time.
    Give(Cookie),
    /// The data is taken at once, and the application may answer before the handshake is over;
    /// perhaps with another cookie for the next time.
    Take(Option<Cookie>),
}

/// What a client has learnt from the SYN-ACK, to be remembered of the server
/// (`tcp_rcv_fastopen_synack`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FastLesson {
    /// The segment size that the server asks for, data bytes.
    pub mss: u16,
    /// The cookie it gave.
    pub cookie: Option<Cookie>,
    /// A cookie request got no cookie; in FreeBSD also: data that went with a cookie was not taken.
    /// It used the experimental option, if true.
    pub refused: Option<bool>,
}

/// A server's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FastServer {
    /// Keys of cookies: the first makes new ones, all are recognized.
    pub keys: Vec<[u8; 16]>,
    /// Whether it accepts SYN data only with a valid cookie.
    pub asks_for_cookies: bool,
}

impl FastServer {
    /// Decides about a SYN from `addresses`: the client's and the server's, as bytes
    /// (`tcp_try_fastopen`).
    pub fn judge(&self, syn: &Segment, addresses: &[u8]) -> FastAnswer {
        let shown = syn.header.fast_open;
        let has_data = !syn.is_empty() || syn.header.flags.contains(tcplab_wire::TcpFlags::FIN);
        if shown.is_none() && !has_data {
            return FastAnswer::Plain;
        }
        if !self.asks_for_cookies {
            return FastAnswer::Take(None);
        }
        let Some(shown) = shown else { return FastAnswer::Plain };
        let fresh = |key: &[u8; 16]| {
            Cookie::new(&siphash(key, addresses).to_le_bytes(), shown.is_experimental())
        };
        let Some(current) = self.keys.first().and_then(fresh) else { return FastAnswer::Plain };
        match self.keys.iter().position(|key| fresh(key) == Some(shown)) {
            Some(0) => FastAnswer::Take(None),
            // An old key: take it for once.
            Some(_) => FastAnswer::Take(Some(current)),
            None => FastAnswer::Give(current),
        }
    }
}

/// SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012).
fn siphash(key: &[u8; 16], message: &[u8]) -> u64 {
    let word =
        |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
    let keys = [word(&key[..8]), word(&key[8..])];
    let mut v = [
        keys[0] ^ 0x736f_6d65_7073_6575,
        keys[1] ^ 0x646f_7261_6e64_6f6d,
        keys[0] ^ 0x6c79_6765_6e65_7261,
        keys[1] ^ 0x7465_6462_7974_6573,
    ];
    let (words, rest) = message.as_chunks::<8>();
    let last = word(rest) | (message.len() as u64) << 56;
    for word in words.iter().map(|bytes| word(bytes)).chain([last]) {
        v[3] ^= word;
        (0..2).for_each(|_| round(&mut v));
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    (0..4).for_each(|_| round(&mut v));
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

fn round(v: &mut [u64; 4]) {
    mix(v, [0, 1], 13);
    mix(v, [2, 3], 16);
    v[0] = v[0].rotate_left(32);
    mix(v, [0, 3], 21);
    mix(v, [2, 1], 17);
    v[2] = v[2].rotate_left(32);
}

fn mix(v: &mut [u64; 4], [a, b]: [usize; 2], turns: u32) {
    v[a] = v[a].wrapping_add(v[b]);
    v[b] = v[b].rotate_left(turns) ^ v[a];
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of the vectors that come with the reference implementation: key 00…0f, message
    /// 00…0e (appendix A of the paper).
    #[test]
    fn siphash_matches_test_vector() {
        let key: [u8; 16] = std::array::from_fn(|index| index as u8);
        let message: Vec<u8> = (0..15).collect();
        assert_eq!(siphash(&key, &message), 0xa129_ca61_49be_45e5);
    }

    /// A cookie is given, taken when shown, and not when it is another client's; a SYN that asks
    /// for nothing is left alone. Linux 6.18 gave the cookie for this key and these addresses.
    #[test]
    fn fast_open_valid_cookie_is_accepted() {
        let key = [
            [4, 3, 2, 1].as_slice(),
            &[0x14, 0x13, 0x12, 0x11],
            &[0x24, 0x23, 0x22, 0x21],
            &[0x34, 0x33, 0x32, 0x31],
        ];
        let key: [u8; 16] = key.concat().try_into().unwrap();
        let addresses = [192, 0, 2, 1, 192, 168, 0, 1];
        let mut server = FastServer { keys: vec![key], asks_for_cookies: true };
        let cookie = Cookie::new(&0xfc8e_e8cb_129e_bbdc_u64.to_be_bytes(), false);
        let syn = |fast_open: Option<Cookie>, len: usize| {
            let flags = tcplab_wire::TcpFlags::SYN;
            let header = tcplab_wire::TcpRepr { flags, fast_open, ..Default::default() };
            Segment { data: Data::copy_of(&vec![0; len]), ..Segment::bare(header) }
        };
        let request = Some(Cookie::request(false));
        let give = FastAnswer::Give(cookie.unwrap());
        let judge = |server: &FastServer, syn| server.judge(&syn, &addresses);
        assert_eq!(judge(&server, syn(request, 0)), give);
        assert_eq!(judge(&server, syn(cookie, 100)), FastAnswer::Take(None));
        assert_eq!(judge(&server, syn(Cookie::new(&[1; 8], false), 100)), give);
        assert_eq!(judge(&server, syn(None, 100)), FastAnswer::Plain);
        assert_eq!(server.judge(&syn(cookie, 100), &[0; 8]), {
            let other = siphash(&key, &[0; 8]).to_le_bytes();
            FastAnswer::Give(Cookie::new(&other, false).unwrap())
        });
        // The key is changed: the old one stays valid, and the client gets a new cookie.
        server.keys.insert(0, [0; 16]);
        assert!(matches!(judge(&server, syn(cookie, 100)), FastAnswer::Take(Some(_))));
        server.asks_for_cookies = false;
        assert_eq!(judge(&server, syn(None, 100)), FastAnswer::Take(None));
        assert_eq!(judge(&server, syn(None, 0)), FastAnswer::Plain);
    }
}
