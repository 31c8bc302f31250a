//! The scenario's expectations, and how they went.

use serde::{Deserialize, Serialize};

use crate::Case;

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
    /// Of how many trials of the variants that it is about, those that failed included. With
    /// `over` it counts repetitions: a trial of each variant that is evaluated together.
    #[serde(default)]
    pub trials: u32,
    /// The factor whose levels are evaluated together, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
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

    /// Such as `met in 9 of 10 trials`, `not judged: needs 8 trials, there is 1`, or the same after
    /// `met so far, `; none if it is met in each. The trials that it needs are those of each of the
    /// run's `cases`.
    pub fn shortfall(&self, cases: &[Case]) -> Option<String> {
        let Claim { held_alone, trials, needs, .. } = self;
        if self.outcome() == ClaimOutcome::NotJudged {
            let of_each = if cases.len() > 1 { " of each variant" } else { "" };
            let count = cases.iter().map(Case::count).max().unwrap_or(0);
            let are = if count == 1 { "is" } else { "are" };
            let so_far = if self.held { "met so far, " } else { "" };
            let needed = format!("needs {needs} trials{of_each}, there {are} {count}");
            return Some(format!("{so_far}not judged: {needed}"));
        }
        let what = match &self.over {
            Some(factor) => format!("repetitions over {factor}"),
            None => "trials".into(),
        };
        (held_alone < trials && *trials > 1)
            .then(|| format!("met in {held_alone} of {trials} {what}"))
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
    use crate::Trial;

    #[test]
    fn shortfall_names_what_it_counts() {
        let claim = Claim {
            claim: "it is quick".into(),
            check: String::new(),
            held: false,
            is_judged: true,
            needs: 1,
            held_alone: 8,
            trials: 24,
            over: None,
            found: String::new(),
        };
        let case = Case { trials: vec![Trial::default(); 8], ..Case::default() };
        let cases = [case.clone(), case.clone(), case];
        let said = |claim: &Claim, cases| claim.shortfall(cases).unwrap();
        assert_eq!(said(&claim, &cases), "met in 8 of 24 trials");
        let pooled = Claim { over: Some("offset".into()), trials: 16, ..claim.clone() };
        assert_eq!(said(&pooled, &cases), "met in 8 of 16 repetitions over offset");
        let open = Claim { is_judged: false, needs: 10, ..claim.clone() };
        let wanted = "not judged: needs 10 trials of each variant, there are 8";
        assert_eq!(said(&open, &cases), wanted);
        assert_eq!(said(&open, &cases[..1]), "not judged: needs 10 trials, there are 8");
        let met = Claim { held: true, ..open };
        let wanted = "met so far, not judged: needs 10 trials, there are 8";
        assert_eq!(said(&met, &cases[..1]), wanted);
        assert_eq!(Claim { held_alone: 24, ..claim }.shortfall(&cases), None);
    }
}
