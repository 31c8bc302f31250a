//! What this machine can do: each ability tried, not guessed.

use std::os::fd::AsFd;
use std::sync::mpsc;

use serde::{Deserialize, Serialize};
use tcplab_units::Span;

use crate::clock::Clock;
use crate::device::Device;
use crate::device_kind::DeviceKind;
use crate::launch::Helper;
use crate::message::say;
use crate::namespace::{self, Privilege};
use crate::scheduling::{Scheduling, be_prompt_throughout};
use crate::trial::{MISSING_TOOLS, Tool, ToolError, try_qdisc};
use crate::trial_request::Launcher;
use crate::{TrialError, options, sysctl, threads};

/// One ability of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ability {
    /// Such as `network namespaces`.
    pub name: String,
    /// How far it goes.
    pub verdict: AbilityLevel,
    /// What was found.
    pub found: String,
    /// What would make it better.
    pub remedy: Option<String>,
}

impl Ability {
    fn new(
        name: &str,
        verdict: AbilityLevel,
        found: impl Into<String>,
        remedy: Option<&str>,
    ) -> Ability {
        let remedy = remedy.map(str::to_owned);
        Ability { name: name.into(), verdict, found: found.into(), remedy }
    }

    /// Good, or else limited with this remedy.
    fn good_or(name: &str, is_good: bool, found: impl Into<String>, remedy: &str) -> Ability {
        let verdict = if is_good { AbilityLevel::Good } else { AbilityLevel::Limited };
        Ability::new(name, verdict, found, Some(remedy).filter(|_| !is_good))
    }
}

/// How far an ability goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AbilityLevel {
    /// As good as it gets.
    Good,
    /// It works, with a limit worth knowing.
    Limited,
    /// Experiments on the kernel cannot run without it.
    Missing,
}

/// Tries everything that an experiment on the kernel needs, in a process of its own.
///
/// # Errors
/// When that process could not be started, or died.
pub fn examine(launcher: &Launcher) -> Result<Vec<Ability>, TrialError> {
    let helper = Helper::<Ability>::start(launcher, "probe")?;
    let abilities = helper.messages.iter().collect();
    helper.finish()?;
    Ok(abilities)
}

/// The other side of [`examine`].
pub(crate) fn probe(watch_caller: impl Fn()) {
    watch_caller();
    say(&kernel());
    let privilege = namespace::isolate();
    watch_caller();
    match privilege {
        Ok(privilege) => {
            say(&namespaces(privilege));
            for kind in [DeviceKind::Tun, DeviceKind::PacketSocket] {
                say(&device(kind));
            }
            say(&congestion_controls());
            say(&netem_backend());
        }
        Err(error) => {
            let (found, remedy) = (error.to_string(), error.remedy());
            let name = "network namespaces";
            say(&Ability::new(name, AbilityLevel::Missing, found, remedy.as_deref()));
        }
    }
    say(&timers());
    say(&processors());
}

fn kernel() -> Ability {
    let system = rustix::system::uname();
    let name = system.sysname().to_string_lossy();
    let found = format!("{name} {}", system.release().to_string_lossy());
    if name == "Linux" {
        return Ability::new("kernel", AbilityLevel::Good, found, None);
    }
    let remedy = Some("experiments on the kernel's TCP need Linux");
    Ability::new("kernel", AbilityLevel::Missing, found, remedy)
}

fn namespaces(privilege: Privilege) -> Ability {
    let found = match privilege {
        Privilege::Held => "allowed by privilege",
        Privilege::UserNamespace => "allowed inside a user namespace, without privilege",
    };
    Ability::new("network namespaces", AbilityLevel::Good, found, None)
}

fn device(kind: DeviceKind) -> Ability {
    let (name, remedy) = match kind {
        DeviceKind::Tun => (
            "TUN devices",
            "tcplab uses packet sockets instead, at half the rate; \
             as root: `chmod 666 /dev/net/tun` (udev's default), or `modprobe tun`",
        ),
        DeviceKind::PacketSocket => {
            ("veth and packet sockets", "tcplab uses TUN devices; as root: `modprobe veth`")
        }
    };
    match try_device(kind) {
        Ok(()) => Ability::new(name, AbilityLevel::Good, "a device was made and opened", None),
        Err(error) => Ability::new(name, AbilityLevel::Limited, error.to_string(), Some(remedy)),
    }
}

/// Makes a device in the namespace of a thread that lives until the other end was opened.
fn try_device(kind: DeviceKind) -> Result<(), TrialError> {
    let bridge = namespace::current()?;
    let (device, made) = mpsc::channel();
    let (stay, until) = mpsc::channel::<()>();
    threads::start("an endpoint's thread", move || {
        let address = std::net::Ipv4Addr::new(10, 98, 0, 1);
        let end = namespace::isolate_thread()
            .and_then(|()| Device::create(kind, address, bridge.as_fd()));
        let _ = device.send(end);
        let _ = until.recv();
    })?;
    let end = made.recv().unwrap_or_else(|_| {
        Err(TrialError::setup("make a device")(std::io::Error::other("it panicked")))
    })?;
    let opened = end.open().map(drop);
    drop(stay);
    opened
}

fn congestion_controls() -> Ability {
    let (mut usable, mut refused) = (Vec::new(), Vec::new());
    for name in sysctl::congestion_controls() {
        let list = if options::congestion_works(&name) { &mut usable } else { &mut refused };
        list.push(name);
    }
    let mut found = format!("{} per socket", usable.join(", "));
    if !refused.is_empty() {
        found += &format!("; refused: {}", refused.join(", "));
    }
    let wanted = ["reno", "cubic"].iter().all(|name| usable.iter().any(|it| it == name));
    let is_complete = wanted && refused.is_empty();
    let level = if is_complete { AbilityLevel::Good } else { AbilityLevel::Limited };
    let remedy = (!wanted).then_some("as root: `modprobe tcp_cubic`, and so on");
    Ability::new("congestion controls", level, found, remedy)
}

/// Whether paths with `backend = "netem"` can be run.
fn netem_backend() -> Ability {
    let ability = |verdict, found, remedy| Ability::new("netem", verdict, found, remedy);
    let (mut has, mut lacks) = (Vec::new(), Vec::new());
    for kind in ["netem", "tbf", "ifb"] {
        let tried = match kind {
            "ifb" => Tool::new(&["ip", "link", "add", "dev", "tcplab-try", "type", "ifb"])
                .run()
                .and_then(|()| Tool::new(&["ip", "link", "del", "dev", "tcplab-try"]).run()),
            kind => try_qdisc(kind),
        };
        match tried {
            Ok(()) => has.push(kind),
            Err(ToolError::Missing { program }) => {
                let found = format!("`{program}` is not installed");
                return ability(AbilityLevel::Limited, found, Some(MISSING_TOOLS));
            }
            Err(ToolError::Unknown { .. }) => lacks.push(kind),
            Err(ToolError::Failed { said }) => {
                let found = format!("{kind} could not be tried: {said}");
                return ability(AbilityLevel::Limited, found, None);
            }
        }
    }
    if lacks.is_empty() {
        return ability(AbilityLevel::Good, format!("this kernel has {}", has.join(", ")), None);
    }
    let module = |kind: &&str| if *kind == "ifb" { "ifb".into() } else { format!("sch_{kind}") };
    let modules: Vec<String> = lacks.iter().map(module).collect();
    let beside = if has.is_empty() { String::new() } else { format!(" (but {})", has.join(", ")) };
    let found = format!("this kernel has no {}{beside}", lacks.join(", "));
    let remedy = format!(
        "only paths with `backend = \"netem\"` need it; as root: `modprobe {}`, where the kernel was \
         built with it",
        modules.join("`, `modprobe ")
    );
    ability(AbilityLevel::Limited, found, Some(&remedy))
}

/// How late a sleep of a millisecond ends, with the finest timer slack.
fn timers() -> Ability {
    let scheduling = be_prompt_throughout(true);
    let clock = Clock::start();
    let mut late: Vec<Span> =
        (0..200).map(|_| clock.sleep_until(clock.now() + Span::from_millis(1))).collect();
    late.sort_unstable();
    let (median, p99) = (late[100], late[198]);
    let good = p99 < Span::from_millis(1);
    let scheduling = match scheduling {
        Scheduling::Deadline => "with deadlines of its own",
        Scheduling::RealTime => "in real-time scheduling",
        Scheduling::ShortSlices => "in short slices of the processor",
        Scheduling::Ordinary => "in ordinary scheduling",
    };
    let (median, p99) = (median.as_micros(), p99.as_micros());
    let found = format!("a sleep ends {median} µs late (median), {p99} µs (99 %), {scheduling}");
    Ability::good_or("timers", good, found, "delays will be off by this much; end other work")
}

fn processors() -> Ability {
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let remedy = "endpoints and path share one processor: expect late packets";
    Ability::good_or("processors", count > 1, count.to_string(), remedy)
}
