//! Socket options: set as the scenario asks, read back as the kernel has them.

mod survey;

use std::borrow::Cow;
use std::io;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::sockopt;
use tcplab_recording::OptionRecord;
use tcplab_workload::{
    IfRefused, Kind, Level, OptionInfo, OptionValue, Outcome, SocketOptions, SocketRole, outcome,
    table,
};

use crate::{TrialError, errno, sys, sysctl};

pub use survey::{OptionState, Reading, Setting, survey};

/// The options of one socket through a trial: requested values, and the values at each stage.
#[derive(Debug, Clone)]
pub(crate) struct OptionSheet {
    role: SocketRole,
    if_refused: IfRefused,
    rows: Vec<Row>,
}

#[derive(Debug, Clone)]
struct Row {
    key: &'static str,
    info: &'static OptionInfo,
    asked: Option<OptionValue>,
    before: Option<OptionValue>,
    set: Option<OptionValue>,
    connected: Option<OptionValue>,
    outcome: Outcome,
    because: Option<String>,
}

impl OptionSheet {
    /// Sets what is `asked` for and reads everything, before and after. To be called before
    /// connecting or listening, since window scale and segment size are settled in the SYN; for an
    /// accepted socket, at once.
    ///
    /// # Errors
    /// When an option is refused and the scenario does not say to go on.
    pub(crate) fn set(
        socket: BorrowedFd<'_>,
        asked: &SocketOptions,
        role: SocketRole,
    ) -> Result<OptionSheet, TrialError> {
        let rows = table::keyed().filter(|(_, info)| info.fits(role)).map(|(key, info)| Row {
            key,
            info,
            asked: asked.value(key).cloned(),
            before: read(socket, info).ok(),
            set: None,
            connected: None,
            outcome: Outcome::Default,
            because: None,
        });
        let mut sheet = OptionSheet { role, if_refused: asked.if_refused, rows: rows.collect() };
        for row in &mut sheet.rows {
            let Some(value) = &row.asked else { continue };
            if row.info.level == Level::Listen {
                continue;
            }
            let bytes = value.to_bytes(row.info.kind);
            let (level, number) = (row.info.level.number(), row.info.number);
            if let Err(error) = sys::set_option_bytes(socket, level, number, &bytes) {
                let reason = refusal(row.info, &error);
                if asked.if_refused == IfRefused::Fail {
                    return Err(refused(role, row.key, value, reason));
                }
                row.outcome = Outcome::Refused;
                row.because = Some(reason);
            }
        }
        for row in &mut sheet.rows {
            row.set = read(socket, row.info).ok();
            row.judge();
        }
        Ok(sheet)
    }

    /// The same for a socket that was just accepted: `listener` handed down what it had.
    ///
    /// # Errors
    /// When an option is refused and the scenario does not say to go on.
    pub(crate) fn accepted(
        socket: BorrowedFd<'_>,
        asked: &SocketOptions,
        listener: &OptionSheet,
    ) -> Result<OptionSheet, TrialError> {
        let mut sheet = OptionSheet::set(socket, asked, SocketRole::Accepted)?;
        for row in sheet.rows.iter_mut().filter(|row| row.asked.is_none()) {
            let above = listener.rows.iter().find(|above| above.key == row.key);
            let Some(above) = above.filter(|above| above.asked.is_some()) else { continue };
            (row.outcome, row.because) = match above.outcome {
                Outcome::Refused => continue,
                _ if above.set == row.set => (Outcome::Inherited, None),
                _ if row.info.later.is_some() => {
                    (Outcome::Inherited, row.info.later.map(Into::into))
                }
                _ => (Outcome::Ignored, Some("a listening socket does not hand it down".into())),
            };
            row.asked.clone_from(&above.asked);
        }
        sheet.connected(socket)?;
        Ok(sheet)
    }

    /// Reads everything once more: the socket is connected now, or listens.
    ///
    /// # Errors
    /// When the congestion control in force is not the one asked for, and the scenario does not say
    /// to go on.
    pub(crate) fn connected(&mut self, socket: BorrowedFd<'_>) -> Result<(), TrialError> {
        for row in &mut self.rows {
            row.connected = read(socket, row.info).ok();
            let has_changed = row.connected != row.set;
            if row.info.level == Level::Listen {
                row.set.clone_from(&row.connected);
                row.judge();
            } else if has_changed && row.asked.is_some() && row.because.is_none() {
                row.because = row.info.later.map(Into::into);
            }
            let Some(asked) = row.asked.as_ref().filter(|_| row.key == "congestion") else {
                continue;
            };
            if row.outcome != Outcome::Refused && row.connected.as_ref() != Some(asked) {
                let has = text(row.connected.as_ref());
                let reason = match has.as_str() {
                    // `dctcp_init`: the end that has another control refuses ECN of an ECT SYN.
                    "dctcp-reno" => "the kernel has dctcp-reno instead: the ends did not agree on \
                                     ECN, for which both need DCTCP"
                        .to_owned(),
                    has => format!("the kernel has {has} instead"),
                };
                if self.if_refused == IfRefused::Fail {
                    return Err(refused(self.role, row.key, asked, reason));
                }
                (row.outcome, row.because) = (Outcome::Ignored, Some(reason));
            }
        }
        Ok(())
    }

    /// Everything, read a last time.
    pub(crate) fn records(&self, socket: BorrowedFd<'_>) -> Vec<OptionRecord> {
        let record = |row: &Row| {
            let text_of = |value: &Option<OptionValue>| value.as_ref().map(ToString::to_string);
            let last = read(socket, row.info).ok();
            let has_changed = row.asked.is_some() && last.is_some() && last != row.set;
            let later = row.info.later.filter(|_| has_changed);
            OptionRecord {
                name: row.key.into(),
                option: row.info.name.into(),
                requested: text_of(&row.asked),
                before: text_of(&row.before),
                set: text_of(&row.set),
                connected: text_of(&row.connected),
                effective: text(last.as_ref()),
                outcome: row.outcome,
                because: row.because.clone().or_else(|| later.map(Into::into)),
            }
        };
        self.rows.iter().filter(|row| row.is_there()).map(record).collect()
    }
}

impl Row {
    fn judge(&mut self) {
        if let (Some(asked), Some(set)) = (&self.asked, &self.set)
            && self.outcome != Outcome::Refused
        {
            (self.outcome, self.because) =
                outcome(self.info, asked, self.before.as_ref(), set, sysctl::value);
        }
    }

    /// Whether this kernel has the option; a requested option is listed in any case. An option that
    /// reads as another one is listed only if requested.
    fn is_there(&self) -> bool {
        self.asked.is_some() || (self.connected.is_some() && self.info.read_as.is_none())
    }
}

/// What the kernel has.
fn read(socket: BorrowedFd<'_>, info: &OptionInfo) -> io::Result<OptionValue> {
    /// Room for the longest value that is looked into.
    const ROOM: usize = 64;
    let mut bytes = [0; ROOM];
    if info.level == Level::Listen {
        return backlog(socket);
    }
    let number = info.read_as.unwrap_or(info.number);
    // The kernel writes a rate in full only where there is room for it.
    let room = if info.kind == Kind::Rate { size_of::<usize>() } else { ROOM };
    let len = sys::option_bytes(socket, info.level.number(), number, &mut bytes[..room])?;
    OptionValue::from_bytes(info.kind, &bytes[..len])
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not as expected"))
}

/// The backlog in force: TCP_INFO of a listening socket has it where others have their SACKed
/// segments (`tcp_get_info`, net/ipv4/tcp.c).
fn backlog(socket: BorrowedFd<'_>) -> io::Result<OptionValue> {
    const SACKED_AT: usize = 28;
    const LISTEN: u8 = 10;
    let mut info = [0; SACKED_AT + 4];
    let len = sys::tcp_info(socket, &mut info)?;
    match info[SACKED_AT..].first_chunk() {
        Some(sacked) if len == info.len() && info[0] == LISTEN => {
            Ok(OptionValue::Number(u32::from_ne_bytes(*sacked).into()))
        }
        _ => Err(io::ErrorKind::NotConnected.into()),
    }
}

fn text(value: Option<&OptionValue>) -> String {
    value.map_or_else(|| "unknown".into(), ToString::to_string)
}

fn refused(
    role: SocketRole,
    option: &'static str,
    value: &OptionValue,
    reason: String,
) -> TrialError {
    let socket = match role {
        SocketRole::Client => "client's socket",
        SocketRole::Listener => "server's socket",
        SocketRole::Accepted => "socket that the server accepted",
    };
    TrialError::SocketOption { socket, option, value: value.to_string(), reason }
}

/// Why the kernel refused it, by the error.
fn refusal(info: &OptionInfo, error: &io::Error) -> String {
    let symbol = symbol(error);
    match Errno::from_io_error(error) {
        Some(Errno::PERM | Errno::ACCESS) => match info.privilege {
            Some(privilege) => format!("{symbol}: it needs {privilege}"),
            None => format!("{symbol}: this process may not"),
        },
        Some(Errno::NOENT) if info.name == "TCP_CONGESTION" => {
            let has = sysctl::value("net.ipv4.tcp_available_congestion_control");
            format!("{symbol}: this kernel has loaded {}", has.unwrap_or_default())
        }
        Some(Errno::NOPROTOOPT) => format!("{symbol}: this kernel does not have the option"),
        Some(Errno::OPNOTSUPP) if info.name.starts_with("TCP_FASTOPEN") => {
            let setting = sysctl::value("net.ipv4.tcp_fastopen").unwrap_or_default();
            format!("{symbol}: net.ipv4.tcp_fastopen = {setting} does not allow it")
        }
        _ => format!("{symbol}: {error}"),
    }
}

/// The name of an error of setsockopt(2) or getsockopt(2).
fn symbol(error: &io::Error) -> Cow<'static, str> {
    Errno::from_io_error(error).map_or("no error of the system".into(), errno::name)
}

/// Whether a socket of the calling thread's namespace may use this congestion control.
pub(crate) fn congestion_works(name: &str) -> bool {
    use_congestion(name).is_ok()
}

/// Refuses a congestion control that this kernel does not have: tried, as it may come as a module.
///
/// # Errors
/// What it has instead.
pub fn has_congestion(name: &str) -> Result<(), TrialError> {
    // Others, such as EPERM, say that it is there (`tcp_set_congestion_control`).
    match use_congestion(name) {
        Err(Errno::NOENT) => Err(sysctl::no_congestion_control(name)),
        _ => Ok(()),
    }
}

fn use_congestion(name: &str) -> rustix::io::Result<()> {
    use rustix::net::{AddressFamily, SocketType, socket};
    socket(AddressFamily::INET, SocketType::STREAM, None)
        .and_then(|socket| sockopt::set_tcp_congestion(&socket, name))
}

#[cfg(test)]
mod tests;
