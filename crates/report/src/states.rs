//! The walks of both endpoints through TCP's state diagram: as text, and checked against samples of
//! the sockets.

mod samples;
mod text;

use std::ptr;

use tcplab_plot::{StateDiagram, state_diagram};
use tcplab_results::TrialData;
use tcplab_trace::{Connection, StateWalks};
use tcplab_units::{Endpoint, Instant};

use samples::gave_up;
pub use samples::{Differing, SampleCheck, check_samples};
pub use text::walks_text;

/// The walks of the connection with the trial's transfer, or of the one with that number in the
/// client's capture; and that connection. None if there is none.
pub fn walks_of_trial(data: &TrialData, place: Option<usize>) -> Option<(&Connection, StateWalks)> {
    let size = |c: &&Connection| c.forward.totals.unique + c.reverse.totals.unique;
    let here = match place {
        Some(place) => data.client.connections.get(place)?,
        // Of several alike the first: `max_by_key` gives the last.
        None => data.client.connections.iter().rev().max_by_key(size)?,
    };
    let ends = [here.client, here.server];
    let is_same = |c: &&Connection| ends == [c.client, c.server] || ends == [c.server, c.client];
    let same = |c: &Connection| is_same(&c);
    // Ports may be reused: the n-th such connection here is the n-th there.
    let earlier = data.client.connections.iter().take_while(|c| c.frames != here.frames);
    let nth = earlier.filter(|c| same(c)).count();
    let mut walks = match data.server.connections.iter().filter(is_same).nth(nth) {
        Some(there) => StateWalks::joined(here, there),
        None => StateWalks::of(here),
    };
    // Calls and samples are those of the first connection.
    if ptr::eq(here, &raw const data.client.connections[0]) {
        for (end, call) in Endpoint::BOTH.into_iter().zip(data.timed_out) {
            let socket = gave_up(walks.of_end(end), &data.samples);
            if let Some(at) = Instant::earlier(call, socket) {
                walks.user_timeout(end, at);
            }
        }
    }
    Some((here, walks))
}

/// None without a connection.
pub(crate) fn picture(data: &TrialData) -> Option<(String, Vec<String>)> {
    let (_, walks) = walks_of_trial(data, None)?;
    let title = "States of both endpoints (RFC 9293, figure 5)";
    let svg = state_diagram(&StateDiagram { title, walks: Some(&walks) });
    Some((svg, walks.story()))
}
