//! Packets: `< [ect0] P. 1:1001(1000) ack 1 win 257 <nop, nop, TS val 100 ecr 1>`.

use tcplab_wire::{Ecn, TcpFlags};

use super::Parser;
use crate::ast::{Body, Counted, IcmpSpec, IpSpec, PacketSpec, Quoted, Service, TcpSpec};
use crate::lexer::Kind;
use crate::source::ParseError;

impl Parser<'_> {
    pub(super) fn packet(&mut self, inbound: bool) -> Result<PacketSpec, ParseError> {
        self.take();
        let start = self.next;
        let encapsulations = self.encapsulations()?;
        let ip = self.ip()?;
        let mut psp = None;
        if self.accept_word("encap") {
            if !self.accept_word("psp") || !self.accept_word("spi") {
                return Err(self.expected("`psp spi` and its index"));
            }
            psp = Some(self.number(u32::MAX, "a security parameter index")?);
        }
        let mut ports = self.ports()?;
        let body = if self.is_word("sctp") || self.is_word("udplite") {
            self.foreign()
        } else if self.accept_word("udp") {
            let datagram_ports = self.ports()?;
            ports = ports.or(datagram_ports);
            Body::Udp(self.length_in_parentheses()?)
        } else if self.accept_word("icmp") {
            Body::Icmp(self.icmp()?)
        } else {
            Body::Tcp(self.tcp()?)
        };
        let wild_options = matches!(&body, Body::Tcp(tcp) if tcp.options.is_none());
        if inbound && (wild_options || ip.service == Service::Ect01) {
            let what = "`<...>` and `[ect01]` are allowed only in expected packets (`>`)";
            return Err(self.error_at(start, what.into()));
        }
        let any_sequence = matches!(&body, Body::Tcp(tcp) if tcp.counted == Counted::AnySequence);
        if inbound && any_sequence {
            let what = "`...` for a sequence number is allowed only in expected packets (`>`)";
            return Err(self.error_at(start, what.into()));
        }
        let wild_window = matches!(&body, Body::Tcp(tcp) if tcp.window.is_none());
        if inbound && wild_window {
            let what = "an injected packet (`<`) needs a window: add `win N`";
            return Err(self.error_at(start, what.into()));
        }
        let udp = self.udp_encapsulation()?;
        Ok(PacketSpec { encapsulations, ip, psp, ports, udp, body })
    }

    /// `/udp(9811 > 1)`: TCP in UDP.
    fn udp_encapsulation(&mut self) -> Result<Option<(u16, u16)>, ParseError> {
        if !self.accept_sign('/') {
            return Ok(None);
        }
        let what = "`udp(port > port)` behind `/`";
        if !self.accept_word("udp") || !self.accept_sign('(') {
            return Err(self.expected(what));
        }
        let src = self.number16("a port")?;
        self.sign('>', what)?;
        let ports = (src, self.number16("a port")?);
        self.sign(')', "`)` behind the ports")?;
        Ok(Some(ports))
    }

    /// Outer headers up to a colon each.
    fn encapsulations(&mut self) -> Result<Vec<String>, ParseError> {
        let mut found = Vec::new();
        while self.kind() == Kind::Word
            && matches!(self.text(), "ipv4" | "ipv6" | "gre" | "GREv0" | "mpls")
        {
            let start = self.tokens[self.next].at;
            while self.kind() != Kind::Sign(':') {
                if self.kind() == Kind::End {
                    return Err(self.expected("`:` behind the outer header"));
                }
                self.take();
            }
            found.push(self.source[start..self.tokens[self.next].at].trim().to_owned());
            self.take();
        }
        Ok(found)
    }

    fn ip(&mut self) -> Result<IpSpec, ParseError> {
        let mut ip = IpSpec::default();
        let close = match self.kind() {
            Kind::Sign('[') => ']',
            Kind::Sign('(') => ')',
            _ => return Ok(ip),
        };
        self.take();
        loop {
            let what = "noecn, ect0, ect1, ect01, ce, tos, class, dscp, flowlabel, ttl or hlim";
            if self.kind() != Kind::Word {
                return Err(self.expected(what));
            }
            // `ecn ect0` is `ect0`.
            self.accept_word("ecn");
            let word = self.next;
            let service = match self.take() {
                "noecn" => Service::Ecn(Ecn::NotEct),
                "ect0" => Service::Ecn(Ecn::Ect0),
                "ect1" => Service::Ecn(Ecn::Ect1),
                "ce" => Service::Ecn(Ecn::Ce),
                "ect01" => Service::Ect01,
                "tos" | "class" => Service::Tos(self.number(255, "a type of service")? as u8),
                "dscp" => Service::Dscp(self.codepoint()?),
                "flowlabel" => {
                    ip.flow_label = Some(self.number(0xf_ffff, "a flow label")?);
                    Service::Unsaid
                }
                "ttl" | "hlim" => {
                    ip.ttl = Some(self.number(255, "a time to live")? as u8);
                    Service::Unsaid
                }
                _ => {
                    self.next = word;
                    return Err(self.expected(what));
                }
            };
            ip.service = both(ip.service, service).ok_or_else(|| {
                let what = "the type of service is given twice: remove one";
                self.error_at(word, what.into())
            })?;
            if !self.accept_sign(',') {
                break;
            }
        }
        self.sign(close, &format!("`{close}` behind what is said of the IP header"))?;
        Ok(ip)
    }

    /// A codepoint of differentiated services, six bits: `0x08` or its name (RFC 2474, 2597, 3246,
    /// 5865, 8622).
    fn codepoint(&mut self) -> Result<u8, ParseError> {
        let (class, number) = match self.text().split_at_checked(2) {
            Some((class @ ("cs" | "af"), digits)) => (class, digits.parse::<u8>().ok()),
            _ => (self.text(), None),
        };
        let named = match (class, number) {
            ("cs", Some(class @ 0..=7)) => class << 3,
            ("af", Some(both))
                if (1..=4).contains(&(both / 10)) && (1..=3).contains(&(both % 10)) =>
            {
                ((both / 10) << 3) | ((both % 10) << 1)
            }
            ("ef", _) => 46,
            ("le", _) => 1,
            ("voice", _) if self.kind_at(1) == Kind::Sign('-') => {
                self.take();
                self.take();
                44
            }
            _ => {
                return self
                    .number(63, "a codepoint such as cs1, af11, ef or 0x08")
                    .map(|n| n as u8);
            }
        };
        self.take();
        Ok(named)
    }

    fn ports(&mut self) -> Result<Option<(u16, u16)>, ParseError> {
        if self.kind() != Kind::Integer || self.kind_at(1) != Kind::Sign('>') {
            return Ok(None);
        }
        let src = self.number16("a port")?;
        self.take();
        Ok(Some((src, self.number16("a port")?)))
    }

    fn length_in_parentheses(&mut self) -> Result<u16, ParseError> {
        self.sign('(', "`(` and the data's length")?;
        let len = self.number16("the data's length")?;
        self.sign(')', "`)` behind the length")?;
        Ok(len)
    }

    fn icmp(&mut self) -> Result<IcmpSpec, ParseError> {
        let kind = self.take_kind(Kind::Word, "the message's type")?.to_owned();
        let names_code = self.kind() == Kind::Word && !matches!(self.text(), "mtu" | "id");
        let code = names_code.then(|| self.take().to_owned());
        let mtu =
            if self.accept_word("mtu") { Some(self.number(u32::MAX, "an MTU")?) } else { None };
        let id = if self.accept_word("id") { Some(self.number16("an identifier")?) } else { None };
        let (mut quoted, mut quoted_udp) = (Quoted::Unsaid, None);
        if self.accept_sign('[') {
            quoted = if self.accept_word("udp") {
                Quoted::Udp(self.length_in_parentheses()?)
            } else if self.accept_word("raw") {
                Quoted::Raw(self.length_in_parentheses()?)
            } else {
                let (seq, len) = self.sequence()?;
                quoted_udp = self.udp_encapsulation()?;
                Quoted::Tcp(seq, len)
            };
            self.sign(']', "`]` behind the packet quoted")?;
        }
        Ok(IcmpSpec { kind, code, mtu, id, quoted, quoted_udp })
    }

    fn tcp(&mut self) -> Result<TcpSpec, ParseError> {
        let (flags, ace) = self.flags()?;
        let (seq, len, counted) = self.counted_sequence()?;
        let ack = if self.accept_word("ack") {
            self.number(u32::MAX, "an acknowledgement number")?
        } else {
            0
        };
        let mut window = None;
        if self.accept_word("win") && !self.accept_sign('*') {
            window = Some(self.number16("a window")?);
        }
        let urgent = if self.accept_word("urg") { self.number16("an urgent pointer")? } else { 0 };
        let options = self.tcp_options()?;
        let len = u32::from(len);
        Ok(TcpSpec { flags, ace, seq, counted, len, ack, window, urgent, options })
    }

    /// `S`, `P.`, `.`, `-`, `SEWA`, `P.5` (with Accurate ECN's counter).
    fn flags(&mut self) -> Result<(TcpFlags, Option<u8>), ParseError> {
        let what = "flags: `-`, or some of `.FSRPEWAU` and a digit 0-7";
        if self.accept_sign('-') {
            return Ok((TcpFlags::NONE, None));
        }
        let start = self.next;
        let mut written = String::new();
        if self.kind() == Kind::Word {
            written.push_str(self.take());
        }
        match self.kind() {
            Kind::Sign('.') => written.push_str(self.take()),
            Kind::Decimal if self.text().starts_with('.') => written.push_str(self.take()),
            _ if written.is_empty() => return Err(self.expected(what)),
            _ => {}
        }
        let mut flags = TcpFlags::NONE;
        let mut ace = None;
        for letter in written.chars() {
            flags |= match letter {
                '.' => TcpFlags::ACK,
                'F' => TcpFlags::FIN,
                'S' => TcpFlags::SYN,
                'R' => TcpFlags::RST,
                'P' => TcpFlags::PSH,
                'U' => TcpFlags::URG,
                'E' => TcpFlags::ECE,
                'W' => TcpFlags::CWR,
                'A' => TcpFlags::AE,
                '0'..='7' if ace.is_none() => {
                    ace = Some(letter as u8 - b'0');
                    TcpFlags::NONE
                }
                _ => {
                    self.next = start;
                    return Err(self.expected(what));
                }
            };
        }
        let ecn = TcpFlags::ECE.bits() | TcpFlags::CWR.bits() | TcpFlags::AE.bits();
        if ace.is_some() && flags.bits() & ecn != 0 {
            let what = "the Accurate ECN counter replaces the flags E, W and A";
            return Err(self.error_at(start, what.into()));
        }
        Ok((flags, ace))
    }

    /// A sequence with how its numbers are counted: `1:1001(1000)`, `0:0(0)!`, `...(0)`.
    fn counted_sequence(&mut self) -> Result<(u32, u16, Counted), ParseError> {
        if self.kind() == Kind::Ellipsis {
            self.take();
            return Ok((0, self.length_in_parentheses()?, Counted::AnySequence));
        }
        let (seq, len) = self.sequence()?;
        let absolute = self.accept_sign('!');
        Ok((seq, len, if absolute { Counted::Absolute } else { Counted::FromInitial }))
    }

    /// `1:1001(1000)`: the first number and the length, which must agree with the end.
    fn sequence(&mut self) -> Result<(u32, u16), ParseError> {
        let start = self.next;
        let seq = self.number(u32::MAX, "a sequence number")?;
        self.sign(':', "`:` and the sequence number of the end")?;
        let end = self.number(u32::MAX, "a sequence number")?;
        let len = self.length_in_parentheses()?;
        if seq.wrapping_add(u32::from(len)) != end {
            let right = seq.wrapping_add(u32::from(len));
            let what = format!("{len} bytes from {seq} on end at {right}, not at {end}");
            return Err(self.error_at(start, what));
        }
        Ok((seq, len))
    }
}

/// The second byte of a header of which this and that is said.
fn both(one: Service, other: Service) -> Option<Service> {
    match (one, other) {
        (said, Service::Unsaid) | (Service::Unsaid, said) => Some(said),
        (Service::Dscp(codepoint), Service::Ecn(ecn))
        | (Service::Ecn(ecn), Service::Dscp(codepoint)) => {
            Some(Service::Tos(codepoint << 2 | ecn as u8))
        }
        _ => None,
    }
}
