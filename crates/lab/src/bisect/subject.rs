//! What of a scenario a bisection looks at.

use tcplab_scenario::{Check, EndpointSpec, Evidence, Expectation, Scenario, Stack};

use super::error::BisectError;

/// The claims that count: those asked for, or all. `trials` of each case are run; those of the
/// scenario where no number is given.
///
/// # Errors
/// If the scenario has none, or not one that is asked for, or one would not hold for want of
/// trials.
pub fn claims_of(
    scenario: &Scenario,
    asked: &[String],
    trials: Option<u32>,
) -> Result<Vec<String>, BisectError> {
    let name = || scenario.name.clone();
    let all: Vec<String> = scenario.expects.iter().map(|it| it.claim.clone()).collect();
    if all.is_empty() {
        return Err(BisectError::NoClaims { scenario: name() });
    }
    if let Some(missing) = asked.iter().find(|claim| !all.contains(claim)) {
        let asked = missing.clone();
        return Err(BisectError::NoClaim { scenario: name(), asked, known: all });
    }
    let claims = if asked.is_empty() { all } else { asked.to_vec() };
    let trials = trials.unwrap_or(scenario.trials);
    let lacks = |it: &&Expectation| {
        let is_open = |check: &Check| it.evidence(check) == Evidence::Whole;
        claims.contains(&it.claim) && it.trials > trials && it.checks.iter().any(is_open)
    };
    match scenario.expects.iter().find(lacks) {
        Some(Expectation { claim, trials: needs, .. }) => {
            Err(BisectError::NotJudged { claim: claim.clone(), needs: *needs, trials })
        }
        None => Ok(claims),
    }
}

/// The other kernels in virtual time that the scenario names.
///
/// # Errors
/// If the kernel under test stands at no end.
pub fn other_kernels(scenario: &Scenario) -> Result<Vec<&str>, BisectError> {
    let ends = || scenario.cases.iter().flat_map(|case| [&case.client, &case.server]);
    if !ends().any(is_under_test) {
        return Err(BisectError::NoKernelUnderTest { scenario: scenario.name.clone() });
    }
    let mut names: Vec<&str> = ends().filter_map(named).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Whether `tcplab run --kernel` stands for this end's stack.
fn is_under_test(end: &EndpointSpec) -> bool {
    match end.stack {
        Stack::Linux => end.model.is_empty(),
        Stack::Newest => true,
        Stack::Kernel(_) | Stack::Model(_) => false,
    }
}

fn named(end: &EndpointSpec) -> Option<&str> {
    match &end.stack {
        Stack::Kernel(name) => Some(name),
        _ => None,
    }
}
