//! What processes a run of tcplab has, and what they cost.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

/// How often it is looked at them.
const LOOK: Duration = Duration::from_millis(4);
/// Clock ticks a second of `/proc/PID/stat` (`USER_HZ`).
const TICKS: f64 = 100.0;

/// What a run cost while it had guests.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    /// From the first guest's start to the last one's end, in seconds of real time.
    pub(crate) guests: f64,
    /// Seconds of processor time of the guests' kernels, of their programs, and of tcplab
    /// meanwhile: the path and the recording.
    pub(crate) kernels: f64,
    pub(crate) programs: f64,
    pub(crate) path: f64,
    /// The largest proportional share of memory of a guest, in MB.
    pub(crate) memory: f64,
}

/// Of one process.
#[derive(Debug, Default)]
struct Seen {
    is_kernel: bool,
    processor: f64,
}

/// Waits for its end.
pub(crate) fn watch(child: &mut Child) -> io::Result<Cost> {
    let mut guests: BTreeMap<u32, Seen> = BTreeMap::new();
    // When, and the processor time of tcplab by then.
    let mut begun: Option<(Instant, f64)> = None;
    let mut ended = None;
    let mut memory = 0.0f64;
    let mut looks = 0u32;
    while child.try_wait()?.is_none() {
        let now = Instant::now();
        let own = processor_of(child.id()).map_or(0.0, |(_, processor)| processor);
        let kernels = children_of(child.id());
        let programs: Vec<u32> = kernels.iter().flat_map(|pid| children_of(*pid)).collect();
        for (pid, is_kernel) in
            kernels.iter().map(|pid| (*pid, true)).chain(programs.into_iter().map(|it| (it, false)))
        {
            if let Some((_, processor)) = processor_of(pid) {
                *guests.entry(pid).or_default() = Seen { is_kernel, processor };
            }
        }
        if !kernels.is_empty() {
            begun.get_or_insert((now, own));
            ended = Some((now, own));
            // Reading it holds the process up.
            if looks.is_multiple_of(50) {
                memory = kernels.iter().filter_map(|pid| share_of(*pid)).fold(memory, f64::max);
            }
            looks += 1;
        }
        thread::sleep(LOOK);
    }
    let (Some((begin, before)), Some((end, after))) = (begun, ended) else {
        return Ok(Cost::default());
    };
    let sum = |of_kernels: bool| {
        guests.values().filter(|seen| seen.is_kernel == of_kernels).map(|seen| seen.processor).sum()
    };
    Ok(Cost {
        guests: end.duration_since(begin).as_secs_f64(),
        kernels: sum(true),
        programs: sum(false),
        path: after - before,
        memory,
    })
}

/// Children of all threads of a process.
fn children_of(pid: u32) -> Vec<u32> {
    let mut all = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        all.extend(list.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    all
}

/// Its name, and the processor time that it had, in seconds.
fn processor_of(pid: u32) -> Option<(String, f64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    let fields: Vec<f64> = rest.split_whitespace().skip(11).take(2).flat_map(str::parse).collect();
    Some((name.into(), fields.iter().sum::<f64>() / TICKS))
}

fn share_of(pid: u32) -> Option<f64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1e3)
}
