//! One step of a program: a call on the socket, or what stands between calls.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tcplab_units::{Bytes, Span, UnitError};

/// The default maximum of one read.
pub(crate) const READ_SIZE: Bytes = Bytes::new(256 << 10);

/// The largest piece handed to the socket at once; a sender holds one in memory.
pub(crate) const WRITE_SIZE_MAX: Bytes = Bytes::new(16 << 20);

/// A step of a program. Written as text, such as `write 100 B`; a repetition as
/// `{ repeat = 10, steps = ["write 1 B", "sleep 100 ms"] }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `connect(2)`.
    Connect,
    /// `accept(2)`.
    Accept,
    /// `send(2)`, as often as it takes.
    Write(Write),
    /// `recv(2)`, as often as it takes.
    Read(Read),
    /// `poll(2)` for POLLPRI: until the urgent byte has come, or the other end has closed its half.
    AwaitUrgent,
    /// `recv(2)` with MSG_OOB: the urgent byte, out of band.
    ReadUrgent,
    /// SIOCATMARK: whether the next byte to be read is the urgent one.
    AtMark,
    /// Nothing, for so long.
    Sleep(Span),
    /// `shutdown(2)`.
    Shutdown(Half),
    /// `setsockopt(2)` with an option that is on or off.
    Set(Toggle, bool),
    /// A request begins: its response time counts from here.
    BeginRequest,
    /// The response to the oldest request without one is there.
    EndResponse,
    /// `close(2)`.
    Close,
    /// Its machine is gone: nothing arrives and nothing leaves any more.
    Vanish,
    /// Steps, several times.
    Repeat {
        /// How often, at least once.
        times: u64,
        /// Which.
        steps: Vec<Step>,
    },
}

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// How much in all.
    pub amount: Bytes,
    /// How much one call is given.
    pub piece: Bytes,
    /// MSG_MORE: more will follow, so less than a segment may wait.
    pub more: bool,
    /// MSG_OOB: the last byte is urgent.
    pub urgent: bool,
    /// MSG_DONTWAIT: a call takes what the buffer has room for and returns. What it did not take is
    /// offered again so much later; `None`: each call waits for room.
    pub retry: Option<Span>,
}

/// What to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// Until when.
    pub until: Until,
    /// How much one call asks for at most.
    pub piece: Bytes,
}

/// How long to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Until so much has come in all.
    Amount(Bytes),
    /// Until the other end has closed its half.
    End,
    /// One call, whatever it gives.
    Once,
}

/// A half of the connection, or both, as `shutdown(2)` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// SHUT_RD.
    Read,
    /// SHUT_WR.
    Write,
    /// SHUT_RDWR.
    Both,
}

/// A socket option that a program turns on and off while the connection is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toggle {
    /// TCP_CORK.
    Cork,
    /// TCP_NODELAY.
    NoDelay,
    /// TCP_QUICKACK.
    QuickAck,
}

impl Toggle {
    /// As a program writes it.
    pub fn word(self) -> &'static str {
        match self {
            Toggle::Cork => "cork",
            Toggle::NoDelay => "nodelay",
            Toggle::QuickAck => "quickack",
        }
    }
}

impl Half {
    /// As a program writes it.
    pub fn word(self) -> &'static str {
        match self {
            Half::Read => "read",
            Half::Write => "write",
            Half::Both => "both",
        }
    }
}

/// Every form of a step: how it is written, a pattern of it, and what it does.
const FORMS: &[(&str, &str, &str)] = &[
    (
        "write AMOUNT [in SIZE] [more] [urgent] [retry SPAN]",
        r"^write .+",
        "Writes AMOUNT, `in` calls of SIZE each, or in one call. `more`: MSG_MORE, more will \
         follow. `urgent`: MSG_OOB with the last of the calls, whose last byte is urgent. `retry`: \
         MSG_DONTWAIT, a call takes what the buffer has room for; the rest is offered again after \
         SPAN. Without it each call waits until all is taken.",
    ),
    (
        "read AMOUNT [in SIZE]",
        r"^read [0-9.+_].+",
        "Reads until AMOUNT has come, `in` calls that ask for SIZE at most (256 KiB).",
    ),
    ("read to end [in SIZE]", r"^read to end.*", "Reads until the other end has closed its half."),
    ("read up to SIZE", r"^read up to .+", "One call that asks for SIZE, whatever it gives."),
    (
        "await urgent",
        r"^await urgent$",
        "Waits with poll until the urgent byte has come (POLLPRI).",
    ),
    (
        "read urgent",
        r"^read urgent$",
        "Reads the urgent byte out of band, with MSG_OOB (refused with `oobinline`).",
    ),
    (
        "at mark",
        r"^at mark$",
        "Asks with SIOCATMARK whether the next byte to be read is the urgent one.",
    ),
    ("sleep SPAN", r"^sleep .+", "Does nothing for so long."),
    (
        "shutdown read|write|both",
        r"^shutdown (read|write|both)$",
        "Closes a half of the connection, or both; the socket stays.",
    ),
    ("cork on|off", r"^cork (on|off)$", "Sets TCP_CORK: only full segments leave while it is on."),
    ("nodelay on|off", r"^nodelay (on|off)$", "Sets TCP_NODELAY."),
    (
        "quickack on|off",
        r"^quickack (on|off)$",
        "Sets TCP_QUICKACK: acknowledgements are not delayed for now.",
    ),
    ("begin request", r"^begin request$", "No call: the metric `response.time` counts from here."),
    (
        "end response",
        r"^end response$",
        "No call: until here it counts, for the oldest request that has no response yet.",
    ),
    (
        "connect",
        r"^connect$",
        "Opens the connection. Only a client does; it begins with it where the step is not written.",
    ),
    (
        "accept",
        r"^accept$",
        "Accepts the connection. Only a server does; it begins with it where the step is not \
         written.",
    ),
    (
        "close",
        r"^close$",
        "Closes the socket; only sleeping can follow. A program that does not say so closes at its \
         end.",
    ),
    (
        "vanish",
        r"^vanish$",
        "The end of a program that hangs: as if its machine had lost its power, nothing arrives \
         there and nothing leaves any more, not even a FIN. On the kernel its socket hears nothing \
         (a filter that drops all); what it has sent itself and is not acknowledged it still \
         repeats.",
    ),
];

/// Why a text is no step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message above each variant explains it")]
pub enum StepError {
    #[error("`{0}` is not a step of a program; the steps are {steps}", steps = forms())]
    Unknown(String),
    #[error("`{text}`: expected `{form}`{found}")]
    Form { text: String, form: &'static str, found: String },
    #[error("`{text}`: {source}")]
    Quantity { text: String, source: UnitError },
    #[error("`{0}` moves no data: give at least 1 B")]
    Nothing(String),
    #[error("`{0}` retries without a pause: give a time, such as `retry 10 ms`")]
    NoTime(String),
    #[error("`{0}` passes more than 16 MiB to one call: add a piece size, such as `in 64 KiB`")]
    Large(String),
}

fn forms() -> String {
    let all: Vec<String> = FORMS.iter().map(|(form, ..)| format!("`{form}`")).collect();
    all.join(", ")
}

/// What is left to read of a step's text.
struct Words<'t> {
    text: &'t str,
    form: &'static str,
    rest: std::iter::Peekable<std::str::SplitWhitespace<'t>>,
}

impl<'t> Words<'t> {
    fn wrong(&self, found: Option<&str>) -> StepError {
        let found = found.map_or(", found the end".into(), |it| format!(", found `{it}`"));
        StepError::Form { text: self.text.into(), form: self.form, found }
    }

    /// The next word, if it is this one.
    fn takes(&mut self, word: &str) -> bool {
        self.rest.next_if(|next| *next == word).is_some()
    }

    fn word(&mut self) -> Result<&'t str, StepError> {
        self.rest.next().ok_or_else(|| self.wrong(None))
    }

    /// A number and its unit, with or without a space between them.
    fn quantity<T: FromStr<Err = UnitError>>(&mut self) -> Result<T, StepError> {
        let number = self.word()?;
        let has_unit = number.ends_with(|c: char| !c.is_ascii_digit());
        let unit = match self.rest.peek() {
            Some(next) if !has_unit && next.starts_with(char::is_alphabetic) => self.rest.next(),
            _ => None,
        };
        let quantity = unit.map_or(number.to_owned(), |unit| format!("{number} {unit}"));
        let text = self.text.to_owned();
        quantity.parse().map_err(|source| StepError::Quantity { text, source })
    }

    fn size(&mut self) -> Result<Bytes, StepError> {
        match self.quantity()? {
            Bytes::ZERO => Err(StepError::Nothing(self.text.into())),
            size => Ok(size),
        }
    }

    /// A time above zero: trying again at once would never end.
    fn span(&mut self) -> Result<Span, StepError> {
        match self.quantity()? {
            Span::ZERO => Err(StepError::NoTime(self.text.into())),
            span => Ok(span),
        }
    }

    /// Such as `in 100 B`, if it is there.
    fn piece(&mut self) -> Result<Option<Bytes>, StepError> {
        if self.takes("in") { self.size().map(Some) } else { Ok(None) }
    }

    fn switch(&mut self) -> Result<bool, StepError> {
        match self.word()? {
            "on" => Ok(true),
            "off" => Ok(false),
            other => Err(self.wrong(Some(other))),
        }
    }

    fn end(&mut self, step: Step) -> Result<Step, StepError> {
        match self.rest.next() {
            None => Ok(step),
            Some(more) => Err(self.wrong(Some(more))),
        }
    }
}

impl FromStr for Step {
    type Err = StepError;

    fn from_str(text: &str) -> Result<Step, StepError> {
        let mut rest = text.split_whitespace().peekable();
        let verb = rest.next().unwrap_or_default();
        let begins = |form: &str| form.split_whitespace().next() == Some(verb);
        let unknown = || StepError::Unknown(text.into());
        let Some((form, ..)) = FORMS.iter().find(|(form, ..)| begins(form)) else {
            return Err(unknown());
        };
        let mut words = Words { text, form, rest };
        let step = match verb {
            "write" => Step::Write(write(&mut words)?),
            "read" => read(&mut words)?,
            "sleep" => Step::Sleep(words.quantity()?),
            "shutdown" => Step::Shutdown(match words.word()? {
                "read" => Half::Read,
                "write" => Half::Write,
                "both" => Half::Both,
                other => return Err(words.wrong(Some(other))),
            }),
            "cork" => Step::Set(Toggle::Cork, words.switch()?),
            "nodelay" => Step::Set(Toggle::NoDelay, words.switch()?),
            "quickack" => Step::Set(Toggle::QuickAck, words.switch()?),
            "connect" => Step::Connect,
            "accept" => Step::Accept,
            "close" => Step::Close,
            "vanish" => Step::Vanish,
            // Two words, both fixed.
            _ => {
                let step = match verb {
                    "at" => Step::AtMark,
                    "await" => Step::AwaitUrgent,
                    "begin" => Step::BeginRequest,
                    _ => Step::EndResponse,
                };
                let second = form.split_whitespace().nth(1).unwrap_or_default();
                let found = words.word()?;
                if found != second {
                    return Err(words.wrong(Some(found)));
                }
                step
            }
        };
        words.end(step)
    }
}

fn write(words: &mut Words<'_>) -> Result<Write, StepError> {
    let amount = words.size()?;
    let piece = words.piece()?.unwrap_or(amount);
    if piece.min(amount) > WRITE_SIZE_MAX {
        return Err(StepError::Large(words.text.into()));
    }
    let (more, urgent) = (words.takes("more"), words.takes("urgent"));
    let retry = if words.takes("retry") { Some(words.span()?) } else { None };
    Ok(Write { amount, piece: piece.min(amount), more, urgent, retry })
}

fn read(words: &mut Words<'_>) -> Result<Step, StepError> {
    if words.takes("urgent") {
        return Ok(Step::ReadUrgent);
    }
    let until = if words.takes("to") {
        words.form = "read to end [in SIZE]";
        match words.word()? {
            "end" => Until::End,
            other => return Err(words.wrong(Some(other))),
        }
    } else if words.takes("up") {
        words.form = "read up to SIZE";
        match words.word()? {
            "to" => Until::Once,
            other => return Err(words.wrong(Some(other))),
        }
    } else {
        Until::Amount(words.size()?)
    };
    let piece = match until {
        Until::Once => words.size()?,
        _ => words.piece()?.unwrap_or(READ_SIZE),
    };
    if piece > WRITE_SIZE_MAX {
        return Err(StepError::Large(words.text.into()));
    }
    Ok(Step::Read(Read { until, piece }))
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let switch = |on: &bool| if *on { "on" } else { "off" };
        match self {
            Step::Connect => f.write_str("connect"),
            Step::Accept => f.write_str("accept"),
            Step::Write(Write { amount, piece, more, urgent, retry }) => {
                write!(f, "write {amount}")?;
                if piece < amount {
                    write!(f, " in {piece}")?;
                }
                let (more, urgent) =
                    (if *more { " more" } else { "" }, if *urgent { " urgent" } else { "" });
                write!(f, "{more}{urgent}")?;
                retry.map_or(Ok(()), |span| write!(f, " retry {span}"))
            }
            Step::Read(Read { until, piece }) => {
                match until {
                    Until::Amount(amount) => write!(f, "read {amount}")?,
                    Until::End => f.write_str("read to end")?,
                    Until::Once => return write!(f, "read up to {piece}"),
                }
                if *piece == READ_SIZE { Ok(()) } else { write!(f, " in {piece}") }
            }
            Step::AwaitUrgent => f.write_str("await urgent"),
            Step::ReadUrgent => f.write_str("read urgent"),
            Step::AtMark => f.write_str("at mark"),
            Step::Sleep(span) => write!(f, "sleep {span}"),
            Step::Shutdown(half) => write!(f, "shutdown {}", half.word()),
            Step::Set(toggle, on) => write!(f, "{} {}", toggle.word(), switch(on)),
            Step::BeginRequest => f.write_str("begin request"),
            Step::EndResponse => f.write_str("end response"),
            Step::Close => f.write_str("close"),
            Step::Vanish => f.write_str("vanish"),
            Step::Repeat { times, steps } => {
                write!(f, "{times} times:")?;
                steps
                    .iter()
                    .enumerate()
                    .try_for_each(|(i, step)| write!(f, "{} {step}", if i == 0 { "" } else { "," }))
            }
        }
    }
}

/// Repeated steps. The repetition ends when a call in it fails, except with EAGAIN, or the stream
/// ends.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Repetition")]
struct Repeat {
    /// How often: at least 1.
    #[schemars(range(min = 1))]
    repeat: u64,
    /// Which steps.
    steps: Vec<Step>,
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Step::Repeat { times, steps } => {
                Repeat { repeat: *times, steps: steps.clone() }.serialize(serializer)
            }
            step => serializer.collect_str(step),
        }
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Step, D::Error> {
        struct Written;
        impl<'de> Visitor<'de> for Written {
            type Value = Step;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a step such as \"write 100 B\", or { repeat = 10, steps = [...] }")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Step, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Step, A::Error> {
                let Repeat { repeat, steps } =
                    Repeat::deserialize(MapAccessDeserializer::new(map))?;
                if repeat == 0 || steps.is_empty() {
                    return Err(A::Error::custom("a repetition needs steps, and at least once"));
                }
                Ok(Step::Repeat { times: repeat, steps })
            }
        }
        deserializer.deserialize_any(Written)
    }
}

impl JsonSchema for Step {
    fn schema_name() -> Cow<'static, str> {
        "ProgramStep".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let texts = FORMS.iter().map(|(form, pattern, meaning)| {
            // As words are read: any space between and around them.
            let pattern = pattern.replace(' ', r"\s+").replace('^', r"^\s*").replace('$', r"\s*$");
            json_schema!({
                "type": "string",
                "title": form,
                "pattern": pattern,
                "description": meaning,
            })
        });
        let mut forms: Vec<Schema> = texts.collect();
        forms.push(generator.subschema_for::<Repeat>());
        json_schema!({
            "description": "A step of a program: a text, or a [table](#repetition) of steps that are \
                            repeated. AMOUNT and SIZE are such as `100 B`, SPAN such as `3 s`. Every call \
                            waits until it can be done, and its result goes into the log of the \
                            application; after a refusal the program goes on with its next step, \
                            after a refused `connect` with its `close`.",
            "anyOf": forms,
        })
    }
}

#[cfg(test)]
mod tests;
