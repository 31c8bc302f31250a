//! Each trial is analysed once, by whoever ran it: what came of it is kept beside its recording.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use tcplab_recording::Recording;
use tcplab_results::Trial;
use tcplab_scenario::Case;
use tcplab_units::Span;

use super::trial::examine;
use crate::error::LabError;
use crate::plan::{is_virtual, tcplab};
use crate::store::{Analysed, Identity, RunDirectory};

    /// The round trip of the idle path of a case as it was measured, if it was.
    fn round_trip(&self, case: &Case) -> Option<Span> {
        if worlds::is_virtual(&self.plan().world, case) {
            return None;
        }
        let calibration = self.calibration()?;
        let mut checks = calibration.paths.iter().filter(|it| it.cases.contains(&case.name));
        checks.find_map(|check| check.round_trip)
    }


    /// Analyses the trial that was made in `stage`, and lets go of packets that are not kept.
    pub(crate) fn settle(&self, stage: &Path, case: &Case, number: u32) -> Result<(), LabError> {
        let recording = Recording::open(stage)?;
        let mut trial = examine(&recording, case, self.round_trip(case))?;
        trial.put_aside = self.flawed(&case.name, number);
        trial.has_packets = self.plan().keep.has(number) || !trial.flaws.is_empty();
        let keeps = trial.has_packets;
        let identity = self.identity(case, number);
        put(&stage.join(TRIAL), &Analysed { identity, by: program(), trial })?;
        if !keeps {
            recording.forget_packets()?;
        }
        Ok(())
    }


    /// What came of a trial. One that another program has analysed is analysed again, if its
    /// packets are there.
    ///
    /// # Errors
    /// When it is missing or unreadable.
    pub fn trial(&self, case: &Case, number: u32) -> Result<Trial, LabError> {
        let name = RunDirectory::trial_directory(&case.name, number);
        let place = self.path().join(&name);
        let recording = Recording::open(&place)?;
        let known: Option<Analysed> = read(&place.join(TRIAL));
        let is_current = |known: &Analysed| known.by == program();
        let analysed = match known {
            Some(known) if is_current(&known) || !recording.has_packets() => known,
            known => {
                let mut trial = examine(&recording, case, self.round_trip(case))?;
                trial.put_aside = self.flawed(&case.name, number);
                // Who made the trial stays who made it.
                let identity = match known {
                    Some(known) => known.identity,
                    None => Identity { tcplab: String::new(), ..self.identity(case, number) },
                };
                let analysed = Analysed { identity, by: program(), trial };
                let text = serde_json::to_vec(&analysed).expect("plain data has a JSON form");
                replace_in(self.path(), &format!("{name}/{TRIAL}"), |out| {
                    std::io::Write::write_all(out, &text)
                })?;
                // What is read is told the same each time.
                serde_json::from_slice(&text).expect("what was written can be read")
            }
        };
        let seed = trial_seed(self.plan().seed, number);
        Ok(Trial { number, seed, directory: name, ..analysed.trial })
    }


/// This very program: tcplab's revision, and when it was built, which tells apart what was changed
/// since that revision.
fn program() -> String {
    let built = std::env::current_exe().and_then(fs::metadata).and_then(|it| it.modified());
    let built = built.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    format!("{}, built {}", environment::tcplab(), built.map_or(0, |at| at.as_nanos()))
}
