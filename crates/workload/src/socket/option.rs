//! What a socket option is: one row of the [table](super::table).

use super::value::{INT_MAX, Kind};

/// Where an option belongs: the second argument of setsockopt(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `SOL_SOCKET`: socket(7).
    Socket,
    /// `IPPROTO_TCP`: tcp(7).
    Tcp,
    /// `IPPROTO_IP`: ip(7).
    Ip,
    /// `IPPROTO_IPV6`: ipv6(7).
    Ipv6,
    /// No option: the second argument of listen(2).
    Listen,
}

impl Level {
    /// As in `SOL_SOCKET`.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Socket => "SOL_SOCKET",
            Level::Tcp => "IPPROTO_TCP",
            Level::Ip => "IPPROTO_IP",
            Level::Ipv6 => "IPPROTO_IPV6",
            Level::Listen => "listen",
        }
    }

    /// Its number on Linux (`include/uapi/linux/in.h`, `asm-generic/socket.h`).
    pub const fn number(self) -> i32 {
        match self {
            Level::Socket => 1,
            Level::Tcp => 6,
            Level::Ip | Level::Listen => 0,
            Level::Ipv6 => 41,
        }
    }

    /// The page of the manual.
    pub const fn manual(self) -> &'static str {
        match self {
            Level::Socket => "socket(7)",
            Level::Tcp => "tcp(7)",
            Level::Ip => "ip(7)",
            Level::Ipv6 => "ipv6(7)",
            Level::Listen => "listen(2)",
        }
    }

    /// An option that is set and read, without anything remarkable; its effect is still missing.
    pub(super) const fn option(self, name: &'static str, number: i32, kind: Kind) -> OptionInfo {
        OptionInfo {
            name,
            level: self,
            number,
            kind,
            effect: "",
            key: None,
            access: Access::Both,
            default_from: None,
            limited_by: None,
            privilege: None,
            doubled: None,
            adjusted: None,
            later: None,
            read_as: None,
            only: &[],
        }
    }

    pub(super) const fn flag(self, name: &'static str, number: i32) -> OptionInfo {
        self.option(name, number, Kind::Flag)
    }

    /// Any number that is not negative, without a unit.
    pub(super) const fn count(self, name: &'static str, number: i32) -> OptionInfo {
        self.option(name, number, Kind::Number("", 0, INT_MAX))
    }

    pub(super) const fn structure(
        self,
        name: &'static str,
        number: i32,
        structure: &'static str,
    ) -> OptionInfo {
        self.option(name, number, Kind::Structure(structure))
    }
}

/// Whether an option is set, read or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It is set and read.
    Both,
    /// It is read.
    Read,
    /// It is set, and cannot be read.
    Write,
}

/// Which of the sockets of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SocketRole {
    /// The client's.
    Client,
    /// The one that the server listens on.
    Listener,
    /// One that the server has accepted.
    Accepted,
}

impl SocketRole {
    /// `client`, `listener`, `accepted`.
    pub const fn name(self) -> &'static str {
        match self {
            SocketRole::Client => "client",
            SocketRole::Listener => "listener",
            SocketRole::Accepted => "accepted",
        }
    }
}

/// One socket option, as Linux has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionInfo {
    /// As in the man page, such as `SO_RCVBUF`.
    pub name: &'static str,
    /// Where it belongs.
    pub level: Level,
    /// Its number on Linux for x86-64, ARM and RISC-V (`asm-generic/socket.h`).
    pub number: i32,
    /// What its value is.
    pub kind: Kind,
    /// What it does, in a sentence.
    pub effect: &'static str,
    /// Its name in a scenario; none of those that a scenario cannot set.
    pub key: Option<&'static str>,
    /// Whether it is set, read or both.
    pub access: Access,
    /// The sysctl that the default comes from; of several numbers the one with this index, from 0.
    pub default_from: Option<(&'static str, usize)>,
    /// The sysctl that limits its values.
    pub limited_by: Option<&'static str>,
    /// What setting it needs, or setting it beyond a bound.
    pub privilege: Option<&'static str>,
    /// Linux doubles the requested value, and uses at least this.
    pub doubled: Option<u64>,
    /// How Linux adjusts the requested value.
    pub adjusted: Option<&'static str>,
    /// Why what is read changes once there is a connection.
    pub later: Option<&'static str>,
    /// The number of the option of the same level that reads it, where that is another.
    pub read_as: Option<i32>,
    /// The sockets on which it makes sense; empty: all.
    pub only: &'static [SocketRole],
}

impl OptionInfo {
    /// It with the text of its comment in the table.
    pub(super) const fn with_effect(self, effect: &'static str) -> OptionInfo {
        OptionInfo { effect: effect.trim_ascii_start(), ..self }
    }

    pub(super) const fn key(self, key: &'static str) -> OptionInfo {
        OptionInfo { key: Some(key), ..self }
    }

    pub(super) const fn read_only(self) -> OptionInfo {
        OptionInfo { access: Access::Read, ..self }
    }

    pub(super) const fn write_only(self) -> OptionInfo {
        OptionInfo { access: Access::Write, ..self }
    }

    pub(super) const fn default_from(self, sysctl: &'static str) -> OptionInfo {
        OptionInfo { default_from: Some((sysctl, 0)), ..self }
    }

    /// Of a sysctl with several numbers, the one with this index is the default.
    pub(super) const fn default_from_part(self, sysctl: &'static str, part: usize) -> OptionInfo {
        OptionInfo { default_from: Some((sysctl, part)), ..self }
    }

    pub(super) const fn limited_by(self, sysctl: &'static str) -> OptionInfo {
        OptionInfo { limited_by: Some(sysctl), ..self }
    }

    pub(super) const fn privileged(self, what: &'static str) -> OptionInfo {
        OptionInfo { privilege: Some(what), ..self }
    }

    pub(super) const fn doubled(self, least: u64) -> OptionInfo {
        OptionInfo { doubled: Some(least), ..self }
    }

    pub(super) const fn adjusted(self, how: &'static str) -> OptionInfo {
        OptionInfo { adjusted: Some(how), ..self }
    }

    pub(super) const fn later(self, why: &'static str) -> OptionInfo {
        OptionInfo { later: Some(why), ..self }
    }

    pub(super) const fn read_as(self, number: i32) -> OptionInfo {
        OptionInfo { read_as: Some(number), ..self }
    }

    pub(super) const fn only(self, roles: &'static [SocketRole]) -> OptionInfo {
        OptionInfo { only: roles, ..self }
    }

    /// Whether it makes sense on that socket.
    pub fn fits(&self, role: SocketRole) -> bool {
        self.only.is_empty() || self.only.contains(&role)
    }
}

/// Whether all network namespaces have one value of this sysctl, which only the initial namespace
/// may set (`net_core_table` against `netns_core_table`, net/core/sysctl_net_core.c).
pub fn is_of_the_machine(sysctl: &str) -> bool {
    matches!(
        sysctl,
        "net.core.rmem_max"
            | "net.core.wmem_max"
            | "net.core.rmem_default"
            | "net.core.wmem_default"
            | "net.core.busy_read"
            | "net.core.busy_poll"
    )
}
