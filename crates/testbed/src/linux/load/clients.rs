//! The clients of a load, as the generator makes them.

use std::net::SocketAddrV4;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tcplab_load::{
    Check, Config, Fault, Length, LoadError, Outcome, Pace, Protocol, Reference, Renewal, Target,
};
use tcplab_units::Span;
use tcplab_workload::{LoadReport, LoadSpec};

use super::content;
use crate::TrialError;
use crate::clock::Clock;
use crate::trial_state::TrialState;

/// How long the server has to say that it never was there.
const SAY_SO: Duration = Duration::from_millis(500);

/// The clients.
pub(crate) struct Clients {
    config: Config,
}

impl Clients {
    pub(crate) fn new(spec: &LoadSpec, server: SocketAddrV4) -> Clients {
        let protocol = Protocol::Http { host: server.to_string(), path: "/".into() };
        let config = Config::new(Target { address: server.into(), protocol });
        let expected = Arc::new(Reference::of(&content(spec.file.as_u64())));
        let pace = spec.rate.map_or(Pace::Closed, |rate| Pace::Open { per_second: rate as f64 });
        let length = match (spec.length(), spec.requests) {
            (Some(time), _) => Length::Time(time.to_std()),
            (None, count) => Length::Count(count.unwrap_or_default()),
        };
        let renewal = if spec.keep_alive { Renewal::Keep } else { Renewal::EachRequest };
        Clients {
            config: Config {
                pace,
                connections: spec.concurrency as usize,
                renewal,
                warm_up: spec.warm_up.to_std(),
                length,
                check: Check::Expected(expected),
                ..config
            },
        }
    }

    /// Loads the server. If that is impossible here, the report has the reason.
    pub(crate) fn run(&self, shared: &TrialState, clock: Clock) -> Result<LoadReport, TrialError> {
        let mut counted = 0;
        let mut config = self.config.clone();
        if clock.is_virtual() {
            config.awake = Duration::ZERO;
        }
        let ran = tcplab_load::run(&config, &mut |progress| {
            shared.add_received(progress.bytes.saturating_sub(counted));
            counted = progress.bytes;
            match shared.impossible() {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        });
        // A server that gives up says why a moment later than its clients notice it.
        let is_odd = ran.as_ref().map_or(true, |outcome| !outcome.has_answers());
        let until = Instant::now() + SAY_SO;
        while is_odd && shared.impossible().is_none() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        if let Some(why) = shared.impossible() {
            return Ok(LoadReport { impossible: Some(why.into()), ..LoadReport::default() });
        }
        ran.map(report).map_err(|error| refused(&error))
    }
}

fn report(outcome: Outcome) -> LoadReport {
    LoadReport {
        impossible: None,
        elapsed: Span::from_nanos(outcome.elapsed.as_nanos() as u64),
        requests: outcome.requests,
        requests_per_second: outcome.requests_per_second,
        bytes: outcome.bytes,
        bits_per_second: outcome.bits_per_second,
        connections: outcome.connections,
        connect: outcome.connect,
        latency: outcome.latency,
        response: outcome.response,
        unsent: outcome.unsent,
        // Each answer was compared with the file.
        is_intact: outcome.has_answers() && !outcome.errors.contains_key(&Fault::Body.to_string()),
        errors: outcome.errors,
        processor_s: outcome.processor.as_secs_f64(),
        remarks: outcome.warnings,
        ..LoadReport::default()
    }
}

fn refused(error: &LoadError) -> TrialError {
    TrialError::Reported { message: format!("the clients: {error}"), remedy: error.remedy() }
}
