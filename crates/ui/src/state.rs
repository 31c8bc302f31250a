//! What all answers share.

use std::path::PathBuf;

use tcplab_watch::Watched;

use crate::captures::Captures;
use crate::comparisons::Comparisons;
use crate::config::Config;
use crate::error::Refusal;
use crate::jobs::Jobs;
use crate::reports::Reports;
use crate::told::ToldRuns;

/// What the server knows.
#[derive(Debug)]
pub(crate) struct Ui {
    pub(crate) runs: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) jobs: Jobs,
    pub(crate) watched: Watched,
    pub(crate) reports: Reports,
    pub(crate) captures: Captures,
    pub(crate) told: ToldRuns,
    pub(crate) comparisons: Comparisons,
}

impl Ui {
    pub(crate) fn new(config: Config) -> Ui {
        let Config { runs, program, .. } = config;
        let jobs = Jobs::new(program.clone(), runs.clone());
        let captures = Captures::new(&runs, program.clone());
        let (watched, reports) = (Watched::default(), Reports::default());
        let (told, comparisons) = (ToldRuns::default(), Comparisons::default());
        Ui { runs, program, jobs, watched, reports, captures, told, comparisons }
    }
}

/// Does work that takes a while, or waits for the disk, beside the others.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Refusal::failed("a mistake in tcplab: the work ended early")))
}
