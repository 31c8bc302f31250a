//! A workload that is a load: a server of some design in a process of its own, as some designs
//! split theirs, and its clients in the thread of their endpoint.

mod clients;
mod host;
mod server;

pub(crate) use clients::Clients;
pub(crate) use host::host;
pub(crate) use server::ServerProcess;

use crate::trial_request::TrialRequest;

/// What captures keep of each packet where nothing else was asked for: its headers, however long.
/// A load makes thousands of connections with equal content.
const HEADERS: u32 = 128;

/// The request, with short captures if it is a load.
pub(crate) fn captured_in_short(request: &TrialRequest) -> TrialRequest {
    let usual = request.case.workload.load.as_ref().map(|_| HEADERS);
    TrialRequest { snaplen: request.snaplen.or(usual), ..request.clone() }
}

/// What the server has in its file: no two places near one another look the same, so what is
/// displaced is noticed.
fn content(length: u64) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8 ^ (at >> 8) as u8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifted_content_differs() {
        let file = content(3_000);
        assert_eq!(file.len(), 3_000);
        for shift in [1, 2, 250, 251, 256, 512] {
            assert_ne!(file[..2_000], file[shift..2_000 + shift], "{shift}");
        }
    }
}
