//! What both endpoints of a trial and the watch over them share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tcplab_recording::AppLog;
use tcplab_scenario::EndpointSpec;
use tcplab_units::{Endpoint, Instant};
use tcplab_workload::{AppReport, LoadReport, PayloadMismatch, WorkloadSpec, verify};

use crate::flows::Flows;
use crate::sampler::Sampled;
use crate::trial_request::TrialRequest;
use crate::virtual_calls::VirtualCalls;

/// The trial and how far it is.
pub(crate) struct TrialState {
    client: EndpointSpec,
    server: EndpointSpec,
    pub(crate) workload: WorkloadSpec,
    /// The TCP flows, if the applications have connections.
    pub(crate) flows: Option<Flows>,
    pub(crate) seed: u64,
    received: AtomicU64,
    /// The clients of a load are done.
    is_load_over: AtomicBool,
    /// The client is done, and nothing is on the path any more.
    is_at_rest: AtomicBool,
    /// The trial's time limit.
    pub(crate) limit: Instant,
    /// The time is over, and calls that wait are ended.
    is_over: AtomicBool,
    /// The sockets of connections, as long as they are not closed.
    open: Mutex<Vec<Sampled>>,
    /// Why the server of a load cannot run.
    impossible: OnceLock<String>,
    /// Where the recording is made.
    pub(crate) directory: PathBuf,
    /// In virtual time: what its kernel does in one call.
    pub(crate) virtual_calls: OnceLock<VirtualCalls>,
}

impl TrialState {
    pub(crate) fn new(request: &TrialRequest) -> TrialState {
        let TrialRequest { case, seed, directory, .. } = request;
        TrialState {
            client: case.client.clone(),
            server: case.server.clone(),
            workload: case.workload.clone(),
            flows: Flows::of(case, *seed),
            seed: *seed,
            received: AtomicU64::new(0),
            is_load_over: AtomicBool::new(false),
            is_at_rest: AtomicBool::new(false),
            limit: Instant::ZERO + case.limits.trial,
            is_over: AtomicBool::new(false),
            open: Mutex::new(Vec::new()),
            impossible: OnceLock::new(),
            directory: directory.clone(),
            virtual_calls: OnceLock::new(),
        }
    }

    pub(crate) fn endpoint(&self, end: Endpoint) -> &EndpointSpec {
        match end {
            Endpoint::Client => &self.client,
            Endpoint::Server => &self.server,
        }
    }

    /// Payload bytes that have arrived.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    pub(crate) fn add_received(&self, count: u64) {
        self.received.fetch_add(count, Ordering::Relaxed);
    }

    /// Why the server of a load cannot run, if that is known.
    pub(crate) fn impossible(&self) -> Option<&str> {
        self.impossible.get().map(String::as_str)
    }

    /// The server of a load cannot run.
    pub(crate) fn is_impossible(&self, why: String) {
        let _ = self.impossible.set(why);
    }

    /// Whether the clients of a load are done.
    pub(crate) fn is_load_over(&self) -> bool {
        self.is_load_over.load(Ordering::Relaxed)
    }

    pub(crate) fn end_load(&self) {
        self.is_load_over.store(true, Ordering::Relaxed);
    }

    /// Whether no packet can come any more.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.is_at_rest.load(Ordering::Relaxed)
    }

    pub(crate) fn rest(&self) {
        self.is_at_rest.store(true, Ordering::Relaxed);
    }

    /// Whether calls that still wait may be ended when the time is over.
    pub(crate) fn may_run_out(&self) -> bool {
        self.flows.as_ref().map_or_else(|| self.workload.may_fail(), Flows::may_run_out)
    }

    /// Whether the time is over and calls that wait are ended.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// The time is over: calls that wait and may fail return, except `close`. Whether there may be
    /// such calls.
    pub(crate) fn run_out(&self) -> bool {
        if !self.may_run_out() {
            return false;
        }
        self.is_over.store(true, Ordering::SeqCst);
        self.open().iter().for_each(Sampled::wake);
        true
    }

    /// The sockets of connections that are not closed.
    pub(crate) fn open(&self) -> MutexGuard<'_, Vec<Sampled>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the applications of an exchange without TCP flows did, and whether what arrived is what
    /// was sent.
    pub(crate) fn log(
        &self,
        [client, server]: [AppReport; 2],
        load: Option<LoadReport>,
    ) -> (AppLog, Result<(), PayloadMismatch>) {
        let verified = verify(&self.workload, self.seed, &client, &server);
        (AppLog { load, ..AppLog::of(client, server) }, verified)
    }
}
