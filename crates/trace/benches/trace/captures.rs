//! The captures to be read, made once and kept in `target/bench-trace`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::bulk::{self, Weather};
use crate::{hostile, short};

/// Changed whenever the same parameters give another file.
const EDITION: u32 = 2;
/// As tcpdump's `-s 128`.
const SHORT_SNAP: u32 = 128;
const FULL_SNAP: u32 = 65_535;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One long transfer, at snaplen 128: at least 3,000,000 packets.
    Bulk,
    /// Twice as long: memory must not grow.
    Longer,
    /// The same on a bad path: one segment in fifty is retransmitted.
    Foul,
    /// More than 100,000 connections.
    Connections,
    /// Whole frames, at least 500 MB.
    Full,
    /// SYNs from everywhere that nobody answers.
    Syns,
    /// A million connections that are open at once.
    Many,
    /// Half of all segments are lost, and each ACK reports three others.
    Blocks,
    /// Segments that overlap one another.
    Overlaps,
}

pub(crate) struct Capture {
    pub(crate) kind: Kind,
    pub(crate) path: PathBuf,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Kind {
    pub(crate) const ALL: [Kind; 9] = [
        Kind::Bulk,
        Kind::Longer,
        Kind::Foul,
        Kind::Connections,
        Kind::Full,
        Kind::Syns,
        Kind::Many,
        Kind::Blocks,
        Kind::Overlaps,
    ];
    /// Those made to hurt.
    pub(crate) const HOSTILE: [Kind; 4] = [Kind::Syns, Kind::Many, Kind::Blocks, Kind::Overlaps];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Bulk => "bulk",
            Kind::Longer => "longer",
            Kind::Foul => "foul",
            Kind::Connections => "connections",
            Kind::Full => "full",
            Kind::Syns => "syns",
            Kind::Many => "many",
            Kind::Blocks => "blocks",
            Kind::Overlaps => "overlaps",
        }
    }

    pub(crate) fn connections(self) -> u64 {
        if self == Kind::Connections { self.size() } else { 1 }
    }

    /// Segments, or connections.
    fn size(self) -> u64 {
        match self {
            Kind::Bulk => 2_100_000,
            Kind::Longer => 4_200_000,
            Kind::Foul | Kind::Syns | Kind::Many => 1_000_000,
            Kind::Connections => 110_000,
            Kind::Full | Kind::Blocks | Kind::Overlaps => 400_000,
        }
    }

    fn write(self, path: &Path) -> io::Result<u64> {
        match self {
            Kind::Bulk | Kind::Longer => bulk::write(path, self.size(), SHORT_SNAP, Weather::FAIR),
            Kind::Foul => bulk::write(path, self.size(), SHORT_SNAP, Weather::FOUL),
            Kind::Connections => short::write(path, self.size(), SHORT_SNAP),
            Kind::Full => bulk::write(path, self.size(), FULL_SNAP, Weather::FAIR),
            Kind::Syns => hostile::write_syns(path, self.size(), SHORT_SNAP),
            Kind::Many => hostile::write_many(path, self.size(), SHORT_SNAP),
            Kind::Blocks => hostile::write_blocks(path, self.size(), SHORT_SNAP),
            Kind::Overlaps => hostile::write_overlaps(path, self.size(), SHORT_SNAP),
        }
    }

    /// The capture, made now if it is not there yet.
    pub(crate) fn capture(self, folder: &Path) -> io::Result<Capture> {
        fs::create_dir_all(folder)?;
        let path = folder.join(format!("{}-{}-{EDITION}.pcap", self.name(), self.size()));
        let count = path.with_extension("packets");
        if !count.exists() {
            let unfinished = path.with_extension("unfinished");
            let packets = self.write(&unfinished)?;
            fs::rename(&unfinished, &path)?;
            fs::write(&count, packets.to_string())?;
        }
        let packets = fs::read_to_string(&count)?;
        let packets = packets.parse().map_err(|_| io::Error::other("a count of packets"))?;
        let bytes = fs::metadata(&path)?.len();
        Ok(Capture { kind: self, path, packets, bytes })
    }
}
