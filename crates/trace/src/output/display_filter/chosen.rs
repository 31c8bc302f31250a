//! The values of chosen fields, for programs.

use std::fmt;
use std::str::FromStr;

use serde::ser::{Serialize, SerializeMap, Serializer};
use tcplab_units::Instant;

use super::DisplayFilter;
use super::fields::{Field, Kind};
use super::parser::unknown;
use super::values::Value;
use crate::Connection;
use crate::output::followed;

/// A field of packets, by its name in display filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketField(Field);

impl PacketField {
    /// All fields, as their page lists them.
    pub fn all() -> Vec<PacketField> {
        Field::all().map(PacketField).collect()
    }
}

impl FromStr for PacketField {
    type Err = String;

    fn from_str(name: &str) -> Result<PacketField, String> {
        Field::named(name).map(PacketField).ok_or_else(|| unknown(name))
    }
}

/// What a packet has of some fields.
///
/// As text, a line as `tshark -T fields` writes it: a tab between fields, a comma between the
/// values of one, 1 for what is there, nothing for what is not. Serialised, a map by the fields'
/// names: numbers, times in seconds, true or false, addresses as strings, a list where a packet may
/// have several, and null for what the packet does not have.
#[derive(Debug, Clone)]
pub struct PacketValues<'a> {
    /// The number of its frame.
    pub frame: u64,
    fields: &'a [PacketField],
    /// Of each field.
    values: Vec<Vec<Value>>,
}

/// What the packets of the connection of number `index` have of these fields, those for which
/// `filter` holds, in the order of their frames.
pub fn packet_values<'a>(
    index: usize,
    connection: &Connection,
    filter: Option<&DisplayFilter>,
    fields: &'a [PacketField],
) -> Vec<PacketValues<'a>> {
    let packets = followed::packets(index, connection).into_iter();
    let shown = packets.filter(|packet| filter.is_none_or(|it| it.admits(packet)));
    let values = shown.map(|packet| PacketValues {
        frame: packet.frame,
        fields,
        values: fields.iter().map(|field| field.0.of(&packet)).collect(),
    });
    values.collect()
}

impl fmt::Display for PacketValues<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (field, values)) in self.fields.iter().zip(&self.values).enumerate() {
            if place > 0 {
                f.write_str("\t")?;
            }
            for (place, value) in values.iter().enumerate() {
                if place > 0 {
                    f.write_str(",")?;
                }
                match *value {
                    Value::Number(nanoseconds) if field.0.kind() == Kind::Seconds => {
                        let (whole, rest) = (nanoseconds / SECOND, nanoseconds % SECOND);
                        write!(f, "{whole}.{rest:09}")?;
                    }
                    Value::Number(number) if field.0.kind() == Kind::Hex => {
                        write!(f, "{number:#06x}")?;
                    }
                    Value::Number(number) => write!(f, "{number}")?,
                    Value::Address(address) => write!(f, "{address}")?,
                    Value::There => f.write_str("1")?,
                }
            }
        }
        Ok(())
    }
}

/// Nanoseconds.
const SECOND: u64 = 1_000_000_000;

impl Serialize for PacketValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for (field, values) in self.fields.iter().zip(&self.values) {
            let of = |value: &Value| JsonValue(field.0.kind(), *value);
            let name = field.0.name();
            match &values[..] {
                _ if field.0.has_several() => {
                    map.serialize_entry(name, &values.iter().map(of).collect::<Vec<_>>())?;
                }
                _ if field.0.kind() == Kind::There => {
                    map.serialize_entry(name, &!values.is_empty())?;
                }
                values => map.serialize_entry(name, &values.first().map(of))?,
            }
        }
        map.end()
    }
}

/// A value of a field of this kind.
struct JsonValue(Kind, Value);

impl Serialize for JsonValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.0, self.1) {
            (Kind::Seconds, Value::Number(nanoseconds)) => {
                serializer.serialize_f64(Instant::from_nanos(nanoseconds).as_secs_f64())
            }
            (Kind::Flag, Value::Number(flag)) => serializer.serialize_bool(flag != 0),
            (_, Value::Number(number)) => serializer.serialize_u64(number),
            (_, Value::Address(address)) => serializer.collect_str(&address),
            (_, Value::There) => serializer.serialize_bool(true),
        }
    }
}
