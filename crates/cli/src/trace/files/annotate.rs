//! `--annotate`: the capture with comments.

use std::path::Path;

use anyhow::{Result, anyhow};
use tcplab_capture::{AnnotateError, Source};
use tcplab_findings::Finding;
use tcplab_trace::{
    Ack, Connection, Episode, Explanations, FlowId, LimitPeriod, Segment, Sink, Spurious, Stall,
};

use super::super::input::Input;
use crate::output::{Output, commit, counted, print_note};
use crate::work::Work;
use tcplab_actions::name;

/// Comments on frames: explanations, and the findings they are evidence of. Only findings that need
/// no stored packets, so that the comments do not depend on other options.
#[derive(Default)]
pub(super) struct Comments {
    explanations: Explanations,
}

impl Comments {
    fn find(&mut self, finding: &Finding) {
        let Some((first, others)) = finding.frames.split_first() else { return };
        let Finding { rule, statement, .. } = finding;
        self.explanations.add(*first, format!("{rule}: {statement}"));
        for frame in others.iter().filter(|frame| *frame != first) {
            self.explanations.add(*frame, format!("{rule}: see #{first}"));
        }
    }
}

impl Sink for Comments {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.explanations.segment(flow, segment);
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        self.explanations.ack(flow, ack);
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        self.explanations.episode(flow, episode);
    }
    fn stall(&mut self, flow: FlowId, stall: Stall) {
        self.explanations.stall(flow, stall);
    }
    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        self.explanations.limit(flow, period);
    }
    fn spurious(&mut self, flow: FlowId, frame: u64, why: Spurious) {
        self.explanations.spurious(flow, frame, why);
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        for finding in tcplab_findings::examine(connection) {
            self.find(&finding);
        }
        self.explanations.connection(index, connection);
    }
}

/// Copies the capture with all comments.
pub(super) fn copy(input: &Input<'_>, mut output: Output, comments: &Comments) -> Result<()> {
    let [file] = input.lasting().unwrap_or_default() else {
        unreachable!("it was seen to be one file before it was read")
    };
    let unread = |error: &dyn std::fmt::Display| anyhow!("{}: {error}", name(file));
    let source = Source::open(Path::new(file)).map_err(|error| unread(&error))?;
    let progress = Work::of_reading_quietly(std::iter::once(&source));
    let said = |frame| comments.explanations.of(frame);
    let copied = tcplab_capture::annotate(source, &mut output, said);
    drop(progress);
    let copied = copied.map_err(|error| match error {
        AnnotateError::Read(error) => unread(&error),
        AnnotateError::Write(error) => error.into(),
    })?;
    let packets = counted(copied.packets, "packet");
    commit(output, &format!("{packets}, {} with comments", copied.annotated))?;
    if copied.voiceless > 0 {
        print_note(&format!(
            "  {} more comments could not be stored: simple packet blocks hold none",
            copied.voiceless
        ));
    }
    let left_out = comments.explanations.left_out();
    if left_out > 0 {
        let most = Explanations::MOST;
        print_note(&format!("  {left_out} comments left out: {most} frames already have one"));
    }
    if let Some(broken) = copied.broken {
        print_note(&format!("  the copy ends early: {} is {broken}", name(file)));
    }
    Ok(())
}
