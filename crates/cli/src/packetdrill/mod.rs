//! `tcplab packetdrill`.

mod found;
mod outcome;
mod shown;
mod topics;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use tcplab_packetdrill::{Definitions, Model, Script, watch};
use tcplab_quantities::PACKETDRILL_DOCUMENT;
use tcplab_scenario::Profile;
use tcplab_stack::Config;
use tcplab_units::Span;

use self::found::Found;
use self::outcome::{Kind, Outcome};
use crate::arguments::PacketdrillArguments;
use crate::exit::{ERROR, FAILED};
use crate::output::answer_or_json;

pub(crate) fn packetdrill(arguments: &PacketdrillArguments) -> Result<ExitCode> {
    let config = stack(&arguments.stack, arguments.hz)?;
    let definitions = definitions(&arguments.stack, &arguments.define)?;
    let scripts = found::scripts(&arguments.scripts)?;
    let results: Vec<Outcome> =
        scripts.into_iter().map(|script| run_on(&config, &definitions, script)).collect();
    answer_or_json(
        &PACKETDRILL_DOCUMENT,
        &arguments.json,
        &shown::json(arguments, &results),
        || {
            if arguments.topics {
                topics::text(&results)
            } else {
                shown::text(&results, arguments.verbose)
            }
        },
    )?;
    let any = |kinds: &[Kind]| results.iter().any(|result| kinds.contains(&result.kind()));
    Ok(if any(&[Kind::Failed]) {
        ExitCode::from(FAILED)
    } else if any(&[Kind::Unsupported, Kind::Unreadable]) {
        ExitCode::from(ERROR)
    } else {
        ExitCode::SUCCESS
    })
}

fn run_on(config: &Config, definitions: &Definitions, script: Found) -> Outcome {
    let result = read(&script.path).and_then(|text| {
        let read = Script::parse(&text, definitions).map_err(|error| error.to_string())?;
        Ok(watch(&read, &mut Model::new(config.clone())))
    });
    Outcome { script, result }
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "not UTF-8: convert the file".into())
}

/// The stack called `model:NAME`.
fn stack(given: &str, hz: Option<u32>) -> Result<Config> {
    let Some(name) = given.strip_prefix("model:") else {
        bail!(
            "`{given}` is not a model: use --stack model:NAME, such as model:linux-6.18; to test \
             this machine's kernel, run packetdrill itself"
        );
    };
    let mut config = Profile::named(name).with_context(|| format!("--stack {given}"))?.config;
    if let Some(hz) = hz {
        config.host.tick = Span::from_secs(1) / u64::from(hz);
    }
    Ok(config)
}

/// The system that the stack belongs to is defined, as packetdrill does for `#ifdef FreeBSD`.
fn definitions(stack: &str, given: &[String]) -> Result<Definitions> {
    let of_system = ["Linux", "FreeBSD"].into_iter().find(|system| {
        stack.strip_prefix("model:").is_some_and(|name| name.starts_with(&system.to_lowercase()))
    });
    let first = of_system
        .map_or_else(Definitions::default, |system| Definitions::default().with(system, system));
    given.iter().try_fold(first, |definitions, one| {
        let (name, value) = one
            .split_once('=')
            .ok_or_else(|| anyhow!("`{one}` is not a definition: use --define NAME=VALUE"))?;
        Ok(definitions.with(name, value))
    })
}
