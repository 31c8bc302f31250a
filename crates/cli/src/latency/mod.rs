//! `tcplab latency`.

mod figure;
mod measured;
mod on_request;
mod request;
mod shown;
mod third;
mod told;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, bail};
use tcplab_load::{
    Beside, BulkConfig, Direction, LatencyConfig, LatencyOutcome, LatencyProgress, look_up,
};
use tcplab_quantities::LATENCY_DOCUMENT;
use tcplab_units::{Span, visible_line};

use crate::arguments::{ClockChoice, LatencyArguments};
use crate::control;
use crate::exit::FAILED;
use crate::load::Display;
use crate::output::{answer, answer_or_json, check_outputs, print_note, write_file, write_json};
use crate::progress::unless_stopped;
use crate::signals::stop_on_signals;
use measured::Measured;
use third::{Third, Whole};
use told::Teller;

pub(crate) fn latency(arguments: &LatencyArguments) -> Result<ExitCode> {
    if arguments.control && arguments.json.is_printed() {
        bail!("--control prints lines of JSON: write the result with --json=FILE");
    }
    check_outputs([&arguments.csv, &arguments.svg, &arguments.json.place], None)?;
    refuse_impossible(arguments)?;
    if !arguments.together.is_empty() {
        let hosts = measured::read_all(&arguments.together)?;
        for gap in measured::gaps(&hosts) {
            warn(&gap);
        }
        answer(&shown::together(&hosts))?;
        write_files(arguments, &hosts)?;
        return Ok(ExitCode::SUCCESS);
    }
    let target = arguments.target.as_deref().unwrap_or_default();
    let config = config(arguments, target)?;
    if let Some(address) = &arguments.on_request {
        return on_request::serve(address, &config);
    }
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let control = control::started(arguments.control, &stop)?;
    let third = arguments.third.as_ref().map(|name| Third::start(name, &config)).transpose()?;
    let teller = control.map(|control| Teller::start(control, &config)).transpose()?;
    let mut display = Display::new(arguments.quiet || teller.is_some(), None);
    let outcome = tcplab_load::latency(&config, &mut |progress| {
        match &teller {
            Some(teller) => teller.progress(progress),
            None => display.show(progress.elapsed, || line(progress)),
        }
        unless_stopped(&stop)
    });
    display.clear();
    let mut outcome = outcome?;
    let mut hosts = vec![of(target, &outcome)];
    let third = match third.map(|third| third.finish(config.timeout)) {
        None => None,
        Some(Ok((third, measured))) => {
            hosts.push(measured);
            Some(third)
        }
        // What was measured here is there all the same.
        Some(Err(error)) => {
            outcome.warnings.push(format!("{error:#}"));
            None
        }
    };
    // The files are there when it is told that all is done.
    write_files(arguments, &hosts)?;
    let whole = Whole { outcome: &outcome, third: third.as_ref() };
    if let Some(teller) = teller {
        write_json(&LATENCY_DOCUMENT, &arguments.json, &whole)?;
        teller.finished(&outcome, third, arguments.json.place.as_deref());
    } else {
        answer_or_json(&LATENCY_DOCUMENT, &arguments.json, &whole, || {
            shown::table(target, &outcome)
                + &hosts[1..].iter().map(shown::third).collect::<String>()
        })?;
    }
    for warning in &outcome.warnings {
        warn(warning);
    }
    let asked = config.beside.as_ref().map_or(0, |beside| beside.loads.len());
    let has_loads = outcome.was_stopped || outcome.loads.len() == asked;
    let is_good = outcome.answered > 0 && has_loads;
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn warn(warning: &str) {
    print_note(&format!("tcplab: warning: {}", visible_line(warning)));
}

/// Refuses what would leave out a load that was asked for, or that says how to make none.
fn refuse_impossible(arguments: &LatencyArguments) -> Result<()> {
    let LatencyArguments { upload, download, connections, idle, duration, .. } = arguments;
    if upload.is_none() && download.is_none() {
        let given = [("--connections", connections.is_some()), ("--idle", idle.is_some())];
        if let Some((flag, _)) = given.iter().find(|(_, is_given)| *is_given) {
            bail!("{flag} is about a load: add --upload or --download");
        }
    }
    if let Some(idle) = idle.filter(|idle| *idle >= *duration) {
        bail!("--idle {idle} leaves no time for the load: use less than --duration ({duration})");
    }
    Ok(())
}

fn config(arguments: &LatencyArguments, target: &str) -> Result<LatencyConfig> {
    let time = arguments.duration.to_std();
    let after = arguments.idle.map_or(time / 2, Span::to_std);
    let asked =
        [(&arguments.upload, Direction::Upload), (&arguments.download, Direction::Download)];
    let mut loads = Vec::new();
    for (address, direction) in asked {
        let Some(address) = address else { continue };
        loads.push(BulkConfig {
            address: look_up(address)?,
            direction,
            connections: arguments.connections.unwrap_or(1) as usize,
            time: time.saturating_sub(after),
            window: None,
            congestion: None,
            acknowledged: tcplab_testbed::acknowledged,
        });
    }
    Ok(LatencyConfig {
        address: look_up(target)?,
        interval: arguments.interval.to_std(),
        time,
        timeout: arguments.timeout.to_std(),
        same_clock: match arguments.clocks {
            ClockChoice::Auto => None,
            ClockChoice::Same => Some(true),
            ClockChoice::Separate => Some(false),
        },
        beside: (!loads.is_empty()).then_some(Beside { after, loads }),
    })
}

fn line(progress: &LatencyProgress) -> String {
    let LatencyProgress { elapsed, sent, lost, rtt, is_loaded, .. } = progress;
    let [p50, p99] = [rtt.p50, rtt.p99].map(|nanos| nanos as f64 / 1e6);
    let load = if *is_loaded { "  under load" } else { "" };
    format!(
        "{:.0} s  {sent} probes, {lost} lost  RTT median {p50:.3} ms, p99 {p99:.3} ms{load}",
        elapsed.as_secs_f64()
    )
}

fn of(target: &str, outcome: &LatencyOutcome) -> Measured {
    Measured {
        name: target.into(),
        began_unix_ns: outcome.began_unix_ns,
        sent: outcome.sent,
        answered: outcome.answered,
        lost: outcome.lost,
        lost_there: outcome.lost_there,
        lost_unknown: outcome.lost_unknown,
        clock: outcome.clock,
        phases: outcome.phases.clone(),
        series: outcome.series.clone(),
    }
}

fn write_files(arguments: &LatencyArguments, hosts: &[Measured]) -> Result<()> {
    if let Some(place) = &arguments.csv {
        write_file(place, &figure::csv_of(hosts))?;
    }
    if let Some(place) = &arguments.svg {
        write_file(place, &figure::svg_of(hosts))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tcplab_units::Durations;

    use super::*;

    #[test]
    fn progress_line_says_losses_and_load() {
        let progress = LatencyProgress {
            elapsed: Duration::from_secs(3),
            sent: 300,
            lost: 2,
            rtt: Durations { p50: 1_500_000, p99: 20_000_000, ..Durations::default() },
            is_loaded: true,
            ..LatencyProgress::default()
        };
        let said = "3 s  300 probes, 2 lost  RTT median 1.500 ms, p99 20.000 ms  under load";
        assert_eq!(line(&progress), said);
    }
}
