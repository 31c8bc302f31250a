//! What of a script's commands a guest does by itself, without a shell.
//!
//! Shells take longer, and need programs that a machine may lack (`ethtool`).

use tcplab_packetdrill::ast::Shell;
use tcplab_packetdrill::shell::{Command, DEFAULTS};

/// Something that a command sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Setting {
    /// A setting of the kernel: the path of its file, and its value.
    Kernel(String, String),
    /// A file of zeros: its path and length, bytes.
    Zeros(String, u64),
    /// A feature of the device: the command of ethtool's ioctl, and whether it is on.
    Feature(u32, bool),
}

/// What each of the commands sets, where that is all they do; `has_begun`: the script has done
/// something before.
pub(crate) fn settings(shell: &Shell, has_begun: bool) -> Option<Vec<Vec<Setting>>> {
    // Which command runs depends on another there.
    if shell.text.contains("&&") || shell.text.contains("||") {
        return None;
    }
    let mut all = Vec::new();
    for command in &shell.commands {
        match command {
            Command::Set(given) => {
                let own = given.iter().map(|(name, value)| setting(name, value));
                all.push(own.collect::<Option<_>>()?);
            }
            Command::File(path) if path.ends_with("defaults.sh") => {
                let own = DEFAULTS.iter().filter_map(|(name, value)| setting(name, value));
                all.extend(own.map(|setting| vec![setting]));
            }
            // Each script has a kernel of its own, whose cache of metrics is empty at first, and
            // whose device has a queue that just queues.
            Command::Restore => all.push(Vec::new()),
            Command::Network(text)
                if !has_begun
                    && (text.ends_with("tcp_metrics flush all")
                        || text == "tc qdisc add dev tun0 root pfifo") =>
            {
                all.push(Vec::new());
            }
            _ => return None,
        }
    }
    Some(all)
}

/// A setting by its name in scripts.
pub(crate) fn setting(name: &str, value: &str) -> Option<Setting> {
    // Only a shell knows its variables.
    if name.contains('$') || value.contains('$') {
        return None;
    }
    let parts: Vec<&str> = name.split('.').collect();
    match parts.as_slice() {
        ["file", ..] => {
            let path = name.strip_prefix("file.").unwrap_or_default();
            Some(Setting::Zeros(path.to_owned(), value.parse().ok()?))
        }
        ["net" | "kernel" | "vm" | "fs", _, ..] => {
            let path = format!("/proc/sys/{}", parts.join("/"));
            Some(Setting::Kernel(path, value.to_owned()))
        }
        ["device", feature] => Some(Setting::Feature(feature_command(feature)?, switch(value)?)),
        ["device" | "host", ..] => None,
        [module, parameter] => {
            let path = format!("/sys/module/{module}/parameters/{parameter}");
            Some(Setting::Kernel(path, value.to_owned()))
        }
        _ => None,
    }
}

/// The command that sets a feature, by ethtool's name of it (`linux/ethtool.h`).
fn feature_command(feature: &str) -> Option<u32> {
    Some(match feature {
        "tso" => 0x1f,
        "gso" => 0x24,
        "gro" => 0x2c,
        _ => return None,
    })
}

fn switch(value: &str) -> Option<bool> {
    match value {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use tcplab_packetdrill::{Definitions, Script};

    use super::*;

    fn of(text: &str) -> Option<Vec<Vec<Setting>>> {
        let script = format!("`{text}`\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n");
        settings(&Script::parse(&script, &Definitions::none()).unwrap().init.unwrap(), false)
    }

    #[test]
    fn settings_alone_need_no_shell() {
        let kernel = |path: &str, value: &str| Setting::Kernel(path.into(), value.into());
        let found = of("sysctl -q net.ipv4.tcp_sack=0\necho 3 > \
             /sys/module/tcp_cubic/parameters/hystart_detect; \
             dd if=/dev/zero of=/tmp/a bs=10 count=3; /tmp/sysctl_restore_1.sh
             ethtool -K tun0 tso off gso on");
        let expected = [
            vec![kernel("/proc/sys/net/ipv4/tcp_sack", "0")],
            vec![kernel("/sys/module/tcp_cubic/parameters/hystart_detect", "3")],
            vec![Setting::Zeros("/tmp/a".into(), 30)],
            vec![],
            vec![Setting::Feature(0x1f, false), Setting::Feature(0x24, true)],
        ];
        assert_eq!(found.unwrap(), expected);
        assert_eq!(of("./defaults.sh").unwrap().len(), DEFAULTS.len());
    }

    #[test]
    fn cache_that_may_hold_something_is_flushed() {
        let script = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 `ip tcp_metrics flush all`\n";
        let script = Script::parse(script, &Definitions::none()).unwrap();
        let tcplab_packetdrill::ast::Action::Shell(shell) = &script.events[1].action else {
            panic!("the second event is a command");
        };
        assert_eq!(settings(shell, false), Some(vec![Vec::new()]));
        assert_eq!(settings(shell, true), None);
    }

    #[test]
    fn other_commands_need_a_shell() {
        for text in [
            "ip route change 192.0.2.1 via 192.168.0.1",
            "tc qdisc replace dev tun0 root fq",
            "sysctl -q net.ipv4.tcp_sack=0; nstat",
            "ip link set dev tun0 mtu 9000",
            "./other.sh",
            "sysctl -q net.ipv4.tcp_reordering=$((1 << 3))",
            "sysctl -q net.ipv4.tcp_sack=0 && sysctl -q net.ipv4.tcp_dsack=0",
            "sysctl -q net.ipv4.tcp_sack=0 || sysctl -q net.ipv4.tcp_dsack=0",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
