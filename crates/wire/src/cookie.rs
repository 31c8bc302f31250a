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
        let legal = len == 0 || ((Cookie::LEAST..=Cookie::MOST).contains(&len) && len % 2 == 0);
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
