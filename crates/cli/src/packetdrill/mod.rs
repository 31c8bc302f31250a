//! `tcplab packetdrill`.

mod found;
mod shown;
mod topics;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use tcplab_packetdrill::{Definitions, Line, Model, Script, Verdict, watch};
use tcplab_scenario::Profile;
use tcplab_stack::Config;
use tcplab_units::Span;

use self::found::Found;
use crate::arguments::PacketdrillArguments;
use crate::output::answer;
use crate::{BROKEN, UNABLE};

pub(crate) fn packetdrill(arguments: &PacketdrillArguments) -> Result<ExitCode> {
    let config = stack(&arguments.stack, arguments.hz)?;
    let definitions = definitions(&arguments.define)?;
    let scripts = found::scripts(&arguments.scripts)?;
    let results: Vec<Outcome> =
        scripts.into_iter().map(|script| held_against(&config, &definitions, script)).collect();
    let text = if arguments.json {
        shown::json(arguments, &results)?
    } else if arguments.topics {
        topics::text(&results)
    } else {
        shown::text(&results, arguments.verbose)
    };
    answer(&text)?;
    let any = |kinds: &[Kind]| results.iter().any(|result| kinds.contains(&result.kind()));
    Ok(if any(&[Kind::Failed]) {
        ExitCode::from(BROKEN)
    } else if any(&[Kind::Unsupported, Kind::Unreadable]) {
        ExitCode::from(UNABLE)
    } else {
        ExitCode::SUCCESS
    })
}

/// What became of a script.
struct Outcome {
    script: Found,
    result: Result<(Verdict, Vec<Line>), String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Passed,
    Failed,
    Unsupported,
    Unreadable,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Passed, Kind::Failed, Kind::Unsupported, Kind::Unreadable];

    fn name(self) -> &'static str {
        match self {
            Kind::Passed => "passed",
            Kind::Failed => "failed",
            Kind::Unsupported => "unsupported",
            Kind::Unreadable => "unreadable",
        }
    }
}

impl Outcome {
    fn kind(&self) -> Kind {
        match &self.result {
            Ok((Verdict::Passed(_), _)) => Kind::Passed,
            Ok((Verdict::Failed(_), _)) => Kind::Failed,
            Ok((Verdict::Unsupported(_), _)) => Kind::Unsupported,
            Err(_) => Kind::Unreadable,
        }
    }
}

fn held_against(config: &Config, definitions: &Definitions, script: Found) -> Outcome {
    let result = read(&script.path).and_then(|text| {
        let read = Script::parse(&text, definitions).map_err(|error| error.to_string())?;
        Ok(watch(&read, &mut Model::new(config.clone())))
    });
    Outcome { script, result }
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "this is not UTF-8".into())
}

/// The stack called `model:NAME`.
fn stack(given: &str, hz: Option<u32>) -> Result<Config> {
    let Some(name) = given.strip_prefix("model:") else {
        bail!(
            "`{given}` is no model: --stack takes model:NAME, such as model:linux-6.18. Whom the \
             machine's own kernel interests asks packetdrill itself"
        );
    };
    let mut config = Profile::named(name).with_context(|| format!("--stack {given}"))?.config;
    if let Some(hz) = hz {
        config.host.tick = Span::from_secs(1) / u64::from(hz);
    }
    Ok(config)
}

fn definitions(given: &[String]) -> Result<Definitions> {
    given.iter().try_fold(Definitions::default(), |definitions, one| {
        let (name, value) = one
            .split_once('=')
            .ok_or_else(|| anyhow!("`{one}` is no definition: --define takes NAME=VALUE"))?;
        Ok(definitions.with(name, value))
    })
}
