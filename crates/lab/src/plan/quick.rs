//! How many trials a quick run has.

use tcplab_results::RunWorld;
use tcplab_scenario::{Case, Scenario};
use tcplab_units::Bytes;

use super::kernels::VirtualKernels;

/// How much a quick run in virtual time transfers at most, over all cases and trials. A transfer is
/// known before it runs and takes about as long on any path, so that the number of trials depends
/// on the scenario alone, not on the machine: here about half a minute of one processor.
const BUDGET: u64 = 4_000_000_000;
/// What a trial counts besides its data: its files and its analysis.
const TRIAL: u64 = 500_000;
/// What traffic by a rule counts, whose amount is not known before.
const TRAFFIC: u64 = 20_000_000;
/// A kernel in virtual time takes so many times as long for its data as a model, and boots.
const KERNEL: u64 = 10;
const BOOT: u64 = 50_000_000;

/// One trial on this machine's kernel, where each takes its time. In virtual time as many as the
/// scenario has, so that its claims and its paired comparisons are decided, or as the budget
/// allows.
pub(super) fn trials(scenario: &Scenario, kernels: &VirtualKernels, world: RunWorld) -> u32 {
    if world != RunWorld::Simulated {
        return 1;
    }
    let block: u64 = scenario.cases.iter().map(|case| work(case, kernels)).sum();
    let affordable = BUDGET / block.max(1);
    let enough = scenario.until.as_ref().map_or(scenario.trials, |until| until.min);
    enough.min(affordable.clamp(1, u64::from(u32::MAX)) as u32)
}

/// What a trial of a case counts, in bytes.
fn work(case: &Case, kernels: &VirtualKernels) -> u64 {
    let of_flows = case.flows.iter().map(|flow| {
        let each = match (&flow.spec.traffic, &flow.spec.workload) {
            (Some(_), _) => TRAFFIC,
            (None, Some(workload)) => workload.amount().as_u64(),
            (None, None) => case.workload.amount().as_u64(),
        };
        each.saturating_mul(flow.spec.count)
    });
    let data = match case.flows.as_slice() {
        [] => case.workload.amount(),
        _ => Bytes::new(of_flows.fold(0, u64::saturating_add)),
    };
    let has_kernel = kernels.of_case(case).iter().any(Option::is_some);
    let (factor, start) = if has_kernel { (KERNEL, BOOT) } else { (1, 0) };
    data.as_u64().saturating_mul(factor).saturating_add(start + TRIAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials_of(upload: &str, repeat: &str, world: RunWorld) -> u32 {
        let text = format!(
            "title = \"t\"\n[path]\nrate = \"1 Gbit/s\"\n[workload]\nupload = \"{upload}\"\n\
             [repeat]\n{repeat}\n[[expect]]\nclaim = \"c\"\nmetric = \"goodput\"\n\
             at_least = \"1 Mbit/s\"\n"
        );
        let scenario = Scenario::parse(&text, "t").unwrap();
        trials(&scenario, &VirtualKernels::default(), world)
    }

    #[test]
    fn quick_trials_depend_on_world_and_amount() {
        let until = "until = { ci = \"2 %\", min = 4, max = 50 }";
        for (upload, repeat, world, expected) in [
            ("10 MB", "trials = 10", RunWorld::Simulated, 10),
            ("10 MB", "trials = 10", RunWorld::Kernel, 1),
            ("10 MB", "trials = 10", RunWorld::Both, 1),
            ("10 MB", "trials = 1", RunWorld::Simulated, 1),
            ("10 MB", until, RunWorld::Simulated, 4),
            // 4 GB in all.
            ("1 GB", "trials = 10", RunWorld::Simulated, 3),
            ("100 GB", "trials = 10", RunWorld::Simulated, 1),
        ] {
            assert_eq!(trials_of(upload, repeat, world), expected, "{upload} {repeat} {world:?}");
        }
    }
}
