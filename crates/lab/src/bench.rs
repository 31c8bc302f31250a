//! How trials are run on this machine.

use std::thread;

use tcplab_testbed::{DeviceKind, Launcher, Steering, Tuning};
use tcplab_units::Span;

/// How trials are run on this machine.
#[derive(Debug)]
pub struct Bench {
    /// Starts the process of a trial.
    pub launcher: Launcher,
    /// How frames get out of the endpoints; the best allowed way where none is named.
    pub device: Option<DeviceKind>,
    /// How long before a packet is due the thread that moves frames no longer sleeps; see
    /// [`Tuning::spin`].
    pub spin: Span,
    /// Whether to verify the paths before the trials.
    pub calibrate: bool,
    /// Whether to run a path that asks for more than this machine can model with confidence.
    pub allow_above_ceiling: bool,
    /// Whether a trial that stays flawed has failed, and is not used.
    pub strict: bool,
    /// How many trials run at once in virtual time.
    pub jobs: usize,
    /// Who changes the path of the trial that is running, if anybody may. Such trials move fewer
    /// packets a second.
    pub steering: Option<Steering>,
}

impl Bench {
    /// As trials are run where nothing else is asked for.
    pub fn new(launcher: Launcher) -> Bench {
        Bench {
            launcher,
            device: None,
            spin: Tuning::default().spin,
            calibrate: true,
            allow_above_ceiling: false,
            strict: false,
            jobs: processors(),
            steering: None,
        }
    }

    /// How frames are moved before anything is known of the machine.
    pub(crate) fn tuning(&self) -> Tuning {
        Tuning { spin: self.spin, ..Tuning::default() }
    }
}

/// The default number of parallel trials: one per processor.
fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
