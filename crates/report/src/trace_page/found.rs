//! The findings at the top of the page.

use std::collections::BTreeMap;
use tcplab_findings::{Finding, recovery_episode, worst_first};
use tcplab_plot::escape;

use super::shown::{ShownConnection, anchor};

/// The most findings of a rule per connection, the worst.
const OF_EACH_RULE: usize = 2;
/// The most frames per finding.
const FRAMES: usize = 8;

/// Statement and remedy are markup.
pub(crate) struct FoundView {
    pub(crate) id: String,
    pub(crate) number: usize,
    pub(crate) class: &'static str,
    pub(crate) statement: String,
    pub(crate) remedy: String,
    pub(crate) rule: &'static str,
    /// `, frames 7, 9`.
    pub(crate) frames: String,
}

/// The worst findings on these connections, and how many are left out. Recovery episodes are shown
/// with their graphs instead.
pub(crate) fn findings(shown: &[ShownConnection<'_>]) -> (Vec<FoundView>, usize) {
    let (mut shown_findings, mut left_out) = (Vec::new(), 0);
    for shown in shown {
        let mut findings: Vec<Finding> = shown.findings.to_vec();
        findings.retain(|finding| finding.rule != recovery_episode::RULE.name);
        worst_first(&mut findings);
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for finding in &findings {
            let seen = seen.entry(finding.rule).or_default();
            *seen += 1;
            if *seen <= OF_EACH_RULE {
                shown_findings.push(FoundView::new(shown.index, finding));
            } else {
                left_out += 1;
            }
        }
    }
    (shown_findings, left_out)
}

impl FoundView {
    fn new(number: usize, finding: &Finding) -> FoundView {
        FoundView {
            id: anchor(number),
            number,
            class: finding.severity.name(),
            statement: markup(&finding.statement),
            remedy: finding.remedy.as_deref().map(markup).unwrap_or_default(),
            rule: finding.rule,
            frames: frames(&finding.frames),
        }
    }
}

fn frames(frames: &[u64]) -> String {
    let word = if frames.len() == 1 { "frame" } else { "frames" };
    let named: Vec<String> = frames.iter().take(FRAMES).map(u64::to_string).collect();
    let more = if frames.len() > FRAMES { ", …" } else { "" };
    if named.is_empty() { String::new() } else { format!(", {word} {}{more}", named.join(", ")) }
}

/// Plain text as markup; backticks enclose code.
fn markup(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape(text).into_owned();
    }
    let part = |(place, part): (usize, &&str)| match place % 2 {
        0 => escape(part).into_owned(),
        _ => format!("<code>{}</code>", escape(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_become_code_and_markup_is_escaped() {
        for (text, expected) in [
            ("see `ip -s link` & go", "see <code>ip -s link</code> &amp; go"),
            ("one ` alone <b>", "one ` alone &lt;b&gt;"),
            ("`<i>`", "<code>&lt;i&gt;</code>"),
        ] {
            assert_eq!(markup(text), expected);
        }
    }
}
