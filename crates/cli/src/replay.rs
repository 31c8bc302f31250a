//! `tcplab replay`.

use std::process::ExitCode;

use anyhow::Result;
use tcplab_lab::{Difference, Replay};
use tcplab_quantities::REPLAY_DOCUMENT;
use tcplab_recording::Recording;

use crate::arguments::ReplayArguments;
use crate::exit::FAILED;
use crate::output::answer_or_json;

pub(crate) fn replay(arguments: &ReplayArguments) -> Result<ExitCode> {
    let replay = tcplab_lab::replay(&Recording::open(&arguments.recording)?)?;
    let is_same = replay.different == 0;
    answer_or_json(&REPLAY_DOCUMENT, &arguments.json, &replay, || summary(&replay))?;
    Ok(if is_same { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn summary(replay: &Replay) -> String {
    if replay.different == 0 {
        return format!("{} packets, all with equal verdicts in virtual time\n", replay.packets);
    }
    let all = replay.packets + replay.different;
    let mut text = format!("{} of {all} packets have a different verdict:\n", replay.different);
    for Difference { recorded, replayed } in &replay.differences {
        let text_of = |verdict: &Option<_>| match verdict {
            Some(verdict) => serde_json::to_string(verdict).expect("plain data has a JSON form"),
            None => "nothing".into(),
        };
        text += &format!("  recorded {}\n  replayed {}\n", text_of(recorded), text_of(replayed));
    }
    text
}
