//! What the rules say of a connection.

use tcplab_results::FindingRow;
use tcplab_trace::Connection;

pub(crate) fn findings_of(connection: &Connection) -> Vec<FindingRow> {
    tcplab_findings::examine(connection)
        .into_iter()
        .map(|finding| FindingRow {
            rule: finding.rule.to_owned(),
            statement: finding.statement,
            remedy: finding.remedy,
            frames: finding.frames,
        })
        .collect()
}
