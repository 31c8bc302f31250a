//! Who is asked, and what.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

/// The protocol and the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1: GET.
    Http {
        /// The value of `Host`.
        host: String,
        /// From its first `/` on.
        path: String,
    },
    /// Echo (RFC 862).
    Echo {
        /// Bytes of each message, at least 1.
        size: usize,
    },
}

/// A server and a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where the server is.
    pub address: SocketAddr,
    /// What it is asked.
    pub protocol: Protocol,
}

/// Why a text names no target.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// HTTPS and others.
    #[error("unsupported scheme `{0}`; use http:// or echo://")]
    Scheme(String),
    /// There is no port.
    #[error("{0} has no port: use HOST:PORT")]
    Port(String),
    /// It is none.
    #[error("`{port}` is not a port")]
    WrongPort {
        /// What stands behind the colon.
        port: String,
    },
    /// It cannot be looked up.
    #[error("cannot find {host}: {source}")]
    Name {
        /// What was looked up.
        host: String,
        /// Why it was not found.
        source: io::Error,
    },
}

impl TargetError {
    /// What would help, where the message does not say it.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            TargetError::WrongPort { .. } => Some("use 1 to 65535"),
            TargetError::Name { .. } => Some("check the spelling, or use the IP address"),
            TargetError::Scheme(_) | TargetError::Port(_) => None,
        }
    }
}

impl Target {
    /// Reads `http://HOST[:PORT][/PATH]`, `echo://HOST:PORT`, or `HOST:PORT`, which is an echo of
    /// `size` bytes, and looks the host up.
    ///
    /// # Errors
    /// When it is none of these, and when the host is not found.
    pub fn find(text: &str, size: usize) -> Result<Target, TargetError> {
        // Only HTTP has paths.
        let usual = if text.contains('/') { "http" } else { "echo" };
        let (scheme, rest) = text.split_once("://").unwrap_or((usual, text));
        match scheme.to_ascii_lowercase().as_str() {
            "http" => {
                let at = rest.find(['/', '?']).unwrap_or(rest.len());
                let (authority, path) = rest.split_at(at);
                let path = path.split('#').next().unwrap_or_default();
                let path = if path.starts_with('/') { path.into() } else { format!("/{path}") };
                let full =
                    if has_port(authority) { authority.into() } else { format!("{authority}:80") };
                let protocol = Protocol::Http { host: authority.into(), path: visible(&path) };
                Ok(Target { address: look_up(&full)?, protocol })
            }
            "echo" => {
                let authority = rest.trim_end_matches('/');
                let protocol = Protocol::Echo { size: size.max(1) };
                Ok(Target { address: look_up(authority)?, protocol })
            }
            other => Err(TargetError::Scheme(other.into())),
        }
    }
}

fn has_port(authority: &str) -> bool {
    port(authority).is_some()
}

/// What stands behind the colon of a host.
fn port(authority: &str) -> Option<&str> {
    // An IPv6 address with its colons is in brackets.
    let behind = authority.rsplit(']').next().unwrap_or(authority);
    behind.rsplit_once(':').map(|(_, port)| port)
}

/// The first address of a host; IPv4 before IPv6, as servers here listen on 127.0.0.1.
///
/// # Errors
/// When the host is not found, or no port is given.
pub fn look_up(authority: &str) -> Result<SocketAddr, TargetError> {
    let port = port(authority).ok_or_else(|| TargetError::Port(authority.into()))?;
    if !port.parse::<u16>().is_ok_and(|port| port > 0) {
        return Err(TargetError::WrongPort { port: port.into() });
    }
    let named = |source| TargetError::Name { host: authority.into(), source };
    let mut found: Vec<SocketAddr> = authority.to_socket_addrs().map_err(named)?.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    found
        .first()
        .copied()
        .ok_or_else(|| named(io::Error::new(io::ErrorKind::NotFound, "it has no address")))
}

/// Percent-encodes what a request line does not allow.
fn visible(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_graphic() {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read() {
        let http = |host: &str, path: &str| Protocol::Http { host: host.into(), path: path.into() };
        for (text, address, protocol) in [
            ("http://127.0.0.1", "127.0.0.1:80", http("127.0.0.1", "/")),
            (
                "http://127.0.0.1:8080/a/b?c=d#e",
                "127.0.0.1:8080",
                http("127.0.0.1:8080", "/a/b?c=d"),
            ),
            ("HTTP://127.0.0.1:1?x", "127.0.0.1:1", http("127.0.0.1:1", "/?x")),
            ("http://[::1]/ä b", "[::1]:80", http("[::1]", "/%C3%A4%20b")),
            ("http://[::1]:81", "[::1]:81", http("[::1]:81", "/")),
            ("127.0.0.1:7", "127.0.0.1:7", Protocol::Echo { size: 64 }),
            ("echo://[::1]:7/", "[::1]:7", Protocol::Echo { size: 64 }),
        ] {
            let target = Target::find(text, 64).unwrap();
            assert_eq!(target, Target { address: address.parse().unwrap(), protocol }, "{text}");
        }
        for (text, why) in [
            ("https://127.0.0.1/", "unsupported scheme `https`"),
            ("127.0.0.1", "has no port"),
            ("127.0.0.1:70000", "`70000` is not a port"),
            ("127.0.0.1:0", "`0` is not a port"),
            ("http://127.0.0.1:/", "`` is not a port"),
            ("http://:80/", "cannot find"),
            ("[::1]", "has no port"),
        ] {
            let error = Target::find(text, 64).map(|found| found.address.to_string());
            let error = error.map_err(|error| error.to_string());
            assert!(error.as_ref().is_err_and(|it| it.contains(why)), "{text}: {error:?}");
        }
    }

    #[test]
    fn names_and_ports_that_are_wrong_have_remedies() {
        for (text, remedy) in [
            ("nosuch.invalid:80", "check the spelling, or use the IP address"),
            ("http://nosuch.invalid/", "check the spelling, or use the IP address"),
            ("http://127.0.0.1:99999/", "use 1 to 65535"),
            ("127.0.0.1:http", "use 1 to 65535"),
        ] {
            let error = Target::find(text, 64).unwrap_err();
            assert_eq!(error.remedy(), Some(remedy), "{text}: {error}");
        }
    }
}
