//! The task of the process that measures.

use tcplab_path::{DelaySpec, Direction, LinkPlan, PathError, PathSpec};
use tcplab_units::Span;

use super::blast::ceiling;
use super::rounds::CalibrationPath;
use super::site::CalibrationEnd;
use super::{CeilingRequest, Word};
use crate::calibration::{
    CalibrationRecord, CalibrationRequest, MachineRecord, Round, RoundRecord, Train,
};
use crate::device_kind::DeviceKind;
use crate::message::{say, serde_name};
use crate::namespace::Privilege;
use crate::{TrialError, Tuning, scheduling, sysctl};

/// The delay of the machine's probes: longer than any late wake-up, so that a timer releases them,
/// and short.
const DELAY: Span = Span::from_millis(5);
/// Probes of the machine in each direction, and the time between two.
const PROBES: u32 = 250;
/// See above: 1 kHz.
const GAP: Span = Span::from_millis(1);
/// The largest lead: a larger error is no constant cost of moving a packet.
const LONGEST_LEAD: Span = Span::from_micros(200);

/// Measures what `request` asks for, in the namespace of this process.
pub(crate) fn calibrate(
    request: &CalibrationRequest,
    privilege: Privilege,
) -> Result<(), TrialError> {
    let kind = request.device.unwrap_or_else(DeviceKind::best);
    sysctl::keep_quiet();
    let mut path_ends =
        CalibrationPath::new([CalibrationEnd::new(0, kind)?, CalibrationEnd::new(1, kind)?]);
    let scheduling = scheduling::be_prompt_throughout(request.tuning.real_time);
    let awake = scheduling::stay_awake();
    let steps = request.rounds.len() + if request.machine { MACHINE_STEPS } else { 0 };
    let mut done = 0;
    let mut step = || {
        done += 1;
        say(&Word::Progress(f64::from(done) / steps.max(1) as f64));
    };
    let mut tuning = request.tuning;
    let machine = if request.machine {
        let machine = machine(&mut path_ends, tuning, &mut step)?;
        tuning.lead = machine.lead;
        Some(machine)
    } else {
        None
    };
    let plans = links(&request.path)?;
    let mut rounds = Vec::new();
    for round in &request.rounds {
        rounds.push(path_ends.run(&plans, request.seed, tuning, round)?);
        step();
    }
    drop(awake);
    say(&Word::Measured(Box::new(CalibrationRecord {
        device: serde_name(&kind),
        privilege: serde_name(&privilege),
        scheduling: serde_name(&scheduling),
        machine,
        rounds,
    })));
    Ok(())
}

/// Measures the ceiling alone, in the namespace of this process.
pub(crate) fn measure(request: &CeilingRequest, _: Privilege) -> Result<(), TrialError> {
    let kind = request.device.unwrap_or_else(DeviceKind::best);
    sysctl::keep_quiet();
    let mut path_ends =
        CalibrationPath::new([CalibrationEnd::new(0, kind)?, CalibrationEnd::new(1, kind)?]);
    scheduling::be_prompt_throughout(request.tuning.real_time);
    let awake = scheduling::stay_awake();
    let ceiling = ceiling(&mut path_ends, request.tuning)?;
    drop(awake);
    say(&Word::Ceiling(ceiling));
    Ok(())
}

/// How often [`machine`] has something done.
const MACHINE_STEPS: usize = 3;

fn machine(
    path_ends: &mut CalibrationPath,
    tuning: Tuning,
    step: &mut impl FnMut(),
) -> Result<MachineRecord, TrialError> {
    let path = PathSpec { delay: Some(DelaySpec::Constant(DELAY)), ..PathSpec::default() };
    let plans = links(&path)?;
    let train = Train { size: Train::SMALLEST, count: PROBES, gap: GAP, ahead: 1 };
    let round =
        Round { forward: Some(train), reverse: Some(train), patience: Span::from_millis(200) };
    let without = Tuning { lead: Span::ZERO, ..tuning };
    // The kernel only begins to stamp packets some time after it was asked to, and caches are cold.
    let short = Train { count: 20, ..train };
    let warm_up = Round { forward: Some(short), reverse: Some(short), ..round };
    path_ends.run(&plans, 1, without, &warm_up)?;
    let errors = errors(&path_ends.run(&plans, 1, without, &round)?);
    step();
    let lead = lead(&errors);
    let errors_with_lead =
        self::errors(&path_ends.run(&plans, 1, Tuning { lead, ..tuning }, &round)?);
    step();
    let ceiling = ceiling(path_ends, Tuning { lead, ..tuning })?;
    step();
    Ok(MachineRecord { errors, lead, errors_with_lead, ceiling })
}

fn links(path: &PathSpec) -> Result<[LinkPlan; 2], PathError> {
    Ok([path.link(Direction::Forward)?, path.link(Direction::Reverse)?])
}

/// How much longer than [`DELAY`] each probe took, in ascending order.
fn errors(round: &RoundRecord) -> Vec<i64> {
    let mut errors: Vec<i64> = round
        .directions
        .iter()
        .flat_map(|way| {
            way.arrivals.iter().filter_map(|arrival| {
                let sent = way.sent.get(arrival.number? as usize)?;
                Some(arrival.at.cast_signed() - sent.cast_signed() - DELAY.as_nanos().cast_signed())
            })
        })
        .collect();
    errors.sort_unstable();
    errors
}

/// The median of sorted errors, as far as it can be compensated.
fn lead(errors: &[i64]) -> Span {
    let median = errors.get(errors.len() / 2).copied().unwrap_or_default();
    Span::from_nanos(u64::try_from(median).unwrap_or_default()).min(LONGEST_LEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lead_is_median_error() {
        for (errors, micros) in [
            (&[][..], 0),
            (&[-5_000, -1_000, 2_000], 0),
            (&[9_000, 16_000, 90_000], 16),
            (&[1_000_000, 2_000_000, 3_000_000], 200),
        ] {
            assert_eq!(lead(errors), Span::from_micros(micros), "{errors:?}");
        }
    }
}
