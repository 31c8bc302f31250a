//! Fast Open as a host's settings and sockets have it (net.ipv4.tcp_fastopen, tcp(7)), and what a
//! client remembers of its server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tcplab_stack::{Data, FastAnswer, FastClient, FastLesson, FastServer, Segment};
use tcplab_wire::Cookie;

/// Bits of net.ipv4.tcp_fastopen (`TFO_CLIENT_ENABLE` and so on).
const CLIENT: u64 = 1;
const SERVER: u64 = 2;
const CLIENT_WITHOUT_COOKIE: u64 = 4;
const SERVER_WITHOUT_COOKIE: u64 = 0x200;
const SERVER_UNASKED: u64 = 0x400;

/// Room that a SYN with data leaves for options (`MAX_TCP_OPTION_SPACE`).
const OPTION_ROOM: u32 = 40;

/// The host's settings, and what it remembers of the script's side.
pub(super) struct FastOpen {
    bits: u64,
    keys: Vec<[u8; 16]>,
    local: IpAddr,
    remote: IpAddr,
    memory: Memory,
}

/// What `tcp_metrics` keep of a server.
#[derive(Default)]
struct Memory {
    mss: Option<u16>,
    cookie: Option<Cookie>,
    /// 1: the experimental option is tried next; 2: it was tried without success.
    experiment: u8,
    /// FreeBSD: the server refused, nothing is tried any more.
    refused: bool,
}

/// A listening socket's own settings.
#[derive(Default, Clone)]
pub(super) struct FastSocket {
    /// TCP_FASTOPEN: the limit of connections in this state; `None`: not set.
    pub(super) queue: Option<u32>,
    /// TCP_FASTOPEN_KEY.
    pub(super) keys: Vec<[u8; 16]>,
    /// TCP_FASTOPEN_NO_COOKIE.
    pub(super) without_cookie: bool,
    /// TCP_FASTOPEN_CONNECT.
    pub(super) connects_later: bool,
}

impl Default for FastOpen {
    /// Linux's defaults: clients may, servers do not; a key, which the kernel would make by chance.
    fn default() -> FastOpen {
        FastOpen {
            bits: CLIENT,
            keys: vec![[0; 16]],
            local: Ipv4Addr::new(192, 168, 0, 1).into(),
            remote: Ipv4Addr::new(192, 0, 2, 1).into(),
            memory: Memory::default(),
        }
    }
}

impl FastOpen {
    /// Takes a setting if it is one of these.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Option<Result<(), ()>> {
        let done = |ok: bool| Some(if ok { Ok(()) } else { Err(()) });
        match name {
            "net.ipv4.tcp_fastopen" => {
                let bits = match value.strip_prefix("0x") {
                    Some(hex) => u64::from_str_radix(hex, 16),
                    None => value.parse(),
                };
                self.bits = *bits.as_ref().unwrap_or(&self.bits);
                done(bits.is_ok())
            }
            "net.ipv4.tcp_fastopen_key" => {
                let keys: Option<Vec<_>> = value.split(',').map(key_of_text).collect();
                let known = keys.is_some();
                self.keys = keys.unwrap_or_else(|| self.keys.clone());
                done(known)
            }
            // The suites' addresses.
            "host.ip_version" if value == "ipv6" => {
                self.local = Ipv6Addr::new(0xfd3d, 0xa0b, 0x17d6, 0, 0, 0, 0, 1).into();
                self.remote = Ipv6Addr::new(0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 1).into();
                done(true)
            }
            // Turning it off forgets all cookies.
            "net.inet.tcp.fastopen.client_enable" => {
                self.bits = self.bits & !CLIENT | u64::from(value != "0");
                self.flush();
                done(matches!(value, "0" | "1"))
            }
            "host.local_ip" | "host.remote_ip" => {
                let address = value.parse();
                let known = address.is_ok();
                let own = if name == "host.local_ip" { &mut self.local } else { &mut self.remote };
                *own = address.unwrap_or(*own);
                done(known)
            }
            _ => None,
        }
    }

    /// Forgets what it remembers.
    pub(super) fn flush(&mut self) {
        self.memory = Memory::default();
    }

    pub(super) fn clients_may(&self) -> bool {
        self.bits & CLIENT != 0
    }

    /// The queue of a socket that begins to listen (`inet_listen`).
    pub(super) fn queue(&self, socket: &FastSocket, backlog: u32) -> Option<u32> {
        let unasked = SERVER | SERVER_UNASKED;
        socket.queue.or_else(|| (self.bits & unasked == unasked).then_some(backlog))
    }

    /// How a SYN is answered; `opening` connections are in this state.
    pub(super) fn answer(&self, socket: &FastSocket, opening: usize, syn: &Segment) -> FastAnswer {
        let room = socket.queue.is_some_and(|queue| opening < queue as usize);
        if self.bits & SERVER == 0 || !room {
            return FastAnswer::Plain;
        }
        let keys = if socket.keys.is_empty() { &self.keys } else { &socket.keys };
        let server = FastServer {
            keys: keys.clone(),
            asks_for_cookies: self.bits & SERVER_WITHOUT_COOKIE == 0 && !socket.without_cookie,
        };
        let addresses = [octets(self.remote), octets(self.local)].concat();
        server.judge(syn, &addresses)
    }

    /// Whether data may go with the SYN: with a cookie, or where none is needed.
    pub(super) fn may_send(&self, socket: &FastSocket) -> bool {
        self.needs_no_cookie(socket) || self.memory.cookie.is_some()
    }

    fn needs_no_cookie(&self, socket: &FastSocket) -> bool {
        self.bits & CLIENT_WITHOUT_COOKIE != 0 || socket.without_cookie
    }

    /// How a client begins that has `len` bytes to send (`tcp_send_syn_data`), and how many of them
    /// go with the SYN. `wanted` is the segment size asked for, 0: what fits; a packet has `room`.
    pub(super) fn begin(
        &self,
        socket: &FastSocket,
        (wanted, room): (u16, u16),
        len: u32,
    ) -> (FastClient, u32) {
        let free = self.needs_no_cookie(socket);
        let cookie = match self.memory.cookie {
            _ if free => None,
            Some(cookie) => Some(cookie),
            None => Some(Cookie::request(self.memory.experiment == 1)),
        };
        let (wanted, room) = (u32::from(wanted), u32::from(room));
        let mss = self.memory.mss.map_or(room, u32::from).min(room);
        let mss = if wanted == 0 { mss } else { mss.min(wanted) };
        let most = if self.may_send(socket) { mss.saturating_sub(OPTION_ROOM) } else { 0 };
        let with_syn = len.min(most);
        let data = Data::copy_of(&vec![0; with_syn as usize]);
        (FastClient { cookie, data, more: false }, with_syn)
    }

    /// How a client of FreeBSD begins (`tcp_fastopen_connect`): without Fast Open where the host
    /// does not want it or the server refused it; `sizes` as for [`FastOpen::begin`].
    pub(super) fn begin_of_freebsd(&self, sizes: (u16, u16), len: u32) -> (FastClient, u32) {
        if !self.clients_may() || self.memory.refused {
            return (FastClient { cookie: None, data: Data::default(), more: false }, 0);
        }
        self.begin(&FastSocket::default(), sizes, len)
    }

    /// What a SYN-ACK taught a client of FreeBSD (`tcp_fastopen_update_cache`).
    pub(super) fn learn_of_freebsd(&mut self, lesson: FastLesson) {
        self.memory.mss = Some(lesson.mss);
        self.memory.cookie = lesson.cookie.or(self.memory.cookie);
        self.memory.refused |= lesson.refused.is_some();
    }

    /// What a SYN-ACK taught (`tcp_fastopen_cache_set`).
    pub(super) fn learn(&mut self, lesson: FastLesson) {
        self.memory.mss = Some(lesson.mss);
        if lesson.cookie.is_some() {
            self.memory.cookie = lesson.cookie;
        } else if let Some(experimental) = lesson.refused
            && self.memory.cookie.is_none()
        {
            self.memory.experiment = self.memory.experiment.max(1 + u8::from(experimental));
        }
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// `a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4`: four words, each with its lowest byte first.
fn key_of_text(text: &str) -> Option<[u8; 16]> {
    let words: Option<Vec<u32>> =
        text.split('-').map(|word| u32::from_str_radix(word, 16).ok()).collect();
    let bytes: Vec<u8> = words?.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.try_into().ok()
}
