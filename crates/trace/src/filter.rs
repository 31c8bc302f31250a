//! Which packets to look at: `host 10.0.0.1 and port 443`.
//!
//! ```text
//! expression  = term { "or" term }
//! term        = factor { "and" factor }
//! factor      = "not" factor | "(" expression ")" | test
//! test        = "host" ADDRESS | "net" ADDRESS/LENGTH | "port" N or N-M | "time" [SPAN]..[SPAN]
//!             | "part" K/N
//! ```
//! What tcpdump and Wireshark write for the same is read, too: `tcp port 443`, `ip.addr == 10.0.0.1
//! && !(tcp.port == 22)`, an address alone.
//! Hosts, networks and ports are those of either end, so both directions of a connection pass or
//! none. `part 2/8` takes an eighth of all connections, the second of eight parts that have none in
//! common; a connection is in the same part of any capture. Times count from the first packet of
//! the capture; the end is not part of it.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::{Range, RangeInclusive};

use tcplab_units::Span;
use tcplab_wire::protocol::TCP;
use tcplab_wire::{Fragment, FrameView};

use crate::Frame;
use crate::expression::{FilterError, Words};

/// What a packet must be like to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    text: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Host(IpAddr),
    Net {
        address: IpAddr,
        length: u8,
    },
    Port(RangeInclusive<u16>),
    Time {
        from: Span,
        until: Span,
    },
    /// Of connections in `count` parts, the one at this place.
    Part {
        place: u64,
        count: u64,
    },
    Not(Box<Test>),
    All(Vec<Test>),
    Any(Vec<Test>),
}

impl Filter {
    /// Reads an expression.
    ///
    /// # Errors
    /// The first thing in it that cannot be, and what was expected there.
    pub fn parse(text: &str) -> Result<Filter, FilterError> {
        let mut parser = Parser { words: Words::new(text, words(text)) };
        let test = parser.expression()?;
        parser.words.end()?;
        Ok(Filter { text: text.to_owned(), test })
    }

    /// Whether a packet between these ends (none if it is no TCP), so long after the first, passes.
    pub fn admits(&self, ends: Option<[SocketAddr; 2]>, at: Span) -> bool {
        self.test.decides(ends.map_or(Ends::None, Ends::Known), at) == Some(true)
    }

    /// Whether a frame, so long after the first, passes. So do IP fragments of which the whole
    /// packet might: [`Analyzer::with_filter`](crate::Analyzer::with_filter) judges that.
    pub fn admits_frame(&self, frame: &Frame<'_>, at: Span) -> bool {
        if self.test.is_of_time_only() {
            return self.admits(None, at);
        }
        let view = FrameView::new(frame.link, frame.captured, frame.original_len);
        let fragment = view.ip().filter(|ip| ip.fragment() != Fragment::default());
        let ends = match fragment {
            // A tunnel, perhaps.
            Some(ip) if ip.protocol() != TCP => return true,
            Some(ip) => Ends::Hosts([ip.src(), ip.dst()]),
            None => ends_of(&view).map_or(Ends::None, Ends::Known),
        };
        self.test.decides(ends, at).unwrap_or(true)
    }
}

/// The ends of a TCP packet.
pub(crate) fn ends_of(view: &FrameView<'_>) -> Option<[SocketAddr; 2]> {
    let tcp = view.tcp()?;
    Some([(tcp.src(), tcp.src_port()), (tcp.dst(), tcp.dst_port())].map(SocketAddr::from))
}

/// What is known of a packet's ends.
#[derive(Debug, Clone, Copy)]
enum Ends {
    /// It is no TCP.
    None,
    /// A fragment: the ports are in another.
    Hosts([IpAddr; 2]),
    Known([SocketAddr; 2]),
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Test {
    /// Whether it holds, if that is known.
    fn decides(&self, ends: Ends, at: Span) -> Option<bool> {
        let host = |test: &dyn Fn(IpAddr) -> bool| match ends {
            Ends::None => false,
            Ends::Hosts(hosts) => hosts.into_iter().any(test),
            Ends::Known(ends) => ends.into_iter().any(|end| test(end.ip())),
        };
        match self {
            Test::Host(address) => Some(host(&|own| own == *address)),
            Test::Net { address, length } => Some(host(&|own| shares(own, *address, *length))),
            Test::Port(ports) => match ends {
                Ends::None => Some(false),
                Ends::Hosts(_) => None,
                Ends::Known(ends) => Some(ends.iter().any(|end| ports.contains(&end.port()))),
            },
            Test::Time { from, until } => Some(*from <= at && at < *until),
            Test::Part { place, count } => match ends {
                Ends::None => Some(false),
                Ends::Hosts(_) => None,
                Ends::Known(ends) => Some(mixed(ends) % count == *place),
            },
            Test::Not(test) => test.decides(ends, at).map(|holds| !holds),
            Test::All(tests) => unless_one_is(false, tests, ends, at),
            Test::Any(tests) => unless_one_is(true, tests, ends, at),
        }
    }

    fn is_of_time_only(&self) -> bool {
        match self {
            Test::Host(_) | Test::Net { .. } | Test::Port(_) | Test::Part { .. } => false,
            Test::Time { .. } => true,
            Test::Not(test) => test.is_of_time_only(),
            Test::All(tests) | Test::Any(tests) => tests.iter().all(Test::is_of_time_only),
        }
    }
}

/// `decisive` if one of the tests is; else the opposite, if all are known.
fn unless_one_is(decisive: bool, tests: &[Test], ends: Ends, at: Span) -> Option<bool> {
    let mut all = Some(!decisive);
    for test in tests {
        match test.decides(ends, at) {
            Some(holds) if holds == decisive => return Some(decisive),
            Some(_) => {}
            None => all = None,
        }
    }
    all
}

/// A number of a connection, the same for both directions and on every machine: FNV-1a of its ends,
/// the lower one first.
fn mixed(mut ends: [SocketAddr; 2]) -> u64 {
    ends.sort();
    let address = |end: SocketAddr| match end.ip() {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    };
    let bytes = ends
        .into_iter()
        .flat_map(|end| address(end).to_be_bytes().into_iter().chain(end.port().to_be_bytes()));
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // Its low bits depend on those of each byte alone.
    sum ^ (sum >> 32)
}

/// Whether the first `length` bits of both addresses are the same.
pub(crate) fn shares(one: IpAddr, other: IpAddr, length: u8) -> bool {
    let (one, other, bits) = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            (u128::from(one.to_bits()), u128::from(other.to_bits()), 32)
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits(), other.to_bits(), 128),
        _ => return false,
    };
    let rest = bits - u32::from(length);
    (one ^ other).checked_shr(rest).unwrap_or(0) == 0
}

/// Where the words are; parentheses and `!` are words of their own, `=` separates them.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut open = None;
    for (at, c) in text.char_indices() {
        let is_word = matches!(c, '(' | ')' | '!');
        let ends = c.is_whitespace() || is_word || c == '=';
        if ends && let Some(start) = open.take() {
            words.push(start..at);
        }
        if is_word {
            words.push(at..at + 1);
        } else if !ends {
            open.get_or_insert(at);
        }
    }
    words.extend(open.map(|start| start..text.len()));
    words
}

struct Parser<'a> {
    words: Words<'a>,
}

impl Parser<'_> {
    fn expression(&mut self) -> Result<Test, FilterError> {
        let mut tests = vec![self.term()?];
        while self.words.take(&["or", "||"]) {
            tests.push(self.term()?);
        }
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::Any(tests) })
    }

    fn term(&mut self) -> Result<Test, FilterError> {
        let mut tests = vec![self.factor()?];
        while self.words.take(&["and", "&&"]) {
            tests.push(self.factor()?);
        }
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::All(tests) })
    }

    fn factor(&mut self) -> Result<Test, FilterError> {
        let what = "`host`, `net`, `port`, `time`, `part`, `not` or `(`";
        let (word, place) = self.words.word(&format!("expected {what}"))?;
        if matches!(word, "not" | "!" | "(" | "tcp") {
            self.words.enter(place.clone())?;
        }
        match word {
            "not" | "!" => {
                let test = self.factor()?;
                self.words.leave();
                Ok(Test::Not(Box::new(test)))
            }
            "(" => {
                let test = self.expression()?;
                self.words.leave();
                let (close, place) = self.words.word("`)` is missing")?;
                if close != ")" {
                    let message = format!("expected `and`, `or` or `)`, not `{close}`");
                    return Err(self.words.error(place, message));
                }
                Ok(test)
            }
            // Nothing else is looked at: what counts is what follows.
            "tcp" if self.words.peek().is_none() => Ok(Test::All(Vec::new())),
            "tcp" => {
                self.words.take(&["and", "&&"]);
                let test = self.factor()?;
                self.words.leave();
                Ok(test)
            }
            "host" | "ip.addr" | "ipv6.addr" => {
                self.value("an address, such as 10.0.0.1 or fd00::1", host)
            }
            "net" => self.value("a network, such as 10.0.0.0/8", network),
            "port" | "tcp.port" => {
                self.value("a port from 0 to 65535, or two as in 5000-5010", ports)
            }
            "time" => self.value("two times since the first packet, such as 1s..5s", times),
            "part" => self.value("a part of all connections, such as 2/8", part),
            "src" | "dst" => {
                let message = format!("both directions of a connection count: leave out `{word}`");
                Err(self.words.error(place, message))
            }
            other => host(other).ok_or_else(|| {
                let message = if is_field_of_packets(other) {
                    format!(
                        "`{other}` chooses packets to show, not connections to analyse: write a \
                         display filter for a listing (`-Y …`)"
                    )
                } else {
                    format!("expected {what}, such as `host 10.0.0.1 and port 443`, not `{other}`")
                };
                self.words.error(place, message)
            }),
        }
    }

    /// The word behind a test's name.
    fn value(
        &mut self,
        what: &str,
        read: impl Fn(&str) -> Option<Test>,
    ) -> Result<Test, FilterError> {
        let (word, place) = self.words.word(&format!("expected {what}"))?;
        read(word).ok_or_else(|| self.words.error(place, format!("expected {what}, not `{word}`")))
    }
}

/// Whether Wireshark has such fields.
fn is_field_of_packets(word: &str) -> bool {
    ["tcp.", "ip.", "ipv6.", "frame."].iter().any(|start| word.starts_with(start))
}

fn host(text: &str) -> Option<Test> {
    text.parse().ok().map(Test::Host)
}

fn network(text: &str) -> Option<Test> {
    let (address, length) = text.split_once('/')?;
    let (address, length): (IpAddr, u8) = (address.parse().ok()?, length.parse().ok()?);
    let most = if address.is_ipv4() { 32 } else { 128 };
    (length <= most).then_some(Test::Net { address, length })
}

fn ports(text: &str) -> Option<Test> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some(Test::Port(first..=last))
}

fn part(text: &str) -> Option<Test> {
    let (number, count) = text.split_once('/')?;
    let (number, count): (u64, u64) = (number.parse().ok()?, count.parse().ok()?);
    (1..=count).contains(&number).then(|| Test::Part { place: number - 1, count })
}

fn times(text: &str) -> Option<Test> {
    let (from, until) = text.split_once("..")?;
    let read = |text: &str, otherwise| match text {
        "" => Some(otherwise),
        text => text.parse::<Span>().ok(),
    };
    let (from, until) = (read(from, Span::ZERO)?, read(until, Span::MAX)?);
    (from < until).then_some(Test::Time { from, until })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(one: &str, other: &str) -> [SocketAddr; 2] {
        [one.parse().unwrap(), other.parse().unwrap()]
    }

    #[test]
    fn filter_each_test_admits_matching_packets() {
        let web = ends("10.0.0.1:40000", "192.0.2.7:443");
        let six = ends("[fd00::1]:40000", "[fd00::2]:22");
        for (text, of_web, of_six) in [
            ("host 10.0.0.1", true, false),
            ("host 192.0.2.7 and port 443", true, false),
            ("host 192.0.2.7 and port 444", false, false),
            ("net 10.0.0.0/8", true, false),
            ("net 10.99.0.0/8", true, false),
            ("net 0.0.0.0/0", true, false),
            ("net ::/0", false, true),
            ("net fd00::/127", false, true),
            ("net 192.0.2.7/32", true, false),
            ("port 20-25", false, true),
            ("port 22 or port 443", true, true),
            ("not port 22", true, false),
            ("not (port 22 or port 443)", false, false),
            ("port 22 and time 1s..2s or host 10.0.0.1", true, true),
            ("time 1.5s..", true, true),
            ("time ..1.5s", false, false),
            ("time 1s..1500ms", false, false),
        ] {
            let filter = Filter::parse(text).unwrap();
            let at = Span::from_millis(1_500);
            let admits = |ends| filter.admits(Some(ends), at);
            assert_eq!((admits(web), admits(six)), (of_web, of_six), "{text}");
            assert_eq!(filter.to_string(), text);
        }
        // As tcpdump and Wireshark write it.
        for (text, same) in [
            ("tcp port 443", "port 443"),
            ("tcp and port 443", "port 443"),
            ("10.0.0.1", "host 10.0.0.1"),
            ("port=443", "port 443"),
            ("!port 22", "not port 22"),
            ("ip.addr == 10.0.0.1 && !(tcp.port==22)", "host 10.0.0.1 and not (port 22)"),
            ("ipv6.addr == fd00::1 || port 443", "host fd00::1 or port 443"),
        ] {
            let tests = [text, same].map(|text| Filter::parse(text).map(|filter| filter.test));
            assert_eq!(tests[0], tests[1], "{text}");
        }
        // Packets other than TCP have no ends.
        let udp = |text: &str| Filter::parse(text).unwrap().admits(None, Span::ZERO);
        assert!(!udp("port 53") && udp("not port 53") && udp("time 0s..1s"));
        assert!(Filter::parse("time ..1s or not time 3s..").unwrap().test.is_of_time_only());
        assert!(!Filter::parse("time ..1s or port 1").unwrap().test.is_of_time_only());
    }

    #[test]
    fn each_connection_is_in_one_part() {
        let parts: Vec<Filter> =
            (1..=5).map(|part| Filter::parse(&format!("part {part}/5")).unwrap()).collect();
        let mut sizes = [0; 5];
        for port in 1_000..2_000 {
            let [client, server] = ends(&format!("10.0.0.1:{port}"), "192.0.2.7:443");
            let admits = |pair| parts.iter().position(|it| it.admits(Some(pair), Span::ZERO));
            let place = admits([client, server]).unwrap();
            assert_eq!(admits([server, client]), Some(place));
            let all = parts.iter().filter(|it| it.admits(Some([client, server]), Span::ZERO));
            assert_eq!(all.count(), 1);
            sizes[place] += 1;
        }
        assert!(sizes.iter().all(|size| (150..=250).contains(size)), "{sizes:?}");
        for wrong in ["part 0/5", "part 6/5", "part 1", "part 1/0"] {
            assert!(Filter::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn filter_mistakes_shown_at_their_place() {
        let mut all = String::new();
        for text in [
            "",
            "hots 10.0.0.1",
            "host 10.0.0",
            "host 10.0.0.1 port 443",
            "host 10.0.0.1 and",
            "net 10.0.0.0/33",
            "port http",
            "port 70000",
            "(port 1 or port 2",
            "port 1)",
            "time 5s..1s",
            "time 1..5",
            "port 1 and ()",
            "src host 10.0.0.1",
            "tcp dst port 443",
            "ip.addr != 10.0.0.1",
            "443",
            "tcp.analysis.retransmission",
        ] {
            all += &format!("{}\n", Filter::parse(text).unwrap_err());
        }
        insta::assert_snapshot!(all);
        let deep = format!("{}port 1{}", "(".repeat(100_000), ")".repeat(100_000));
        let many = "tcp ".repeat(100_000);
        for nested in [deep, many] {
            let error = Filter::parse(&nested).unwrap_err().to_string();
            assert!(error.contains("nested too deeply"));
        }
    }
}
