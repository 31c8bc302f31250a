//! The scenario's expectations, and how they went.

use serde::{Deserialize, Serialize};

/// An expectation of the scenario and how it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// In the scenario's words.
    pub claim: String,
    /// What was checked, such as `episode.type includes "with time lag"`.
    pub check: String,
    /// Whether it held of all trials together.
    pub held: bool,
    /// Whether `held` is a verdict: not where the claim needs more trials than there are, and
    /// those there are do not settle it.
    #[serde(default = "yes")]
    pub is_judged: bool,
    /// How many trials of each case it needs.
    #[serde(default = "one")]
    pub needs: u32,
    /// In how many single trials it passes: for a claim about a mean, or about
    /// something that some trials only have, that may be fewer than all.
    #[serde(default)]
    pub held_alone: u32,
    /// Of how many trials: numbers, each of them one trial of every case.
    #[serde(default)]
    pub trials: u32,
    /// What was found, case by case.
    pub found: String,
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}

/// How a claim went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It needs more trials.
    NotJudged,
}

impl ClaimOutcome {
    /// Its sign, one column.
    pub fn sign(self) -> char {
        match self {
            ClaimOutcome::Passed => '✓',
            ClaimOutcome::Failed => '✗',
            ClaimOutcome::NotJudged => '–',
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            ClaimOutcome::Passed => "passed",
            ClaimOutcome::Failed => "failed",
            ClaimOutcome::NotJudged => "not judged",
        }
    }
}

impl Claim {
    /// The metric that it is about: `check` begins with its name.
    pub fn metric(&self) -> &str {
        self.check.split(' ').next().unwrap_or_default()
    }

    /// How it went.
    pub fn outcome(&self) -> ClaimOutcome {
        match (self.is_judged, self.held) {
            (false, _) => ClaimOutcome::NotJudged,
            (true, true) => ClaimOutcome::Passed,
            (true, false) => ClaimOutcome::Failed,
        }
    }

    /// Such as `met in 9 of 10 trials`, or `not judged: needs 8 trials, there is 1`; none if it is
    /// met in each. In a run of several `cases` it counts the trials of each.
    pub fn shortfall(&self, cases: usize) -> Option<String> {
        let Claim { held_alone, trials, needs, .. } = self;
        let of_each = if cases > 1 { " of each variant" } else { "" };
        if self.outcome() == ClaimOutcome::NotJudged {
            let are = if *trials == 1 { "is" } else { "are" };
            return Some(format!(
                "not judged: needs {needs} trials{of_each}, there {are} {trials}"
            ));
        }
        (held_alone < trials && *trials > 1)
            .then(|| format!("met in {held_alone} of {trials} trials{of_each}"))
    }
}

/// How many claims went each way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClaimCounts {
    /// That passed.
    pub passed: usize,
    /// That failed.
    pub failed: usize,
    /// That need more trials.
    pub not_judged: usize,
}

impl ClaimCounts {
    /// Of these.
    pub fn of(claims: &[Claim]) -> ClaimCounts {
        let count = |outcome| claims.iter().filter(|claim| claim.outcome() == outcome).count();
        ClaimCounts {
            passed: count(ClaimOutcome::Passed),
            failed: count(ClaimOutcome::Failed),
            not_judged: count(ClaimOutcome::NotJudged),
        }
    }

    /// All claims.
    pub fn all(self) -> usize {
        self.passed + self.failed + self.not_judged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three variants with eight trials each are 24 trials.
    #[test]
    fn shortfall_names_the_trials_that_it_counts() {
        let claim = Claim {
            claim: "it is quick".into(),
            check: String::new(),
            held: false,
            is_judged: true,
            needs: 1,
            held_alone: 0,
            trials: 8,
            found: String::new(),
        };
        let said = |cases| claim.shortfall(cases).unwrap();
        assert_eq!(said(1), "met in 0 of 8 trials");
        assert_eq!(said(3), "met in 0 of 8 trials of each variant");
        let open = Claim { is_judged: false, needs: 10, ..claim.clone() };
        let wanted = "not judged: needs 10 trials of each variant, there are 8";
        assert_eq!(open.shortfall(2).unwrap(), wanted);
    }
}
