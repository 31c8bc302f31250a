//! `tcplab packetdrill`.

mod compared;
mod found;
mod outcome;
mod run;
mod shown;
mod stack;
mod surroundings;
mod topics;

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use tcplab_quantities::PACKETDRILL_DOCUMENT;

use self::outcome::{Kind, StackResults};
use self::run::Run;
use self::stack::Stack;
use crate::arguments::PacketdrillArguments;
use crate::exit::{ERROR, FAILED};
use crate::output::{answer_or_json, print_note};

pub(crate) fn packetdrill(arguments: &PacketdrillArguments) -> Result<ExitCode> {
    let stacks = arguments.stack.iter().map(|name| Stack::named(name));
    let stacks: Vec<Stack> = stacks.collect::<Result<_>>()?;
    let run = Run::new(arguments, definitions(&arguments.define)?, &stacks)?;
    let scripts = found::scripts(&arguments.scripts)?;
    let results = run.all(&stacks, &scripts);
    answer_or_json(
        &PACKETDRILL_DOCUMENT,
        &arguments.json,
        &shown::json(&results, arguments.verbose),
        || text(arguments, &results),
    )?;
    for note in stacks.iter().filter_map(|stack| Run::note(stack, &scripts)) {
        print_note(&note);
    }
    let outcomes = || results.iter().flat_map(|results| &results.outcomes);
    let any = |kinds: &[Kind]| outcomes().any(|result| kinds.contains(&result.kind()));
    Ok(if any(&[Kind::Failed]) {
        ExitCode::from(FAILED)
    } else if any(&[Kind::Unsupported, Kind::Unreadable]) {
        ExitCode::from(ERROR)
    } else {
        ExitCode::SUCCESS
    })
}

fn text(arguments: &PacketdrillArguments, results: &[StackResults]) -> String {
    match results {
        [one] if arguments.topics => topics::text(&one.outcomes),
        [one] => shown::text(&one.outcomes, arguments.verbose),
        all if arguments.topics => compared::topics(all),
        all => compared::scripts(all, arguments.verbose),
    }
}

/// Names and values.
fn definitions(given: &[String]) -> Result<Vec<(String, String)>> {
    let one = |one: &String| {
        let pair = one.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        pair.ok_or_else(|| anyhow!("`{one}` is not a definition: use --define NAME=VALUE"))
    };
    given.iter().map(one).collect()
}
