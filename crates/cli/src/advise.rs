//! `tcplab advise`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use serde_json::{Value, json};
use tcplab_kernels::DEFAULT_CONGESTION;
use tcplab_lab::advise::{
    Advice, BufferSearch, Buffers, Busiest, Choice, Congestion, Effect, Experiment, Gain, Goal,
    Losses, Observed, Reactions, Situation, Subject, amount, choose, incomparable, span, unknown,
};
use tcplab_lab::{RunDirectory, read_run};
use tcplab_path::PathSpec;
use tcplab_path::tc::quoted;
use tcplab_quantities::ADVICE_DOCUMENT;
use tcplab_results::{Case, Run, RunWorld};
use tcplab_scenario::{EndpointSpec, PlannedConnection, Scenario, Stack, nearest, presets};
use tcplab_trace::{Both, Only};
use tcplab_units::number::Number;
use tcplab_units::{Bytes, Endpoint, Span, rounded};

use crate::arguments::{AdviseArguments, EmbeddedStack, PathChoice, World};
use crate::control::{self, Control};
use crate::output::{answer, check_outputs, print_note, wrapped, write_json};
use crate::path_choice;
use crate::remedied::Remedied;
use crate::run_scenario::{ScenarioRun, run_scenario};
use crate::signals::stop_on_signals;

/// Columns of a terminal that are filled.
const WIDTH: usize = 98;

/// The situation, and its source.
struct Known {
    /// The source in one line.
    title: String,
    situation: Situation,
    path: Option<PathSpec>,
    choices: Vec<Choice>,
    /// Cases of a run that are compared with no other.
    incomparable: Vec<String>,
    /// The world it was measured in.
    world: World,
}

impl Known {
    /// Where there is no run.
    fn of(title: String, situation: Situation, path: Option<PathSpec>) -> Known {
        let (choices, incomparable) = (Vec::new(), Vec::new());
        Known { title, situation, path, choices, incomparable, world: World::Auto }
    }
}

/// An experiment that was run.
#[derive(Serialize)]
struct Tried {
    tries: Vec<&'static str>,
    world: RunWorld,
    trials: u32,
    flawed: usize,
    gains: Vec<Gain>,
    verdict: Effect,
    report: PathBuf,
    /// Commands to try it by hand, before and with the advice, if possible.
    by_hand: Option<[String; 2]>,
}

pub(crate) fn advise(arguments: &AdviseArguments) -> Result<ExitCode> {
    check(arguments)?;
    check_outputs([&arguments.results.json.place], Some(&arguments.results.runs))?;
    let goal: Goal = arguments.goal.into();
    let stop = Arc::new(AtomicBool::new(false));
    if !arguments.no_trials {
        stop_on_signals(&stop)?;
    }
    let mut control = control::started(arguments.control, &stop)?;
    let mut known = known(arguments, goal)?;
    if let Some(payload) = arguments.payload {
        known.situation.payload = payload;
    }
    if let Some(asked) = asked(arguments) {
        known.situation.congestion = asked;
    }
    let Known { title, situation, path, choices, world, .. } = &known;
    let world = if arguments.world == World::Auto { *world } else { arguments.world };
    let mut advice = tcplab_lab::advise::advise(situation, goal);
    let buffers = match arguments.stack {
        Some(EmbeddedStack::Netburner) if !arguments.no_trials => {
            search_buffers(situation, path.as_ref(), arguments, &stop, control.as_mut())?
        }
        _ => None,
    };
    advice.extend(match (&buffers, arguments.stack) {
        (Some(buffers), _) => Some(buffers.advice()),
        (None, Some(_)) => Buffers::by_formula(situation),
        (None, None) => None,
    });
    let unknown = unknown(situation, goal);
    let is_printed = !arguments.results.json.is_printed() && control.is_none();
    if is_printed {
        answer(&recommendations(&known, &advice, unknown.as_deref()))?;
    }
    let mut all = json!({
        "of": title, "goal": goal, "situation": situation,
        "bdp_bytes": situation.bdp().plain(),
        "ideal_goodput_bits_per_second": situation.ideal_goodput().plain(), "choices": choices,
        "incomparable": known.incomparable,
        "advice": advice, "unknown": unknown, "buffers": buffers,
    });
    if let Some(control) = &mut control {
        control.tell(&with_name("recommended", &all));
    }
    let experiments = if arguments.no_trials {
        Vec::new()
    } else {
        Experiment::of(situation, path.as_ref(), goal, &advice, arguments.trials)
    };
    let mut tried = Vec::new();
    for (index, one) in experiments.iter().enumerate() {
        if let Some(control) = &mut control {
            control.part(index + 1, Some(experiments.len()), &one.name);
        }
        let outcome = attempt(one, situation, world, arguments, &stop, control.as_mut())?;
        if is_printed {
            answer(&trial_result(&outcome))?;
        }
        tried.push(outcome);
    }
    all["tried"] = json!(tried);
    if let Some(control) = &mut control {
        control.result(&ADVICE_DOCUMENT, &all);
    }
    write_json(&ADVICE_DOCUMENT, &arguments.results.json, &all)?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses figures that no path, transfer or sender can have.
fn check(arguments: &AdviseArguments) -> Result<()> {
    if let Some(rtt) = arguments.rtt.filter(|rtt| *rtt < Span::from_micros(1)) {
        bail!("--rtt {rtt}: use at least 1 µs");
    }
    if arguments.rate.is_some_and(|rate| rate.bits_per_second() == 0) {
        bail!("--rate 0: use a rate above zero, or leave it out for no bottleneck");
    }
    if arguments.loss.is_some_and(|loss| loss.as_f64() >= 1.0) {
        bail!("--loss 100 %: no packet would arrive; use less");
    }
    if arguments.payload == Some(Bytes::ZERO) {
        bail!("--payload 0: use at least 1 B");
    }
    let Some(name) = arguments.congestion.as_deref() else { return Ok(()) };
    let names = Congestion::names();
    // This machine may have one that is not part of Linux.
    if names.contains(name) || tcplab_testbed::has_congestion(name).is_ok() {
        return Ok(());
    }
    let near = nearest(name, names.iter().copied());
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    let names: Vec<&str> = names.into_iter().collect();
    let said = format!("--congestion: there is no congestion control `{name}`");
    Err(Remedied::error(said, format!("{near}there are {}", names.join(", "))))
}

fn known(arguments: &AdviseArguments, goal: Goal) -> Result<Known> {
    // A path may stand where a run or a capture does.
    let mut path = arguments.path.clone();
    if let Some(from) = &arguments.from {
        let named = from.to_str().filter(|name| {
            from.extension().is_some_and(|ending| ending == "toml")
                || !from.exists() && tcplab_actions::preset(name).is_some()
        });
        match named {
            Some(name) => path = Some(name.to_owned()),
            None if !arguments.set.is_empty() => {
                bail!("{} is no path: `-s` sets keys of a path", from.display());
            }
            None => {
                let from = RunDirectory::named(from, &arguments.results.runs);
                let name = from.to_str().filter(|_| !from.exists());
                if let Some(name) = name.filter(|name| is_like_preset(name)) {
                    return Err(tcplab_actions::unknown_path(name));
                }
                return if from.is_dir() {
                    of_run(&from, goal, arguments.stack.is_some())
                } else {
                    of_capture(&from, asked(arguments))
                };
            }
        }
    }
    if path.is_none() && !arguments.set.is_empty() {
        path = Some("-".into());
    }
    if let Some(path) = path {
        let choice = PathChoice { path, set: arguments.set.clone() };
        let file = path_choice::find(&choice)?;
        let situation = Situation::of_path(&file.path, Endpoint::Client)
            .context("this scenario has no path")?;
        if situation.loss >= 1.0 {
            bail!("this path loses every packet: advice needs a path that some pass");
        }
        let payload = situation.worthwhile_payload();
        let situation = Situation { payload, ..situation.on_this_host() };
        let title = path_choice::description(&choice);
        return Ok(Known::of(title, situation, Some(file.path)));
    }
    let rtt = arguments.rtt.unwrap_or_default();
    let situation = Situation {
        rate: arguments.rate,
        loss: arguments.loss.map_or(0.0, tcplab_units::Probability::as_f64),
        queue: arguments.queue.or(arguments.rate.map(|_| rtt)),
        ..Situation::of_round_trip(rtt)
    };
    let payload = situation.worthwhile_payload();
    let situation = Situation { payload, ..situation.on_this_host() };
    Ok(Known::of("given figures".into(), situation, None))
}

/// Whether a name that nothing has is almost that of a preset.
fn is_like_preset(name: &str) -> bool {
    nearest(name, presets().iter().map(|(known, _)| *known)).is_some()
}

/// The congestion control that the user names.
fn asked(arguments: &AdviseArguments) -> Option<Congestion> {
    arguments.congestion.as_deref().map(|name| Congestion::known(name, "--congestion"))
}

/// The situation of a capture's largest connection, whose sender has the congestion control that
/// was `asked` for, else the one that it shows.
fn of_capture(file: &Path, asked: Option<Congestion>) -> Result<Known> {
    let reader = tcplab_actions::open(file)?;
    let mut analyzer = tcplab_actions::analyzer_of(file, Busiest::default());
    analyzer.read(reader);
    let (_, busiest) = analyzer.finish_into();
    let (index, connection) = busiest
        .connection
        .with_context(|| format!("{}: contains no TCP connection", file.display()))?;
    let mut situation = Situation::of_connection(&connection)
        .map_err(|lacking| anyhow!("{}: {lacking}", file.display()))?;
    if tcplab_actions::is_stdin(file) {
        situation.congestion = Congestion::unknown("standard input cannot be read a second time");
    } else {
        let only = Only::new(Some(index), Some(Both(Reactions::default(), Losses::default())));
        let mut analyzer = tcplab_actions::analyzer_of(file, only);
        analyzer.read(tcplab_actions::open(file)?);
        let Both(reactions, losses) = analyzer.finish_into().1.into_inner().unwrap_or_default();
        situation.congestion = match asked {
            Some(asked) => asked,
            None => reactions.congestion(&connection, &situation),
        };
        losses.leave_out_queue(&connection, &mut situation);
    }
    let title = format!("{}, {} → {}", file.display(), connection.client, connection.server);
    Ok(Known::of(title, situation, None))
}

/// The best variants of a run, and the situation in the first trial of the best.
fn of_run(path: &Path, goal: Goal, has_stack: bool) -> Result<Known> {
    let directory = RunDirectory::open(path)?;
    let run = read_run(path)?;
    let choices = choose(&run, directory.scenario(), goal);
    let name = choices.first().map(|choice| choice.best.as_str());
    let cases = || run.cases.iter().zip(&directory.scenario().cases);
    let chosen = cases().find(|(case, _)| Some(case.name.as_str()) == name);
    let (case, spec) = chosen.or_else(|| cases().next()).context("the run has no cases")?;
    let Subject { path, sender, ends, amount } =
        Subject::of(spec).context("this run has no connections")?;
    let mut situation =
        Situation::of_path(&path, sender).context("this run has no path between its endpoints")?;
    if let Some(trial) = case.trials.first().filter(|trial| trial.has_packets) {
        let data = tcplab_lab::load_trial(&directory, trial)?;
        let seen = if sender == Endpoint::Server { &data.server } else { &data.client };
        situation.seen = seen.connections.first().map(Observed::of);
    }
    // What the run carried is tried again, no more.
    situation.payload = amount.unwrap_or_else(|| situation.worthwhile_payload());
    let end = ends.of(sender);
    situation.congestion = congestion_of_run(&run, case, sender, end);
    if end.stack == Stack::Model("netburner") && !has_stack {
        print_note(
            "the sender is the model of NetBurner's stack, which counts buffers: add `--stack \
             netburner` for how many it needs",
        );
    }
    let title = format!("{}, {}", run.title, case.name);
    let world =
        if case.world == tcplab_results::World::Simulated { World::Sim } else { World::Auto };
    situation.ends = Some(ends);
    let incomparable = incomparable(&run, directory.scenario());
    Ok(Known { title, situation, path: Some(path), choices, incomparable, world })
}

/// That of the sender in a case: as the scenario sets it, or the default of the machine, kernel or
/// model it ran on.
fn congestion_of_run(run: &Run, case: &Case, sender: Endpoint, end: &EndpointSpec) -> Congestion {
    const DEFAULT: &str = "net.ipv4.tcp_congestion_control";
    let of_host = || end.sysctl.get(DEFAULT).map(String::as_str);
    // What an accepted socket is given last counts.
    let of_socket = end.accepted.congestion().or(end.socket.congestion());
    if let Some(name) = of_socket.or_else(of_host) {
        return Congestion::known(name, "set by the scenario");
    }
    if case.world == tcplab_results::World::Simulated {
        let stack = case.stacks.iter().find(|stack| stack.end == sender.name());
        return match stack.filter(|stack| !stack.is_model) {
            Some(kernel) => Congestion::known(
                DEFAULT_CONGESTION,
                format!("the default of kernels in virtual time ({})", kernel.name),
            ),
            None => Congestion::unknown("the scenario sets none, and a model decides"),
        };
    }
    let is_default = |name: &str| name.strip_prefix("machine's ") == Some(DEFAULT);
    let known = run.environment.iter().find(|(name, _)| is_default(name));
    known.map_or(Congestion::unknown("the run does not record it"), |(_, name)| {
        Congestion::known(name, "the default of the machine that made the run")
    })
}

/// The fewest buffers that reach the goal in the stack's model.
fn search_buffers(
    situation: &Situation,
    path: Option<&PathSpec>,
    arguments: &AdviseArguments,
    stop: &Arc<AtomicBool>,
    mut control: Option<&mut Control>,
) -> Result<Option<Buffers>> {
    let BufferSearch { name, source } = BufferSearch::of(situation, path);
    if let Some(control) = &mut control {
        control.part(1, None, name);
    }
    let scenario = Scenario::parse(&source, name)?;
    let ScenarioRun { run, .. } =
        run_scenario(scenario, World::Sim, &arguments.results.runs, stop, control)?;
    Ok(BufferSearch::outcome(&run))
}

fn attempt(
    one: &Experiment,
    situation: &Situation,
    world: World,
    arguments: &AdviseArguments,
    stop: &Arc<AtomicBool>,
    mut control: Option<&mut Control>,
) -> Result<Tried> {
    let scenario = Scenario::parse(&one.source, &one.name)?;
    let ScenarioRun { directory, run, report } =
        run_scenario(scenario, world, &arguments.results.runs, stop, control.as_deref_mut())?;
    let gains = one.gains(&run);
    let trials = run.cases.iter().flat_map(|case| &case.trials);
    let path = directory.path().join("scenario.toml");
    let by_hand = one.congestions.as_ref().filter(|_| run.world == RunWorld::Kernel).map(|names| {
        let payload = one.payload.as_u64();
        let reverse = if situation.sender == Endpoint::Server { " -R" } else { "" };
        // The path may be longer for the port of the trials.
        let [_, port] = PlannedConnection::FIRST_PORTS;
        names.each_ref().map(|name| {
            format!(
                "tcplab shell {} --congestion {name} --seed 1 --far-command 'iperf3 -s -1 \
                 -p {port}' --wait-for {port} -- sh -c 'iperf3 -c $TCPLAB_FAR -p {port} -n \
                 {payload}{reverse}'",
                quoted(&path.to_string_lossy())
            )
        })
    });
    let tried = Tried {
        by_hand,
        tries: one.tries.clone(),
        flawed: trials.filter(|trial| !trial.flaws.is_empty()).count(),
        verdict: Effect::of(&gains),
        world: run.world,
        trials: arguments.trials,
        gains,
        report,
    };
    if let Some(control) = control {
        let mut told = with_name("tried", &json!(tried));
        told["directory"] = json!(directory.path());
        control.tell(&told);
    }
    Ok(tried)
}

/// What is known, as an event of this name.
fn with_name(name: &str, known: &Value) -> Value {
    let mut event = known.clone();
    event["event"] = json!(name);
    event
}

fn paragraph(text: &mut String, first: &str, indent: usize, words: &str) {
    for (index, line) in wrapped(words, WIDTH - indent).into_iter().enumerate() {
        let start = if index == 0 { first } else { "" };
        *text += &format!("{start:indent$}{line}\n");
    }
}

fn recommendations(known: &Known, advice: &[Advice], unknown: Option<&str>) -> String {
    let Known { title, situation, path, choices, incomparable, .. } = known;
    let mut facts = vec![format!("RTT {}", span(situation.rtt))];
    facts.extend(situation.rate.map(rounded::rate));
    let is_capture = situation.seen.is_some() && path.is_none();
    facts.push(match (situation.loss, is_capture && !situation.has_losses_of_queue) {
        (0.0, true) => "no loss but of a full queue".into(),
        (0.0, false) => "no random loss".into(),
        (loss, true) => format!("{:.3} % loss without that of a full queue", loss * 100.0),
        (loss, false) => format!("{:.3} % loss", loss * 100.0),
    });
    facts.extend(situation.queue.map(|queue| format!("full queue {}", span(queue))));
    if path.is_some() {
        let sender = situation.sender;
        facts.push(format!("from {} to {}", sender.name(), sender.other().name()));
    }
    let mut text = format!("{title}\n");
    paragraph(&mut text, "", 2, &facts.join(", "));
    let Congestion { name, basis } = &situation.congestion;
    let name = name.as_deref().unwrap_or("unknown");
    paragraph(&mut text, "", 2, &format!("congestion control {name}: {basis}"));
    if let Some((bdp, best)) = situation.bdp().zip(situation.ideal_goodput()) {
        let line = format!(
            "bandwidth-delay product {}; ideal goodput {} in segments of {} B; transfers of {}",
            amount(bdp),
            rounded::rate(best),
            situation.segment().as_u64(),
            amount(situation.payload)
        );
        paragraph(&mut text, "", 2, &line);
    }
    for choice in choices {
        text.push('\n');
        describe_choice(&mut text, choice);
    }
    if !incomparable.is_empty() {
        let [shown, more] = [incomparable.len().min(5), incomparable.len().saturating_sub(5)];
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let words = format!(
            "Not compared, as no other does the same over the same path: {}{more}.",
            incomparable[..shown].join(", ")
        );
        text.push('\n');
        paragraph(&mut text, "", 2, &words);
    }
    for (index, one) in advice.iter().enumerate() {
        text.push('\n');
        paragraph(&mut text, &format!("{}.", index + 1), 3, &one.what);
        paragraph(&mut text, "   why", 13, &one.why);
        for (line, how) in one.how.iter().enumerate() {
            text += &format!("{:13}{how}\n", if line == 0 { "   how" } else { "" });
        }
        if let Some(expected) = &one.expected {
            let change = change(expected.metric, expected.before, expected.after, expected.unit);
            let line = format!("{change} (× {:.1})", expected.factor());
            paragraph(&mut text, "   expected", 13, &line);
        }
        paragraph(&mut text, "   basis", 13, one.basis);
    }
    if let Some(unknown) = unknown {
        text.push('\n');
        paragraph(&mut text, "?", 3, unknown);
    } else if advice.is_empty() {
        let is_known = situation.congestion.name.is_some();
        let why = if is_known { ": the settings are as good as the formulas allow" } else { "" };
        text += &format!("\nNo recommendations{why}.\n");
    }
    text.push('\n');
    text
}

fn describe_choice(text: &mut String, choice: &Choice) {
    let join = |levels: &[(String, String)]| {
        levels.iter().map(|(key, level)| format!("{key} = {level}")).collect::<Vec<_>>().join(", ")
    };
    let given = match &choice.given[..] {
        [] => String::new(),
        given => format!("With {}: ", join(given)),
    };
    let Choice { metric, median, unit, .. } = choice;
    let best = if choice.levels.is_empty() { choice.best.clone() } else { join(&choice.levels) };
    let words =
        format!("{given}{best}: best {}, median {median:.2} {unit}.", metric.replace('_', " "));
    paragraph(text, "★", 2, &words);
    if !choice.as_good.is_empty() {
        let words = format!(
            "No significant difference to {}; add trials with `tcplab run --extend`.",
            choice.as_good.join(", ")
        );
        paragraph(text, "", 4, &words);
    }
    for (name, gain) in choice.others.iter().filter(|(name, _)| !choice.as_good.contains(name)) {
        if let Some(gain) = gain {
            paragraph(text, "", 4, &format!("against {name}: {}", times(gain)));
        }
    }
}

fn change(metric: &str, before: f64, after: f64, unit: &str) -> String {
    format!("{} {before:.1} → {after:.1} {unit}", metric.replace(['_', '.'], " "))
}

/// The gain as a factor, or as a percentage if small.
fn times(gain: &Gain) -> String {
    let factor = gain.factor;
    let is_little = (0.9..1.1).contains(&factor);
    let shown = |factor: f64| {
        if is_little { format!("{:+.1} %", (factor - 1.0) * 100.0) } else { format!("{factor:.2}") }
    };
    let sign = if is_little { "" } else { "× " };
    match gain.interval {
        Some((low, high)) => {
            format!("{sign}{} (95 % CI {} to {})", shown(factor), shown(low), shown(high))
        }
        None => format!("{sign}{}", shown(factor)),
    }
}

fn trial_result(tried: &Tried) -> String {
    let world = match tried.world {
        RunWorld::Simulated => "in virtual time",
        _ => "on this machine's kernel",
    };
    let flawed = match tried.flawed {
        0 => String::new(),
        flawed => format!("; {flawed} flawed trials, see the report"),
    };
    let mut text = format!(
        "Measured {world}, {} trials each without and with {}{flawed}:\n",
        tried.trials,
        tried.tries.join(", ")
    );
    for gain in &tried.gains {
        let change = change(&gain.metric, gain.before, gain.after, &gain.unit);
        let line = format!("{change}, {}", times(gain));
        paragraph(&mut text, "", 2, &line);
        if let Some((low, high)) = gain.single {
            let line = format!("95 % of single pairs: × {low:.2} to × {high:.2}");
            paragraph(&mut text, "", 4, &line);
        }
    }
    let verdict = match tried.verdict {
        Effect::Better => "Recommended.",
        Effect::Worse => "Not recommended: it makes things worse here.",
        Effect::Mixed => "A trade-off: it improves one metric and worsens the other.",
        Effect::Open => "No significant difference; increase --trials.",
    };
    text += &format!("  {verdict}\n  report: {}\n", tried.report.display());
    if let Some([before, after]) = &tried.by_hand {
        text += "  by hand (use other seeds for more pairs):\n";
        text += &format!("    {before}\n    {after}\n");
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use tcplab_results::{StackUsed, World};

    use super::*;

    #[test]
    fn congestion_of_run_is_set_or_the_default_of_the_senders_stack() {
        let stack = |end: &str, is_model| {
            let name = if is_model { "linux-6.18" } else { "Linux 6.12.117" };
            StackUsed { end: end.into(), name: name.into(), is_model, ..StackUsed::default() }
        };
        let case = Case {
            world: World::Simulated,
            stacks: vec![stack("client", false), stack("server", true)],
            ..Case::default()
        };
        let end = |text: &str| serde_json::from_str::<EndpointSpec>(text).unwrap();
        let by_sysctl = r#"{ "sysctl": { "net.ipv4.tcp_congestion_control": "bbr" } }"#;
        let by_socket = r#"{ "socket": { "congestion": "reno" } }"#;
        for (sender, set, name, basis) in [
            (Endpoint::Client, "{}", Some("cubic"), "kernels in virtual time (Linux 6.12.117)"),
            (Endpoint::Server, "{}", None, "a model decides"),
            (Endpoint::Client, by_sysctl, Some("bbr"), "set by the scenario"),
            (Endpoint::Server, by_socket, Some("reno"), "set by the scenario"),
        ] {
            let found = congestion_of_run(&Run::default(), &case, sender, &end(set));
            assert_eq!(found.name.as_deref(), name, "{set}");
            assert!(found.basis.contains(basis), "{}", found.basis);
        }
    }
}
