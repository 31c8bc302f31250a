use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{AddressFamily, SocketType, socket};
use tcplab_workload::{Outcome, SocketOptions, SocketRole, table};

use super::*;

fn fresh() -> OwnedFd {
    socket(AddressFamily::INET, SocketType::STREAM, None).unwrap()
}

fn asked(json: &str) -> SocketOptions {
    serde_json::from_str(json).unwrap()
}

fn record(records: &[OptionRecord], name: &str) -> OptionRecord {
    records.iter().find(|record| record.name == name).unwrap().clone()
}

/// The table writes the numbers down; the C library knows them too.
#[test]
fn option_numbers_match_c_library() {
    let known = [
        ("SO_REUSEADDR", libc::SO_REUSEADDR),
        ("SO_SNDBUF", libc::SO_SNDBUF),
        ("SO_RCVBUF", libc::SO_RCVBUF),
        ("SO_KEEPALIVE", libc::SO_KEEPALIVE),
        ("SO_OOBINLINE", libc::SO_OOBINLINE),
        ("SO_LINGER", libc::SO_LINGER),
        ("SO_REUSEPORT", libc::SO_REUSEPORT),
        ("SO_RCVLOWAT", libc::SO_RCVLOWAT),
        ("SO_RCVTIMEO", libc::SO_RCVTIMEO),
        ("SO_SNDTIMEO", libc::SO_SNDTIMEO),
        ("SO_SNDBUFFORCE", libc::SO_SNDBUFFORCE),
        ("SO_RCVBUFFORCE", libc::SO_RCVBUFFORCE),
        ("SO_MAX_PACING_RATE", libc::SO_MAX_PACING_RATE),
        ("SO_BUSY_POLL", libc::SO_BUSY_POLL),
        ("SO_ZEROCOPY", libc::SO_ZEROCOPY),
        ("TCP_NODELAY", libc::TCP_NODELAY),
        ("TCP_MAXSEG", libc::TCP_MAXSEG),
        ("TCP_CORK", libc::TCP_CORK),
        ("TCP_KEEPIDLE", libc::TCP_KEEPIDLE),
        ("TCP_KEEPINTVL", libc::TCP_KEEPINTVL),
        ("TCP_KEEPCNT", libc::TCP_KEEPCNT),
        ("TCP_SYNCNT", libc::TCP_SYNCNT),
        ("TCP_LINGER2", libc::TCP_LINGER2),
        ("TCP_DEFER_ACCEPT", libc::TCP_DEFER_ACCEPT),
        ("TCP_WINDOW_CLAMP", libc::TCP_WINDOW_CLAMP),
        ("TCP_QUICKACK", libc::TCP_QUICKACK),
        ("TCP_CONGESTION", libc::TCP_CONGESTION),
        ("TCP_USER_TIMEOUT", libc::TCP_USER_TIMEOUT),
        ("TCP_FASTOPEN", libc::TCP_FASTOPEN),
        ("TCP_NOTSENT_LOWAT", libc::TCP_NOTSENT_LOWAT),
        ("TCP_FASTOPEN_CONNECT", libc::TCP_FASTOPEN_CONNECT),
        ("TCP_INFO", libc::TCP_INFO),
        ("IP_TOS", libc::IP_TOS),
        ("IP_TTL", libc::IP_TTL),
        ("IP_MTU_DISCOVER", libc::IP_MTU_DISCOVER),
        ("IP_TRANSPARENT", libc::IP_TRANSPARENT),
        ("IPV6_V6ONLY", libc::IPV6_V6ONLY),
        ("IPV6_TCLASS", libc::IPV6_TCLASS),
        ("IPV6_UNICAST_HOPS", libc::IPV6_UNICAST_HOPS),
    ];
    for (name, number) in known {
        let info = table::options().find(|info| info.name == name).unwrap();
        assert_eq!(info.number, number, "{name}");
    }
    let levels = [
        (Level::Socket, libc::SOL_SOCKET),
        (Level::Tcp, libc::IPPROTO_TCP),
        (Level::Ip, libc::IPPROTO_IP),
        (Level::Ipv6, libc::IPPROTO_IPV6),
    ];
    for (level, number) in levels {
        assert_eq!(level.number(), number);
    }
}

/// All that a scenario can set is taken by this kernel and read back as asked for, or as the table
/// says; except what needs privileges or a module.
#[test]
fn options_are_read_back_as_set() {
    let socket = fresh();
    let all = asked(
        r#"{"reuseaddr": true, "reuseport": true, "sndbuf": "8 KiB", "rcvbuf": "16 KiB",
            "keepalive": true, "oobinline": true, "linger": "5 s", "rcvlowat": "2 kB",
            "rcvtimeo": "2500 ms", "sndtimeo": "1 s", "max_pacing_rate": "8 Mbit/s",
            "nodelay": true, "maxseg": 536, "cork": true, "keepidle": "20 s", "keepintvl": "3 s",
            "keepcnt": 4, "syncnt": 2, "linger2": "9 s", "defer_accept": "5 s",
            "window_clamp": "10 kB", "user_timeout": "1500 ms", "notsent_lowat": "16 KiB",
            "ip_tos": 187}"#,
    );
    let sheet = OptionSheet::set(socket.as_fd(), &all, SocketRole::Client).unwrap();
    let records = sheet.records(socket.as_fd());
    for (name, effective, outcome) in [
        ("reuseaddr", "on", Outcome::AsAsked),
        ("reuseport", "on", Outcome::AsAsked),
        ("sndbuf", "16384 B", Outcome::Doubled),
        ("rcvbuf", "32768 B", Outcome::Doubled),
        ("keepalive", "on", Outcome::AsAsked),
        ("oobinline", "on", Outcome::AsAsked),
        ("linger", "5 s", Outcome::AsAsked),
        ("rcvlowat", "2000 B", Outcome::AsAsked),
        ("rcvtimeo", "2.5 s", Outcome::AsAsked),
        ("sndtimeo", "1 s", Outcome::AsAsked),
        ("max_pacing_rate", "8 Mbit/s", Outcome::AsAsked),
        ("nodelay", "on", Outcome::AsAsked),
        ("maxseg", "536", Outcome::AsAsked),
        ("cork", "on", Outcome::AsAsked),
        ("keepidle", "20 s", Outcome::AsAsked),
        ("keepintvl", "3 s", Outcome::AsAsked),
        ("keepcnt", "4", Outcome::AsAsked),
        ("syncnt", "2", Outcome::AsAsked),
        ("linger2", "9 s", Outcome::AsAsked),
        // 1 + 2 + 4 s (`secs_to_retrans`).
        ("defer_accept", "7 s", Outcome::Adjusted),
        ("window_clamp", "10000 B", Outcome::AsAsked),
        ("user_timeout", "1.5 s", Outcome::AsAsked),
        ("notsent_lowat", "16384 B", Outcome::AsAsked),
        // The two bits of ECN are taken off (`ip_sock_set_tos`).
        ("ip_tos", "184", Outcome::Adjusted),
    ] {
        let found = record(&records, name);
        assert_eq!((found.effective.as_str(), found.outcome), (effective, outcome), "{name}");
        assert!(found.is_remarkable(), "{name}");
        assert!(found.requested.is_some() && found.before.is_some() && found.set.is_some());
    }
}

#[test]
fn refused_options_fail_or_are_recorded() {
    let socket = fresh();
    let text = r#"{"congestion": "no-such", "keepalive": true}"#;
    let error = OptionSheet::set(socket.as_fd(), &asked(text), SocketRole::Client).unwrap_err();
    let why = error.to_string();
    let expected =
        "the client's socket does not take congestion = no-such: ENOENT: this kernel has loaded ";
    assert!(why.starts_with(expected) && why.contains("reno"), "{why}");
    let text = r#"{"congestion": "no-such", "keepalive": true, "if_refused": "record"}"#;
    let mut sheet = OptionSheet::set(socket.as_fd(), &asked(text), SocketRole::Client).unwrap();
    sheet.connected(socket.as_fd()).unwrap();
    let records = sheet.records(socket.as_fd());
    let congestion = record(&records, "congestion");
    assert_eq!(congestion.outcome, Outcome::Refused);
    let because = congestion.because.as_deref().unwrap();
    assert!(because.starts_with("ENOENT: this kernel has loaded "), "{because}");
    assert!(because.contains("reno"), "{because}");
    assert_eq!(Some(&congestion.effective), congestion.before.as_ref());
    // The others are still set.
    assert_eq!(record(&records, "keepalive").effective, "on");
}

/// `tcp_rcv_space_adjust` raises a clamp: the record says so, whenever that was.
#[test]
fn record_of_option_that_changes_later_says_why() {
    let socket = fresh();
    let sheet =
        OptionSheet::set(socket.as_fd(), &asked(r#"{"window_clamp": "5 kB"}"#), SocketRole::Client);
    let sheet = sheet.unwrap();
    let clamp = || record(&sheet.records(socket.as_fd()), "window_clamp");
    assert_eq!((clamp().effective.as_str(), clamp().because), ("5000 B", None));
    set(&socket, "TCP_WINDOW_CLAMP", 9_000).unwrap();
    assert_eq!(clamp().effective, "9000 B");
    assert!(clamp().because.unwrap().contains("autotunes"));
}

/// Sets an option of the table to a number.
fn set(socket: &OwnedFd, name: &str, value: u32) -> io::Result<()> {
    let info = table::options().find(|info| info.name == name).unwrap();
    let (level, number) = (info.level.number(), info.number);
    sys::set_option_bytes(socket.as_fd(), level, number, &value.to_ne_bytes())
}

#[test]
fn kernel_takes_bounds_of_table() {
    for (name, value) in [
        ("TCP_DEFER_ACCEPT", 0),
        ("TCP_WINDOW_CLAMP", 0),
        ("TCP_TX_DELAY", (1 << 28) - 1),
        ("IP_TTL", 1),
    ] {
        set(&fresh(), name, value).unwrap_or_else(|error| panic!("{name} = {value}: {error}"));
    }
    for (name, value) in [("TCP_TX_DELAY", 1 << 28), ("IP_TTL", 0)] {
        assert!(set(&fresh(), name, value).is_err(), "{name} = {value}");
    }
    // The backlog does not limit it, `net.core.somaxconn` does.
    let socket = fresh();
    rustix::net::listen(&socket, 1).unwrap();
    set(&socket, "TCP_FASTOPEN", 1_000).unwrap();
    let info = table::by_key("fastopen").unwrap();
    assert_eq!(read(socket.as_fd(), info).unwrap(), OptionValue::Number(1_000));
}

#[test]
fn this_machine_is_surveyed() {
    let states = survey().unwrap();
    let state = |name: &str| states.iter().find(|state| state.info.name == name).unwrap();
    assert_eq!(state("SO_KEEPALIVE").tcp, Reading::Value("off".into()));
    assert_eq!(state("SO_TYPE").tcp, Reading::Value("1".into()));
    assert_eq!(state("SO_TYPE").udp, Some(Reading::Value("2".into())));
    assert_eq!(state("SO_MAX_PACING_RATE").tcp, Reading::Value("unlimited".into()));
    assert_eq!(state("TCP_MD5SIG").tcp, Reading::SetOnly);
    assert_eq!(state("TCP_NODELAY").udp, None);
    let receive = &state("SO_RCVBUF").sysctls;
    assert_eq!(receive.iter().map(|it| it.is_limit).collect::<Vec<_>>(), [false, true]);
    // The default is what the setting says (`tcp_init_sock`).
    let value = receive[0].value.as_ref().unwrap().split(' ').nth(1).unwrap().to_owned();
    assert_eq!(state("SO_RCVBUF").tcp, Reading::Value(format!("{value} B")));
}
