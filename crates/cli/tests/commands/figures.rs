//! Figures as PNG and PDF, by a converter of SVG that is installed or one that pretends.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::home::{Ended, Home, ended, everything, skipped};

const SCENARIO: &str = "\
title = \"Names as \\u001b[2J, <é> and 数\"
path = { delay = \"1 ms\" }
workload = { upload = \"20 kB\" }
repeat = { trials = 3 }
client = { stack = \"model:linux-6.18\" }
server = { stack = \"model:linux-6.18\" }
[matrix]
\"path.delay\" = [\"1 ms\", \"2 ms\"]
";

/// A home with a run, and the name of a figure of it.
fn with_run() -> (Home, String) {
    let home = Home::with("first.toml", SCENARIO);
    home.answer("run first.toml --world sim -q");
    let list = home.answer("plot first");
    let name = list.split_whitespace().next().expect("a figure").to_owned();
    (home, name)
}

/// `tcplab plot` with these programs and those that a script needs; nothing else is installed.
fn with_programs(home: &Home, line: &str, programs: &[(&str, &str)]) -> Command {
    home.make_directory("bin");
    for tool in ["sh", "cat", "sleep"] {
        let own = home.path(format!("bin/{tool}"));
        let paths = std::env::var_os("PATH").unwrap();
        let places = std::env::split_paths(&paths).map(|place| place.join(tool));
        if !own.exists() {
            std::os::unix::fs::symlink(places.into_iter().find(|it| it.exists()).unwrap(), own)
                .unwrap();
        }
    }
    for (name, script) in programs {
        let place = format!("bin/{name}");
        home.write(&place, format!("#!/bin/sh\n{script}"));
        fs::set_permissions(home.path(&place), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = home.command(line);
    command.env("PATH", home.path("bin"));
    command
}

/// Writes what it is given, in `bin`, and something that begins as a PNG.
const GOOD: &str = "\
cat > \"$0.input\"
printf '%s\\n' \"$@\" > \"$0.arguments\"
printf '\\211PNG\\r\\n\\032\\nand more'
";

#[test]
fn converter_gets_the_svg_and_no_file_name() {
    let (home, name) = with_run();
    let svg = home.answer(&format!("plot first --figure {name}"));
    let odd = "-o $(touch x);\u{e9} 'n.PNG";
    for (program, first, second) in
        [("rsvg-convert", "--format=png", "--zoom=2"), ("inkscape", "--pipe", "--export-type=png")]
    {
        let mut command =
            with_programs(&home, &format!("plot first --figure {name}"), &[(program, GOOD)]);
        let end = ended(command.arg(format!("--output={odd}")));
        assert_eq!((end.code, end.stdout.as_str()), (Some(0), ""), "{}", end.stderr);
        assert!(end.stderr.starts_with(&format!("{odd}: ")), "{}", end.stderr);
        assert_eq!(home.bytes(odd), b"\x89PNG\r\n\x1a\nand more");
        assert_eq!(home.text(format!("bin/{program}.input")), svg);
        let arguments = home.text(format!("bin/{program}.arguments"));
        let arguments: Vec<&str> = arguments.lines().collect();
        assert_eq!(arguments[..2], [first, second], "{program}");
        assert!(!arguments.iter().any(|it| it.contains("n.PNG")), "{arguments:?}");
        fs::remove_file(home.path(format!("bin/{program}"))).unwrap();
    }
    assert!(!home.exists("x"));
}

#[test]
fn what_a_converter_says_is_shown_escaped() {
    let (home, name) = with_run();
    let script = format!("printf 'no \\033[2J font\\n' >&2\n{GOOD}");
    let line = format!("plot first --figure {name} -o a.png");
    let end = ended(&mut with_programs(&home, &line, &[("rsvg-convert", &script)]));
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(end.stderr.starts_with("rsvg-convert says: no \\x1b[2J font\n"), "{}", end.stderr);
}

#[test]
fn failed_conversion_changes_nothing() {
    let (home, name) = with_run();
    home.write("old.png", "old");
    let fails = "cat > /dev/null; printf '\\211PNG\\r\\n'; printf 'no \\033[2J\\n' >&2; exit 3";
    with_programs(&home, "doctor", &[("rsvg-convert", fails)]);
    let before = everything(home.0.path());
    for (script, said) in [
        (fails, "`rsvg-convert` made no P?? (exit status: 3): no \\x1b[2J"),
        ("kill -9 $$", "`rsvg-convert` made no P?? (signal: 9 (SIGKILL))"),
        ("echo '<svg'", "`rsvg-convert` wrote something that is no P??"),
        ("exit 0", "`rsvg-convert` wrote something that is no P??"),
    ] {
        for (file, format) in [("old.png", "PNG"), ("new.png", "PNG"), ("new.pdf", "PDF")] {
            let line = format!("plot first --figure {name} -o {file}");
            // Another is not asked.
            let programs = [("rsvg-convert", script), ("inkscape", GOOD)];
            let mut command = with_programs(&home, &line, &programs);
            let refusal = ended(&mut command).refusal(&line);
            fs::remove_file(home.path("bin/inkscape")).unwrap();
            assert!(refusal.contains(&said.replace("P??", format)), "{refusal}");
            assert!(refusal.contains("try: `-o FILE.svg`"), "{refusal}");
            assert_eq!(everything(home.0.path()), before, "{script}");
            assert_eq!(home.text("old.png"), "old");
        }
    }
}

#[test]
fn missing_converter_is_an_error_with_a_remedy() {
    let (home, name) = with_run();
    with_programs(&home, "doctor", &[]);
    let before = everything(home.0.path());
    for file in ["a.png", "a.pdf"] {
        let line = format!("plot first --figure {name} -o {file}");
        let refusal = ended(&mut with_programs(&home, &line, &[])).refusal(&line);
        for part in [
            "no converter of SVG is installed: PNG and PDF need `rsvg-convert` or `inkscape`",
            "try: `apt install librsvg2-bin`, or `-o FILE.svg`",
        ] {
            assert!(refusal.contains(part), "{refusal}");
        }
        assert_eq!(everything(home.0.path()), before);
    }
}

/// The converter and what it has started hold the pipe that they got: it ends with them.
#[test]
fn signal_ends_the_converter_and_leaves_nothing() {
    let (home, name) = with_run();
    let hangs = "exec 2> \"$0.pipe\"; echo here >&2; sleep 1000 & wait";
    let line = format!("plot first --figure {name} -o a.png");
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut command = with_programs(&home, &line, &[("rsvg-convert", hangs)]);
        let pipe = home.path("bin/rsvg-convert.pipe");
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let before = everything(home.0.path());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe_end = BufReader::new(fs::File::open(&pipe).unwrap());
        let mut said = String::new();
        pipe_end.read_line(&mut said).unwrap();
        assert_eq!(said, "here\n");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let Ended { code: found, stderr, .. } = child.wait_with_output().unwrap().into();
        assert_eq!((found, stderr.as_str()), (Some(code), "stopped on request\n"));
        assert_eq!(pipe_end.read_line(&mut said).unwrap(), 0, "they are still running");
        assert_eq!(everything(home.0.path()), before);
        fs::remove_file(pipe).unwrap();
    }
}

/// Width and height of an SVG, in units.
fn size(svg: &str) -> [f64; 2] {
    let (tag, _) = svg.split_once('>').unwrap();
    [" width=\"", " height=\""].map(|name| {
        let (_, rest) = tag.split_once(name).unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    })
}

#[test]
fn installed_converter_makes_png_and_pdf_of_the_size_of_the_figure() {
    let version = Command::new("rsvg-convert").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        skipped("rsvg-convert is not installed");
        return;
    }
    let (home, name) = with_run();
    let trial = home.answer("plot first --figure 1ms/1");
    let graph = trial.split_whitespace().next().unwrap();
    for name in [name.as_str(), graph, "1ms/1/state-diagram"] {
        let [width, height] = size(&home.answer(&format!("plot first --figure {name}")));
        let end = home.run(&format!("plot first --figure {name} -o a.png"));
        assert_eq!((end.code, end.stderr.lines().count()), (Some(0), 1), "{}", end.stderr);
        let png = home.bytes("a.png");
        // The signature and the chunk IHDR (PNG, sections 5.2 and 11.2.2).
        assert_eq!(png[..16], *b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "{name}");
        let pixels = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        let twice = |units: f64| (2.0 * units).ceil() as u32;
        assert_eq!([pixels(16), pixels(20)], [twice(width), twice(height)], "{name}");

        home.answer(&format!("plot first --figure {name} -o a.pdf"));
        let pdf = home.bytes("a.pdf");
        assert!(pdf.starts_with(b"%PDF-1."), "{name}");
        let pdf = String::from_utf8_lossy(&pdf);
        let (_, page) = pdf.split_once("/MediaBox [").unwrap();
        let page: Vec<f64> = page
            .split_once(']')
            .unwrap()
            .0
            .split_whitespace()
            .map(|number| number.parse().unwrap())
            .collect();
        // 72 points and 96 units to the inch.
        assert_eq!(page[..2], [0.0, 0.0], "{name}");
        assert!((page[2] - 0.75 * width).abs() < 0.01, "{name}: {page:?} of {width}");
        assert!((page[3] - 0.75 * height).abs() < 0.01, "{name}: {page:?} of {height}");
        assert!(!pdf.contains("/Subtype /Image"), "{name}: it is drawn, not a picture of it");
    }
}

/// Two runs of one scenario and one of another.
fn with_three_runs() -> (Home, [String; 3]) {
    let home = Home::with("first.toml", SCENARIO);
    home.write("other.toml", SCENARIO.replace("20 kB", "30 kB").replace("Names as", "<b> as"));
    let mut known: Vec<PathBuf> = Vec::new();
    let runs = ["first.toml --seed 1", "first.toml --seed 2", "other.toml"].map(|line| {
        home.answer(&format!("run {line} --world sim -q"));
        let is_run = |path: &PathBuf| path.components().count() == 3;
        let all = everything(home.0.path()).into_iter().filter(|it| it.starts_with("runs"));
        let new = all.filter(is_run).find(|it| !known.contains(it)).expect("a new run");
        known.push(new.clone());
        new.to_str().unwrap().to_owned()
    });
    (home, runs)
}

#[test]
fn figures_of_several_runs_show_all_of_them() {
    let (home, [a, b, c]) = with_three_runs();
    let list = home.answer(&format!("plot {a} {b} {c}"));
    for name in ["goodput/means", "goodput/trials", "goodput/ecdf", "transfer_time/trials"] {
        assert!(list.lines().any(|line| line.starts_with(&format!("{name} "))), "{list}");
    }
    assert!(list.contains("\nalso, likewise: ") && list.contains("rtt.p95"), "{list}");

    // Titles, those that are equal with the end of the directory's name.
    let table = home.answer(&format!("plot {a} {b} {c} --figure goodput/trials --table"));
    let rows = |what: &str| table.lines().filter(|line| line.contains(what)).count();
    let identity = |run: &str| format!("({}): 1ms", run.rsplit_once('-').unwrap().1);
    assert_eq!([rows(&identity(&a)), rows(&identity(&b)), rows("<b> as")], [3, 3, 6], "{table}");
    assert!(table.contains("\\x1b[2J") && !table.contains('\u{1b}'), "{table}");

    let labels = "--label before --label '<i>&' --label 'a\u{1b}[2J, b'";
    let all = format!("plot {a} {b} {c} {labels} --figure goodput");
    let svg = home.answer(&format!("{all}/means"));
    assert!(svg.contains(">before<") && svg.contains("&lt;i&gt;&amp;"), "{svg}");
    assert!(!svg.contains("<i>") && !svg.contains('\u{1b}'), "{svg}");
    let csv = home.answer(&format!("{all}/means --table=csv"));
    assert_eq!(csv.lines().count(), 1 + 3 * 2, "{csv}");
    assert!(csv.lines().any(|line| line.starts_with("before,1ms,")), "{csv}");
    let json = home.json(&format!("{all}/ecdf --table=json"));
    assert_eq!((&json["figure"], &json["columns"][2]), (&"goodput/ecdf".into(), &"share".into()));
    home.answer(&format!("{all}/ecdf -o ecdf.pgf"));
    let pgf = home.text("ecdf.pgf");
    assert!(
        pgf.contains("before: 1ms") && pgf.contains("\\textless{}i\\textgreater{}\\&: 2ms"),
        "{pgf}"
    );

    let boxes = home.answer(&format!("{all}/boxes --table=csv"));
    assert_eq!(boxes.lines().filter(|line| line.starts_with("before: 1ms,value,")).count(), 3);
    let log = format!("{all}/bars --x-scale log");
    let reason = "bars begin at zero, which has no place on a logarithmic axis try: a range that";
    home.refuses(&[(&log, reason)]);
    home.answer(&format!("{all}/bars -o bars.pgf"));
    assert!(home.text("bars.pgf").contains("[xbar, "));

    // Of one run likewise.
    let list = home.answer(&format!("plot {a}"));
    for name in ["METRIC/boxes", "METRIC/bars"] {
        assert!(list.lines().any(|line| line.starts_with(&format!("{name} "))), "{list}");
    }
    assert!(list.contains("\nMETRIC: transfer_time, goodput, "), "{list}");
    let bars = home.answer(&format!("plot {a} --figure goodput/bars --table=csv"));
    assert!(bars.starts_with("bar,\"goodput, Mbit/s\",low,high\n1ms,"), "{bars}");
    home.refuses(&[(&format!("plot {a} --figure goodput/box"), "did you mean `goodput/boxes`?")]);

    // Also of results that were kept as a file.
    home.answer(&format!("report {a} --json=kept.json"));
    let table = home.answer(&format!("plot kept.json {b} --figure goodput/trials --table=csv"));
    assert!(table.contains("(kept): 1ms\","), "{table}");
}

#[test]
fn runs_without_the_quantity_are_named() {
    let home = Home::with("first.toml", SCENARIO);
    let requests = "{ requests = { count = 3, request = \"1 kB\", response = \"2 kB\" } }";
    let requests = SCENARIO.replace("{ upload = \"20 kB\" }", requests);
    for name in ["asked", "again"] {
        home.write(&format!("{name}.toml"), &requests);
    }
    for name in ["first", "asked", "again"] {
        home.answer(&format!("run {name}.toml --world sim -q"));
    }
    let runs = "plot first asked again --label 'c\u{1b}' --label a --label b";
    let list = home.answer(runs);
    let line = list.lines().find(|line| line.starts_with("mean_response/means ")).unwrap();
    assert!(line.ends_with("(no values in `c\\x1b`)"), "{list}");
    assert!(!home.answer("plot first asked").contains("response"), "one run alone has it");
    let end = home.run(&format!("{runs} --figure mean_response/means -o a.svg"));
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(end.stderr.ends_with("\nno values in `c\\x1b`\n"), "{}", end.stderr);
    let rows = home.answer(&format!("{runs} --figure mean_response/trials --table=csv"));
    let of = |run: &str| rows.lines().filter(|line| line.starts_with(run)).count();
    assert_eq!([of("a: "), of("b: "), of("c")], [6, 6, 0], "{rows}");
    let requests = home.answer(&format!("{runs} --figure requests/ecdf --table=csv"));
    assert_eq!(requests.lines().count(), 1 + 2 * 2 * 3 * 3, "{requests}");
}

#[test]
fn wrong_runs_and_labels_are_errors_with_remedies() {
    let (home, [a, b, c]) = with_three_runs();
    let before = everything(home.0.path());
    let many = "first ".repeat(4_001);
    home.refuses(&[
        (
            &format!("plot {many}"),
            "4,001 runs are too many for one figure try: name at most 4,000 runs",
        ),
        (&format!("plot {a} ./{a}"), "is named twice try: name each run once"),
        (
            &format!("plot {a} {b} {c} --label x --label y"),
            "error: 2 labels for 3 runs try: repeat --label NAME 3 times",
        ),
        (&format!("plot {a} {b} --label x --label x"), "two runs are called `x` try: give each"),
        (&format!("plot {a} {b} --label x --label ' '"), "a label is empty try: `--label NAME`"),
        (&format!("plot {a} --label x"), "--label is for figures of several runs"),
        (&format!("plot {a} --relative-to 1"), "--relative-to is for figures of several runs"),
        (&format!("plot {a} {b} --relative-to 3"), "no run is called `3` try: its label, or its"),
        (
            &format!("plot {a} {b} --label before --label after --relative-to befor"),
            "no run is called `befor` try: did you mean `before`?",
        ),
        (&format!("plot {a} {b} --figure goodput/tirals"), "did you mean `goodput/trials`?"),
        (&format!("plot {a} {b} --figure 1ms/1"), "no figure `1ms/1` of these runs try:"),
        (&format!("plot {a} nosuch"), "nosuch is not a run"),
    ]);
    assert_eq!(everything(home.0.path()), before);
}

#[test]
fn runs_are_multiples_of_one_of_them() {
    let (home, [a, b, _]) = with_three_runs();
    let both = format!("plot {a} {b} --label before --label after");
    let list = home.answer(&format!("{both} --relative-to before"));
    assert!(list.contains("goodput: mean of each case, times that of before\n"), "{list}");
    let by_label = format!("{both} --relative-to before --figure goodput/means --table=csv");
    let csv = home.answer(&by_label);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "line,case,\"goodput, times that of before\",low,high");
    assert_eq!(lines[1..3], ["before,1ms,1,,", "before,2ms,1,,"], "{csv}");
    assert_eq!(home.answer(&by_label.replace("to before", "to 1")), csv);
    let ends: Vec<f64> = lines[3].split(',').skip(2).map(|it| it.parse().unwrap()).collect();
    assert!(ends[1] <= ends[0] && ends[0] <= ends[2], "{csv}");

    // A case that the reference lacks is named.
    home.write("less.toml", SCENARIO.replace("[\"1 ms\", \"2 ms\"]", "[\"1 ms\", \"9 ms\"]"));
    home.answer("run less.toml --world sim -q");
    let end = home.run(&format!(
        "plot {a} less --label 'x\u{1b}' --label y --relative-to 1 --figure goodput/ecdf -o a.svg"
    ));
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(end.stderr.ends_with("\n`x\\x1b` has no `9ms` of `y`\n"), "{}", end.stderr);
    assert!(home.text("a.svg").contains("times that of x\\x1b"));
}

#[test]
fn figure_looks_as_asked() {
    let (home, [a, b, _]) = with_three_runs();
    let both = format!("plot {a} {b} --label before --label after --figure goodput");
    let looks = "--title 'What <i> see' --x-label 'speed & more' --color 2=#cc3311";
    let svg = home.answer(&format!("{both}/ecdf {looks} --y-range 50.. --x-scale log"));
    for part in ["What &lt;i&gt; see", "speed &amp; more", " color=\"#cc3311\"", ">60 %<"] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    let end = home.run(&format!("{both}/trials --x-range ..1e-9 -o a.csv"));
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(end.stderr.contains("\n12 values lie outside and are not drawn\n"), "{}", end.stderr);
    assert_eq!(home.text("a.csv").lines().count(), 1 + 12, "the table has all");

    // Figures of one run, too.
    let svg = home
        .answer(&format!("plot {a} --figure answer --x-range=-1..100s --color 1ms=grey --title x"));
    assert!(svg.contains("figure-title"), "{svg}");
    let graph = home.answer(&format!("plot {a} --figure 1ms/1"));
    let graph = graph.split_whitespace().next().unwrap();
    let svg = home.answer(&format!("plot {a} --figure {graph} --title 'The trial'"));
    assert!(svg.contains(">The trial</text>"), "{svg}");
    home.refuses(&[
        (&format!("plot {a} --figure {graph} --x-range 1.."), "only its title can be set try:"),
        (&format!("plot {a} --figure answer --color x=grey"), "this figure has no `x`: it shows"),
        (&format!("{both}/trials --y-range 1..2"), "the y axis of this figure has no numbers try:"),
        (&format!("{both}/trials --x-range 2..1"), "its end is not above its begin try: A..B"),
        (&format!("{both}/trials --x-range 5kB.."), "`5kB` is no place on the x axis, goodput"),
        (&format!("{both}/trials --x-scale log --x-range 0.."), "no place for 0 or less: begin"),
        (&format!("{both}/trials --x-range 5"), "`5` is no range: write A..B, A.. or ..B"),
        (&format!("{both}/trials --color 3=grey"), "no run is called `3` try:"),
        (&format!("{both}/trials --color 1=mauve"), "`mauve` is no colour: write #rrggbb or one"),
        (&format!("plot {a} {b} --title x"), "--figure"),
    ]);
}

#[test]
fn only_csv_of_a_figure_disarms_formulas_and_pgf_looks_as_asked() {
    let (home, [a, b, _]) = with_three_runs();
    let both = format!("plot {a} {b} --label =1+1 --label after --figure goodput/trials");
    let csv = home.answer(&format!("{both} --table=csv"));
    assert_eq!(csv.matches("\n'=1+1: ").count(), 2 * 3, "{csv}");
    assert_eq!(home.answer(&format!("{both} --table")).matches("\n=1+1: ").count(), 2 * 3);
    let json = home.json(&format!("{both} --table=json"));
    assert_eq!(json["rows"][0][0], "=1+1: 1ms");
    home.answer(&format!("{both} --x-scale log --x-label '5 & more' --x-range 1e-9.. -o a.pgf"));
    let pgf = home.text("a.pgf");
    for part in ["xmode=log", "xmin=0.000000001, ", "xlabel={5 \\& more}", "{=1+1: 1ms}"] {
        assert!(pgf.contains(part), "{part}: {pgf}");
    }
}

#[test]
fn figure_of_a_failed_trial_says_why() {
    let scenario = SCENARIO
        .replace("[matrix]", "limits = { trial = \"1 s\" }\n[matrix]")
        .replace("\"path.delay\" = [\"1 ms\", \"2 ms\"]", "\"path.loss\" = [\"0 %\", \"100 %\"]");
    let home = Home::with("first.toml", scenario);
    home.run("run first.toml --world sim -q");
    for figure in ["loss=100%/2", "loss=100%/2/rtt-and-rto"] {
        let refusal = home.refusal(&format!("plot first --figure {figure}"));
        assert!(refusal.contains("trial 2 of loss=100% failed: "), "{refusal}");
        assert!(refusal.contains("try: `tcplab trace runs/first"), "{refusal}");
    }
    home.refuses(&[("plot first --figure loss=100%/9", "no figure `loss=100%/9`")]);
}

#[test]
fn flows_of_a_trial_have_a_figure() {
    let flows = "\
[workload]
upload = \"200 kB\"
[flow.main]
[flow.ping]
background = true
workload = { requests = { count = 5, request = \"64 B\", response = \"64 B\" } }
";
    let scenario = SCENARIO.replace("workload = { upload = \"20 kB\" }\n", "") + flows;
    let home = Home::with("flows.toml", scenario);
    home.answer("run flows.toml --world sim --trials 1 -q");
    let list = home.answer("plot flows --figure '1ms/1'");
    let name = "1ms/1/received-by-each-flow";
    assert!(list.contains(name), "{list}");
    home.answer(&format!("plot flows --figure '{name}' -o flows.svg"));
    assert!(home.text("flows.svg").contains("ping, background"));
}

#[test]
fn page_of_one_trial_explains_only_what_it_shows() {
    let scenario = |interruption: &str| {
        format!(
            "title = \"One\"\nworkload = {{ upload = \"100 kB\" }}\n[path]\n\
             rate = \"5 Mbit/s\"\n{interruption}"
        )
    };
    let interrupted = scenario("interruption = { every = \"50 ms\", lasting = \"10 ms\" }");
    for (source, is_interrupted) in [(scenario(""), false), (interrupted, true)] {
        let home = Home::with("one.toml", source);
        home.answer("run one.toml --world sim --trials 1");
        let page = home.text(home.only("runs/one").join("report.html"));
        assert!(page.contains("one trial, so no confidence interval"));
        assert!(!page.contains("Each dot is a trial"), "of one trial");
        let transfers = page.split_once("<section id=\"transfers\">").unwrap().1;
        let transfers = transfers.split_once("</section>").unwrap().0;
        assert_eq!(transfers.contains("nterruption"), is_interrupted, "{transfers}");
    }
}
