//! What a script says, as it is written.

use tcplab_units::Span;
use tcplab_wire::TcpFlags;

use crate::shell::Command;
use crate::source::Position;

/// A whole script.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Script {
    /// Lines such as `--tolerance_usecs=10000`, before all else.
    pub options: Vec<Flag>,
    /// Commands that prepare the machine.
    pub init: Option<Shell>,
    /// What happens and what is expected, in order.
    pub events: Vec<Event>,
    /// Commands that clean up, whatever came of the script.
    pub cleanup: Option<Shell>,
}

/// `--name=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// Where it stands.
    pub at: Position,
    /// Without the dashes.
    pub name: String,
    /// Without quotes, but those inside a `--define`.
    pub value: Option<String>,
}

/// Text for a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    /// Where it stands.
    pub at: Position,
    /// As written.
    pub text: String,
    /// What it asks for.
    pub commands: Vec<Command>,
}

/// One line of the script.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Where its time stands.
    pub at: Position,
    /// When.
    pub time: Time,
    /// What.
    pub action: Action,
}

/// When something happens, or is expected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// A time after the start: `0.2`.
    At(Span),
    /// A time after the event before: `+.2`.
    After(Span),
    /// Whenever: `*`.
    Any,
    /// Between two times after the start: `0.2~0.3`.
    Between(Span, Span),
    /// Between two times after the event before: `+.2~+.3`.
    AfterBetween(Span, Span),
}

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A packet is put in: `<`.
    Inbound(PacketSpec),
    /// A packet is expected: `>`.
    Outbound(PacketSpec),
    /// The application calls the system.
    Call(Call),
    /// Commands for a shell.
    Shell(Shell),
    /// Assertions: `%{ … }%`.
    Code(Code),
}

/// Assertions in a small part of Python.
#[derive(Debug, Clone, PartialEq)]
pub struct Code {
    /// Where its text begins.
    pub at: Position,
    /// As written, without the braces.
    pub text: String,
    /// What it does.
    pub program: crate::python::Program,
}

/// A packet, whole or in part.
#[derive(Debug, Clone, PartialEq)]
pub struct PacketSpec {
    /// Outer headers (`ipv4 a > b:`, `gre:`, `mpls (…):`), each as written.
    pub encapsulations: Vec<String>,
    /// The fields of the IP header.
    pub ip: IpSpec,
    /// `encap psp spi …`: the index.
    pub psp: Option<u32>,
    /// `1234 > 80`: ports other than those of the connection; 0 is the connection's.
    pub ports: Option<(u16, u16)>,
    /// `/udp(9811 > 1)`: the ports of the UDP header in front of TCP's (RFC 6951 has it for SCTP).
    pub udp: Option<(u16, u16)>,
    /// What the IP packet carries.
    pub body: Body,
}

/// The fields of an IP header that a script names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IpSpec {
    /// ECN or type of service.
    pub service: Service,
    /// IPv6 flow label.
    pub flow_label: Option<u32>,
    /// Time to live, or IPv6's hop limit.
    pub ttl: Option<u8>,
}

/// The second byte of an IP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Service {
    /// Not given: any value is right, and 0 is sent.
    #[default]
    Unsaid,
    /// `[noecn]`, `[ect0]`, `[ect1]`, `[ce]`: the two bits.
    Ecn(tcplab_wire::Ecn),
    /// `[ect01]`: either codepoint of ECT.
    Ect01,
    /// `[tos 0x..]`, `[class 0x..]`: the whole byte.
    Tos(u8),
    /// `[dscp 0x..]`: the upper six bits.
    Dscp(u8),
}

/// What an IP packet carries.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// A TCP segment.
    Tcp(TcpSpec),
    /// `udp (len)`: a datagram, data bytes.
    Udp(u16),
    /// `icmp type [code] …`.
    Icmp(IcmpSpec),
    /// A packet of a protocol that is not known here (SCTP, UDP-Lite): its name.
    Foreign(&'static str, String),
}

/// A TCP segment.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpSpec {
    /// Control bits, without those of `ace`.
    pub flags: TcpFlags,
    /// The counter of Accurate ECN, in place of the flags AE, CWR and ECE.
    pub ace: Option<u8>,
    /// First sequence number.
    pub seq: u32,
    /// How the numbers are counted.
    pub counted: Counted,
    /// Data bytes.
    pub len: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Window; unsaid, outbound only: any.
    pub window: Option<u16>,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options in order; `None`: `<...>`, any.
    pub options: Option<Vec<OptionSpec>>,
}

/// How the sequence number and the acknowledgement number of a segment are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counted {
    /// From the initial ones.
    #[default]
    FromInitial,
    /// `0:0(0)!`: not at all; the first sequence number is the one on the wire.
    Absolute,
    /// `...(0)`: the first sequence number may be any.
    AnySequence,
}

/// A TCP option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionSpec {
    /// Padding.
    Nop,
    /// End of list.
    Eol,
    /// Largest segment, bytes.
    Mss(u16),
    /// Shift of windows.
    WindowScale(u8),
    /// Selective acknowledgements are welcome.
    SackPermitted,
    /// Blocks, from and up to.
    Sack(Vec<(u32, u32)>),
    /// Timestamp value and echo.
    Timestamps {
        /// The sender's clock.
        value: u32,
        /// The receiver's.
        echo: u32,
    },
    /// Fast open's cookie (RFC 7413).
    FastOpen(Vec<u8>),
    /// The same in the experimental option.
    FastOpenExperimental(Vec<u8>),
    /// MD5 digest (RFC 2385).
    Md5(Vec<u8>),
    /// `md5 valid`: the digest that is right.
    Md5Valid,
    /// Counters of Accurate ECN, in the order written.
    AccEcn(Vec<(EcnCounter, u32)>),
    /// Another, as written or (sent by a stack) as `kind: bytes`.
    Other(String),
}

/// A counter of Accurate ECN's option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnCounter {
    /// Bytes of ECT(0): `e0b`.
    Ect0,
    /// Bytes of ECT(1): `e1b`.
    Ect1,
    /// Bytes of CE: `ceb`.
    Ce,
}

/// An ICMP message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IcmpSpec {
    /// By name.
    pub kind: String,
    /// By name.
    pub code: Option<String>,
    /// The MTU in it, bytes.
    pub mtu: Option<u32>,
    /// Identifier of an echo.
    pub id: Option<u16>,
    /// What it quotes.
    pub quoted: Quoted,
    /// `[…/udp(9811 > 1)]`: the ports of the UDP header that the quoted packet has before TCP's.
    pub quoted_udp: Option<(u16, u16)>,
}

/// The packet that an ICMP message quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quoted {
    /// Not said.
    Unsaid,
    /// `[1:1001(1000)]`: first sequence number and data bytes.
    Tcp(u32, u16),
    /// `[udp (len)]`.
    Udp(u16),
    /// `[raw (len)]`.
    Raw(u16),
}

/// A system call and what it returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// When it returns, if it blocks: on the same clock as the event's own time.
    pub until: Option<Span>,
    /// Its arguments.
    pub arguments: Vec<Expression>,
    /// What it returns.
    pub result: Expression,
    /// The error's name.
    pub errno: Option<String>,
    /// The comment in parentheses at the end.
    pub note: Option<String>,
}

/// An argument or result of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// `...`: whatever fits.
    Ellipsis,
    /// A number.
    Integer(i64),
    /// A constant or what a `--define` says.
    Word(String),
    /// A string; those that stand beside one another are one.
    Text(String),
    /// `"text"...`: a string that begins so.
    TextFrom(String),
    /// `a | b | c`.
    Or(Vec<Expression>),
    /// `name = value`.
    Assign(String, Box<Expression>),
    /// `[a, b]`.
    Array(Vec<Expression>),
    /// `{name=value, …}`, also without names.
    Structure(Vec<Field>),
    /// `name(arguments)`: `htons(80)`, `inet_addr("192.0.2.1")`.
    Macro(String, Vec<Expression>),
    /// A header of another protocol in braces, as written.
    Header(String),
}

/// A part of a structure.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name, if given.
    pub name: Option<String>,
    /// `msg_iov(2)`: the number in parentheses behind its name.
    pub count: Option<Expression>,
    /// Its value.
    pub value: Expression,
}
