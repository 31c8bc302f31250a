//! Runs scripts on stacks, several at once.

use std::num::NonZeroUsize;
use std::path::{self, Path};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::Result;
use tcplab_actions::{TEXT_MAX, read_regular};
use tcplab_conformance::{ConformanceError, Host, KernelSubject};
use tcplab_kernels::Kernel;
use tcplab_packetdrill::{
    Definitions, Failure, Line, Model, Position, Script, ScriptOutcome, watch,
};
use tcplab_stack::Config;
use tcplab_testbed::Launcher;
use tcplab_units::Span;

use super::found::Found;
use super::outcome::{Outcome, StackResults, Unreadable};
use super::stack::{Stack, StackKind};
use super::surroundings;
use crate::arguments::PacketdrillArguments;
use crate::remedied::Remedied;
use crate::run::launcher;
use crate::work::Work;

/// How scripts are run.
pub(super) struct Run<'a> {
    arguments: &'a PacketdrillArguments,
    definitions: Vec<(String, String)>,
    launcher: Launcher,
}

type ScriptResult = Result<(ScriptOutcome, Vec<Line>), Unreadable>;

impl<'a> Run<'a> {
    pub(super) fn new(
        arguments: &'a PacketdrillArguments,
        definitions: Vec<(String, String)>,
        stacks: &[Stack],
    ) -> Result<Run<'a>> {
        let run = Run { arguments, definitions, launcher: launcher()? };
        for stack in stacks {
            let StackKind::Kernel(kernel) = &stack.kind else { continue };
            let has = kernel.manifest.hz;
            if let Some(hz) = arguments.hz.filter(|hz| *hz != has) {
                let said = format!("--hz {hz}: {} has {has} ticks a second", stack.name);
                return Err(Remedied::error(said, "leave out --hz"));
            }
            run.try_boot(kernel)?;
        }
        Ok(run)
    }

    /// Whether this machine lets the kernel run: any script would say the same.
    fn try_boot(&self, kernel: &Kernel) -> Result<()> {
        let (host, never) = (Host::of(&Script::default())?, AtomicBool::new(false));
        let booted = KernelSubject::boot(kernel, &self.launcher, &host, Path::new("/"), &never);
        booted.map(drop).map_err(|error| match error.remedy() {
            Some(remedy) => Remedied::error(error.to_string(), remedy),
            None => error.into(),
        })
    }

    /// What is to be known about the results of a stack.
    pub(super) fn note(stack: &Stack, scripts: &[Found]) -> Option<String> {
        let StackKind::Kernel(kernel) = &stack.kind else { return None };
        let has = kernel.manifest.hz;
        let wants = |script: &&Found| surroundings::hz(&script.path).is_some_and(|hz| hz != has);
        let count = scripts.iter().filter(wants).count();
        let name = &stack.name;
        (count > 0).then(|| {
            format!(
                "{name} has {has} ticks a second; the suite of {count} scripts asks for another \
                 number (CONFIG_HZ): timers may expire at other times. `tcplab kernel build --hz` \
                 builds a kernel with it"
            )
        })
    }

    /// The outcome of each script on each stack.
    pub(super) fn all(&self, stacks: &[Stack], scripts: &[Found]) -> Vec<StackResults> {
        let count = stacks.len() * scripts.len();
        let next = AtomicUsize::new(0);
        let done = Mutex::new((0..count).map(|_| None).collect::<Vec<Option<ScriptResult>>>());
        let progress = Work::of_steps(Some(count as u64), "scripts");
        let work = |nth: usize| {
            // Elsewhere they are slower, no more.
            let _ = tcplab_conformance::pin(nth);
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= count {
                    break;
                }
                let (stack, script) = (&stacks[at / scripts.len()], &scripts[at % scripts.len()]);
                let result = self.one(stack, &script.path);
                done.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(result);
                progress.step();
            }
        };
        let work = &work;
        thread::scope(|scope| {
            for nth in 0..self.jobs().min(count) {
                scope.spawn(move || work(nth));
            }
        });
        drop(progress);
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut done = done.into_iter().map(|result| result.expect("each script was run"));
        let outcomes = |stack: &Stack| StackResults {
            stack: stack.name.clone(),
            outcomes: scripts
                .iter()
                .cloned()
                .zip(done.by_ref())
                .map(|(script, result)| Outcome { script, result })
                .collect(),
        };
        stacks.iter().map(outcomes).collect()
    }

    fn jobs(&self) -> usize {
        let processors = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.arguments.jobs.map_or_else(processors, usize::from)
    }

    fn one(&self, stack: &Stack, path: &Path) -> ScriptResult {
        let text = read(path)?;
        let version = surroundings::ip_version(&text, path, &self.arguments.ip_version);
        let known = match version.as_str() {
            "ipv6" => Definitions::for_ipv6(),
            _ => Definitions::default(),
        };
        let known = stack.system().into_iter().fold(known, |all, name| all.with(name, name));
        let given = self.definitions.iter();
        let known = given.fold(known, |all, (name, value)| all.with(name, value));
        let mut script = Script::parse(&text, &known).map_err(Unreadable::Line)?;
        surroundings::read_files(&mut script, path);
        surroundings::set_ip_version(&mut script, version);
        match &stack.kind {
            StackKind::Model(config) => Ok(self.on_model(config, &script, path)),
            StackKind::Kernel(kernel) => self.on_kernel(kernel, &script, path),
        }
    }

    fn on_model(
        &self,
        config: &Config,
        script: &Script,
        path: &Path,
    ) -> (ScriptOutcome, Vec<Line>) {
        let mut config = config.clone();
        if let Some(hz) = self.arguments.hz.or_else(|| surroundings::hz(path)) {
            config.host.tick = Span::from_secs(1) / u64::from(hz);
        }
        watch(script, &mut Model::new(config))
    }

    fn on_kernel(&self, kernel: &Kernel, script: &Script, path: &Path) -> ScriptResult {
        let folder = path::absolute(path).map_err(|error| Unreadable::File(error.to_string()))?;
        let folder = folder.parent().unwrap_or(Path::new("/"));
        let host = Host::of(script).map_err(|error| Unreadable::File(error.to_string()))?;
        // A signal ends this process, and that the guests.
        let never = AtomicBool::new(false);
        let ended = |error: ConformanceError| {
            let at = Position { line: 1, column: 1 };
            let what = format!("the kernel could not go on: {error}");
            ScriptOutcome::Failed(Failure { at, what, expected: None, actual: None })
        };
        match KernelSubject::boot(kernel, &self.launcher, &host, folder, &never) {
            Err(error) => Ok((ended(error), Vec::new())),
            Ok(mut subject) => {
                let (outcome, dialogue) = watch(script, &mut subject);
                Ok((subject.failure().map_or(outcome, ended), dialogue))
            }
        }
    }
}

fn read(path: &Path) -> Result<String, Unreadable> {
    let bytes = read_regular(path, TEXT_MAX).map_err(|why| Unreadable::File(why.to_string()))?;
    String::from_utf8(bytes).map_err(|_| Unreadable::File("not UTF-8: convert the file".into()))
}
