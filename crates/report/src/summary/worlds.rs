//! In which world each variant ran, and on which TCP stacks.

use tcplab_results::{Case, Run, RunWorld, StackUsed, World};
use tcplab_units::rounded::counted;

use super::recovery::has_connections;
use crate::html::anchor::anchor;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VariantStacks {
    pub(crate) case: String,
    pub(crate) href: String,
    pub(crate) world: &'static str,
    pub(crate) ends: Vec<EndpointStack>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EndpointStack {
    pub(crate) stack: String,
    /// What the model imitates, with its source; empty for a kernel.
    pub(crate) about: String,
}

/// Empty for runs that do not record it.
pub(crate) fn places(run: &Run) -> Vec<VariantStacks> {
    let place = |(index, case): (usize, &Case)| VariantStacks {
        case: case.name.clone(),
        href: format!("#{}", anchor(index, None, None)),
        world: world(case),
        ends: case.stacks.iter().map(end).collect(),
    };
    let is_known = run.cases.iter().all(|case| case.stacks.len() == 2);
    if is_known { run.cases.iter().enumerate().map(place).collect() } else { Vec::new() }
}

fn end(stack: &StackUsed) -> EndpointStack {
    let about = if stack.is_model {
        format!("{}. Source: {}", stack.title, stack.source)
    } else {
        String::new()
    };
    EndpointStack { stack: stack.to_string(), about }
}

/// World and stacks, if all variants have the same.
pub(crate) fn everywhere(places: &[VariantStacks]) -> Option<String> {
    let [first, rest @ ..] = places else { return None };
    let same = rest.iter().all(|other| (other.world, &other.ends) == (first.world, &first.ends));
    let [client, server] = first.ends.as_slice() else { return None };
    let ends = if client == server {
        format!("{} at both ends", client.stack)
    } else {
        format!("client {}, server {}", client.stack, server.stack)
    };
    same.then(|| format!("{}: {ends}", first.world))
}

pub(crate) fn world(case: &Case) -> &'static str {
    match case.world {
        World::Kernel => "kernel",
        // Kernels are not simulated, their time is.
        World::Simulated if is_on_kernels(case) => "virtual time",
        World::Simulated => "simulated",
    }
}

fn is_on_kernels(case: &Case) -> bool {
    !case.stacks.is_empty() && case.stacks.iter().all(|stack| !stack.is_model)
}

pub(crate) fn differ(run: &Run) -> bool {
    run.cases.windows(2).any(|pair| pair[0].world != pair[1].world)
}

/// How many trials ran in which world.
pub(crate) fn headline(run: &Run) -> String {
    let known = !places(run).is_empty();
    let in_world = |world: World| -> Vec<&Case> {
        run.cases.iter().filter(|case| known && case.world == world).collect()
    };
    let connects = has_connections(run);
    let kernel =
        if connects { "in the kernel, over its TCP" } else { "in the kernel, over its UDP" };
    let parts: Vec<String> = [(World::Kernel, kernel), (World::Simulated, "simulated")]
        .into_iter()
        .filter_map(|(world, words)| {
            let cases = in_world(world);
            let models = world == World::Simulated;
            let on = if models { " with " } else { " (" };
            let close = if models { "" } else { ")" };
            let stacks = stacks(&cases);
            // Datagrams need no model.
            if models && !connects && !cases.is_empty() {
                return Some(format!("{} {words}", amount(&cases)));
            }
            (!cases.is_empty()).then(|| format!("{} {words}{on}{stacks}{close}", amount(&cases)))
        })
        .collect();
    if !parts.is_empty() {
        return format!("{}.", parts.join("; "));
    }
    let place = match run.world {
        RunWorld::Kernel => kernel,
        RunWorld::Simulated => "simulated",
        RunWorld::Both => "in both worlds",
    };
    let cases: Vec<&Case> = run.cases.iter().collect();
    format!("{}, {place}.", amount(&cases))
}

fn amount(cases: &[&Case]) -> String {
    let trials: usize = cases.iter().map(|case| case.trials.len()).sum();
    let variants = counted(cases.len(), "variant", "variants");
    format!("{} of {variants}", counted(trials, "trial", "trials"))
}

/// The distinct stacks of these variants.
fn stacks(cases: &[&Case]) -> String {
    let mut names: Vec<String> = Vec::new();
    for stack in cases.iter().flat_map(|case| &case.stacks) {
        let like = if stack.like { "-like" } else { "" };
        let name = format!("{}{like}", stack.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}
