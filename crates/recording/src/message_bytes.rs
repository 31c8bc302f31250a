//! Bytes in a JSON message.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes that a JSON message carries as text, each as the character of its number: mostly text, and
/// shorter than a list of numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageBytes(pub Vec<u8>);

impl Serialize for MessageBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text: String = self.0.iter().map(|byte| char::from(*byte)).collect();
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for MessageBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MessageBytes, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
        bytes.map(MessageBytes).map_err(|_| D::Error::custom("a character that is no byte"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_survive() {
        let bytes = MessageBytes((0..=255).collect());
        let text = serde_json::to_string(&bytes).unwrap();
        assert_eq!(serde_json::from_str::<MessageBytes>(&text).unwrap(), bytes);
        assert!(serde_json::from_str::<MessageBytes>("\"€\"").is_err());
    }
}
