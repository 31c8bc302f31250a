//! The programs that the named workloads are short for, and which end sends more.

use tcplab_units::{Bytes, Endpoint, Span};

use super::parts::{CloseMode, Idle, Keystrokes, Pause, Requests};
use super::workload::WorkloadSpec;
use crate::datagrams::Datagrams;
use crate::program::Program;
use crate::report::Role;
use crate::step::{Half, READ_SIZE, Read, Step, Until, Write};

impl WorkloadSpec {
    /// What one end does.
    ///
    /// # Panics
    /// Never, of a workload that was checked.
    pub fn program(&self, side: Endpoint) -> Program {
        let own = match side {
            Endpoint::Client => &self.client,
            Endpoint::Server => &self.server,
        };
        let steps = own.clone().unwrap_or_else(|| steps(self, side));
        Program::new(side, steps).expect("checked when the scenario was read")
    }

    /// How much is sent by the end that sends more, over all connections.
    /// Nothing of a load that lasts for a time.
    pub fn amount(&self) -> Bytes {
        if let Some(Datagrams { count, request, .. }) = &self.datagrams {
            return Bytes::new(request.as_u64().saturating_mul(*count));
        }
        if let Some(load) = &self.load {
            return Bytes::new(load.file.as_u64().saturating_mul(load.requests.unwrap_or(0)));
        }
        let each = self.program(self.sending_side()).writes().as_u64();
        Bytes::new(each.saturating_mul(self.connections.map_or(1, |it| it.total)))
    }

    /// The end that sends more; the client where both send the same.
    pub fn sending_side(&self) -> Endpoint {
        if self.load.is_some() {
            return Endpoint::Server;
        }
        let [client, server] = Endpoint::BOTH.map(|it| self.program(it).writes());
        if server > client { Endpoint::Server } else { Endpoint::Client }
    }

    /// What an end does for the most part.
    pub fn role(&self, side: Endpoint) -> Role {
        if self.sending_side() == side { Role::Sender } else { Role::Receiver }
    }
}

/// The default program of one end of a workload.
fn steps(spec: &WorkloadSpec, side: Endpoint) -> Vec<Step> {
    let is_client = side == Endpoint::Client;
    if let Some(requests) = &spec.requests {
        return if is_client { asking(requests) } else { answering(requests) };
    }
    if let Some(Keystrokes { count, every, size }) = spec.keystrokes {
        let key = if is_client {
            timed(vec![write(size, size)], size, every)
        } else {
            vec![read(size), write(size, size)]
        };
        return with_farewell(vec![repeat(count, key)], is_client);
    }
    if let Some(Idle { lasting, talk }) = spec.idle {
        let (said, silence) = (write(talk, talk), Step::Sleep(lasting));
        let talks = if is_client {
            vec![said.clone(), read(talk), silence, said, read(talk)]
        } else {
            vec![repeat(2, vec![read(talk), said])]
        };
        return with_farewell(talks, is_client);
    }
    let sends = match (spec.upload, spec.download) {
        (Some(_), _) => is_client,
        (_, Some(_)) => !is_client,
        _ if spec.connect.is_some() || spec.load.is_some() => return Vec::new(),
        // The other end has a program.
        _ => return vec![to_end(READ_SIZE)],
    };
    if sends { sending(spec) } else { receiving(spec) }
}

fn sending(spec: &WorkloadSpec) -> Vec<Step> {
    let (amount, piece) = (spec.bulk(), spec.write_size);
    let mut steps = match spec.urgent_at {
        None => pieces(amount, piece, spec.think),
        Some(at) => {
            let byte = Bytes::new(1);
            let urgent = Step::Write(Write {
                amount: byte,
                piece: byte,
                more: false,
                urgent: true,
                retry: None,
            });
            let mut steps = pieces(at, piece, spec.think);
            steps.push(urgent);
            let rest = amount.as_u64().saturating_sub(at.as_u64() + 1);
            steps.extend(pieces(Bytes::new(rest), piece, spec.think));
            steps
        }
    };
    if spec.close == CloseMode::Orderly {
        steps.extend([Step::Shutdown(Half::Write), to_end(READ_SIZE)]);
    }
    steps
}

/// Writes `amount` in pieces, with think time between them.
fn pieces(amount: Bytes, piece: Bytes, think: Option<Span>) -> Vec<Step> {
    if amount == Bytes::ZERO {
        return Vec::new();
    }
    let Some(think) = think else { return vec![write(amount, piece)] };
    // The last piece, which may be smaller, is followed by no thought.
    let before = (amount.as_u64() - 1) / piece.as_u64();
    let last = Bytes::new(amount.as_u64() - before * piece.as_u64());
    let mut steps = Vec::new();
    if before > 0 {
        steps.push(repeat(before, vec![write(piece, piece), Step::Sleep(think)]));
    }
    steps.push(write(last, last));
    steps
}

fn receiving(spec: &WorkloadSpec) -> Vec<Step> {
    let piece = spec.reads_in();
    let mut steps = Vec::new();
    if let Some(at) = spec.urgent_at {
        if at > Bytes::ZERO {
            steps.push(Step::Read(Read { until: Until::Amount(at), piece }));
        }
        // In line, MSG_OOB is refused and the byte comes with the next read.
        steps.extend([Step::AwaitUrgent, Step::AtMark, Step::ReadUrgent]);
    }
    if let Some(Pause { every, lasting }) = spec.pause {
        let whole = spec.bulk().as_u64().saturating_sub(1) / every.as_u64();
        if whole > 0 {
            let slowly = Step::Read(Read { until: Until::Amount(every), piece });
            steps.push(repeat(whole, vec![slowly, Step::Sleep(lasting)]));
        }
    }
    steps.push(to_end(piece));
    steps
}

/// The client of requests.
fn asking(requests: &Requests) -> Vec<Step> {
    let Requests { count, request, response, writes, pipelined, think } = *requests;
    let written = write(request, Bytes::new(request.as_u64().div_ceil(writes)));
    if pipelined == 1 {
        return with_farewell(vec![repeat(count, timed(vec![written], response, think))], true);
    }
    let ask = vec![Step::BeginRequest, written];
    let take = vec![read(response), Step::EndResponse];
    let mut steps = vec![repeat(pipelined, ask.clone())];
    if count > pipelined {
        let mut both = take.clone();
        both.extend(thought(think));
        both.extend(ask);
        steps.push(repeat(count - pipelined, both));
    }
    steps.push(repeat(pipelined, take));
    with_farewell(steps, true)
}

/// And their server.
fn answering(requests: &Requests) -> Vec<Step> {
    let Requests { count, request, response, .. } = *requests;
    with_farewell(vec![repeat(count, vec![read(request), write(response, response)])], false)
}

/// An exchange whose time is taken, and the thought after it.
fn timed(asks: Vec<Step>, response: Bytes, think: Span) -> Vec<Step> {
    let mut steps = vec![Step::BeginRequest];
    steps.extend(asks);
    steps.extend([read(response), Step::EndResponse]);
    steps.extend(thought(think));
    steps
}

fn thought(think: Span) -> Option<Step> {
    (!think.is_zero()).then_some(Step::Sleep(think))
}

/// The end of a conversation: the client closes its half first.
fn with_farewell(mut steps: Vec<Step>, is_client: bool) -> Vec<Step> {
    if is_client {
        steps.push(Step::Shutdown(Half::Write));
    }
    steps.push(to_end(READ_SIZE));
    steps
}

fn repeat(times: u64, steps: Vec<Step>) -> Step {
    Step::Repeat { times, steps }
}

fn write(amount: Bytes, piece: Bytes) -> Step {
    Step::Write(Write { amount, piece: piece.min(amount), more: false, urgent: false, retry: None })
}

fn read(amount: Bytes) -> Step {
    Step::Read(Read { until: Until::Amount(amount), piece: READ_SIZE })
}

fn to_end(piece: Bytes) -> Step {
    Step::Read(Read { until: Until::End, piece })
}
