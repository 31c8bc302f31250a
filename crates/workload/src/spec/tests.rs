use tcplab_units::{Bytes, Endpoint};

use super::*;
use crate::Role;

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
        (r#"{"upload": "1 B", "urgent_at": "1 B"}"#, Err(Some("urgent_at"))),
        (r#"{"connect": "closed", "upload": "1 B"}"#, Err(Some("connect"))),
        (r#"{"connect": "silent", "think": "1 s"}"#, Err(Some("think"))),
        (r#"{"client": ["write 1 B"], "close": "at-once"}"#, Err(Some("close"))),
        (r#"{"client": ["accept"]}"#, Err(Some("client"))),
        (r#"{"server": ["close", "read 1 B"]}"#, Err(Some("server"))),
        (r#"{"upload": "1 B", "connections": {"total": 10, "at_once": 10}}"#, Ok(())),
        (
            r#"{"upload": "1 B", "connections": {"total": 10, "at_once": 11}}"#,
            Err(Some("connections.at_once")),
        ),
        (
            r#"{"requests": {"count": 9, "request": "2 B", "response": "1 B", "writes": 3}}"#,
            Err(Some("requests.writes")),
        ),
        (r#"{"client": [{"repeat": 9999998, "steps": ["cork on"]}]}"#, Ok(())),
        (
            r#"{"client": [{"repeat": 64000, "steps": [{"repeat": 64000, "steps": ["cork on"]}]}]}"#,
            Err(Some("client")),
        ),
        (
            r#"{"requests": {"count": 9000000000000000000, "request": "1 B", "response": "1 B"}}"#,
            Err(Some("requests")),
        ),
        (
            r#"{"client": [{"repeat": 10000, "steps": ["cork on"]}], "connections": {"total": 1000}}"#,
            Err(Some("client")),
        ),
    ] {
        assert_eq!(spec(json).check().map_err(|e| e.key()), expected, "{json}");
    }
}

#[test]
fn sender_follows_direction() {
    let upload = spec(r#"{"upload": "10 MB"}"#);
    let roles = |spec: &WorkloadSpec| (spec.role(Endpoint::Client), spec.role(Endpoint::Server));
    assert_eq!(roles(&upload), (Role::Sender, Role::Receiver));
    let download = spec(r#"{"download": "10 MB"}"#);
    assert_eq!(roles(&download), (Role::Receiver, Role::Sender));
    assert_eq!(download.amount(), Bytes::new(10_000_000));
    assert_eq!(download.write_size, Bytes::new(65_536));
    assert!(!upload.may_fail());
}
