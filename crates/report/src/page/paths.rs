//! What the paths of a run do over time, drawn.

use tcplab_path::{Direction, PathSpec};
use tcplab_plot::{PathPicture, path_picture};
use tcplab_results::{Trial, TrialData};
use tcplab_units::{Instant, Span};

/// The most that are drawn.
const MOST: usize = 12;
/// Points of a smooth change: about one per pixel.
const POINTS: usize = 800;

/// The distinct paths of a run in order of appearance.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    paths: Vec<DrawnPath>,
}

#[derive(Debug)]
struct DrawnPath {
    path: PathSpec,
    cases: Vec<String>,
    seed: u64,
    longest: Span,
}

impl Paths {
    pub(crate) fn add(&mut self, case: &str, trial: &Trial, data: &TrialData) {
        if data.path.same_host {
            return;
        }
        if let Some(known) = self.paths.iter_mut().find(|known| known.path == data.path) {
            known.longest = known.longest.max(data.duration);
            if known.cases.last().is_none_or(|last| last != case) {
                known.cases.push(case.into());
            }
            return;
        }
        self.paths.push(DrawnPath {
            path: data.path.clone(),
            cases: vec![case.into()],
            seed: trial.seed,
            longest: data.duration,
        });
    }

    /// A picture of each, over its longest trial.
    pub(crate) fn pictures(&self) -> Vec<String> {
        let is_one = self.paths.len() == 1;
        self.paths.iter().take(MOST).filter_map(|known| known.picture(is_one)).collect()
    }
}

impl DrawnPath {
    /// None without a recording, or for a path that this version refuses.
    fn picture(&self, is_one: bool) -> Option<String> {
        if self.longest.is_zero() {
            return None;
        }
        let until = Instant::ZERO + self.longest;
        let outlook = |direction| {
            self.path.link(direction).ok().map(|link| link.outlook(until, self.seed, POINTS))
        };
        let (forward, reverse) = (outlook(Direction::Forward)?, outlook(Direction::Reverse)?);
        let title =
            if is_one { "Path".into() } else { format!("Path of {}", self.cases.join(", ")) };
        Some(path_picture(&PathPicture { title: &title, forward: &forward, reverse: &reverse }))
    }
}
