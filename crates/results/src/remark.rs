//! Remarks on a capture.

use tcplab_trace::Note;
use tcplab_units::Endpoint;

/// A remark on the capture at one end, as a warning.
pub fn remark(endpoint: Endpoint, note: &Note) -> String {
    let place = note.frame.map_or(String::new(), |frame| format!(", frame {frame}"));
    format!("capture at the {}{place}: {}", endpoint.name(), note.text)
}
