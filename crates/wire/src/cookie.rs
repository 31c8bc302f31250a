//! Cookies of TCP Fast Open.

/// A cookie of Fast Open, or none: the request for one (RFC 7413 section 4.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cookie {
    bytes: [u8; 16],
    len: u8,
    experimental: bool,
}

impl Cookie {
    /// The longest and the shortest that is not empty, bytes.
    const MOST: usize = 16;
    const LEAST: usize = 4;

    /// A cookie of 4 to 16 bytes, an even number of them, or none. `experimental`: in the option
    /// that was used before one was assigned (254, with the number 0xf989).
    pub fn new(bytes: &[u8], experimental: bool) -> Option<Cookie> {
        let len = bytes.len();
        let legal =
            len == 0 || ((Cookie::LEAST..=Cookie::MOST).contains(&len) && len.is_multiple_of(2));
        let mut cookie = Cookie { bytes: [0; 16], len: len as u8, experimental };
        if legal {
            cookie.bytes[..len].copy_from_slice(bytes);
        }
        legal.then_some(cookie)
    }

    /// The request for a cookie.
    pub fn request(experimental: bool) -> Cookie {
        Cookie { bytes: [0; 16], len: 0, experimental }
    }

    /// Its bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Whether it is the request for one.
    pub fn is_request(&self) -> bool {
        self.len == 0
    }

    /// Whether it stands in the experimental option.
    pub fn is_experimental(&self) -> bool {
        self.experimental
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::{Ecn, FrameView, Ipv4Repr, LinkType, TcpFlags, TcpOption, TcpRepr};

    /// RFC 7413 section 4.1.1: kind 34 and a length, padded; before that, kind 254 and a number.
    #[test]
    fn cookies_are_read_as_they_are_written() {
        let any = Ipv4Addr::UNSPECIFIED;
        let ip = Ipv4Repr { src: any, dst: any, id: 0, ttl: 64, ecn: Ecn::NotEct };
        for bytes in [&[][..], &[1, 2, 3, 4], &[7; 6], &[9; 16]] {
            for experimental in [false, true] {
                let fast_open = Cookie::new(bytes, experimental);
                let header = TcpRepr { flags: TcpFlags::SYN, fast_open, ..TcpRepr::default() };
                let packet = header.to_packet(&ip.into(), &[]);
                let found = FrameView::new(LinkType::RawIp, &packet, packet.len() as u32);
                let FrameView::Tcp(tcp) = found else { panic!("{packet:?}") };
                let options: Vec<TcpOption<'_>> = tcp.options().collect();
                let behind = [&[0xf9, 0x89], bytes].concat();
                let expected = if experimental {
                    TcpOption::Unknown { kind: 254, bytes: &behind }
                } else {
                    TcpOption::FastOpen(bytes)
                };
                assert_eq!(options[0], expected);
                assert!(options[1..].iter().all(|option| *option == TcpOption::NoOperation));
            }
        }
    }

    #[test]
    fn what_is_no_cookie_is_none() {
        for len in [1, 2, 3, 5, 15, 17, 18] {
            assert_eq!(Cookie::new(&vec![0; len], false), None, "{len}");
        }
        assert!(Cookie::new(&[], true).is_some_and(|cookie| cookie.is_request()));
    }
}
