//! A value for each end, client and server, as an object: `#[serde(with = "tcplab_units::ends")]`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
struct Ends<T> {
    client: T,
    server: T,
}

/// Writes the client's, then the server's.
///
/// # Errors
/// The serializer's.
pub fn serialize<T: Serialize, S: Serializer>(both: &[T; 2], to: S) -> Result<S::Ok, S::Error> {
    let [client, server] = both;
    Ends { client, server }.serialize(to)
}

/// Reads the client's and the server's.
///
/// # Errors
/// The deserializer's.
pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<[T; 2], D::Error> {
    let Ends { client, server } = Ends::deserialize(from)?;
    Ok([client, server])
}
