//! For benchmarks of the data plane: two namespaces and something between them, without trials,
//! scenarios, and recordings unless asked for.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};

use tcplab_path::LinkPlan;
use tcplab_recording::{
    AppLog, Lateness, MoverRecord, RecordingWriter, RingWait, TrialRecord, WorldRecord,
};
use tcplab_units::{Bytes, Endpoint, Instant};
use tcplab_workload::{Application, WorkloadSpec};

use crate::bridge::{Bridge, BridgeReport};
use crate::clock::Clock;
use crate::device::{Device, await_carrier};
use crate::netlink::{LinkSettings, Netlink};
use crate::recorder::{BEHIND_PROGRAMS, recorder_queue};
use crate::{DeviceKind, TrialError, Tuning, namespace, scheduling, sys, sysctl, threads, trial};

/// The addresses of the two rooms.
pub const ADDRESSES: [Ipv4Addr; 2] = crate::addresses::ADDRESSES;

/// Moves this process, which must have one thread, into namespaces of its own.
///
/// # Errors
/// When that is refused.
pub fn isolate() -> Result<(), TrialError> {
    namespace::isolate().map(drop)
}

/// A network namespace with a thread in it that does what it is given.
pub struct Room {
    namespace: fs::File,
    jobs: Sender<Box<dyn FnOnce() + Send>>,
}

impl Room {
    /// An empty namespace.
    ///
    /// # Errors
    /// When that is refused.
    pub fn new() -> Result<Room, TrialError> {
        let (jobs, incoming) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let (ready, is_ready) = mpsc::channel();
        threads::start("a room's thread", move || {
            let isolated = namespace::isolate_thread().and_then(|()| {
                fs::File::open("/proc/thread-self/ns/net")
                    .map_err(TrialError::setup("look at its own namespace"))
            });
            sysctl::keep_quiet();
            let _ = ready.send(isolated);
            for job in incoming {
                job();
            }
        })?;
        let namespace = is_ready.recv().expect("the thread answers")?;
        Ok(Room { namespace, jobs })
    }

    /// Does `job` in the namespace, and so do threads that it starts. Does not wait.
    pub fn start<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> mpsc::Receiver<T> {
        let (done, result) = mpsc::channel();
        let _ = self.jobs.send(Box::new(move || {
            let _ = done.send(job());
        }));
        result
    }

    /// Does `job` in the namespace and waits for it.
    ///
    /// # Panics
    /// If the job does.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> T {
        self.start(job).recv().expect("the job ends")
    }

    /// Does `job` in the namespace at once, whatever its thread is busy with.
    ///
    /// # Panics
    /// If the job does, or the namespace cannot be entered.
    pub fn beside<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> T {
        let namespace = self.namespace.try_clone().expect("a descriptor to spare");
        let there = threads::start("a thread in a room", move || {
            namespace::enter_thread(namespace.as_fd()).expect("its own namespace");
            job()
        });
        let there = there.expect("a thread to spare");
        there.join().expect("the job ends")
    }

    /// Sets a kernel parameter of the namespace, such as `net/ipv4/tcp_rmem`.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub fn set(&self, name: &str, value: &str) -> io::Result<()> {
        let (path, value) = (format!("/proc/sys/{name}"), value.to_owned());
        self.run(move || fs::write(path, value))
    }
}

/// Joins two rooms by a veth pair and nothing else, with or without segmentation and receive
/// offload.
///
/// # Errors
/// When the kernel refuses.
pub fn join_by_veth(rooms: &[Room; 2], offloads: bool) -> Result<(), TrialError> {
    const NAMES: [&str; 2] = ["bench0", "bench1"];
    let there = rooms[1].run(|| fs::File::open("/proc/thread-self/ns/net"));
    let there = there.map_err(TrialError::setup("look at a namespace"))?;
    rooms[0]
        .run(move || {
            Netlink::open()?.add_veth(NAMES[0], [2, 0, 0, 0, 1, 1], NAMES[1], there.as_raw_fd())
        })
        .map_err(TrialError::setup("make a veth pair"))?;
    for (index, room) in rooms.iter().enumerate() {
        room.run(move || -> io::Result<()> {
            let mut netlink = Netlink::open()?;
            let interface = sys::interface_index(NAMES[index])?;
            if !offloads {
                sys::without_offloads(NAMES[index])?;
            }
            let settings = LinkSettings { mtu: Some(1500), ..LinkSettings::default() };
            netlink.set_up(interface, &settings)?;
            netlink.add_address(interface, ADDRESSES[index], 24)
        })
        .map_err(TrialError::setup("set a veth pair up"))?;
    }
    for (index, room) in rooms.iter().enumerate() {
        room.run(move || await_carrier(NAMES[index]))?;
    }
    Ok(())
}

/// How two rooms are joined by a path.
#[derive(Debug, Clone)]
pub struct PathJoint {
    /// By which devices.
    pub device: DeviceKind,
    /// What the path does, forward and reverse.
    pub plans: [LinkPlan; 2],
    /// How frames are moved.
    pub tuning: Tuning,
    /// Whether to keep processors awake, which root may.
    pub awake: bool,
    /// Where to record to, if at all, and how much of each packet.
    pub recording: Option<(PathBuf, Option<u32>)>,
}

/// A path at work between two rooms.
pub struct MovingPath {
    over: Arc<AtomicBool>,
    bridge: mpsc::Receiver<Result<Moved, TrialError>>,
}

/// How a path fared.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "as in the record of a trial")]
pub struct Moved {
    pub lateness: Lateness,
    pub ring_wait: RingWait,
    pub mover: MoverRecord,
    pub device_drops: u64,
    pub capture_drops: u64,
    pub packets: u64,
}

impl MovingPath {
    /// Joins two rooms.
    ///
    /// # Errors
    /// When the kernel refuses something.
    pub fn start(rooms: &[Room; 2], joint: &PathJoint) -> Result<MovingPath, TrialError> {
        // Of its own, too: what an earlier path leaves goes some time after it.
        let middle = Room::new()?;
        let joint = joint.clone();
        let mut ends = Vec::new();
        for (index, room) in rooms.iter().enumerate() {
            let here = middle.namespace.try_clone();
            let here = here.map_err(TrialError::setup("duplicate a descriptor"))?;
            let kind = joint.device;
            let end = room.run(move || Device::create(kind, ADDRESSES[index], here.as_fd()))?;
            ends.push(middle.run(move || end.open())?);
            room.run(move || Device::await_carrier(kind))?;
        }
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let bridge = middle.start(move || {
            let mut ends = ends.into_iter();
            let (Some(client), Some(server)) = (ends.next(), ends.next()) else {
                unreachable!("there are two rooms");
            };
            move_frames(&joint, [client, server], &is_over)
        });
        Ok(MovingPath { over, bridge })
    }

    /// Takes it away.
    ///
    /// # Errors
    /// When moving frames or recording failed.
    ///
    /// # Panics
    /// If the bridge did.
    pub fn stop(self) -> Result<Moved, TrialError> {
        self.over.store(true, Ordering::Relaxed);
        self.bridge.recv().expect("the bridge does not panic")
    }
}

fn move_frames(
    joint: &PathJoint,
    ends: [Device; 2],
    over: &AtomicBool,
) -> Result<Moved, TrialError> {
    let clock = Clock::start();
    let (sampled, samples) = mpsc::channel();
    drop(sampled);
    let mut recorder = None;
    let mut bridge_queue = None;
    if let Some((directory, snaplen)) = &joint.recording {
        let addresses = ADDRESSES.map(|address| address.to_string());
        let writer = RecordingWriter::create(directory, clock.epoch_nanos(), &addresses, *snaplen)?;
        let (end, writing) = recorder_queue(*snaplen);
        bridge_queue = Some(end);
        let write = move || writing.write_down(writer, &samples, BEHIND_PROGRAMS);
        recorder = Some(threads::start("the recorder's thread", write)?);
    }
    let mut bridge = Bridge::new(clock, ends, &joint.plans, 1, joint.tuning, bridge_queue);
    let counters = bridge.counters();
    scheduling::be_prompt_throughout(joint.tuning.real_time);
    let awake = joint.awake.then(scheduling::stay_awake);
    bridge.run(|_| over.load(Ordering::Relaxed))?;
    drop(awake);
    let report = bridge.finish();
    let duration = clock.now().since(Instant::ZERO);
    let mut capture_drops = 0;
    if let Some(recorder) = recorder {
        let mut writer = recorder.join().expect("the recorder does not panic")?;
        capture_drops = trial::missed_frames(&mut writer, report.frames_lost);
        let world = WorldRecord { name: "kernel".into(), ..report.world() };
        let path = tcplab_path::PathSpec::default();
        let record =
            TrialRecord { case: "bench".into(), duration, ..trial::record(clock, 1, path, world) };
        writer.finish(&no_application(), &record)?;
    }
    let packets =
        tcplab_path::Direction::BOTH.map(|way| counters.direction(way).packets_out.value());
    let BridgeReport { lateness, ring_wait, mover, device_drops, .. } = report;
    let packets = packets.iter().sum();
    Ok(Moved { lateness, ring_wait, mover, device_drops, capture_drops, packets })
}

fn no_application() -> AppLog {
    let spec = WorkloadSpec::uploading(Bytes::new(1));
    let report = |side| Application::new(side, &spec, 1).report();
    AppLog::of(report(Endpoint::Client), report(Endpoint::Server))
}

/// Limits the rate at which a socket sends, in bytes per second.
///
/// # Errors
/// When the kernel refuses.
pub fn pace(socket: impl AsFd, bytes_per_second: u64) -> io::Result<()> {
    let rate = libc::c_int::try_from(bytes_per_second).map_err(io::Error::other)?;
    sys::set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, rate)
}

/// Has the kernel stamp what a socket receives.
///
/// # Errors
/// When the kernel refuses.
pub fn stamp_arrivals(socket: BorrowedFd<'_>) -> io::Result<()> {
    sys::note_times(socket)
}

/// Receives a datagram and when the kernel did, in nanoseconds since the Unix epoch.
///
/// # Errors
/// As recvmsg(2).
pub fn receive_stamped(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<u64>)> {
    sys::receive(socket, [&mut [], buffer], 0).map(|received| (received.len, received.at_nanos))
}
