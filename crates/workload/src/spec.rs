//! The `[workload]` section: who sends how much, in what pieces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::Bytes;

use crate::Role;

/// The largest piece handed to the socket at once; a sender holds one in memory.
const WRITE_SIZE_MAX: Bytes = Bytes::new(16 << 20);

/// One connection that carries one bulk of data in one direction: exactly one of `upload` and
/// `download`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadSpec {
    /// How much the client sends to the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<Bytes>,
    /// How much the server sends to the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub download: Option<Bytes>,
    /// How much the sender hands to its socket at once: 1 B to 16 MiB.
    #[serde(default = "default_write_size")]
    pub write_size: Bytes,
}

fn default_write_size() -> Bytes {
    Bytes::new(64 << 10)
}

impl WorkloadSpec {
    /// Refuses workloads that cannot be run.
    ///
    /// # Errors
    /// The first contradiction or value out of range.
    pub fn check(&self) -> Result<(), WorkloadError> {
        match (self.upload, self.download) {
            (Some(_), Some(_)) => return Err(WorkloadError::Both),
            (None, None) => return Err(WorkloadError::Neither),
            (Some(Bytes::ZERO), None) => return Err(WorkloadError::Nothing("upload")),
            (None, Some(Bytes::ZERO)) => return Err(WorkloadError::Nothing("download")),
            _ => {}
        }
        if self.write_size == Bytes::ZERO || self.write_size > WRITE_SIZE_MAX {
            return Err(WorkloadError::WriteSize(self.write_size));
        }
        Ok(())
    }

    /// How much is sent.
    pub fn amount(&self) -> Bytes {
        self.upload.or(self.download).unwrap_or(Bytes::ZERO)
    }

    /// What the client does.
    pub fn client_role(&self) -> Role {
        if self.upload.is_some() { Role::Sender } else { Role::Receiver }
    }

    /// What the server does.
    pub fn server_role(&self) -> Role {
        if self.upload.is_some() { Role::Receiver } else { Role::Sender }
    }
}

/// Why a workload cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// It goes in both directions.
    #[error("`upload` and `download` exclude one another")]
    Both,
    /// It goes in no direction.
    #[error("the workload sends nothing: neither `upload` nor `download` is given")]
    Neither,
    /// The named amount is zero.
    #[error("`{0}` is 0 bytes: there is nothing to send")]
    Nothing(&'static str),
    /// The pieces are too small or too large.
    #[error("`write_size` is {0}: it must be from 1 B to 16 MiB")]
    WriteSize(Bytes),
}

impl WorkloadError {
    /// The key it is about; the section itself when a key is missing.
    pub fn key(&self) -> Option<&'static str> {
        match self {
            WorkloadError::Both => Some("download"),
            WorkloadError::Neither => None,
            WorkloadError::Nothing(key) => Some(key),
            WorkloadError::WriteSize(_) => Some("write_size"),
        }
    }

    /// What would be right.
    pub fn help(&self) -> &'static str {
        match self {
            WorkloadError::Both => "keep one of the two: a trial carries one bulk of data",
            WorkloadError::Neither => "write `upload = \"10 MB\"` or `download = \"10 MB\"`",
            WorkloadError::Nothing(_) => "write an amount of at least 1 B, such as \"10 MB\"",
            WorkloadError::WriteSize(_) => "leave it out for 64 KiB",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(json: &str) -> WorkloadSpec {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn contradictions_name_their_key() {
        for (json, expected) in [
            (r#"{"upload": "10 MB"}"#, Ok(())),
            (r#"{"download": "1 B", "write_size": "16 MiB"}"#, Ok(())),
            (r#"{"upload": "1 B", "download": "1 B"}"#, Err(Some("download"))),
            (r"{}", Err(None)),
            (r#"{"upload": "0 B"}"#, Err(Some("upload"))),
            (r#"{"download": "0 B"}"#, Err(Some("download"))),
            (r#"{"upload": "1 B", "write_size": "0 B"}"#, Err(Some("write_size"))),
            (r#"{"upload": "1 B", "write_size": "16777217 B"}"#, Err(Some("write_size"))),
        ] {
            assert_eq!(spec(json).check().map_err(|e| e.key()), expected, "{json}");
        }
    }

    #[test]
    fn the_direction_decides_who_sends() {
        let upload = spec(r#"{"upload": "10 MB"}"#);
        assert_eq!((upload.client_role(), upload.server_role()), (Role::Sender, Role::Receiver));
        let download = spec(r#"{"download": "10 MB"}"#);
        assert_eq!(
            (download.client_role(), download.server_role()),
            (Role::Receiver, Role::Sender)
        );
        assert_eq!(download.amount(), Bytes::new(10_000_000));
        assert_eq!(download.write_size, Bytes::new(65_536));
    }
}
