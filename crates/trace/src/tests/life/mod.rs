//! How connections open, live and end.

mod closes;
mod handshakes;
mod history;
mod identity;
mod walks;

use super::drill::{analyze, drill};
use crate::Connection;

const OPEN: &str = "open 0.010\n";

/// The only connection in what `text` describes after the three-way handshake.
fn opened(text: &str) -> Connection {
    super::drill::connection(&format!("{OPEN}{text}"))
}

fn connections(text: &str) -> Vec<Connection> {
    analyze(&drill(text, 1_000)).connections
}

/// The states of both ends with the frames that brought them there, in figure 5's words.
fn walks(connection: &Connection) -> (String, String) {
    let text = |steps: &[crate::StateStep]| {
        let step = |step: &crate::StateStep| format!("{} {}", step.state.name(), step.frame);
        steps.iter().map(step).collect::<Vec<_>>().join(", ")
    };
    (text(&connection.life.client), text(&connection.life.server))
}
