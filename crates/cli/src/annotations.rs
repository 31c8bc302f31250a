//! Lines that GitHub shows beside the change of a pull request: workflow commands.

use tcplab_results::comparison::Comparison;
use tcplab_results::{ClaimOutcome, Run};

use crate::output::print_note;

/// Prints a line for each trial that failed, and for each claim that failed or was not judged,
/// which is an error where a decision is required.
pub(crate) fn annotate_run(run: &Run, requires_decision: bool) {
    for case in &run.cases {
        for failure in &case.failures {
            let title = format!("trial {} of {} failed", failure.number, case.name);
            print_note(&line("error", &title, &failure.reason));
        }
    }
    for claim in &run.claims {
        let level = match claim.outcome() {
            ClaimOutcome::Passed => continue,
            ClaimOutcome::NotJudged if !requires_decision => "warning",
            _ => "error",
        };
        let shortfall = claim.shortfall(&run.cases);
        let outcome = shortfall.unwrap_or_else(|| claim.outcome().name().to_owned());
        let text = format!("{outcome}. Expected: {}. Found: {}", claim.check, claim.found);
        print_note(&line(level, &claim.claim, &text));
    }
}

/// Prints the answer of a comparison, as an error if that fails the command.
pub(crate) fn annotate_comparison(found: &Comparison, is_bad: bool) {
    let level = if is_bad { "error" } else { "notice" };
    print_note(&line(level, "tcplab compare", &tcplab_report::compare::sentence(found)));
}

/// A workflow command. Line breaks would end it, and commas and colons end its title.
fn line(level: &str, title: &str, text: &str) -> String {
    let escaped = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let title = escaped(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{level} title={title}::{}", escaped(text))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn foreign_text_stays_within_its_command() {
        assert_eq!(
            line("error", "a: b, c", "5 %\n::error::x"),
            "::error title=a%3A b%2C c::5 %25%0A::error::x"
        );
    }
}
