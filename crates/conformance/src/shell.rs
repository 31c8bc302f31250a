//! What of a script's commands a guest does by itself, without a shell.

use tcplab_packetdrill::ast::Shell;
use tcplab_packetdrill::shell::{Command, DEFAULTS};

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileSetting {
    /// A setting of the kernel: the path, and what it is set to.
    Kernel(String, String),
    /// A file of zeros: its path and length, bytes.
    Zeros(String, u64),
}

/// All that the commands do, where files that are written are all of it. Shells take much longer,
/// and most scripts set the kernel and do nothing else.
pub(crate) fn settings(shell: &Shell) -> Option<Vec<FileSetting>> {
    let mut all = Vec::new();
    for command in &shell.commands {
        match command {
            Command::Set { name, value } => all.push(setting(name, value)?),
            Command::File(path) if path.ends_with("defaults.sh") => {
                all.extend(DEFAULTS.iter().filter_map(|(name, value)| setting(name, value)));
            }
            // Each script has a kernel of its own, whose cache of metrics is empty, and whose
            // device has a queue that just queues.
            Command::Restore => {}
            Command::Network(text) if text.ends_with("tcp_metrics flush all") => {}
            Command::Network(text) if text == "tc qdisc add dev tun0 root pfifo" => {}
            _ => return None,
        }
    }
    Some(all)
}

/// A setting by its name in scripts.
pub(crate) fn setting(name: &str, value: &str) -> Option<FileSetting> {
    let parts: Vec<&str> = name.split('.').collect();
    match parts.as_slice() {
        ["file", ..] => {
            let path = name.strip_prefix("file.").unwrap_or_default();
            Some(FileSetting::Zeros(path.to_owned(), value.parse().ok()?))
        }
        ["net" | "kernel" | "vm" | "fs", _, ..] => {
            let path = format!("/proc/sys/{}", parts.join("/"));
            Some(FileSetting::Kernel(path, value.to_owned()))
        }
        ["device" | "host", ..] => None,
        [module, parameter] => {
            let path = format!("/sys/module/{module}/parameters/{parameter}");
            Some(FileSetting::Kernel(path, value.to_owned()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use tcplab_packetdrill::{Definitions, Script};

    use super::*;

    fn of(text: &str) -> Option<Vec<FileSetting>> {
        let script = format!("`{text}`\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n");
        settings(&Script::parse(&script, &Definitions::none()).unwrap().init.unwrap())
    }

    #[test]
    fn settings_alone_need_no_shell() {
        let kernel = |path: &str, value: &str| FileSetting::Kernel(path.into(), value.into());
        let found = of("sysctl -q net.ipv4.tcp_sack=0\necho 3 > \
             /sys/module/tcp_cubic/parameters/hystart_detect; \
             dd if=/dev/zero of=/tmp/a bs=10 count=3; /tmp/sysctl_restore_1.sh");
        let expected = [
            kernel("/proc/sys/net/ipv4/tcp_sack", "0"),
            kernel("/sys/module/tcp_cubic/parameters/hystart_detect", "3"),
            FileSetting::Zeros("/tmp/a".into(), 30),
        ];
        assert_eq!(found.unwrap(), expected);
        assert_eq!(of("./defaults.sh").unwrap().len(), DEFAULTS.len());
    }

    #[test]
    fn other_commands_need_a_shell() {
        for text in [
            "ip route change 192.0.2.1 via 192.168.0.1",
            "tc qdisc replace dev tun0 root fq",
            "sysctl -q net.ipv4.tcp_sack=0; nstat",
            "ip link set dev tun0 mtu 9000",
            "./other.sh",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
