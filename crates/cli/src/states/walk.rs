//! The states of both ends of a connection.

use std::path::Path;

use anyhow::{Result, bail};
use serde::Serialize;
use tcplab_lab::{RunDirectory, load_recording};
use tcplab_plot::{StateDiagram, state_diagram};
use tcplab_quantities::STATES_DOCUMENT;
use tcplab_recording::Recording;
use tcplab_report::figure_file;
use tcplab_report::states::{SampleCheck, check_samples, walks_of_trial, walks_text};
use tcplab_report::trace::{Chosen, notes_text};
use tcplab_results::TrialData;
use tcplab_trace::{Note, StateWalks};

use crate::arguments::{RUNS, StatesArguments};
use crate::output::{Output, answer_or_json, write_file};
use crate::trace::{look, only};
use tcplab_actions::{analyzer_of, open};

/// The states of one connection.
#[derive(Serialize)]
struct Found {
    /// Its name.
    name: String,
    #[serde(flatten)]
    walks: StateWalks,
    /// In sentences.
    story: Vec<String>,
    /// The states sampled from sockets; empty for a capture.
    samples: Vec<SampleCheck>,
    /// Notes on the captures.
    notes: Vec<Note>,
}

pub(super) fn show(place: &Path, arguments: &StatesArguments) -> Result<()> {
    let place = &*RunDirectory::named(place, Path::new(RUNS));
    let found = if place.is_dir() {
        of_directory(place, arguments)?
    } else {
        of_capture(place, arguments)?
    };
    if let Some(file) = &arguments.svg {
        let diagram = StateDiagram { title: &found.name, walks: Some(&found.walks) };
        write_file(file, &figure_file(&state_diagram(&diagram)))?;
    }
    answer_or_json(&STATES_DOCUMENT, &arguments.json, &found, || {
        let mut text = format!("{}\n", found.name);
        text += &notes_text(&found.notes, look(false));
        text.push('\n');
        text + &walks_text(&found.walks, &found.samples)
    })
}

fn of_directory(place: &Path, arguments: &StatesArguments) -> Result<Found> {
    let is_run = place.join("plan.json").exists();
    if !is_run {
        if arguments.case.is_some() {
            bail!("{} is not a run: omit --case", place.display());
        }
        let data = load_recording(&Recording::open(place)?)?;
        return of_trial(&place.display().to_string(), &data, arguments);
    }
    let run = RunDirectory::open(place)?;
    let cases: Vec<&str> = run.scenario().cases.iter().map(|case| case.name.as_str()).collect();
    let case = match (&arguments.case, &cases[..]) {
        (Some(name), _) if cases.contains(&name.as_str()) => name,
        (Some(name), _) => bail!("no case `{name}`; the run has {}", cases.join(", ")),
        (None, [one]) => *one,
        (None, _) => bail!("choose a case with --case: {}", cases.join(", ")),
    };
    let (trial, trials) = (arguments.trial, run.plan().trials);
    if trial > trials {
        bail!("no trial {trial}: the run has {trials} of each case");
    }
    let data = load_recording(&run.recording(case, trial)?)?;
    of_trial(&format!("{case}, trial {trial}"), &data, arguments)
}

fn of_trial(name: &str, data: &TrialData, arguments: &StatesArguments) -> Result<Found> {
    let Some((_, walks)) = walks_of_trial(data, arguments.connection) else {
        match data.client.connections.len() {
            0 => bail!("no TCP connection in the client's capture"),
            n => bail!("no such connection: there are {n}, numbered from 0"),
        }
    };
    let samples = check_samples(&walks, &data.samples).into();
    let notes = data.client.notes.iter().chain(&data.server.notes).cloned().collect();
    Ok(Found { name: name.into(), story: walks.story(), walks, samples, notes })
}

fn of_capture(place: &Path, arguments: &StatesArguments) -> Result<Found> {
    let reader = open(place)?;
    let mut analyzer = analyzer_of(place, Chosen::new([arguments.connection.unwrap_or(0)]));
    analyzer.read(reader);
    let (trace, chosen) = analyzer.finish_into();
    let shown = if place.as_os_str() == Output::STDOUT {
        "standard input".to_owned()
    } else {
        place.display().to_string()
    };
    let (index, connection) = only(chosen, arguments.connection, &shown)?;
    let walks = StateWalks::of(&connection);
    let name = format!("{shown}, connection {index}");
    Ok(Found { name, story: walks.story(), walks, samples: Vec::new(), notes: trace.notes })
}
