//! Judging a scenario's expectations by what was measured.

use std::collections::{BTreeMap, BTreeSet};

use tcplab_results::{Case, Claim, EndRow, EpisodeRow, InterruptionRow, Trial};
use tcplab_scenario::{
    Check, Evidence, Expectation, MetricInfo, MetricKind, Scope, Selection, Statistic, Value,
    metrics,
};
use tcplab_stats::{Bootstrap, Interval};
use tcplab_units::Rng;
use tcplab_units::rounded::{beside, counted};
use tcplab_workload::CallRow;

/// What trials say about each expectation: all that is needed of them to judge.
pub(crate) struct ClaimValues<'e> {
    expectations: &'e [Expectation],
    /// Of each expectation by case and number; of one that compares cases the number that is
    /// compared, of the cases on both sides.
    values: Vec<BTreeMap<(usize, u32), Vec<Value>>>,
}

impl<'e> ClaimValues<'e> {
    pub(crate) fn new(expectations: &'e [Expectation]) -> ClaimValues<'e> {
        ClaimValues { expectations, values: vec![BTreeMap::new(); expectations.len()] }
    }

    /// A trial of the case at this index.
    pub(crate) fn see(&mut self, case: usize, trial: &Trial) {
        for (expectation, all) in self.expectations.iter().zip(&mut self.values) {
            let is_about = |cases: &[usize]| cases.contains(&case);
            if !is_about(&expectation.cases) && !is_about(&expectation.baselines) {
                continue;
            }
            let found = if expectation.baselines.is_empty() {
                values(expectation, trial)
            } else {
                compared(expectation, trial).map(Value::Number).into_iter().collect()
            };
            all.insert((case, trial.number), found);
        }
    }

    /// How each expectation went. One that is about several cases holds if it holds in each.
    pub(crate) fn judge(&self, cases: &[Case]) -> Vec<Claim> {
        let numbers: BTreeSet<u32> = cases.iter().flat_map(numbers_of).collect();
        let indices = 0..self.expectations.len();
        indices
            .map(|index| {
                let expectation = &self.expectations[index];
                let Found { held, is_settled, text } = self.judged(index, cases);
                let alone = self.held_alone(index, cases);
                Claim {
                    claim: expectation.claim.clone(),
                    check: expectation.to_string(),
                    held,
                    is_judged: is_settled || numbers.len() >= expectation.trials as usize,
                    needs: expectation.trials,
                    held_alone: alone.iter().filter(|held| **held).count() as u32,
                    trials: alone.len() as u32,
                    over: expectation.over.clone(),
                    found: text,
                }
            })
            .collect()
    }

    /// Whether it holds in all trials together, and what was found. Of a case with a trial that
    /// failed nothing is proved: what is missing might have been what breaks it.
    fn judged(&self, at: usize, cases: &[Case]) -> Found {
        let expectation = &self.expectations[at];
        let (mut judged, mut left_out, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        let mut zero = Vec::new();
        for (name, pool) in pools(expectation, cases) {
            let (mut all, mut missing, mut is_known) = (Vec::new(), Vec::new(), false);
            for nth in pool {
                let (case, against) = sides(expectation, cases, nth);
                let values = self.values_of(at, nth, &case.trials);
                if is_left_out(case, against, &values) {
                    left_out.push(format!("{}: impossible here", case.name));
                    continue;
                }
                is_known = true;
                all.extend(values);
                zero.extend(self.both_zero(at, nth, case));
                let both = [Some(case), against].into_iter().flatten();
                missing.extend(both.filter_map(missing_of));
            }
            if !is_known {
                continue;
            }
            let interval = expectation.over.as_ref().and_then(|_| interval(expectation.of, &all));
            let values = statistic(expectation.of, all);
            let is_whole = missing.is_empty();
            let held = is_whole && expectation.checks.iter().all(|it| it.holds(&values));
            let is_settled = !is_whole || is_settled(expectation, &values);
            failed.extend(
                missing.into_iter().filter(|trial| !failed.contains(trial)).collect::<Vec<_>>(),
            );
            judged.push(Judged { name, values, interval, held, is_settled });
        }
        let mut found = in_short(&judged, expectation);
        if judged.iter().any(|one| one.values.is_empty()) {
            found.extend(why_nothing(expectation, cases));
        }
        found.extend(left_out.into_iter().chain(zero));
        found.extend(failed);
        let held = !judged.is_empty() && judged.iter().all(|one| one.held);
        // One case that breaks it is enough.
        let breaks = judged.iter().any(|one| !one.held && one.is_settled);
        let is_settled = breaks || judged.iter().all(|one| one.is_settled);
        Found { held, is_settled, text: found.join("; ") }
    }

    /// Whether it holds of each trial alone; of cases that are evaluated together, of each
    /// repetition: a trial of every one. A trial that failed breaks it.
    fn held_alone(&self, at: usize, cases: &[Case]) -> Vec<bool> {
        let expectation = &self.expectations[at];
        let mut alone = Vec::new();
        for (_, pool) in pools(expectation, cases) {
            let mut of_number: BTreeMap<u32, (Vec<Value>, bool)> = BTreeMap::new();
            for nth in pool {
                let (case, against) = sides(expectation, cases, nth);
                if is_left_out(case, against, &self.values_of(at, nth, &case.trials)) {
                    continue;
                }
                for number in numbers_of(case) {
                    let (values, is_whole) = of_number.entry(number).or_insert((vec![], true));
                    let own = trial(case, number).map_or(&[][..], std::slice::from_ref);
                    values.extend(self.values_of(at, nth, own));
                    *is_whole &= [Some(case), against]
                        .into_iter()
                        .flatten()
                        .all(|it| it.failures.iter().all(|failure| failure.number != number));
                }
            }
            alone.extend(of_number.into_values().map(|(values, is_whole)| {
                let values = statistic(expectation.of, values);
                is_whole && expectation.checks.iter().all(|check| check.holds(&values))
            }));
        }
        alone
    }

    /// What is known of its nth case by these trials of it.
    fn values_of(&self, at: usize, nth: usize, trials: &[Trial]) -> Vec<Value> {
        let expectation = &self.expectations[at];
        let index = expectation.cases[nth];
        let values = trials.iter().flat_map(|trial| match expectation.baselines.get(nth) {
            Some(other) => self.ratio(at, [index, *other], trial.number).into_iter().collect(),
            None => self.of(at, index, trial.number).to_vec(),
        });
        values.collect()
    }

    /// What is known for an expectation of a case's trial.
    fn of(&self, at: usize, case: usize, number: u32) -> &[Value] {
        self.values[at].get(&(case, number)).map(Vec::as_slice).unwrap_or_default()
    }

    /// A metric divided by that of the trial of another case with the same number, and so the same
    /// seed: infinite where that is zero and this is not. Where there is no such trial there is no
    /// ratio, nor of zero and zero.
    fn ratio(&self, at: usize, cases: [usize; 2], number: u32) -> Option<Value> {
        let [own, other] = cases.map(|case| self.number(at, case, number));
        let (own, other) = (own?, other.filter(|value| *value >= 0.0)?);
        (own != 0.0 || other != 0.0).then(|| Value::Number(own / (other + 0.0)))
    }

    /// The number of a case's trial that is compared.
    fn number(&self, at: usize, case: usize, number: u32) -> Option<f64> {
        match self.of(at, case, number) {
            [Value::Number(value)] => Some(*value),
            _ => None,
        }
    }

    /// That trials of its nth case have no ratio, if both are zero in any of them.
    fn both_zero(&self, at: usize, nth: usize, case: &Case) -> Option<String> {
        let expectation = &self.expectations[at];
        let cases = [expectation.cases[nth], *expectation.baselines.get(nth)?];
        let numbers = case.trials.iter().map(|trial| trial.number);
        let is_zero =
            |number: u32| cases.iter().all(|it| self.number(at, *it, number) == Some(0.0));
        let count = numbers.filter(|number| is_zero(*number)).count();
        (count > 0).then(|| {
            let trials = counted(case.trials.len(), "trial", "trials");
            format!("{}: 0 / 0 in {count} of {trials}, left out", case.name)
        })
    }
}

/// The cases that are evaluated together, as places in the expectation's list, with their name:
/// that of the case, or the levels that those of a pool share.
fn pools(expectation: &Expectation, cases: &[Case]) -> Vec<(String, Vec<usize>)> {
    type Levels<'a> = Vec<&'a (String, String)>;
    let Some(over) = &expectation.over else {
        let known =
            |(nth, index): (usize, &usize)| Some((cases.get(*index)?.name.clone(), vec![nth]));
        return expectation.cases.iter().enumerate().filter_map(known).collect();
    };
    let mut pools: Vec<(Levels<'_>, Vec<usize>)> = Vec::new();
    for (nth, index) in expectation.cases.iter().enumerate() {
        let Some(case) = cases.get(*index) else { continue };
        let shared: Levels<'_> = case.levels.iter().filter(|(key, _)| key != over).collect();
        match pools.iter_mut().find(|(known, _)| *known == shared) {
            Some((_, pool)) => pool.push(nth),
            None => pools.push((shared, vec![nth])),
        }
    }
    let name = |shared: &[&(String, String)]| {
        let levels: Vec<&str> = shared.iter().map(|(_, level)| level.as_str()).collect();
        if levels.is_empty() { "all".into() } else { levels.join(", ") }
    };
    pools.into_iter().map(|(shared, pool)| (name(&shared), pool)).collect()
}

/// The 95 % confidence interval of a mean over trials, by the bootstrap: a share stays between 0
/// and 100 %.
fn interval(of: Statistic, values: &[Value]) -> Option<Interval> {
    if of != Statistic::Mean {
        return None;
    }
    let numbers = numbers(values);
    if numbers.iter().any(|number| number.is_infinite()) {
        return None;
    }
    let mean = |samples: &[&[f64]]| tcplab_stats::mean(samples[0]).unwrap_or(f64::NAN);
    Bootstrap::default().interval(&[&numbers], mean, &mut Rng::new(1, "claim"))
}

/// An expectation's nth case, and that of the baseline if it has one.
fn sides<'c>(
    expectation: &Expectation,
    cases: &'c [Case],
    nth: usize,
) -> (&'c Case, Option<&'c Case>) {
    let other = expectation.baselines.get(nth).copied();
    (&cases[expectation.cases[nth]], other.and_then(|index| cases.get(index)))
}

/// The numbers of a case's trials, those that failed included.
fn numbers_of(case: &Case) -> impl Iterator<Item = u32> {
    let failed = case.failures.iter().map(|failure| failure.number);
    case.trials.iter().map(|trial| trial.number).chain(failed)
}

/// That trials of a case failed, if any did.
fn missing_of(case: &Case) -> Option<String> {
    let failed = case.failures.len();
    (failed > 0).then(|| format!("{}: {failed} of {} trials failed", case.name, case.count()))
}

/// Why no trial of a case could be run, if none could.
fn impossible(case: &Case) -> Option<&str> {
    let why = |trial: &'_ Trial| trial.load.as_ref()?.impossible.as_deref().map(|_| ());
    let all = !case.trials.is_empty() && case.trials.iter().all(|trial| why(trial).is_some());
    all.then(|| case.trials[0].load.as_ref()?.impossible.as_deref()).flatten()
}

/// Whether a claim about a case cannot be judged here, nor one that compares it with `other`.
fn is_left_out(case: &Case, other: Option<&Case>, values: &[Value]) -> bool {
    values.is_empty()
        && [Some(case), other].into_iter().flatten().any(|it| impossible(it).is_some())
}

/// Why a trial that did not fail has no value of a metric of whole transfers, and what to do.
fn why_nothing(expectation: &Expectation, cases: &[Case]) -> Option<String> {
    let info = expectation.metric_info();
    [metrics::TRANSFER_TIME, metrics::GOODPUT, metrics::THROUGHPUT]
        .into_iter()
        .find(|whole| whole.name == info.name)?;
    let known = expectation.cases.iter().filter_map(|index| cases.get(*index));
    let lacks = |trial: &&Trial| trial.load.is_none() && values(expectation, trial).is_empty();
    let trial = known.flat_map(|case| &case.trials).find(lacks)?;
    let flow = expectation.selection.flow.as_ref();
    let row = flow.and_then(|flow| trial.flows.iter().find(|row| row.name == *flow));
    let then = match row {
        Some(row) if row.background => {
            ", as a trial does not wait for flows in the background: remove `background`, or send \
             less"
        }
        _ => "",
    };
    Some(format!("not all that was to be sent arrived{then}"))
}

/// The trial of this number, if it did not fail; they are in order.
fn trial(case: &Case, number: u32) -> Option<&Trial> {
    let found = case.trials.binary_search_by_key(&number, |trial| trial.number);
    found.ok().map(|index| &case.trials[index])
}

/// What was found of an expectation.
struct Found {
    held: bool,
    /// Whether more trials could not change that, or it needs no more.
    is_settled: bool,
    text: String,
}

/// Cases that are evaluated together, what was found of them, and whether that is as expected.
struct Judged {
    name: String,
    values: Vec<Value>,
    interval: Option<Interval>,
    held: bool,
    is_settled: bool,
}

/// Whether an expectation of a case is decided, however few its trials are: by a value that breaks
/// it, or because each check has the example that it is about.
fn is_settled(expectation: &Expectation, values: &[Value]) -> bool {
    let mut all = true;
    for check in &expectation.checks {
        match (expectation.evidence(check), check.holds(values)) {
            (Evidence::Counterexample, false) if !values.is_empty() => return true,
            (Evidence::Example, true) => {}
            _ => all = false,
        }
    }
    all
}

/// Up to this many cases are listed one by one.
const LISTED_ALONE: usize = 8;

/// The values found, case by case; of many cases, the failed ones singly and the others as one.
fn in_short(judged: &[Judged], expectation: &Expectation) -> Vec<String> {
    let alone = |one: &Judged| {
        let interval = one.interval.map_or(String::new(), |it| {
            let [low, high] = [it.low, it.high].map(|end| short(end, &expectation.checks));
            format!(" (95 % CI {low} to {high})")
        });
        format!("{}: {}{interval}", one.name, words_of(&one.values, expectation))
    };
    let (good, bad): (Vec<_>, Vec<_>) = judged.iter().partition(|one| one.held);
    if judged.len() <= LISTED_ALONE || good.len() < 2 {
        return judged.iter().map(alone).collect();
    }
    let values: Vec<Value> = good.iter().flat_map(|one| one.values.iter().cloned()).collect();
    let others = if bad.is_empty() { "all" } else { "the other" };
    let rest = format!("{others} {}: {}", good.len(), words_of(&values, expectation));
    bad.into_iter().map(alone).chain([rest]).collect()
}

/// All values of the expectation's metric in a trial: one, or one per end, call or episode.
fn values(expectation: &Expectation, trial: &Trial) -> Vec<Value> {
    let info = expectation.metric_info();
    if let Some(flow) = &expectation.selection.flow {
        let rows = trial.flows.iter().filter(|row| row.name == *flow);
        return rows.flat_map(|row| row.values(info)).map(Value::Number).collect();
    }
    match info.scope {
        Scope::Trial => of_trial(info, trial),
        Scope::Endpoint | Scope::Request | Scope::Call => {
            trial.ends.iter().flat_map(|end| of_end(end, info, &expectation.selection)).collect()
        }
        Scope::Interruption => {
            trial.interruptions.iter().filter_map(|it| of_interruption(info, it)).collect()
        }
        Scope::Episode => {
            trial.episodes.iter().filter_map(|episode| of_episode(info, episode)).collect()
        }
    }
}

/// The number of a trial that is compared with that of another case. Of a flow with several values
/// their median counts.
fn compared(expectation: &Expectation, trial: &Trial) -> Option<f64> {
    let info = expectation.metric_info();
    match &expectation.selection.flow {
        Some(flow) => trial.flows.iter().find(|row| row.name == *flow)?.median(info),
        None => trial.metrics.value(info),
    }
}

fn of_trial(info: &MetricInfo, trial: &Trial) -> Vec<Value> {
    let text = |text: &str| Value::Text(text.into());
    if *info == *metrics::CONNECTION_END {
        return trial.ending.iter().map(|it| text(&it.how)).collect();
    }
    if *info == *metrics::CONNECTION_CLOSED_BY {
        let by = trial.ending.iter().filter_map(|ending| ending.by);
        return by.map(|end| text(end.name())).collect();
    }
    trial.metrics.value(info).map(Value::Number).into_iter().collect()
}

fn of_episode(info: &MetricInfo, episode: &EpisodeRow) -> Option<Value> {
    if *info == *metrics::EPISODE_SILENCE {
        return episode.silence_s.map(Value::Number);
    }
    let values = [
        (metrics::EPISODE_TYPE, Value::Text(episode.kind.clone())),
        (metrics::EPISODE_DURATION, Value::Number(episode.duration_s)),
        (metrics::EPISODE_LOST, Value::Number(episode.lost_segments as f64)),
        (metrics::EPISODE_RETRANSMISSIONS, Value::Number(episode.retransmissions as f64)),
        (metrics::EPISODE_TIMEOUTS, Value::Number(episode.timeouts as f64)),
    ];
    values.into_iter().find(|(of, _)| *of == info).map(|(_, value)| value)
}

fn of_interruption(info: &MetricInfo, interruption: &InterruptionRow) -> Option<Value> {
    let values = [
        (metrics::INTERRUPTION_RECOVERY, interruption.recovery_s),
        (metrics::INTERRUPTION_LOST, interruption.lost_bytes),
    ];
    values.into_iter().find(|(of, _)| *of == info).and_then(|(_, value)| value).map(Value::Number)
}

/// The values of a metric of this end, of its requests or its calls.
fn of_end(end: &EndRow, info: &MetricInfo, selection: &Selection) -> Vec<Value> {
    if *info == *metrics::RESPONSE_TIME {
        let times = end.response_times_ms.iter().map(|time| Value::Number(*time));
        return selection.of(end.end, times);
    }
    if *info == *metrics::REQUEST_TRIES {
        let tries = end.request_tries.iter().map(|tries| Value::Number(*tries as f64));
        return selection.of(end.end, tries);
    }
    if *info == *metrics::STATE {
        return selection.of(end.end, end.states.iter().cloned().map(Value::Text));
    }
    if info.scope == Scope::Call {
        let calls = end.calls.iter().filter(|row| selection.has_call(&row.call, &row.asked));
        return selection.of(end.end, calls.filter_map(|row| of_call(info, row)));
    }
    let own = end.metrics.iter().filter(|metric| metric.name == info.name);
    selection.of(end.end, own.map(|metric| Value::Number(metric.value)))
}

fn of_call(info: &MetricInfo, row: &CallRow) -> Option<Value> {
    let values = [
        (metrics::CALL_RESULT, Value::Text(row.result.clone().into_owned())),
        (metrics::CALL_DURATION, Value::Number(row.longest.as_secs_f64())),
        (metrics::CALL_BEGAN, Value::Number(row.began.as_secs_f64())),
        (metrics::CALL_MOVED, Value::Number(row.bytes.as_u64() as f64)),
        (metrics::CALL_COUNT, Value::Number(row.count as f64)),
    ];
    values.into_iter().find(|(of, _)| *of == info).map(|(_, value)| value)
}

/// The statistic that the expectation looks at; texts have none and stay as they are. Of ratios to
/// zero the mean is infinite, and the median where half of them are.
fn statistic(of: Statistic, values: Vec<Value>) -> Vec<Value> {
    let mut numbers = numbers(&values);
    numbers.sort_by(f64::total_cmp);
    let last = numbers.last().copied().filter(|last| last.is_infinite());
    let one = match of {
        Statistic::All => return values,
        Statistic::Mean => last.or_else(|| tcplab_stats::mean(&numbers)),
        Statistic::Median if last.is_some() => {
            let middle = [(numbers.len() - 1) / 2, numbers.len() / 2];
            Some(f64::midpoint(numbers[middle[0]], numbers[middle[1]]))
        }
        Statistic::Median => tcplab_stats::median(&numbers),
        Statistic::Min => numbers.first().copied(),
        Statistic::Max => numbers.last().copied(),
    };
    one.map(Value::Number).into_iter().collect()
}

fn numbers(values: &[Value]) -> Vec<f64> {
    let number = |value: &Value| match value {
        Value::Number(number) => Some(*number),
        Value::Text(_) => None,
    };
    values.iter().filter_map(number).collect()
}

/// The values found, in short: counted texts, a number, or the range of several.
fn words_of(values: &[Value], expectation: &Expectation) -> String {
    let metric = expectation.metric_info();
    let mut words: Vec<(&str, usize)> = Vec::new();
    let mut numbers: Vec<f64> = Vec::new();
    for value in values {
        let word = match value {
            Value::Text(text) => text.as_str(),
            Value::Number(number) if metric.kind == MetricKind::Truth => match number {
                0.0 => "false",
                _ => "true",
            },
            Value::Number(number) => {
                numbers.push(*number);
                continue;
            }
        };
        match words.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => words.push((word, 1)),
        }
    }
    let mut parts: Vec<String> =
        words.iter().map(|(word, count)| format!("{count} × {word}")).collect();
    let low = numbers.iter().copied().reduce(f64::min);
    let high = numbers.iter().copied().reduce(f64::max);
    if let Some((low, high)) = low.zip(high) {
        let shown = |end: f64| {
            if end.is_finite() { short(end, &expectation.checks) } else { "∞".into() }
        };
        let [low, high] = [low, high].map(shown);
        let range = if low == high { low } else { format!("{low} to {high}") };
        let unit = if expectation.baselines.is_empty() { metric.unit } else { "times" };
        parts.push(beside(&range, unit));
    }
    if parts.is_empty() { "nothing".into() } else { parts.join(", ") }
}

/// A number with as many decimals as it needs: at most three, or as many as tell a small one from
/// zero, and one that is near a bound from the bound.
fn short(number: f64, checks: &[Check]) -> String {
    let is_told = |text: &String| {
        let shown: f64 = text.parse().unwrap_or(number);
        let is_beside = |bound: f64| shown.partial_cmp(&bound) == number.partial_cmp(&bound);
        is_beside(0.0)
            && checks.iter().all(|check| match check {
                Check::AtLeast(bound) | Check::AtMost(bound) => is_beside(*bound),
                Check::Equals(Value::Number(wanted)) => is_beside(*wanted),
                _ => true,
            })
    };
    let written = |places: usize| {
        let text = format!("{number:.places$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    (3..=15).map(written).find(is_told).unwrap_or_else(|| number.to_string())
}

#[cfg(test)]
mod tests;
