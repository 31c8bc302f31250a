//! `tcplab packetdrill`.

mod found;
mod outcome;
mod shown;
mod surroundings;
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
use tcplab_actions::{TEXT_MAX, read_regular};

pub(crate) fn packetdrill(arguments: &PacketdrillArguments) -> Result<ExitCode> {
    let config = stack(&arguments.stack)?;
    let given = definitions(&arguments.stack, &arguments.define)?;
    let scripts = found::scripts(&arguments.scripts)?;
    let results: Vec<Outcome> =
        scripts.into_iter().map(|script| run_on(&config, arguments, &given, script)).collect();
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

fn run_on(
    config: &Config,
    arguments: &PacketdrillArguments,
    definitions: &[(String, String)],
    script: Found,
) -> Outcome {
    let path = &script.path;
    let result = read(path).and_then(|text| {
        let version = surroundings::ip_version(&text, path, &arguments.ip_version);
        let known = match version.as_str() {
            "ipv6" => Definitions::for_ipv6(),
            _ => Definitions::default(),
        };
        let known = definitions.iter().fold(known, |all, (name, value)| all.with(name, value));
        let mut read = Script::parse(&text, &known).map_err(|error| error.to_string())?;
        surroundings::read_files(&mut read, path);
        surroundings::set_ip_version(&mut read, version);
        let mut config = config.clone();
        if let Some(hz) = arguments.hz.or_else(|| surroundings::hz(path)) {
            config.host.tick = Span::from_secs(1) / u64::from(hz);
        }
        Ok(watch(&read, &mut Model::new(config)))
    });
    Outcome { script, result }
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = read_regular(path, TEXT_MAX).map_err(|why| why.to_string())?;
    String::from_utf8(bytes).map_err(|_| "not UTF-8: convert the file".into())
}

/// The model of this name.
fn stack(given: &str) -> Result<Config> {
    if given == "linux" {
        bail!(
            "`{given}` is not a model: use --stack model:NAME, such as model:linux-6.18; to test \
             this machine's kernel, run packetdrill itself"
        );
    }
    Ok(Profile::named(model(given)).with_context(|| format!("--stack {given}"))?.config)
}

/// Its name without the prefix that scenarios need, as they know the kernel too.
fn model(given: &str) -> &str {
    given.strip_prefix("model:").unwrap_or(given)
}

/// Names and values; the system that the stack belongs to is among them, as packetdrill has it for
/// `#ifdef FreeBSD`.
fn definitions(stack: &str, given: &[String]) -> Result<Vec<(String, String)>> {
    let is_of = |system: &&str| model(stack).starts_with(&system.to_lowercase());
    let of_system = ["Linux", "FreeBSD"].into_iter().find(is_of);
    let first = of_system.map(|system| Ok((system.to_owned(), system.to_owned())));
    let one = |one: &String| {
        let pair = one.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        pair.ok_or_else(|| anyhow!("`{one}` is not a definition: use --define NAME=VALUE"))
    };
    first.into_iter().chain(given.iter().map(one)).collect()
}
