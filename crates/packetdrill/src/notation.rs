//! Packets and calls written as scripts write them.

use std::fmt;

use tcplab_units::{Instant, Span};
use tcplab_wire::{Ecn, TcpFlags};

use crate::ast::{
    Body, Call, Counted, EcnCounter, Expression, Field, OptionSpec, PacketSpec, Quoted, Service,
    TcpSpec, Time,
};

impl fmt::Display for PacketSpec {
    /// Without time and direction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for outer in &self.encapsulations {
            write!(f, "{outer}: ")?;
        }
        let mut said = Vec::new();
        match self.ip.service {
            Service::Unsaid => {}
            Service::Ecn(Ecn::NotEct) => said.push("noecn".to_owned()),
            Service::Ecn(Ecn::Ect0) => said.push("ect0".into()),
            Service::Ecn(Ecn::Ect1) => said.push("ect1".into()),
            Service::Ecn(Ecn::Ce) => said.push("ce".into()),
            Service::Ect01 => said.push("ect01".into()),
            Service::Tos(tos) => said.push(format!("tos {tos:#04x}")),
            Service::Dscp(dscp) => said.push(format!("dscp {dscp:#04x}")),
        }
        said.extend(self.ip.flow_label.map(|label| format!("flowlabel {label:#x}")));
        said.extend(self.ip.ttl.map(|ttl| format!("ttl {ttl}")));
        if !said.is_empty() {
            write!(f, "[{}] ", said.join(", "))?;
        }
        if let Some(index) = self.psp {
            write!(f, "encap psp spi {index:#x} ")?;
        }
        let ports = self.ports.map(|(src, dst)| format!("{src} > {dst} ")).unwrap_or_default();
        match &self.body {
            Body::Tcp(tcp) => write!(f, "{ports}{tcp}{}", Udp(self.udp)),
            Body::Foreign(_, text) => write!(f, "{ports}{text}"),
            Body::Udp(len) => write!(f, "udp {ports}({len})"),
            Body::Icmp(icmp) => {
                write!(f, "icmp {}", icmp.kind)?;
                if let Some(code) = &icmp.code {
                    write!(f, " {code}")?;
                }
                if let Some(mtu) = icmp.mtu {
                    write!(f, " mtu {mtu}")?;
                }
                if let Some(id) = icmp.id {
                    write!(f, " id {id}")?;
                }
                match icmp.quoted {
                    Quoted::Unsaid => Ok(()),
                    Quoted::Tcp(seq, len) => {
                        write!(f, " [{}{}]", Numbers(seq, len.into()), Udp(icmp.quoted_udp))
                    }
                    Quoted::Udp(len) => write!(f, " [udp ({len})]"),
                    Quoted::Raw(len) => write!(f, " [raw ({len})]"),
                }
            }
        }
    }
}

impl fmt::Display for TcpSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LETTERS: [(TcpFlags, char); 9] = [
            (TcpFlags::FIN, 'F'),
            (TcpFlags::SYN, 'S'),
            (TcpFlags::RST, 'R'),
            (TcpFlags::PSH, 'P'),
            (TcpFlags::ECE, 'E'),
            (TcpFlags::CWR, 'W'),
            (TcpFlags::AE, 'A'),
            (TcpFlags::URG, 'U'),
            (TcpFlags::ACK, '.'),
        ];
        let set = LETTERS.iter().filter(|(flag, _)| self.flags.contains(*flag));
        let mut letters: String = set.map(|(_, letter)| letter).collect();
        letters.extend(self.ace.map(|ace| char::from(b'0' + (ace & 7))));
        if letters.is_empty() {
            letters.push('-');
        }
        match self.counted {
            Counted::FromInitial => write!(f, "{letters} {}", Numbers(self.seq, self.len))?,
            Counted::Absolute => write!(f, "{letters} {}!", Numbers(self.seq, self.len))?,
            Counted::AnySequence => write!(f, "{letters} ...({})", self.len)?,
        }
        if self.flags.contains(TcpFlags::ACK) || self.ack != 0 {
            write!(f, " ack {}", self.ack)?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        if self.urgent != 0 {
            write!(f, " urg {}", self.urgent)?;
        }
        match &self.options {
            None => f.write_str(" <...>"),
            Some(options) if options.is_empty() => Ok(()),
            Some(options) => {
                let options: Vec<String> = options.iter().map(ToString::to_string).collect();
                write!(f, " <{}>", options.join(","))
            }
        }
    }
}

/// `/udp(9811 > 1)`.
struct Udp(Option<(u16, u16)>);

impl fmt::Display for Udp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |(src, dst)| write!(f, "/udp({src} > {dst})"))
    }
}

/// `1:1001(1000)`.
struct Numbers(u32, u32);

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}({})", self.0, self.0.wrapping_add(self.1), self.1)
    }
}

impl fmt::Display for OptionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionSpec::Nop => f.write_str("nop"),
            OptionSpec::Eol => f.write_str("eol"),
            OptionSpec::Mss(mss) => write!(f, "mss {mss}"),
            OptionSpec::WindowScale(shift) => write!(f, "wscale {shift}"),
            OptionSpec::SackPermitted => f.write_str("sackOK"),
            OptionSpec::Sack(blocks) => {
                f.write_str("sack")?;
                blocks.iter().try_for_each(|(left, right)| write!(f, " {left}:{right}"))
            }
            OptionSpec::Timestamps { value, echo } => write!(f, "TS val {value} ecr {echo}"),
            OptionSpec::FastOpen(cookie) => hex(f, "FO", cookie),
            OptionSpec::FastOpenExperimental(cookie) => hex(f, "FOEXP", cookie),
            OptionSpec::Md5Valid => f.write_str("md5 valid"),
            OptionSpec::Md5(digest) => hex(f, "md5", digest),
            OptionSpec::AccEcn(counters) => {
                f.write_str("ECN")?;
                counters.iter().try_for_each(|(counter, bytes)| {
                    let name = match counter {
                        EcnCounter::Ect0 => "e0b",
                        EcnCounter::Ect1 => "e1b",
                        EcnCounter::Ce => "ceb",
                    };
                    write!(f, " {name} {bytes}")
                })
            }
            OptionSpec::Other(text) => f.write_str(text),
        }
    }
}

fn hex(f: &mut fmt::Formatter<'_>, name: &str, bytes: &[u8]) -> fmt::Result {
    f.write_str(name)?;
    if !bytes.is_empty() {
        f.write_str(" ")?;
    }
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Time::At(at) => f.write_str(&seconds(at)),
            Time::After(span) => write!(f, "+{}", seconds(span)),
            Time::Any => f.write_str("*"),
            Time::Between(from, to) => write!(f, "{}~{}", seconds(from), seconds(to)),
            Time::AfterBetween(from, to) => write!(f, "+{}~+{}", seconds(from), seconds(to)),
        }
    }
}

/// Seconds with as many places as are needed: `0.2`.
pub(crate) fn seconds(span: Span) -> String {
    let nanos = span.as_nanos();
    let text = format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A call without its result: `write(4, ..., 1000)`.
pub(crate) struct Made<'a>(pub(crate) &'a Call);

impl fmt::Display for Made<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.0.name, List(&self.0.arguments))
    }
}

/// Things with commas between them.
struct List<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(index, one)| {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{one}")
        })
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Ellipsis => f.write_str("..."),
            Expression::Integer(value) => write!(f, "{value}"),
            Expression::Word(word) => f.write_str(word),
            Expression::Text(text) => write!(f, "\"{text}\""),
            Expression::TextFrom(text) => write!(f, "\"{text}\"..."),
            Expression::Or(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                f.write_str(&all.join("|"))
            }
            Expression::Assign(name, value) => write!(f, "{name}={value}"),
            Expression::Array(all) => write!(f, "[{}]", List(all)),
            Expression::Structure(fields) => write!(f, "{{{}}}", List(fields)),
            Expression::Macro(name, arguments) => write!(f, "{name}({})", List(arguments)),
            Expression::Header(text) => write!(f, "{{{text}}}"),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or_default();
        f.write_str(name)?;
        if let Some(count) = &self.count {
            write!(f, "({count})")?;
        }
        let equals = if name.is_empty() { "" } else { "=" };
        write!(f, "{equals}{}", self.value)
    }
}

/// A time of a run in seconds, to the microsecond.
pub(crate) fn written(time: Instant) -> String {
    let micros = time.as_nanos() / 1_000;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}
