//! Models that meet as guests: their trials are those of the world of models.

mod hosts;
mod recorded;
mod two_links;

use recorded::{Packet, Recorded, run_as_guests, run_models, twice};
use tcplab_recording::AppLog;
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::{FrameView, TcpFlags};
use tcplab_workload::AppReport;

const PATH: &str = "[path]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"50 packets\"\n";

/// The path with another key.
fn path(key: &str) -> String {
    format!("{PATH}{key}\n")
}

/// Whether both recordings have the same packets, verdicts, applications and settings.
#[track_caller]
fn assert_same(text: &str) {
    let [models, guests] = twice(text);
    for end in Endpoint::BOTH {
        let [models, guests] = [&models, &guests].map(|it| it.packets(end));
        let same = models.iter().zip(guests).take_while(|(one, other)| one == other).count();
        let counts = [models.len(), guests.len()];
        assert_eq!([same; 2], counts, "packets at the {}\n{text}", end.name());
    }
    let same = models.truth.iter().zip(&guests.truth).take_while(|(one, other)| one == other);
    assert_eq!([same.count(); 2], [models.truth.len(), guests.truth.len()], "verdicts\n{text}");
    assert_eq!(models.app, guests.app, "{text}");
    assert_eq!(models.records, guests.records, "{text}");
    // The world of guests waits until nothing has moved for a while.
    assert!(guests.samples.starts_with(&models.samples), "{text}");
    assert!(guests.end >= models.end, "{text}");
}

#[test]
fn workloads_run_as_among_models() {
    let lossy = path("loss = \"1 %\"");
    for workload in [
        "upload = \"1 MB\"",
        "download = \"1 MB\"",
        "requests = { count = 20, request = \"100 B\", response = \"20 kB\" }",
        "keystrokes = { count = 20, every = \"100 ms\" }",
        "upload = \"100 kB\"\nclose = \"at-once\"",
        "client = [\"write 20 kB\", \"sleep 1 s\", \"vanish\"]\nserver = [\"read 9 kB\", \"sleep 1 s\"]",
    ] {
        assert_same(&format!("{lossy}[workload]\n{workload}\n[limits]\ntrial = \"20 s\"\n"));
    }
}

#[test]
fn paths_treat_packets_as_among_models() {
    for path in [
        path(
            "corrupt = \"1 %\"\nduplicate = \"1 %\"\nreorder = { probability = \"1 %\", gap = 3 }",
        ),
        path("jitter = \"3 ms\""),
        path("forward.mtu = \"1400 B\""),
        path("mark = \"2 %\""),
        "[path]\ndelay = \"10 ms\"\n".into(),
        "[path]\nrate = \"10 Mbit/s\"\n".into(),
    ] {
        assert_same(&format!("{path}[workload]\nupload = \"300 kB\"\n"));
    }
}

/// Packets that routers may cut arrive in fragments.
#[test]
fn fragments_arrive_as_among_models() {
    let sysctl = "sysctl = { \"net.ipv4.ip_no_pmtu_disc\" = \"1\" }";
    let mtu = path("forward.mtu = \"1400 B\"");
    let text = format!("{mtu}[workload]\nupload = \"100 kB\"\n[client]\n{sysctl}\n");
    assert_same(&text);
    let guests = Recorded::of(&text, run_as_guests);
    let more = |packet: &Packet| packet.bytes[6] & 0x20 != 0;
    assert!(guests.packets(Endpoint::Server).iter().filter(|it| more(it)).count() > 50);
}

#[test]
fn interruptions_meet_each_congestion_control_as_among_models() {
    let path =
        path("interruption = { every = \"1 s\", lasting = \"200 ms\", offset = \"151 ms\" }");
    for control in tcplab_stack::congestion::NAMES {
        let client = format!("[client]\nsocket.congestion = \"{control}\"\n");
        assert_same(&format!("{path}[workload]\nupload = \"500 kB\"\n{client}"));
    }
}

#[test]
fn flows_begin_at_their_times_as_among_models() {
    let flows = "[flow.a]\nstart = \"300 ms\"\n[flow.b]\nstart = \"350 ms\"\ncount = 2\n\
                 client.socket.congestion = \"reno\"\nworkload = { download = \"200 kB\" }\n";
    for path in [path("loss = \"1 %\""), path("corrupt = \"1 %\"")] {
        assert_same(&format!("{path}[workload]\nupload = \"200 kB\"\n{flows}"));
    }
}

#[test]
fn absent_servers_refuse_as_among_models() {
    for connect in ["closed", "silent"] {
        let limits = "[sampling]\ntcp_info = \"1 s\"\n[limits]\ntrial = \"200 s\"\n";
        assert_same(&format!("{PATH}[workload]\nconnect = \"{connect}\"\n{limits}"));
    }
}

#[test]
fn slow_machine_with_few_buffers_works_as_among_models() {
    let model = "stack = \"model:netburner\"\n\
                 model = { host = { pool = 30, processing = \"1 ms\" } }";
    for workload in ["upload = \"300 kB\"", "download = \"300 kB\""] {
        assert_same(&format!("{PATH}[workload]\n{workload}\n[server]\n{model}\n"));
    }
}

/// Orders take as long as the path, here longer than the applications have for their last words.
#[test]
fn time_runs_out_as_among_models() {
    for delay in ["10 ms", "2 s"] {
        let path = PATH.replace("10 ms", delay);
        let late = "upload = \"90 MB\"\nmay_fail = true\n[limits]\ntrial = \"9 s\"\n";
        assert_same(&format!("{path}[workload]\n{late}"));
    }
}

/// The client's port of a connection whose SYN has left, and when.
fn opened(recorded: &Recorded) -> Vec<(u16, Instant)> {
    let sent = recorded.packets(Endpoint::Client).iter().filter(|packet| packet.is_sent);
    let opened = sent.filter_map(|packet| {
        let tcp = FrameView::of_packet(&packet.bytes).tcp()?;
        tcp.flags().contains(TcpFlags::SYN).then_some((tcp.src_port(), packet.at))
    });
    opened.collect()
}

/// Whether a packet arrived at an end just then.
fn arrives(recorded: &Recorded, end: Endpoint, at: Instant) -> bool {
    recorded.packets(end).iter().any(|packet| !packet.is_sent && packet.at == at)
}

/// When `accept` was called is known to the server alone.
fn without_accepts(mut app: AppLog) -> AppLog {
    for row in app.server.log.iter_mut().filter(|row| row.call == "accept") {
        (row.began, row.ended) = (Instant::ZERO, Instant::ZERO);
        (row.took, row.longest) = (Span::ZERO, Span::ZERO);
    }
    app
}

/// A client that closes last knows when its connection is over, at both ends.
#[test]
fn waiting_downloads_begin_as_among_models() {
    let waiting = "download = \"30 kB\"\nconnections = { total = 6, at_once = 2 }\n";
    let [models, guests] = twice(&format!("{PATH}[workload]\n{waiting}"));
    assert!(models.captures == guests.captures);
    assert!(models.truth == guests.truth);
    assert_eq!(without_accepts(models.app), without_accepts(guests.app));
}

/// A client that closes first is done when the server's FIN has come; the world of models waits
/// until the client's last acknowledgement is at the server.
#[test]
fn waiting_uploads_begin_when_client_is_done() {
    let waiting = "upload = \"30 kB\"\nconnections = { total = 3, at_once = 1 }\n";
    let [models, guests] = twice(&format!("{PATH}[workload]\n{waiting}"));
    let [slow, quick] = [opened(&models), opened(&guests)];
    assert_eq!((slow.len(), quick.len(), slow[0]), (3, 3, quick[0]));
    for ((_, slow), (_, quick)) in slow[1..].iter().zip(&quick[1..]) {
        assert!(quick < slow);
        assert!(arrives(&models, Endpoint::Server, *slow));
        assert!(arrives(&guests, Endpoint::Client, *quick));
    }
    for end in Endpoint::BOTH {
        assert_eq!(models.packets(end).len(), guests.packets(end).len());
    }
}

/// The next connection begins with the path MTU that the first found.
#[test]
fn connections_of_an_end_share_the_path_mtu() {
    let path = path("forward.mtu = \"1400 B\"");
    let waiting = "upload = \"30 kB\"\nconnections = { total = 2, at_once = 1 }\n";
    let [models, guests] = twice(&format!("{path}[workload]\n{waiting}"));
    let too_large = |recorded: &Recorded| {
        let sent = recorded.packets(Endpoint::Client).iter();
        sent.filter(|packet| packet.bytes.len() > 1_400).map(|packet| packet.at).collect::<Vec<_>>()
    };
    assert!(!too_large(&models).is_empty());
    assert_eq!(too_large(&models), too_large(&guests));
}

/// Everything that there is of flows.
const MANY: &str = r#"
[workload]
upload = "1 MB"
[flow.first]
[flow.second]
start = "500 ms"
count = 2
client.socket.congestion = "reno"
workload = { download = "500 kB" }
[flow.cross]
background = true
traffic.bulk = "upload"
[flow.chat]
background = true
traffic.on_off = { rate = "500 kbit/s", on = { exponential = "200 ms" }, off = "300 ms" }
[flow.web]
start = "200 ms"
background = true
traffic.arrivals = { every = { exponential = "100 ms" }, size = { pareto = { mean = "20 kB", shape = 1.3 } } }
"#;

/// The sender's state after each acknowledgement, and no sooner than after the next.
#[test]
fn each_acknowledgement_has_a_sample() {
    let text =
        path("loss = \"1 %\"") + "[workload]\nupload = \"300 kB\"\n[sampling]\neach_ack = true\n";
    assert_same(&text);
    let [models, _] = twice(&text);
    let samples = models.samples.iter().filter(|it| it.endpoint == Endpoint::Client);
    let known: Vec<(Instant, u64)> = samples.map(|it| (it.at, it.bytes_acked)).collect();
    let received = models.packets(Endpoint::Client).iter().filter(|packet| !packet.is_sent);
    let mut acks = received.map(|it| (it.at, FrameView::of_packet(&it.bytes).tcp().unwrap().ack()));
    // Of the segment that opens the connection.
    let (_, first) = acks.next().unwrap();
    let mut highest = 0;
    for (at, ack) in acks {
        let acknowledged = ack.distance_from(first);
        if acknowledged > highest {
            highest = acknowledged;
            assert!(known.contains(&(at, u64::from(acknowledged.cast_unsigned()))), "{at:?}");
        }
    }
    assert!(highest >= 300_000);
}

/// Of a trial with flows in the background, all until the end of the shorter one, which does not
/// wait until the rest of the others has crossed the path.
#[test]
fn flows_in_the_background_run_as_among_models() {
    for path in [path("loss = \"0.5 %\""), path("duplicate = \"1 %\"")] {
        let [models, guests] = twice(&format!("{path}{MANY}"));
        assert!(guests.end > models.end);
        for end in Endpoint::BOTH {
            assert!(guests.packets(end).starts_with(models.packets(end)), "{}", end.name());
        }
        let until = models.end;
        let decided = |recorded: &Recorded| {
            let mut rows = recorded.truth.clone();
            rows.retain(|row| row.verdict.left < until);
            // Its place in the capture may be another within an instant.
            for row in &mut rows {
                row.frame = None;
            }
            rows
        };
        assert!(decided(&models) == decided(&guests));
        assert!(guests.samples.starts_with(&models.samples));
        for (one, other) in models.app.flows.iter().zip(&guests.app.flows) {
            let is_same = one == other;
            assert!(is_same || one.background, "{}", one.name);
            assert_eq!(one.connections.is_empty(), other.connections.is_empty());
        }
        let cross = guests.app.flows.iter().find(|flow| flow.name == "cross").unwrap();
        let last = |report: &AppReport| report.log.last().unwrap().result.clone();
        let cross = &cross.connections[0];
        assert_eq!([last(&cross.client), last(&cross.server)], ["waiting", "waiting"]);
    }
}

/// The server learns later that nobody will come.
#[test]
fn datagrams_are_exchanged_as_among_models() {
    for more in ["20", "3, server = \"closed\"", "3, server = \"silent\""] {
        let path = path("loss = \"5 %\"");
        let text = format!("{path}[workload]\ndatagrams = {{ count = {more} }}\n");
        let [models, mut guests] = twice(&text);
        assert!(models.captures == guests.captures, "{text}");
        assert!(models.truth == guests.truth, "{text}");
        assert_eq!(models.records, guests.records, "{text}");
        let last = guests.app.server.log.iter_mut().rev().take(2);
        for (late, row) in last.zip(models.app.server.log.iter().rev()) {
            assert!(late.ended >= row.ended);
            *late = row.clone();
        }
        guests.app.server.finished = models.app.server.finished;
        assert_eq!(models.app, guests.app, "{text}");
    }
}

#[test]
fn trials_fail_as_among_models() {
    let failures = |text: &str| {
        let place = || tempfile::tempdir().unwrap();
        let models = run_models(text, place().path()).unwrap_err().to_string();
        [models, run_as_guests(text, place().path()).unwrap_err().to_string()]
    };
    let dark = path("blackhole = \"500 ms\"");
    let rare = "[sampling]\ntcp_info = \"1 s\"\n[limits]\ntrial = \"1 h\"\n";
    let [models, guests] = failures(&format!("{dark}[workload]\nupload = \"3 MB\"\n{rare}"));
    let why = "connection was lost: connection timed out (ETIMEDOUT)";
    assert_eq!(models, format!("the client's {why}"));
    assert_eq!(guests, format!("the client: its {why}"));
    let [models, guests] =
        failures(&format!("{PATH}[workload]\nupload = \"3 MB\"\n[limits]\ntrial = \"1 s\"\n"));
    assert_eq!(models, guests);
    assert!(models.starts_with("not done after 1 s: 1"), "{models}");
}

#[test]
fn recordings_of_one_seed_are_the_same() {
    let text = format!("{}{MANY}", path("loss = \"1 %\""));
    let [one, other] = [(); 2].map(|()| Recorded::of(&text, run_as_guests));
    assert!(one.captures == other.captures && one.truth == other.truth && one.app == other.app);
}
