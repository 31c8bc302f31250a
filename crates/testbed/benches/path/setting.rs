//! Two rooms and what stands between them.

use std::error::Error;

use tcplab_path::{Direction, LinkPlan, PathSpec};
use tcplab_testbed::workbench::{self, Moved, MovingPath, PathJoint, Room};
use tcplab_testbed::{DeviceKind, Tuning};

/// What joins the rooms.
#[derive(Clone)]
pub(crate) enum Joint {
    Veth { offloads: bool },
    Path(PathJoint),
}

/// Rooms, joined.
pub(crate) struct Setting {
    pub(crate) rooms: [Room; 2],
    path: Option<MovingPath>,
}

impl Setting {
    pub(crate) fn new(joint: &Joint) -> Result<Setting, Box<dyn Error>> {
        let rooms = [Room::new()?, Room::new()?];
        for room in &rooms {
            // Windows must not be the limit.
            room.set("net/ipv4/tcp_rmem", "4096 131072 67108864")?;
            room.set("net/ipv4/tcp_wmem", "4096 262144 67108864")?;
        }
        let path = match joint {
            Joint::Veth { offloads } => {
                workbench::join_by_veth(&rooms, *offloads)?;
                None
            }
            Joint::Path(joint) => Some(MovingPath::start(&rooms, joint)?),
        };
        Ok(Setting { rooms, path })
    }

    /// Takes it down; how the path fared, if there was one.
    pub(crate) fn end(self) -> Result<Option<Moved>, Box<dyn Error>> {
        Ok(self.path.map(MovingPath::stop).transpose()?)
    }
}

/// A path as scenarios write it, by the given device, with an ordinary user's means.
pub(crate) fn path(device: DeviceKind, spec: &str) -> PathJoint {
    let spec: PathSpec = serde_json::from_str(spec).expect("a path");
    let plan = |direction| -> LinkPlan { spec.link(direction).expect("a possible path") };
    let tuning = Tuning { real_time: false, ..Tuning::default() };
    PathJoint { device, plans: Direction::BOTH.map(plan), tuning, awake: false, recording: None }
}
