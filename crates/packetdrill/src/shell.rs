//! What a script asks a shell to do.
//!
//! Scripts prepare the machine in the language of the shell. Nothing is run here: settings of the
//! kernel become names and values, which a stack under test may accept or refuse; the rest is
//! distinguished apart by what it would touch.

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Settings of the kernel by name, each with its value without quotes: `net.ipv4.tcp_sack` and
    /// `0`, whichever way it was written. Names have dots between their parts; below `/sys/module`
    /// they are `module.name`, a feature of the network device is `device.name`.
    Set(Vec<(String, String)>),
    /// A file of commands, as written (`./defaults.sh`); [`crate::Script::read_files`] puts its
    /// commands in its place.
    File(String),
    /// Puts settings back; each run has a stack of its own, so there is nothing to do.
    Restore,
    /// FreeBSD's `sockstat`, of which a pipe of `grep` counts the lines: `count` is to be found in
    /// the number of connections in `state`.
    Count {
        /// As `sockstat` calls it.
        state: String,
        /// What is looked for in the number.
        count: String,
        /// Only those that the application has.
        held: bool,
    },
    /// `tcpdrop -s STATE`: connections in it are gone.
    Drop(String),
    /// Devices, routes and queues (`ip`, `tc`, `ethtool`), as written.
    Network(String),
    /// Looks at something or makes a file; no part of what a stack does.
    Aside(String),
    /// None of these, as written.
    Unknown(String),
}

/// What google/packetdrill's `defaults.sh` sets (its values of 2024-2026), for scripts that stand
/// alone: names below `net.ipv4`. They differ from the kernel's own defaults in the buffers, SYN
/// retries, slow start after idle, ECN and fast open.
pub const DEFAULTS: &[(&str, &str)] = &[
    ("net.ipv4.tcp_rmem", "4096 540000 15728640"),
    ("net.ipv4.tcp_wmem", "4096 262144 4194304"),
    ("net.ipv4.tcp_timestamps", "1"),
    ("net.ipv4.tcp_syn_retries", "5"),
    ("net.ipv4.tcp_synack_retries", "5"),
    ("net.ipv4.tcp_frto", "2"),
    ("net.ipv4.tcp_sack", "1"),
    ("net.ipv4.tcp_dsack", "1"),
    ("net.ipv4.tcp_fack", "0"),
    ("net.ipv4.tcp_reordering", "3"),
    ("net.ipv4.tcp_congestion_control", "cubic"),
    ("net.ipv4.tcp_slow_start_after_idle", "0"),
    ("net.ipv4.tcp_early_retrans", "4"),
    ("net.ipv4.tcp_recovery", "1"),
    ("net.ipv4.tcp_tso_win_divisor", "3"),
    ("net.ipv4.tcp_ecn", "0"),
    ("net.ipv4.tcp_pacing_ss_ratio", "200"),
    ("net.ipv4.tcp_pacing_ca_ratio", "120"),
    ("net.ipv4.tcp_notsent_lowat", "4294967295"),
    ("net.ipv4.tcp_fastopen", "0x70403"),
    ("net.ipv4.tcp_fastopen_key", "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4"),
    ("net.ipv4.tcp_syncookies", "1"),
];

/// The commands of `text`, in order.
pub(crate) fn read(text: &str) -> Vec<Command> {
    if let Some(counts) = counts(text) {
        return vec![counts];
    }
    simple_commands(&calculated(text)).iter().filter_map(|words| command(words)).collect()
}

/// `sockstat -4 -P tcp -s | grep packetdril | grep -c TIME_WAIT | grep 1`.
fn counts(text: &str) -> Option<Command> {
    let mut filters = text.split('|').map(|part| part.split_whitespace().collect::<Vec<_>>());
    filters.next().filter(|first| first.first() == Some(&"sockstat"))?;
    let mut filters = filters.peekable();
    let held = filters.next_if(|filter| filter[..] == ["grep", "packetdril"]).is_some();
    let (state, count) = (filters.next()?, filters.next()?);
    match (&state[..], &count[..], filters.next()) {
        (["grep", "-c", state], ["grep", count], None) => {
            Some(Command::Count { state: (*state).into(), count: (*count).into(), held })
        }
        _ => None,
    }
}

/// `text` with each `$((32*1024))` of numbers, `*` and `+` calculated; others stay.
fn calculated(text: &str) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("$((") {
        all += before;
        let found = inside.split_once("))").and_then(|(sum, behind)| Some((value(sum)?, behind)));
        if let Some((value, behind)) = found {
            all += &value.to_string();
            rest = behind;
        } else {
            all += "$((";
            rest = inside;
        }
    }
    all + rest
}

fn value(sum: &str) -> Option<u64> {
    let product = |product: &str| {
        let factors = product.split('*').map(|factor| factor.trim().parse::<u64>().ok());
        factors.reduce(|a, b| a?.checked_mul(b?))?
    };
    sum.split('+').map(product).reduce(|a, b| a?.checked_add(b?))?
}

/// What one simple command means.
fn command(words: &[String]) -> Option<Command> {
    let (program, arguments) = words.split_first()?;
    let whole = words.join(" ");
    let name = program.rsplit('/').next().unwrap_or_default();
    Some(match name {
        "sysctl" | "set_sysctls.py" => {
            let settings = arguments.iter().filter_map(|argument| argument.split_once('='));
            let settings = settings.map(|(name, value)| (setting(name), value.to_owned()));
            Command::Set(settings.collect())
        }
        "echo" => match arguments {
            [value, to, file] if to == ">" => set_file(file, value, whole),
            _ => Command::Aside(whole),
        },
        "ethtool" => offloads(arguments).unwrap_or(Command::Network(whole)),
        "ip" => device_mtu(arguments).unwrap_or(Command::Network(whole)),
        "dd" => file_of_zeros(arguments).unwrap_or(Command::Aside(whole)),
        "tc" => queue(arguments).unwrap_or(Command::Network(whole)),
        "tcpdrop" => match arguments {
            [option, state] if option == "-s" => Command::Drop(state.clone()),
            _ => Command::Unknown(whole),
        },
        "ifconfig" | "route" => Command::Network(whole),
        "sleep" | "true" | "nstat" | "cat" | "ss" | "rm" | "sync" | "netstat" | "date" => {
            Command::Aside(whole)
        }
        _ if name.starts_with("sysctl_restore_") => Command::Restore,
        _ if name.strip_suffix(".sh").is_some() => Command::File(program.clone()),
        _ => Command::Unknown(whole),
    })
}

/// `ethtool -K device tso off gso off` as settings `device.tso`, `device.gso`.
fn offloads(arguments: &[String]) -> Option<Command> {
    let [option, _device, pairs @ ..] = arguments else { return None };
    let pair = |pair: &[String]| (format!("device.{}", pair[0]), pair[1].clone());
    let whole = option == "-K" && !pairs.is_empty() && pairs.len().is_multiple_of(2);
    whole.then(|| Command::Set(pairs.chunks(2).map(pair).collect()))
}

/// `dd if=/dev/zero of=FILE bs=N count=M` as the setting `file.FILE`: its length in bytes.
fn file_of_zeros(arguments: &[String]) -> Option<Command> {
    let given = |name: &str| arguments.iter().find_map(|word| word.strip_prefix(name));
    let number = |name: &str| given(name)?.parse::<u64>().ok();
    let len = number("bs=")?.checked_mul(number("count=")?)?;
    (given("if=")? == "/dev/zero").then_some(())?;
    Some(set(format!("file.{}", given("of=")?), &len.to_string()))
}

/// `tc qdisc` with a queue that has room for no packet, or that is removed, as the setting
/// `device.drops`.
fn queue(arguments: &[String]) -> Option<Command> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let drops = match words[..] {
        ["qdisc", "add" | "replace", "dev", _, "root", "pfifo", "limit", "0"] => "1",
        ["qdisc", "del" | "delete", "dev", _, "root"] => "0",
        _ => return None,
    };
    Some(set("device.drops".into(), drops))
}

/// `ip link set dev tun0 mtu 9000` as the setting `device.mtu`.
fn device_mtu(arguments: &[String]) -> Option<Command> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["link", "set", "dev", _, "mtu", mtu] | ["link", "set", _, "mtu", mtu] => {
            Some(set("device.mtu".into(), mtu))
        }
        _ => None,
    }
}

fn set(name: String, value: &str) -> Command {
    Command::Set(vec![(name, value.to_owned())])
}

/// The name of a setting that is written with dots, with slashes or as the path of its file.
fn setting(written: &str) -> String {
    written.trim_start_matches("/proc/sys/").replace('/', ".")
}

fn set_file(file: &str, value: &str, whole: String) -> Command {
    if file.starts_with("/proc/sys/") {
        return set(setting(file), value);
    }
    match file.strip_prefix("/sys/module/").and_then(|rest| rest.split_once("/parameters/")) {
        Some((module, name)) => set(format!("{module}.{name}"), value),
        None => Command::Unknown(whole),
    }
}

/// The words of each simple command, quotes removed; what is redirected stays as `>` and a file
/// where it goes to a file, and is dropped where it goes to `/dev/null`.
fn simple_commands(text: &str) -> Vec<Vec<String>> {
    let mut words = Words::default();
    let mut rest = text.chars().peekable();
    let mut quote = None;
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('\''), c) => words.push(c),
            (_, '\\') => match rest.next() {
                Some('\n') | None => {}
                Some(escaped) => words.push(escaped),
            },
            (None, '"' | '\'') => {
                quote = Some(c);
                words.begin();
            }
            (None, '#') if words.word.is_none() => while rest.next_if(|c| *c != '\n').is_some() {},
            (None, '&') if rest.peek() == Some(&'>') => {}
            (None, '\n' | ';' | '&' | '|') => words.end_command(),
            (None, '>') => {
                // `2>` and `2>&1` concern the output, which is not read here.
                let of_errors = words.word.as_deref() == Some("2");
                if of_errors {
                    words.word = None;
                }
                while rest.next_if(|c| matches!(c, '>' | '&' | ' ')).is_some() {}
                words.end_word();
                words.command.push(">".into());
            }
            (None, c) if c.is_whitespace() => words.end_word(),
            (_, c) => words.push(c),
        }
    }
    words.end_command();
    words.commands
}

#[derive(Default)]
struct Words {
    commands: Vec<Vec<String>>,
    command: Vec<String>,
    word: Option<String>,
}

impl Words {
    /// A word begins, be it empty.
    fn begin(&mut self) {
        self.word.get_or_insert_default();
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        self.command.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        let mut command = std::mem::take(&mut self.command);
        while let Some(at) = command.iter().position(|word| word == ">") {
            let file = command.get(at + 1).map_or("", String::as_str);
            if matches!(file, "/dev/null" | "1" | "2" | "") {
                command.drain(at..(at + 2).min(command.len()));
            } else {
                break;
            }
        }
        if !command.is_empty() {
            self.commands.push(command);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(name: &str, value: &str) -> Command {
        set(name.into(), value)
    }

    fn both(first: (&str, &str), second: (&str, &str)) -> Command {
        Command::Set([first, second].map(|(name, value)| (name.into(), value.into())).into())
    }

    #[test]
    fn setting_in_any_notation_has_one_name() {
        for (text, expected) in [
            ("sysctl -q net.ipv4.tcp_sack=0", vec![to("net.ipv4.tcp_sack", "0")]),
            ("sysctl -w net/ipv4/tcp_sack=0", vec![to("net.ipv4.tcp_sack", "0")]),
            (
                "../common/set_sysctls.py /proc/sys/net/ipv4/tcp_wmem=\"1 2 3\" \\\n \
                 /proc/sys/net/ipv4/tcp_ecn=1",
                vec![both(("net.ipv4.tcp_wmem", "1 2 3"), ("net.ipv4.tcp_ecn", "1"))],
            ),
            (
                "echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect",
                vec![to("tcp_cubic.hystart_detect", "3")],
            ),
            (
                "ethtool -K tun0 gso off tso off",
                vec![both(("device.gso", "off"), ("device.tso", "off"))],
            ),
            ("dd if=/dev/zero of=/tmp/a bs=10 count=3 status=none", vec![to("file./tmp/a", "30")]),
            (
                "tc qdisc delete dev tun0 root 2>/dev/null ; tc qdisc add dev tun0 root pfifo limit 0",
                vec![to("device.drops", "0"), to("device.drops", "1")],
            ),
            ("ip link set dev tun0 mtu 9000", vec![to("device.mtu", "9000")]),
            ("echo 0 >/proc/sys/net/ipv4/tcp_ecn", vec![to("net.ipv4.tcp_ecn", "0")]),
            (
                "sysctl -q a.b=\"1 $((2*1024 + 1)) $((3 * x))\"",
                vec![to("a.b", "1 2049 $((3 * x))")],
            ),
            (
                "./defaults.sh\nsysctl -q a.b=1 c.d=2 > /dev/null 2>&1 || true # why",
                vec![
                    Command::File("./defaults.sh".into()),
                    both(("a.b", "1"), ("c.d", "2")),
                    Command::Aside("true".into()),
                ],
            ),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn shell_other_commands_are_classified() {
        for (text, expected) in [
            ("/tmp/sysctl_restore_${PPID}.sh", Command::Restore),
            (
                "tc qdisc add dev tun0 root fq",
                Command::Network("tc qdisc add dev tun0 root fq".into()),
            ),
            ("ip x flush all &> /dev/null", Command::Network("ip x flush all".into())),
            ("nstat > /dev/null", Command::Aside("nstat".into())),
            ("reboot now", Command::Unknown("reboot now".into())),
            // What decides whether a script passes is done or refused, never passed over.
            ("grep -q x", Command::Unknown("grep -q x".into())),
            ("[ -f a ]", Command::Unknown("[ -f a ]".into())),
        ] {
            assert_eq!(read(text), [expected], "{text}");
        }
        assert_eq!(read(" \n# nothing\n;"), []);
    }
}
