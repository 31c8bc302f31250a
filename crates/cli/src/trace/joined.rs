//! Two captures of the same connections.

use std::path::Path;

use anyhow::{Result, bail};
use serde::Serialize;
use tcplab_path::tc::quoted_path;
use tcplab_quantities::JOINED_DOCUMENT;
use tcplab_report::trace::joined_text;
use tcplab_trace::join::{Audit, Claims, Clocks, Joined, JoinedConnection, audit, join};
use tcplab_units::Endpoint;

use super::outputs::look;
use crate::arguments::ViewArguments;
use crate::output::{answer_coloured, write_json};
use tcplab_actions::{analyzer_of, is_one_recording, is_stdin, name, open};

/// Joins the captures at `client` and `server`.
pub(super) fn show(client: &Path, server: &Path, view: &ViewArguments) -> Result<()> {
    let path = |side: Endpoint| if side == Endpoint::Client { client } else { server };
    if [client, server].into_iter().any(is_stdin) {
        bail!("joining reads captures more than once: standard input (`-`) cannot be joined");
    }
    let is_one = is_one_recording(client, server);
    let clocks = if is_one { Clocks::One } else { Clocks::Apart };
    let joined = join(|side| open(path(side)), clocks)?;
    let mut claims = [Claims::default(), Claims::default()];
    for (side, claims) in Endpoint::BOTH.into_iter().zip(&mut claims) {
        let mut analyzer = analyzer_of(path(side), std::mem::take(claims));
        analyzer.read(open(path(side))?);
        *claims = analyzer.finish_into().1;
    }
    let audit = audit(&joined, &claims);
    let names = Endpoint::BOTH.map(|side| name(path(side)));
    let whole = Whole { files: &names, joined: &joined, audit: &audit };
    write_json(&JOINED_DOCUMENT, &view.json, &whole)?;
    if view.json.is_printed() {
        return Ok(());
    }
    let top = if view.all { usize::MAX } else { view.top };
    let sender = sender(&joined);
    answer_coloured(|colours| {
        let text = joined_text(&joined, &audit, &names, top, look(colours));
        let text = text.trim_end();
        format!("{text}\n\nWhat limited it: `tcplab trace {}`\n", quoted_path(path(sender)))
    })
}

/// The end that sent more packets with data: its capture shows most.
fn sender(joined: &Joined) -> Endpoint {
    let sent = |end: Endpoint| -> u64 {
        let of = |connection: &JoinedConnection| {
            let is_forward = connection.client_at == end;
            if is_forward { connection.forward.sent_data } else { connection.reverse.sent_data }
        };
        joined.connections.iter().map(of).sum()
    };
    if sent(Endpoint::Server) > sent(Endpoint::Client) {
        Endpoint::Server
    } else {
        Endpoint::Client
    }
}

#[derive(Debug, Serialize)]
struct Whole<'a> {
    /// The client's capture and the server's; what is in them is `captures`.
    files: &'a [String; 2],
    #[serde(flatten)]
    joined: &'a Joined,
    /// The analysis of one capture, checked against both.
    audit: &'a Audit,
}
