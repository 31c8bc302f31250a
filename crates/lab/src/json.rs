//! Plain data as text.

use serde::Serialize;

/// The JSON text of plain data, for people too.
pub(crate) fn to_json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("plain data has a JSON form");
    text.push(b'\n');
    text
}
