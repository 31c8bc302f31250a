//! `tcplab sockopts`.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tcplab_quantities::SOCKET_OPTIONS_DOCUMENT;
use tcplab_scenario::nearest;
use tcplab_testbed::{OptionState, Reading, Setting, survey};
use tcplab_units::Span;
use tcplab_workload::{Access, Level, SocketRole};

use crate::arguments::{OptionLevel, SockoptsArguments};
use crate::output::{answer_or_json, lines_of, listed, wrapped};

/// Columns of a terminal that are filled.
const WIDTH: usize = 80;
/// Of these, those of the names.
const NAME: usize = 24;

pub(crate) fn sockopts(arguments: &SockoptsArguments) -> Result<ExitCode> {
    let states = survey().context("cannot open a socket")?;
    let chosen = chosen(&states, arguments)?;
    let all: Vec<Value> = chosen.iter().map(|state| as_json(state)).collect();
    answer_or_json(&SOCKET_OPTIONS_DOCUMENT, &arguments.json, &listed("options", &all), || {
        if chosen.len() <= 1 || is_exact(&chosen, arguments) {
            chosen.iter().map(|state| in_full(state)).collect::<Vec<_>>().join("\n")
        } else {
            table(&chosen)
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The options to show.
fn chosen<'s>(
    states: &'s [OptionState],
    arguments: &SockoptsArguments,
) -> Result<Vec<&'s OptionState>> {
    let of_level = |state: &&OptionState| {
        let level = match state.info.level {
            Level::Socket | Level::Listen => OptionLevel::Socket,
            Level::Tcp => OptionLevel::Tcp,
            Level::Ip => OptionLevel::Ip,
            Level::Ipv6 => OptionLevel::Ipv6,
        };
        arguments.level.is_none_or(|asked| asked == level)
            && (!arguments.keys || state.info.key.is_some())
    };
    let mut chosen: Vec<&OptionState> = states.iter().filter(of_level).collect();
    if arguments.names.is_empty() {
        return Ok(chosen);
    }
    for name in &arguments.names {
        if !chosen.iter().any(|state| has_part(state, name) || is_told_of(state, name)) {
            let among = if arguments.level.is_some() || arguments.keys {
                " among the chosen ones"
            } else {
                ""
            };
            let known = || chosen.iter().flat_map(|it| [Some(it.info.name), it.info.key]);
            let near = nearest(name, known().flatten());
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            bail!("no option has `{name}` in its name{among}: {near}`tcplab sockopts` lists all");
        }
    }
    // A full name selects that option only.
    let means = |state: &OptionState, name: &String| {
        let exact = states.iter().any(|any| is_named(any, name));
        let in_a_name = || states.iter().any(|any| has_part(any, name));
        match name {
            name if exact => is_named(state, name),
            name if in_a_name() => has_part(state, name),
            name => is_told_of(state, name),
        }
    };
    chosen.retain(|state| arguments.names.iter().any(|name| means(state, name)));
    Ok(chosen)
}

fn is_named(state: &OptionState, name: &str) -> bool {
    state.info.name.eq_ignore_ascii_case(name)
        || state.info.key.is_some_and(|key| key.eq_ignore_ascii_case(name))
}

fn has_part(state: &OptionState, part: &str) -> bool {
    let part = part.to_lowercase();
    state.info.name.to_lowercase().contains(&part)
        || state.info.key.is_some_and(|key| key.contains(&part))
}

/// Whether what is said of the option has the word.
fn is_told_of(state: &OptionState, word: &str) -> bool {
    let word = word.to_lowercase();
    let told = state.info.effect.to_lowercase();
    told.split(|c: char| !c.is_alphanumeric()).any(|part| part == word)
}

/// Whether the user gave the full name of each.
fn is_exact(chosen: &[&OptionState], arguments: &SockoptsArguments) -> bool {
    !arguments.names.is_empty()
        && chosen.iter().all(|state| arguments.names.iter().any(|name| is_named(state, name)))
}

/// One or two lines for each, by level.
fn table(states: &[&OptionState]) -> String {
    let mut text = String::new();
    let mut level = None;
    for state in states {
        let info = state.info;
        if level != Some(info.level) {
            if level.is_some() {
                text.push('\n');
            }
            text += &format!("{}, {}\n", info.level.name(), info.level.manual());
            level = Some(info.level);
        }
        let mut facts = vec![default(state)];
        if info.access != Access::Read && !range(state).is_empty() {
            facts.push(format!("[{}]", range(state)));
        }
        facts.extend(state.sysctls.iter().map(|setting| setting.name.to_owned()));
        if info.privilege.is_some() {
            facts.push("privileged".into());
        }
        for (index, line) in lines_of(&facts, "  ", WIDTH - NAME).into_iter().enumerate() {
            let name = if index == 0 { info.name } else { "" };
            let name = if name.len() < NAME { name.to_owned() } else { format!("{name} ") };
            text += &format!("{name:<NAME$}{line}\n");
        }
        for line in wrapped(info.effect, WIDTH - 4) {
            text += &format!("    {line}\n");
        }
    }
    text + "\nValues are those of a fresh TCP socket; ranges are in brackets.\n\
            `tcplab sockopts NAME` shows one in full, `--help` explains their use.\n"
}

/// The value of a fresh socket, and UDP's where it differs.
fn default(state: &OptionState) -> String {
    let tcp = shown(&state.tcp);
    match &state.udp {
        Some(udp) if *udp != state.tcp => format!("{tcp} (UDP: {})", shown(udp)),
        _ => tcp,
    }
}

fn range(state: &OptionState) -> String {
    state.info.kind.range()
}

fn shown(reading: &Reading) -> String {
    match reading {
        Reading::Value(value) if value.is_empty() => "none".into(),
        Reading::Value(value) => value.clone(),
        Reading::Structure(bytes) => format!("{bytes} bytes"),
        Reading::SetOnly => "set only".into(),
        Reading::Absent => "absent".into(),
        Reading::Unreadable(error) => format!("not readable on a fresh socket ({error})"),
    }
}

/// One option in full.
fn in_full(state: &OptionState) -> String {
    let info = state.info;
    let mut text = format!("{}  {}, {}\n", info.name, info.level.name(), info.level.manual());
    for line in wrapped(&format!("{}.", info.effect), WIDTH - 4) {
        text += &format!("    {line}\n");
    }
    let mut fact = |name: &str, text_of: String| {
        for (index, line) in wrapped(&text_of, WIDTH - 17).into_iter().enumerate() {
            let name = if index == 0 { name } else { "" };
            text += &format!("  {name:<13}{line}\n");
        }
    };
    fact("default", default(state));
    if info.access != Access::Read {
        fact("range", range(state));
    }
    for setting in &state.sysctls {
        fact(if setting.is_limit { "limit" } else { "default from" }, about(setting));
    }
    for (name, detail) in
        [("needs", info.privilege), ("adjusted", info.adjusted), ("later", info.later)]
    {
        if let Some(detail) = detail {
            fact(name, detail.into());
        }
    }
    if let Some(least) = info.doubled {
        let bookkeeping = "Linux doubles the requested value, for its bookkeeping";
        fact("doubled", format!("{bookkeeping}; the result is at least {least} B"));
    }
    if let Some(key) = info.key {
        fact("scenario", format!("{key}{}", places(info.only)));
    } else if info.access == Access::Read {
        fact("access", "read only".into());
    }
    text
}

fn places(only: &[SocketRole]) -> String {
    let place = |role: &SocketRole| match role {
        SocketRole::Client => "[client] socket",
        SocketRole::Listener => "[server] socket",
        SocketRole::Accepted => "[server] accepted",
    };
    let all = [SocketRole::Client, SocketRole::Listener, SocketRole::Accepted];
    let roles = if only.is_empty() { &all[..] } else { only };
    format!(", in {}", roles.iter().map(place).collect::<Vec<_>>().join(", "))
}

fn about(setting: &Setting) -> String {
    let value = setting.value.as_deref().unwrap_or("not readable here");
    let whose = if setting.of_the_machine { " (machine-wide)" } else { "" };
    format!("{} = {value}{whose}", setting.name)
}

/// A value as JSON: a number in the option's unit, a truth, null for none, or else its text.
fn number(text: &str, unit: &str) -> Value {
    let span = || text.parse::<Span>().ok();
    match (text, unit) {
        ("on", _) => true.into(),
        ("off", "") => false.into(),
        ("off" | "unlimited" | "", _) => Value::Null,
        (_, "s") if span().is_some() => json!(span().map(Span::as_secs_f64)),
        (_, "µs") if span().is_some() => json!(span().map(Span::as_micros)),
        _ => {
            let digits = text.split(' ').next().unwrap_or_default();
            digits.parse::<i64>().map_or_else(|_| text.into(), Value::from)
        }
    }
}

fn as_json(state: &OptionState) -> Value {
    let info = state.info;
    let reading = |reading: &Reading| match reading {
        Reading::Value(value) => json!({ "value": number(value, info.kind.unit()) }),
        Reading::Structure(bytes) => json!({ "bytes": bytes }),
        Reading::SetOnly => json!({ "set_only": true }),
        Reading::Absent => json!({ "absent": true }),
        Reading::Unreadable(error) => json!({ "error": error }),
    };
    let sysctl = |setting: &Setting| {
        json!({
            "name": setting.name,
            "value": setting.value,
            "role": if setting.is_limit { "limit" } else { "default" },
            "of_the_machine": setting.of_the_machine,
        })
    };
    json!({
        "name": info.name,
        "level": info.level.name(),
        "manual": info.level.manual(),
        "number": info.number,
        "key": info.key,
        "sockets": info.only.iter().map(|role| role.name()).collect::<Vec<_>>(),
        "access": match info.access {
            Access::Both => "set and read",
            Access::Read => "read",
            Access::Write => "set",
        },
        "unit": info.kind.unit(),
        "range": info.kind.range(),
        "effect": info.effect,
        "tcp": reading(&state.tcp),
        "udp": state.udp.as_ref().map(reading),
        "here": state.tcp != Reading::Absent
            || state.udp.as_ref().is_some_and(|udp| *udp != Reading::Absent),
        "sysctls": state.sysctls.iter().map(sysctl).collect::<Vec<_>>(),
        "privilege": info.privilege,
        "doubled": info.doubled.is_some(),
        "adjusted": info.adjusted,
        "later": info.later,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::JsonArguments;

    fn arguments(names: &[&str]) -> SockoptsArguments {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        SockoptsArguments { names, level: None, keys: false, json: JsonArguments::default() }
    }

    #[test]
    fn options_match_by_name_and_by_part() {
        let states = survey().unwrap();
        let names = |asked: &[&str]| -> Vec<&str> {
            let chosen = chosen(&states, &arguments(asked)).unwrap();
            chosen.iter().map(|state| state.info.name).collect()
        };
        assert_eq!(names(&["so_rcvbuf"]), ["SO_RCVBUF"]);
        assert_eq!(names(&["nodelay", "SO_LINGER"]), ["SO_LINGER", "TCP_NODELAY"]);
        assert_eq!(
            names(&["keep"]),
            ["SO_KEEPALIVE", "TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT"]
        );
        let tcp = SockoptsArguments { level: Some(OptionLevel::Tcp), ..arguments(&["keep"]) };
        assert_eq!(chosen(&states, &tcp).unwrap().len(), 3);
        let error = chosen(&states, &arguments(&["colour"])).unwrap_err().to_string();
        assert!(error.starts_with("no option has `colour` in its name:"), "{error}");
    }

    #[test]
    fn lines_fit_the_terminal() {
        let states = survey().unwrap();
        let all: Vec<&OptionState> = states.iter().collect();
        let long: Vec<String> = table(&all)
            .lines()
            .chain(all.iter().map(|state| in_full(state)).collect::<String>().lines())
            .filter(|line| line.chars().count() > WIDTH)
            .map(Into::into)
            .collect();
        assert_eq!(long, [""; 0]);
    }

    #[test]
    fn json_values_are_numbers_in_the_unit() {
        for (text, unit, value) in [
            ("on", "", json!(true)),
            ("off", "", json!(false)),
            ("off", "s", Value::Null),
            ("131072 B", "B", json!(131_072)),
            ("-1", "B", json!(-1)),
            ("2 h", "s", json!(7200.0)),
            ("0 s", "µs", json!(0)),
            ("cubic", "", json!("cubic")),
        ] {
            assert_eq!(number(text, unit), value, "{text} {unit}");
        }
    }

    #[test]
    fn single_option_is_shown_in_full() {
        let states = survey().unwrap();
        let state = states.iter().find(|state| state.info.name == "SO_RCVBUF").unwrap();
        let text = in_full(state);
        for part in [
            "SO_RCVBUF  SOL_SOCKET, socket(7)",
            "default from net.ipv4.tcp_rmem = ",
            "limit        net.core.rmem_max = ",
            "result is at least 2304 B",
            "(machine-wide)",
            "scenario     rcvbuf, in [client] socket, [server] socket",
        ] {
            assert!(text.contains(part), "`{part}` is missing: {text}");
        }
        let json = as_json(state);
        assert_eq!((&json["key"], &json["doubled"]), (&json!("rcvbuf"), &json!(true)));
        assert_eq!(json["sysctls"][1]["role"], "limit");
        assert!(json["tcp"]["value"].is_u64(), "{json}");
    }
}
