//! What a reader sees of each thing that can be wrong with a file.

use std::fmt::Write as _;

use miette::{GraphicalReportHandler, GraphicalTheme};
use tcplab_scenario::{PathFile, Scenario, ScenarioError};

/// A good file; each test spoils one thing in it.
const GOOD: &str = r#"title = "10 MB upload"

[path]
rate  = "5 Mbit/s"
delay = "5 ms"
queue = "512 packets"
interruption = { every = "5 s", lasting = "200 ms" }

[client]
stack  = "linux"
socket = { nodelay = true }

[server]
sysctl = { "net.ipv4.tcp_rmem" = "4096 131072 903680" }

[workload]
upload = "10 MB"

[matrix]
"client.socket.congestion" = ["reno", "cubic"]

[repeat]
trials = 5

[[expect]]
claim   = "it is quick"
where   = { "client.socket.congestion" = "reno" }
metric  = "transfer_time"
at_most = "30 s"
"#;

/// Its section on the path.
const PATH: &str = r#"[path]
rate  = "5 Mbit/s"
delay = "5 ms"
queue = "512 packets"
interruption = { every = "5 s", lasting = "200 ms" }
"#;

/// The good file with `old` replaced, which must be there exactly once.
fn spoiled(old: &str, new: &str) -> String {
    assert_eq!(GOOD.matches(old).count(), 1, "{old}");
    GOOD.replace(old, new)
}

fn rendered(source: &str) -> String {
    match Scenario::parse(source, "example") {
        Ok(_) => "no error\n".into(),
        Err(error) => page(&error),
    }
}

fn page(error: &ScenarioError) -> String {
    let mut page = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(100)
        .without_syntax_highlighting()
        .render_report(&mut page, error)
        .unwrap();
    page
}

/// One snapshot of several spoilt files.
fn check(name: &str, spoils: &[(&str, &str)]) {
    let shown = spoils.iter().map(|(old, new)| {
        let shown = rendered(&spoiled(old, new));
        assert_ne!(shown, "no error\n", "{old} -> {new}");
        shown
    });
    insta::assert_snapshot!(name, one_below_the_other(shown));
}

fn one_below_the_other(pages: impl Iterator<Item = String>) -> String {
    let mut all = String::new();
    for page in pages {
        let lines: Vec<&str> = page.lines().map(str::trim_end).collect();
        writeln!(all, "{}\n", lines.join("\n")).unwrap();
    }
    all
}

#[test]
fn good_file_is_valid() {
    assert_eq!(rendered(GOOD), "no error\n");
}

#[test]
fn not_toml() {
    check(
        "not_toml",
        &[
            ("delay = \"5 ms\"", "delay = 5 ms"),
            ("[workload]", "[workload"),
            ("title = \"10 MB upload\"", "title = \"10 MB upload"),
            ("delay = \"5 ms\"", "delay = \"5 ms\"\ndelay = \"6 ms\""),
        ],
    );
}

#[test]
fn unknown_keys() {
    check(
        "unknown_keys",
        &[
            ("delay = \"5 ms\"", "dealy = \"5 ms\""),
            ("delay = \"5 ms\"", "colour = \"red\""),
            ("[repeat]", "[repeats]"),
            ("{ nodelay = true }", "{ no_delay = true }"),
            ("lasting =", "lasts ="),
            ("at_most =", "atmost ="),
        ],
    );
}

#[test]
fn missing_keys() {
    check(
        "missing_keys",
        &[
            ("title = \"10 MB upload\"", "reference = \"a book\""),
            ("[workload]\nupload = \"10 MB\"\n", ""),
            (PATH, ""),
            ("upload = \"10 MB\"", "write_size = \"64 KiB\""),
            (", lasting = \"200 ms\"", ""),
            ("metric  = \"transfer_time\"\n", ""),
        ],
    );
}

#[test]
fn wrong_types_and_units() {
    check(
        "wrong_types_and_units",
        &[
            ("\"5 ms\"", "5"),
            ("\"5 ms\"", "\"5 Mbit/s\""),
            ("\"5 Mbit/s\"", "\"-5 Mbit/s\""),
            ("\"5 ms\"", "\"soon\""),
            ("\"5 ms\"", "[\"5 ms\"]"),
            ("\"512 packets\"", "\"512\""),
            ("nodelay = true", "nodelay = \"yes\""),
            ("trials = 5", "trials = -5"),
            ("trials = 5", "trials = \"five\""),
            ("title = \"10 MB upload\"", "title = 10"),
            ("[workload]\nupload", "[[workload]]\nupload"),
            ("\"4096 131072 903680\"", "true"),
        ],
    );
}

#[test]
fn impossible_values() {
    check(
        "impossible_values",
        &[
            ("\"5 Mbit/s\"", "\"0 bit/s\""),
            ("rate  = \"5 Mbit/s\"\n", ""),
            ("lasting = \"200 ms\"", "lasting = \"6 s\""),
            ("upload = \"10 MB\"", "upload = \"10 MB\"\ndownload = \"10 MB\""),
            ("upload = \"10 MB\"", "upload = \"0 B\""),
            ("upload = \"10 MB\"", "upload = \"10 MB\"\nwrite_size = \"17 MiB\""),
            ("nodelay = true", "maxseg = 20"),
            ("nodelay = true", "rcvbuf = \"4 GB\""),
            ("trials = 5", "trials = 0"),
            ("[repeat]", "[sampling]\ntcp_info = \"1 µs\"\n[repeat]"),
            ("[repeat]", "[limits]\ntrial = \"0 s\"\n[repeat]"),
        ],
    );
}

#[test]
fn programs() {
    let program = |text: &'static str| ("upload = \"10 MB\"", text);
    check(
        "programs",
        &[
            program("client = [\"write 100 B\", \"wait 3 s\"]"),
            program("client = [\"write 100\"]"),
            program("client = [\"write 100 B\",\n  \"read to 5 B\"]"),
            program("client = [\"accept\"]"),
            program("server = [\"read to end\", \"close\", \"write 1 B\"]"),
            program("client = [{ repeat = 5, steps = [\"close\"] }]"),
            program("client = [{ repeat = 0, steps = [\"write 1 B\"] }]"),
            program("client = [{ times = 5, steps = [\"write 1 B\"] }]"),
            program("client = \"write 1 B\""),
            program("connect = \"nowhere\""),
            program("connect = \"silent\"\nthink = \"1 s\""),
            program("upload = \"10 MB\"\nclient = [\"close\"]"),
            program("upload = \"10 MB\"\nurgent_at = \"10 MB\""),
            program("keystrokes = { count = 0, every = \"100 ms\" }"),
            program("requests = { count = 5, request = \"9 B\", response = \"0 B\" }"),
            program(
                "requests = { count = 5, request = \"9 B\", response = \"9 B\", pipelined = 6 }",
            ),
            ("\"transfer_time\"", "\"transfer_time\"\nendpoint = \"client\""),
            ("\"transfer_time\"", "\"call.duration\"\ncall = \"clsoe\""),
            ("\"transfer_time\"", "\"call.duration\"\nnth = 0"),
            ("\"transfer_time\"", "\"app.read\"\nendpoint = \"clinet\""),
            ("\"transfer_time\"\nat_most = \"30 s\"", "\"call.result\"\nequals = \"EAGIAN\""),
        ],
    );
}

#[test]
fn datagrams() {
    let of = |text: &'static str| ("upload = \"10 MB\"", text);
    check(
        "datagrams",
        &[
            of("datagrams = { }"),
            of("datagrams = { count = 5, retries = 11 }"),
            of("datagrams = { count = 5, request = \"1500 B\" }"),
            of("datagrams = { count = 5, every = \"1 s\", think = \"1 s\" }"),
            of("datagrams = { count = 5, server = \"gone\" }"),
            of("upload = \"10 MB\"\ndatagrams = { count = 5 }"),
            of("datagrams = { count = 5 }"),
        ],
    );
}

#[test]
fn stacks_and_sysctls() {
    check(
        "stacks_and_sysctls",
        &[
            ("\"linux\"", "\"model:windows-95\""),
            ("\"linux\"", "\"windows\""),
            ("\"net.ipv4.tcp_rmem\" =", "\"kernel.hostname\" ="),
            ("\"net.ipv4.tcp_rmem\" =", "net.ipv4.tcp_rmem ="),
            ("\"net.ipv4.tcp_rmem\" =", "\"net.../../kernel\" ="),
            ("\"4096 131072 903680\"", "\"\""),
        ],
    );
}

#[test]
fn matrices() {
    check(
        "matrices",
        &[
            ("\"client.socket.congestion\" = [", "\"client.socket.congetsion\" = ["),
            ("\"client.socket.congestion\" = [", "\"cleint.socket.congestion\" = ["),
            ("\"client.socket.congestion\" = [", "\"client.sokcet.congestion\" = ["),
            ("\"client.socket.congestion\" = [", "\"server.socket.congetsion\" = ["),
            ("\"client.socket.congestion\" = [", "client.socket.congestion = ["),
            ("\"client.socket.congestion\" = [", "\"client..congestion\" = ["),
            ("\"client.socket.congestion\" = [", "\"repeat.trials\" = ["),
            ("[\"reno\", \"cubic\"]", "\"reno\""),
            ("[\"reno\", \"cubic\"]", "[]"),
            ("[\"reno\", \"cubic\"]", "[\"reno\", \"reno\"]"),
            ("[\"reno\", \"cubic\"]", "[\"reno\", 5]"),
            ("[\"reno\", \"cubic\"]", "[\"reno\", \"not a name\"]"),
            ("\"cubic\"]\n", "\"cubic\"]\n\"path.delay\" = [\"5 ms\", \"10 s/h\"]\n"),
            ("\"cubic\"]\n", "\"cubic\"]\n\"path.rate\" = [\"5 Mbit/s\", \"0 bit/s\"]\n"),
            ("\"cubic\"]\n", "\"cubic\"]\n\"path.queue.codel\" = [\"5 ms\"]\n"),
            ("\"cubic\"]\n", "\"cubic\"]\n'client . socket . congestion' = [\"bbr\"]\n"),
            ("\"cubic\"]\n", "\"cubic\"]\nvariant = { a = \"client.stack\" }\n"),
            ("\"cubic\"]\n", "\"cubic\"]\nvariant = { a = { \"client.sokcet\" = 1 } }\n"),
            (
                "\"cubic\"]\n",
                "\"cubic\"]\nv = { a = { \"client.socket.congestion\" = \"bbr\" } }\n",
            ),
            ("\"cubic\"]\n", "\"cubic\"]\nv = { a = { \"client.model.host.tack\" = \"4 ms\" } }\n"),
            ("\"cubic\"]\n", "\"cubic\"]\nv = { a = { \"client.model.acks.every\" = 1 } }\n"),
        ],
    );
}

/// The keys are those of a scenario's `[path]`, and so is what is said of them.
#[test]
fn path_files() {
    let files = [
        "rate = \"5 Mbit/s\"\nqueue = \"2 B\"\n",
        "[forward]\nrate = \"5 MB\"\n",
        "delay = \"5 ms\"\n[[stages]]\nrate = \"0 bit/s\"\n",
        "interruption = { every = \"5 s\", lasting = \"6 s\" }\n",
        "interruption = { every = \"5 s\" }\n",
        "backend = \"netm\"\n",
        "colour = \"red\"\n",
        // A scenario is read for its path.
        "title = \"x\"\n[path]\nrate = \"5 Mbit/s\"\nqueue = \"2 B\"\n",
    ];
    let shown = files.iter().map(|source| {
        let mut no_files = |name: &str| Err(format!("there is no file `{name}`"));
        page(&PathFile::parse(source, "example", &mut no_files).unwrap_err())
    });
    insta::assert_snapshot!("path_files", one_below_the_other(shown));
}

#[test]
fn too_many_cases() {
    let levels: Vec<String> = (0..40).map(|n| format!("\"{n} ms\"")).collect();
    let levels = levels.join(", ");
    let more = format!("\"cubic\"]\n\"path.delay\" = [{levels}]\n\"limits.trial\" = [{levels}]\n");
    let page = rendered(&spoiled("\"cubic\"]\n", &more));
    assert!(page.contains("the matrix has more than 1000 cases"), "{page}");
}

#[test]
fn designs() {
    let with = |rest: &'static str| ("[repeat]", rest);
    let more = "\"cubic\"]\n";
    check(
        "designs",
        &[
            with("[design]\npars = []\n[repeat]"),
            with("[design]\npairs = [[\"client.socket.congestion\"]]\n[repeat]"),
            with("[design]\npairs = [[\"client.socket.congestion\", \"path.rate\"]]\n[repeat]"),
            (
                more,
                "\"cubic\"]\n\"path.delay\" = [\"1 ms\"]\n[design]\n\
                 pairs = [[\"client.socket.congestion\", \"path.delay\"]]\n",
            ),
            (
                more,
                "\"cubic\"]\n\"path.delay\" = [\"1 ms\", \"2 ms\"]\n[design]\n\
                 pairs = [[\"client.socket.congestion\", \"path.delay\"]]\n\
                 exclude = [\n  { \"client.socket.congestion\" = \"reno\", \"path.delay\" = \"2 ms\" },\n]\n",
            ),
            with("[design]\nexclude = [{ }]\n[repeat]"),
            with("[design]\nexclude = [{ \"client.socket.congestion\" = \"bbr\" }]\n[repeat]"),
            with("[design]\nexclude = [{ \"path.delay\" = \"5 ms\" }]\n[repeat]"),
            with(
                "[design]\nexclude = [{ \"client.socket.congestion\" = [\"reno\", \"cubic\"] }]\n[repeat]",
            ),
            with("[design]\nexclude = [{ \"client.socket.congestion\" = \"reno\" }]\n[repeat]"),
            with("[design]\nsample = { latin_hypercube = 3 }\n[repeat]"),
            with("[design]\nsample = { latin_hypercube = 1, random = 1 }\n[repeat]"),
            with("[design]\nsample = { random = 0 }\n[repeat]"),
            with("[design]\nsample = 40\n[repeat]"),
        ],
    );
}

#[test]
fn repetition() {
    let until = |rest: &'static str| ("trials = 5", rest);
    check(
        "repetition",
        &[
            until("trials = 5\nuntil = { ci = \"2 %\", max = 50 }"),
            until("until = { ci = \"2 %\" }"),
            until("until = { ci = \"0 %\", max = 50 }"),
            until("until = { ci = 2, max = 50 }"),
            until("until = { ci = \"2 %\", max = 2 }"),
            until("until = { ci = \"2 %\", max = 50, min = 51 }"),
            until("until = { ci = \"2 %\", max = 50, metric = \"episode.duration\" }"),
            until("warm_up = 100"),
            until("[recording]\nkeep = \"some\""),
            until("[recording]\nsnaplen = \"20 B\""),
        ],
    );
}

#[test]
fn claims() {
    check(
        "claims",
        &[
            ("\"transfer_time\"", "\"transfertime\""),
            ("\"transfer_time\"", "\"happiness\""),
            ("at_most = \"30 s\"", ""),
            ("\"30 s\"", "30"),
            ("\"30 s\"", "\"30 Mbit/s\""),
            ("\"30 s\"", "true"),
            ("at_most = \"30 s\"", "at_most = \"30 s\"\nat_least = \"31 s\""),
            ("at_most = \"30 s\"", "one_of = []"),
            ("at_most = \"30 s\"", "of = \"average\"\nat_most = \"30 s\""),
            ("at_most = \"30 s\"", "of = \"mean\"\nincludes = [\"30 s\"]"),
            ("\"transfer_time\"\nat_most = \"30 s\"", "\"timeouts\"\nat_most = \"many\""),
            ("\"transfer_time\"\nat_most = \"30 s\"", "\"episode.type\"\nat_most = \"30 s\""),
            (
                "\"transfer_time\"\nat_most = \"30 s\"",
                "\"episode.type\"\nincludes = [\"with time-lag\"]",
            ),
            (
                "\"transfer_time\"\nat_most = \"30 s\"",
                "\"episode.type\"\nof = \"median\"\nequals = \"intermittent\"",
            ),
            ("\"transfer_time\"\nat_most = \"30 s\"", "\"payload_intact\"\nequals = 2"),
            ("= \"reno\" }", "= \"renoo\" }"),
            ("{ \"client.socket.congestion\" = \"reno\" }", "{ \"path.delay\" = \"5 ms\" }"),
        ],
    );
}

#[test]
fn error_names_file_as_given() {
    let source = spoiled("\"5 ms\"", "5");
    let error = Scenario::parse(&source, "example").unwrap_err().in_file("my/own/file.toml");
    assert_eq!(error.line(), 5);
    let mut page = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .render_report(&mut page, &error)
        .unwrap();
    assert!(page.contains("my/own/file.toml:5:"), "{page}");
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(256))]

    /// Whatever is written anywhere, the answer is a scenario or an error that can be shown.
    #[test]
    fn any_edit_is_read_without_panic(
        at in 0usize..GOOD.len(), cut in 0usize..40, insert in "[ -~\n\"é\\[\\]{}=.#']{0,8}",
    ) {
        let end = (at + cut).min(GOOD.len());
        let source = format!("{}{insert}{}", &GOOD[..at], &GOOD[end..]);
        proptest::prop_assert!(!rendered(&source).is_empty());
    }
}

/// Where both ends are on one host there is no path, one kernel, and one set of settings.
#[test]
fn same_host() {
    let alone = spoiled(PATH, "[path]\nsame_host = true\n");
    let settings = "sysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 903680\" }";
    let bare = alone.replace(settings, "").replace("socket = { nodelay = true }", "");
    let bare = bare.replace("client.socket.congestion", "workload.write_size");
    let bare = bare.replace("reno", "1 kB").replace("cubic", "2 kB");
    let shown = [
        spoiled("[path]", "[path]\nsame_host = true"),
        alone.clone(),
        alone.replace(settings, "").replace("\"linux\"", "\"model:osx-10.7\""),
        spoiled("upload = \"10 MB\"", "upload = \"10 MB\"\nthrough = \"pipe\""),
        alone.replace(settings, "").replace("\"10 MB\"\n", "\"10 MB\"\nthrough = \"pipe\"\n"),
        bare.replace("\"10 MB\"\n", "\"10 MB\"\nthrough = \"memory\"\nthink = \"1 s\"\n"),
        bare.replace("\"10 MB\"\n", "\"1 GB\"\nthrough = \"memory\"\n"),
    ];
    insta::assert_snapshot!("same_host", one_below_the_other(shown.iter().map(|it| rendered(it))));
    let alike = alone.replace("stack  = \"linux\"", settings);
    assert_eq!(rendered(&alike), "no error\n");
    let error = PathFile::parse("same_host = true", "path", &mut |_| Err(String::new()));
    assert!(error.unwrap_err().to_string().contains("`same_host` has no path"));
}
