//! How much of each packet captures keep.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tcplab_units::{Bytes, UnitError};

/// How much of each packet captures keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Snaplen {
    /// All of it.
    Whole,
    /// At most this much from the IP header on.
    First(Bytes),
}

impl Snaplen {
    /// 40 bytes (IPv6) and 60 (TCP with all options) leave room for headers between them, and for
    /// what ICMP errors quote.
    pub const HEADERS: Snaplen = Snaplen::First(Bytes::new(128));
    /// 20 bytes (IPv4), 60 (TCP), and some to spare.
    pub const LEAST: Bytes = Bytes::new(96);
    /// No IP packet is larger.
    const MOST: Bytes = Bytes::new(65_535);
    const WHOLE: &str = "whole";

    /// The most bytes that are kept of a packet.
    pub fn most(self) -> u32 {
        match self {
            Snaplen::Whole => Snaplen::MOST.as_u64() as u32,
            Snaplen::First(bytes) => bytes.as_u64().try_into().unwrap_or(u32::MAX),
        }
    }

    /// Refuses what would cut headers.
    ///
    /// # Errors
    /// The sizes that are allowed.
    pub fn check(self) -> Result<(), String> {
        match self {
            Snaplen::First(bytes) if !(Snaplen::LEAST..=Snaplen::MOST).contains(&bytes) => {
                Err(format!(
                    "{bytes} is out of range: use {} to {}, or `{}`",
                    Snaplen::LEAST,
                    Snaplen::MOST,
                    Snaplen::WHOLE
                ))
            }
            _ => Ok(()),
        }
    }
}

impl FromStr for Snaplen {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Snaplen, UnitError> {
        if text == Snaplen::WHOLE { Ok(Snaplen::Whole) } else { text.parse().map(Snaplen::First) }
    }
}

impl fmt::Display for Snaplen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Snaplen::Whole => f.write_str(Snaplen::WHOLE),
            Snaplen::First(bytes) => bytes.fmt(f),
        }
    }
}

impl Serialize for Snaplen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Snaplen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Snaplen, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            Number(i64),
        }
        let text = match Written::deserialize(deserializer)? {
            Written::Text(text) => text,
            Written::Number(number) => number.to_string(),
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Snaplen {
    fn schema_name() -> Cow<'static, str> {
        "Snaplen".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How much of each packet captures keep: an amount such as `128 B`, from \
                            the IP header on, or `whole`.",
            "anyOf": [{ "enum": [Snaplen::WHOLE] }, generator.subschema_for::<Bytes>()],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snaplen_is_an_amount_or_whole() {
        for (text, most) in [("96 B", 96), ("128B", 128), ("whole", 65_535), ("64 KiB", 65_536)] {
            assert_eq!(text.parse::<Snaplen>().unwrap().most(), most, "{text}");
        }
        assert_eq!(Snaplen::Whole.to_string(), "whole");
        assert_eq!(serde_json::from_str::<Snaplen>("\"96 B\"").unwrap().to_string(), "96 B");
        for (text, problem) in [("\"all\"", "`all`"), ("96", "has no unit"), ("[]", "")] {
            let error = serde_json::from_str::<Snaplen>(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }

    #[test]
    fn snaplen_that_cuts_headers_is_refused() {
        let check = |text: &str| text.parse::<Snaplen>().unwrap().check();
        assert_eq!((check("96 B"), check("whole"), check("65535 B")), (Ok(()), Ok(()), Ok(())));
        assert!(check("95 B").unwrap_err().contains("use 96 B to 65.535 kB, or `whole`"));
        assert!(check("65536 B").is_err());
    }
}
