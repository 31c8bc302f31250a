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

/// Parts of it that tests spoil.
const UPLOAD: &str = "upload = \"10 MB\"";
const TRIALS: &str = "trials = 5";
const REPEAT: &str = "[repeat]";
const FACTOR: &str = "\"client.socket.congestion\" = [";
const LEVELS: &str = "[\"reno\", \"cubic\"]";
const CUBIC: &str = "\"cubic\"]\n";
const METRIC: &str = "\"transfer_time\"";
const AT_MOST: &str = "at_most = \"30 s\"";
const CLAIM: &str = "\"transfer_time\"\nat_most = \"30 s\"";

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
    let others = error.others().iter().map(one_page);
    std::iter::once(one_page(error)).chain(others).collect::<Vec<_>>().join("\n")
}

fn one_page(error: &ScenarioError) -> String {
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

/// Tests with a snapshot each: what the reader sees where a part is replaced by another.
macro_rules! spoils {
    ($($name:ident { $($old:expr => $new:expr,)* })*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), &[$(($old, $new)),*]);
        }
    )*};
}

spoils! {
    not_toml {
        "delay = \"5 ms\"" => "delay = 5 ms",
        "[workload]" => "[workload",
        "title = \"10 MB upload\"" => "title = \"10 MB upload",
        "delay = \"5 ms\"" => "delay = \"5 ms\"\ndelay = \"6 ms\"",
    }
    unknown_keys {
        "delay = \"5 ms\"" => "dealy = \"5 ms\"",
        "delay = \"5 ms\"" => "colour = \"red\"",
        REPEAT => "[repeats]",
        "{ nodelay = true }" => "{ no_delay = true }",
        "lasting =" => "lasts =",
        "at_most =" => "atmost =",
    }
    missing_keys {
        "title = \"10 MB upload\"" => "reference = \"a book\"",
        "[workload]\nupload = \"10 MB\"\n" => "",
        PATH => "",
        UPLOAD => "write_size = \"64 KiB\"",
        ", lasting = \"200 ms\"" => "",
        "metric  = \"transfer_time\"\n" => "",
    }
    wrong_types_and_units {
        "\"5 ms\"" => "5",
        "\"5 ms\"" => "\"5 Mbit/s\"",
        "\"5 Mbit/s\"" => "\"-5 Mbit/s\"",
        "\"5 ms\"" => "\"soon\"",
        "\"5 ms\"" => "[\"5 ms\"]",
        "\"512 packets\"" => "\"512\"",
        "nodelay = true" => "nodelay = \"yes\"",
        TRIALS => "trials = -5",
        TRIALS => "trials = \"five\"",
        "title = \"10 MB upload\"" => "title = 10",
        "[workload]\nupload" => "[[workload]]\nupload",
        "\"4096 131072 903680\"" => "true",
    }
    impossible_values {
        "\"5 Mbit/s\"" => "\"0 bit/s\"",
        "rate  = \"5 Mbit/s\"\n" => "",
        "lasting = \"200 ms\"" => "lasting = \"6 s\"",
        UPLOAD => "upload = \"10 MB\"\ndownload = \"10 MB\"",
        UPLOAD => "upload = \"0 B\"",
        UPLOAD => "upload = \"10 MB\"\nwrite_size = \"17 MiB\"",
        "nodelay = true" => "maxseg = 20",
        "nodelay = true" => "rcvbuf = \"4 GB\"",
        TRIALS => "trials = 0",
        REPEAT => "[sampling]\ntcp_info = \"1 µs\"\n[repeat]",
        UPLOAD => "upload = \"10 MB\"\nthrough = \"mptcp\"\n[sampling]\neach_ack = true",
        REPEAT => "[limits]\ntrial = \"0 s\"\n[repeat]",
    }
    programs {
        UPLOAD => "client = [\"write 100 B\", \"wait 3 s\"]",
        UPLOAD => "client = [\"write 100\"]",
        UPLOAD => "client = [\"write 100 B\",\n  \"read to 5 B\"]",
        UPLOAD => "client = [\"accept\"]",
        UPLOAD => "server = [\"read to end\", \"close\", \"write 1 B\"]",
        UPLOAD => "client = [{ repeat = 5, steps = [\"close\"] }]",
        UPLOAD => "client = [{ repeat = 0, steps = [\"write 1 B\"] }]",
        UPLOAD => "client = [{ times = 5, steps = [\"write 1 B\"] }]",
        UPLOAD => "client = \"write 1 B\"",
        UPLOAD => "connect = \"nowhere\"",
        UPLOAD => "connect = \"silent\"\nthink = \"1 s\"",
        UPLOAD => "upload = \"10 MB\"\nclient = [\"close\"]",
        UPLOAD => "upload = \"10 MB\"\nurgent_at = \"10 MB\"",
        UPLOAD => "keystrokes = { count = 0, every = \"100 ms\" }",
        UPLOAD => "requests = { count = 5, request = \"9 B\", response = \"0 B\" }",
        UPLOAD => "requests = { count = 5, request = \"9 B\", response = \"9 B\", pipelined = 6 }",
        METRIC => "\"transfer_time\"\nendpoint = \"client\"",
        METRIC => "\"call.duration\"\ncall = \"clsoe\"",
        METRIC => "\"call.duration\"\nnth = 0",
        METRIC => "\"app.read\"\nendpoint = \"clinet\"",
        CLAIM => "\"call.result\"\nequals = \"EAGIAN\"",
    }
    datagrams {
        UPLOAD => "datagrams = { }",
        UPLOAD => "datagrams = { count = 5, retries = 11 }",
        UPLOAD => "datagrams = { count = 5, request = \"1500 B\" }",
        UPLOAD => "datagrams = { count = 5, every = \"1 s\", think = \"1 s\" }",
        UPLOAD => "datagrams = { count = 5, server = \"gone\" }",
        UPLOAD => "upload = \"10 MB\"\ndatagrams = { count = 5 }",
        UPLOAD => "datagrams = { count = 5 }",
    }
    stacks_and_sysctls {
        "\"linux\"" => "\"model:windows-95\"",
        "\"linux\"" => "\"windows\"",
        "\"net.ipv4.tcp_rmem\" =" => "\"kernel.hostname\" =",
        "\"net.ipv4.tcp_rmem\" =" => "net.ipv4.tcp_rmem =",
        "\"net.ipv4.tcp_rmem\" =" => "\"net.../../kernel\" =",
        "\"4096 131072 903680\"" => "\"\"",
    }
    routes_and_modules {
        "\"linux\"" => "\"linux\"\nroute = { initcwnd = 0 }",
        "\"linux\"" => "\"linux\"\nroute = { initcwdn = 3 }",
        "\"linux\"" => "\"linux\"\nroute = { rto_min = \"1500 us\" }",
        "\"linux\"" => "\"linux\"\nroute = { rto_min = \"3 min\" }",
        "\"linux\"" => "\"linux\"\nroute = { mtu = \"9000 B\" }",
        "\"linux\"" => "\"linux\"\nroute = { congctl = \"a control of mine\" }",
        "\"linux\"" => "\"linux\"\nmodule = { hystart = 0 }",
        "\"linux\"" => "\"linux\"\nmodule = { \"../tcp_cubic.hystart\" = 0 }",
    }
    matrices {
        FACTOR => "\"client.socket.congetsion\" = [",
        FACTOR => "\"cleint.socket.congestion\" = [",
        FACTOR => "\"client.sokcet.congestion\" = [",
        FACTOR => "\"server.socket.congetsion\" = [",
        FACTOR => "client.socket.congestion = [",
        FACTOR => "\"client..congestion\" = [",
        FACTOR => "\"repeat.trials\" = [",
        LEVELS => "\"reno\"",
        LEVELS => "[]",
        LEVELS => "[\"reno\", \"reno\"]",
        LEVELS => "[\"reno\"]\n\"path.rate\" = [\"10 Mbit/s\", \"5 Mbit/s\", \"10M\"]",
        LEVELS => "[\"reno\", 5]",
        LEVELS => "[\"reno\", \"not a name\"]",
        CUBIC => "\"cubic\"]\n\"path.delay\" = [\"5 ms\", \"10 s/h\"]\n",
        CUBIC => "\"cubic\"]\n\"path.rate\" = [\"5 Mbit/s\", \"0 bit/s\"]\n",
        CUBIC => "\"cubic\"]\n\"path.queue.codel\" = [\"5 ms\"]\n",
        CUBIC => "\"cubic\"]\n'client . socket . congestion' = [\"bbr\"]\n",
        CUBIC => "\"cubic\"]\nvariant = { a = \"client.stack\" }\n",
        CUBIC => "\"cubic\"]\nvariant = { a = { \"client.sokcet\" = 1 } }\n",
        CUBIC => "\"cubic\"]\nv = { a = { \"client.socket.congestion\" = \"bbr\" } }\n",
        CUBIC => "\"cubic\"]\nv = { a = { \"client.model.host.tack\" = \"4 ms\" } }\n",
        CUBIC => "\"cubic\"]\nv = { a = { \"client.model.acks.every\" = 1 } }\n",
    }
    designs {
        REPEAT => "[design]\npars = []\n[repeat]",
        REPEAT => "[design]\npairs = [[\"client.socket.congestion\"]]\n[repeat]",
        REPEAT => "[design]\npairs = [[\"client.socket.congestion\", \"path.rate\"]]\n[repeat]",
        CUBIC => "\"cubic\"]\n\"path.delay\" = [\"1 ms\"]\n[design]\n\
                 pairs = [[\"client.socket.congestion\", \"path.delay\"]]\n",
        CUBIC => "\"cubic\"]\n\"path.delay\" = [\"1 ms\", \"2 ms\"]\n[design]\n\
                 pairs = [[\"client.socket.congestion\", \"path.delay\"]]\n\
                 exclude = [\n  { \"client.socket.congestion\" = \"reno\", \"path.delay\" = \"2 ms\" },\n]\n",
        REPEAT => "[design]\nexclude = [{ }]\n[repeat]",
        REPEAT => "[design]\nexclude = [{ \"client.socket.congestion\" = \"bbr\" }]\n[repeat]",
        REPEAT => "[design]\nexclude = [{ \"path.delay\" = \"5 ms\" }]\n[repeat]",
        REPEAT => "[design]\nexclude = [{ \"client.socket.congestion\" = [\"reno\", \"cubic\"] }]\n[repeat]",
        REPEAT => "[design]\nexclude = [{ \"client.socket.congestion\" = \"reno\" }]\n[repeat]",
        REPEAT => "[design]\nsample = { latin_hypercube = 3 }\n[repeat]",
        REPEAT => "[design]\nsample = { latin_hypercube = 1, random = 1 }\n[repeat]",
        REPEAT => "[design]\nsample = { random = 0 }\n[repeat]",
        REPEAT => "[design]\nsample = 40\n[repeat]",
    }
    repetition {
        TRIALS => "trials = 5\nuntil = { ci = \"2 %\", max = 50 }",
        TRIALS => "until = { ci = \"2 %\" }",
        TRIALS => "until = { ci = \"0 %\", max = 50 }",
        TRIALS => "until = { ci = 2, max = 50 }",
        TRIALS => "until = { ci = \"2 %\", max = 2 }",
        TRIALS => "until = { ci = \"2 %\", max = 50, min = 51 }",
        TRIALS => "until = { ci = \"2 %\", max = 50, metric = \"episode.duration\" }",
        TRIALS => "warm_up = 100",
        TRIALS => "[recording]\nkeep = \"some\"",
        TRIALS => "[recording]\nsnaplen = \"20 B\"",
    }
    claims {
        METRIC => "\"transfertime\"",
        METRIC => "\"happiness\"",
        AT_MOST => "",
        "\"30 s\"" => "30",
        "\"30 s\"" => "\"30 Mbit/s\"",
        "\"30 s\"" => "true",
        AT_MOST => "at_most = \"30 s\"\nat_least = \"31 s\"",
        AT_MOST => "one_of = []",
        AT_MOST => "of = \"average\"\nat_most = \"30 s\"",
        AT_MOST => "of = \"mean\"\nincludes = [\"30 s\"]",
        CLAIM => "\"timeouts\"\nat_most = \"many\"",
        CLAIM => "\"episode.type\"\nat_most = \"30 s\"",
        CLAIM => "\"episode.type\"\nincludes = [\"with time-lag\"]",
        CLAIM => "\"episode.type\"\nof = \"median\"\nequals = \"intermittent\"",
        CLAIM => "\"payload_intact\"\nequals = 2",
        "= \"reno\" }" => "= \"renoo\" }",
        "{ \"client.socket.congestion\" = \"reno\" }" => "{ \"path.delay\" = \"5 ms\" }",
    }
}

/// The keys and their errors are those of a scenario's `[path]`.
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

/// The refused key is not proposed.
#[test]
fn stages_cannot_stand_in_stages() {
    for source in ["stages = [{ stages = [] }]", "forward.stages = [{ stages = [] }]"] {
        let error = PathFile::parse(source, "example", &mut |_| Err(String::new())).unwrap_err();
        let remedy = error.remedy().unwrap_or_default();
        assert!(remedy.starts_with("`stages` cannot stand in `stages`\nthe keys here are `rate`"));
        assert!(!remedy.contains("did you mean"), "{remedy}");
    }
}

#[test]
fn too_many_cases() {
    let levels: Vec<String> = (0..40).map(|n| format!("\"{n} ms\"")).collect();
    let levels = levels.join(", ");
    let more = format!("\"cubic\"]\n\"path.delay\" = [{levels}]\n\"limits.trial\" = [{levels}]\n");
    let page = rendered(&spoiled("\"cubic\"]\n", &more));
    assert!(page.contains("combinations: at most 1000 can be cases"), "{page}");
}

#[test]
fn too_many_interruptions() {
    for times in ["every = \"1 ms\"", "up = \"1 ms\""] {
        let source = format!(
            "title = \"t\"\n[path]\ninterruption = {{ {times}, lasting = \"1 ns\" }}\n[workload]\n\
             idle = {{ lasting = \"1 s\" }}\n[limits]\ntrial = "
        );
        assert!(Scenario::parse(&format!("{source}\"1000 s\"\n"), "example").is_ok(), "{times}");
        let error = Scenario::parse(&format!("{source}\"200 h\"\n"), "example").unwrap_err();
        assert_eq!(error.line(), 3);
        let found = error.to_string();
        assert!(found.contains(" interruptions in a trial of 200 h: at most 1000000"), "{found}");
    }
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

/// A file with a mistake in each section, and one that follows from another.
#[test]
fn all_mistakes_are_shown_with_their_lines() {
    let source = r#"titel = "T"

[path]
rate  = "5 Mbit/x"
dealy = "5 m"
queue = "2 ms"
loss  = { model = "no" }
interruption = { every = "5 s" }

[client]
stakc = "linux"
socket = { nodelay = "yes", keepidle = "5 s" }

[server]
stack = "windows"

[workload]
upload = "10 mb"

[matrix]
"client.socket.congestion" = ["reno", "reno"]

[repeat]
trials = 0

[limits]
trial = "0 s"

[[expect]]
claim = "quick"
metric = "transfertime"
at_most = "30 s"

[[expect]]
claim = "slow"
metric = "goodput"
at_least = "3 ms"
"#;
    insta::assert_snapshot!(rendered(source));
    let error = Scenario::parse(source, "many").unwrap_err();
    let all = || std::iter::once(&error).chain(error.others());
    let lines: Vec<usize> = all().map(ScenarioError::line).collect();
    // The title has another name only; the queue may fit a rate that is right.
    assert_eq!(lines, [1, 4, 5, 5, 7, 8, 11, 12, 15, 18, 21, 24, 27, 31, 37], "{lines:?}");
}

/// What takes the second path is not known while the workload has a mistake.
#[test]
fn second_path_is_not_refused_for_a_mistake_in_the_workload() {
    let source = r#"title = "T"
client = { stack = "linux-7.2" }
server = { stack = "linux-7.2" }
path = { rate = "1 Mbit/s", delay = "5 ms" }
second_path = { rate = "1 Mbit/s", delay = "5 ms" }

[workload]
through = "mptcp"
upload = "1 MBB"
"#;
    let error = Scenario::parse(source, "two").unwrap_err();
    assert_eq!((error.line(), error.others().len()), (9, 0), "{error}");
    let alone = source.replace("through = \"mptcp\"\n", "").replace("MBB", "MB");
    let error = Scenario::parse(&alone, "two").unwrap_err().to_string();
    assert!(error.contains("only Multipath TCP takes a second path"), "{error}");
}

/// Words for a key, keys without their tables, and settings of a model.
#[test]
fn keys_are_found_where_they_stand() {
    insta::assert_snapshot!(rendered(
        r#"title = "T"

[path]
bandwidth = "20 Mbit/s"
latency   = "5 ms"

[client]
stack      = "netburner"
congestion = "reno"
socket     = { mss = 536 }

[server]
stack = "model:netburner"
model = { acks = { delay = "250 ms" }, sending = { segment = 20 }, mss = { ours = 536 } }

[workload]
upload = "1 MB"

[matrix]
loss = ["0 %", "1 %"]
cc   = ["reno", "cubic"]
"#
    ));
}

#[test]
fn mistakes_beyond_twenty_are_counted() {
    let keys: String = (0..30).fold(String::new(), |keys, n| keys + &format!("unknown_{n} = 1\n"));
    let error = Scenario::parse(&GOOD.replace("[path]", &format!("[path]\n{keys}")), "many");
    let error = error.unwrap_err();
    assert_eq!((error.others().len(), error.unshown()), (19, 10));
    assert!(error.others().iter().all(|it| it.to_string().contains("unknown key `unknown_")));
    assert!(error.are_all_counted());
    // Some mistakes need two readings.
    let claims = |count| {
        let claim = |n| format!("[[expect]]\nclaim = \"c\"\nmetric = \"none{n}\"\nat_least = 1\n");
        let source = format!("{GOOD}\n{}", (0..count).map(claim).collect::<String>());
        Scenario::parse(&source, "many").unwrap_err()
    };
    let error = claims(40);
    assert_eq!((error.others().len(), error.unshown(), error.are_all_counted()), (19, 20, true));
    assert!(!claims(500).are_all_counted());
}

/// A level of the matrix sets another key of the table that the mistake was taken out of.
#[test]
fn one_mistake_is_told_once_where_a_factor_is_in_its_table() {
    let offsets = "[matrix]\n\"path.interruption.offset\" = [\"100 ms\", \"200 ms\"]";
    let source = GOOD.replace("lasting = \"200 ms\"", "lasting = \"6 s\"");
    let source = source.replace("[matrix]", offsets);
    let error = Scenario::parse(&source, "offsets").unwrap_err();
    assert!(error.to_string().contains("must be less than `every`"), "{error}");
    assert_eq!(error.others().len(), 0, "{}", error.others()[0]);
}
