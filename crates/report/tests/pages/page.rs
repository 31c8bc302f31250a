//! The page as a whole, from a made-up run.

use std::collections::BTreeSet;
use std::io::Read as _;
use tcplab_report::{ReportError, render, text_table};
use tcplab_results::{EpisodeRow, Metric, Metrics, Run, RunWorld, Trial, TrialData, World};
use tcplab_trace::Note;

use super::synthetic::{self, Recordings, load};

pub(crate) fn page(run: &Run, recordings: &Recordings) -> String {
    render(run, load(recordings)).expect("a made-up run can be shown")
}

/// With the packed parts in their places, as the script unpacks them.
pub(crate) fn unpacked(page: &str) -> String {
    let mut whole = String::new();
    let mut rest = page;
    let begin = "<script type=\"application/octet-stream\" class=\"packed\">";
    while let Some((before, after)) = rest.split_once(begin) {
        let (packed, after) = after.split_once("</script>").expect("it ends");
        whole += before;
        whole += &String::from_utf8(inflated(packed)).expect("it is text");
        rest = after;
    }
    whole + rest
}

fn inflated(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => 0,
    };
    let bytes = text.as_bytes().chunks(4).flat_map(|four| {
        let bits = four.iter().fold(0u32, |bits, c| bits << 6 | u32::from(value(*c)));
        [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]
    });
    let mut whole = Vec::new();
    let bytes: Vec<u8> = bytes.collect();
    flate2::read::DeflateDecoder::new(&bytes[..]).read_to_end(&mut whole).expect("it is deflated");
    whole
}

/// The tags without those in scripts and styles.
fn tags(page: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[1..end];
        tags.push(tag);
        rest = &rest[end + 1..];
        for raw in ["script", "style"] {
            if tag.split_whitespace().next() == Some(raw) {
                let close = format!("</{raw}>");
                rest = &rest[rest.find(&close).expect("raw text ends")..];
            }
        }
    }
    tags
}

const VOID: [&str; 2] = ["meta", "!doctype"];

#[test]
fn tags_are_balanced_and_names_unique() {
    let (run, recordings) = synthetic::run(2);
    let page = page(&run, &recordings);
    let mut open: Vec<&str> = Vec::new();
    let mut ids = BTreeSet::new();
    let mut targets = Vec::new();
    for tag in tags(&page) {
        let name = tag.trim_start_matches('/').split_whitespace().next().unwrap_or("");
        let name = name.trim_end_matches('/');
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes something else");
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
        let value = |key: &str| {
            let (_, rest) = tag.split_once(&format!(" {key}=\""))?;
            rest.split('"').next()
        };
        if let Some(id) = value("id") {
            assert!(ids.insert(id.to_string()), "{id} twice");
        }
        targets.extend(value("href").and_then(|h| h.strip_prefix('#')).map(String::from));
    }
    assert!(open.is_empty(), "{open:?} still open");
    for target in targets {
        assert!(ids.contains(&target), "a link leads to #{target}, which is not there");
    }
}

#[test]
fn page_loads_no_other_file() {
    let (run, recordings) = synthetic::run(1);
    let page = page(&run, &recordings);
    for tag in tags(&page) {
        for loads in [" src=", "<link", "@import", "srcset="] {
            assert!(!tag.contains(loads), "{tag}");
        }
        assert!(!tag.starts_with("link"), "{tag}");
    }
    for foreign in ["http:", "https:", "url(", "fetch(", "XMLHttpRequest", "import("] {
        assert!(!page.contains(foreign), "{foreign}");
    }
}

#[test]
fn page_of_ten_trials_is_complete_and_small() {
    let (run, recordings) = synthetic::run(5);
    let packed = page(&run, &recordings);
    assert!(packed.len() < 4_000_000, "{} bytes", packed.len());
    assert!(packed.matches("class=\"packed\"").count() > 2, "what comes later is packed");
    assert!(
        packed.find("class=\"packed\"") > packed.find("id=\"case-1-trial-2\""),
        "not the first"
    );
    let page = unpacked(&packed);
    let count = |text: &str| page.matches(text).count();
    let episodes: usize = run.cases.iter().flat_map(|c| &c.trials).map(|t| t.episodes.len()).sum();
    assert!(episodes >= 30, "the made-up run has only {episodes} episodes");
    assert_eq!(count("<svg class=\"graph time-sequence\""), 20);
    assert_eq!(count("<svg class=\"graph chart\""), 40);
    assert_eq!(count("<svg class=\"graph bars\""), 10);
    assert_eq!(count("call that failed"), 10);
    assert_eq!(count("<svg class=\"ladder\""), episodes);
    assert_eq!(
        count("<svg class=\"pane\""),
        2 + episodes,
        "a picture per variant, one per episode"
    );
    assert_eq!(count("<details class=\"trial\""), 10);
    assert_eq!(count("<details class=\"trial\" id=\"case-1-trial-1\" open"), 1);
    assert_eq!(count("<figure class=\"limits\""), 10, "what limited the rate");
    assert_eq!(count("tcplab run scenario.toml --trials 5 --seed 1<"), 1, "all trials");
    assert_eq!(count("tcplab run scenario.toml --case cubic --trial 5 --seed 1<"), 1);
    assert!(count(" open>") >= 2, "the first trial, and the path that is off");
    assert_eq!(count("<details class=\"more verified"), 2);
    assert_eq!(
        count("! path of cubic not as configured on this machine: 1 off; not measured: "),
        1
    );
    assert_eq!(count("<dt>payload intact</dt><dd>yes</dd>"), 10);
    assert_eq!(count("with warnings"), 1, "warnings come before everything else");
    for text in [
        "✓ passed",
        "✗ failed",
        "transfer time",
        "--trials 5 --seed 1<",
        "trials/reno-1/client.pcapng",
    ] {
        assert!(count(text) > 0, "{text}");
    }
    assert!(page.len() < 6_500_000, "{} bytes", page.len());
}

#[test]
fn hundreds_of_episodes_have_marks_of_the_longest_and_a_link_to_all() {
    let (mut run, recordings) = synthetic::run(1);
    let trial = &mut run.cases[0].trials[0];
    let of = trial.episodes[0].clone();
    let longest = [7, 30, 31, 90, 150, 200, 299, 300];
    let row = |number| EpisodeRow {
        number,
        interruption: None,
        duration_s: if longest.contains(&number) { 2.0 } else { 1.0 },
        ..of.clone()
    };
    trial.episodes = (1..=300).map(row).collect();
    let page = page(&run, &recordings);
    let (_, fold) = page.split_once("<details class=\"trial\" id=\"case-1-trial-1\"").unwrap();
    let (summary, _) = fold.split_once("</summary>").unwrap();
    assert_eq!(summary.matches("class=\"kind").count(), longest.len());
    assert!(summary.contains("the 8 longest of 300 episodes"), "{summary}");
    // Above the first transfer and in the table of all episodes.
    let count = |text: &str| page.matches(text).count();
    assert_eq!(count("href=\"#case-1-trial-1-episode-"), 2 * longest.len());
    for number in longest {
        assert_eq!(count(&format!("href=\"#case-1-trial-1-episode-{number}\"")), 2, "{number}");
    }
    assert_eq!(count("the 8 longest of <a href=\"#case-1-trial-1-episodes\">300 episodes</a>"), 2);
    assert_eq!(count("id=\"case-1-trial-1-episodes\""), 1);
}

#[test]
fn plot_over_a_factor_has_pictures_and_a_table() {
    let (mut run, mut recordings) = synthetic::run(2);
    let of = run.cases[0].clone();
    run.cases.clear();
    for (design, n, path) in [("fork", "16", "lan"), ("fork", "1", "lan"), ("epoll", "1", "lan")]
        .into_iter()
        .chain([("fork", "1", "loopback"), ("epoll", "16", "loopback")])
    {
        let pair = |(key, level): (&str, &str)| (key.to_string(), level.to_string());
        let levels = [("a.design", design), ("load.concurrency", n), ("path", path)];
        let (name, levels) = (levels.map(|(_, it)| it).join("_"), levels.map(pair).to_vec());
        run.cases.push(tcplab_results::Case { name, levels, ..of.clone() });
    }
    recordings.truncate(2);
    let plot = |metric: &str| tcplab_scenario::Plot {
        metric: metric.into(),
        over: "load.concurrency".into(),
        by: Some("a.design".into()),
        flow: None,
        against: None,
        against_flow: None,
    };
    let against = |metric: &str| tcplab_scenario::Plot {
        against: Some("transfer_time".into()),
        ..plot(metric)
    };
    run.plots = vec![plot("goodput"), plot("transfer_time"), plot("nobody.has_it")];
    run.plots.extend([against("goodput"), against("nobody.has_it")]);
    let page = page(&run, &recordings);
    let section = page.split(r#"id="trends""#).nth(1).expect("there is such a section");
    let section = section.split("</section>").next().unwrap();
    let count = |text: &str| section.matches(text).count();
    assert_eq!(count("<svg class=\"trend\""), 4, "two metrics on two paths");
    assert_eq!(count("goodput over concurrency"), 1);
    assert_eq!(count("class=\"line\""), 2, "only fork on the LAN has two levels");
    assert_eq!(count("<svg class=\"scene pareto\""), 2, "one against the other on two paths");
    assert_eq!(count("goodput against transfer time"), 1 + 2 * 2);
    assert_eq!(count("<circle"), 5 + 2 * 2, "the variants, and the colours of both designs");
    assert_eq!(count("class=\"interval\""), 2 * 5 + 2 * 5, "in pictures over one, and of both");
    assert_eq!(count("<tr><td>"), 5, "a row for each variant");
    assert_eq!(count("</b> ± "), 10);
    assert!(section.find(">1</text>") < section.find(">16</text>"), "levels rise");
}

#[test]
fn same_run_gives_the_same_bytes() {
    let (run, recordings) = synthetic::run(1);
    let (again, recorded) = synthetic::run(1);
    assert!(page(&run, &recordings) == page(&again, &recorded));
}

#[test]
fn foreign_text_is_escaped() {
    let (mut run, mut recordings) = synthetic::run(1);
    let evil = "\"'></title></script></style><script>alert(1)</script>&<!--".to_string();
    for text in [&mut run.title, &mut run.name, &mut run.scenario, &mut run.started] {
        text.clone_from(&evil);
    }
    for (_, data) in &mut recordings {
        data.client.notes = vec![Note { frame: Some(7), text: evil.clone() }];
    }
    run.reference = Some(evil.clone());
    run.path = vec![evil.clone()];
    run.environment = vec![(evil.clone(), evil.clone())];
    run.claims[0].claim.clone_from(&evil);
    run.claims[0].check.clone_from(&evil);
    run.claims[0].found.clone_from(&evil);
    for case in &mut run.cases {
        case.name.clone_from(&evil);
        case.levels = vec![(evil.clone(), evil.clone())];
        case.summaries[0].name.clone_from(&evil);
        case.summaries[0].unit.clone_from(&evil);
        for trial in &mut case.trials {
            let directory = format!("{evil}{}", trial.directory);
            for (known, _) in recordings.iter_mut().filter(|(d, _)| *d == trial.directory) {
                known.clone_from(&directory);
            }
            trial.directory = directory;
            trial.warnings = vec![evil.clone()];
            trial.findings[0].statement.clone_from(&evil);
            trial.findings[0].remedy = Some(evil.clone());
            trial.findings[0].rule.clone_from(&evil);
            let of = |value| Metric { name: evil.clone(), unit: evil.clone(), value };
            trial.metrics = trial.metrics.iter().map(|metric| of(metric.value)).collect();
            for row in &mut trial.episodes {
                row.kind.clone_from(&evil);
                row.evidence.clone_from(&evil);
                row.story.clone_from(&evil);
            }
        }
    }
    let page = page(&run, &recordings);
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains("<!--"));
    assert!(page.contains("capture at the client, frame 7: &#34;"));
    let levels = page.matches("<script type=\"application/json\" class=\"levels\">").count();
    assert_eq!(page.matches("<script").count() - levels, 2, "the page's own");
    assert_eq!(page.matches("</title>").count(), page.matches("<title>").count());
}

/// The recording of a trial without packets.
#[expect(clippy::unnecessary_wraps, reason = "reading packets can fail")]
pub(crate) fn no_packets(_: &Trial) -> Result<TrialData, String> {
    Ok(TrialData {
        client: tcplab_trace::Trace::default(),
        server: tcplab_trace::Trace::default(),
        samples: vec![],
        timed_out: [None; 2],
        vanished: [None; 2],
        interruptions: vec![],
        path: tcplab_path::PathSpec::default(),
        queues: tcplab_recording::Queues::Logged(vec![]),
        correspondence: None,
        duration: tcplab_units::Span::ZERO,
    })
}

#[test]
fn empty_run_gives_a_page() {
    let (mut run, _) = synthetic::run(1);
    run.cases.truncate(1);
    run.claims.clear();
    run.reference = None;
    run.cases[0].summaries.clear();
    for trial in &mut run.cases[0].trials {
        trial.metrics = Metrics::default();
        trial.findings.clear();
    }
    let page = render(&run, no_packets).unwrap();
    assert!(page.contains("No TCP connection in the captures."));
    assert!(page.contains("does not contain this episode"));
    run.cases.clear();
    assert!(render(&run, no_packets).unwrap().contains("0 trials of 0 variants"));
    assert!(text_table(&run, false).starts_with("recovery episodes"));
}

#[test]
fn each_path_is_drawn_once_over_the_longest_trial() {
    let (run, mut recordings) = synthetic::run(2);
    let page = |recordings: &_| render(&run, load(recordings)).unwrap();
    let whole = page(&recordings);
    assert_eq!(whole.matches("class=\"path-picture\"").count(), 1);
    assert!(!whole.contains("Path of cubic"), "one path needs no names");
    let longest = recordings.iter().map(|(_, data)| data.duration).max().unwrap();
    let over = format!("Over {}.", tcplab_units::rounded::span(longest));
    assert!(whole.contains(&over), "{over}");
    // A case with a path of its own.
    let case = run.cases.last().unwrap();
    let other: tcplab_path::PathSpec = serde_json::from_str(r#"{ "delay": "77 ms" }"#).unwrap();
    for (directory, data) in &mut recordings {
        if case.trials.iter().any(|trial| trial.directory == *directory) {
            data.path = other.clone();
        }
    }
    let page = page(&recordings);
    assert_eq!(page.matches("class=\"path-picture\"").count(), 2);
    assert!(page.contains(&format!("Path of {}", case.name)) && page.contains("77 ms"));
}

#[test]
fn unreadable_trial_error_names_the_trial() {
    let (run, _) = synthetic::run(1);
    let error = render(&run, load(&vec![])).unwrap_err();
    assert!(matches!(&error, ReportError::Load { number: 1, .. }));
    assert_eq!(error.to_string(), "trial 1 of case reno: no such trial");
}

#[test]
fn text_table_of_a_run() {
    let (run, _) = synthetic::run(3);
    insta::assert_snapshot!(text_table(&run, false));
}

/// A run in two worlds shows the world and the TCP stacks of each variant.
#[test]
fn worlds_and_stacks_are_shown() {
    let (mut run, recordings) = synthetic::run(1);
    let everywhere = "kernel: Linux 6.12.0 at both ends";
    assert!(text_table(&run, false).starts_with(everywhere), "{}", text_table(&run, false));
    assert!(page(&run, &recordings).contains(everywhere));

    run.world = RunWorld::Both;
    let modelled = &mut run.cases[1];
    modelled.world = World::Simulated;
    for stack in &mut modelled.stacks {
        stack.is_model = true;
        (stack.name, stack.title) = ("linux-6.18".into(), "Linux 6.18".into());
        stack.for_kernel = stack.end == "server";
    }
    modelled.stacks[0].like = true;
    let text = text_table(&run, false);
    let expected = "\
variant  world      client                 server
reno     kernel     Linux 6.12.0           Linux 6.12.0
cubic    simulated  linux-6.18-like model  linux-6.18 model
";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("variant  world      trials"), "{text}");
    let page = page(&run, &recordings);
    for text in [
        "1 trial of 1 variant in the kernel, over its TCP (Linux 6.12.0); 1 trial of 1 variant \
         simulated with linux-6.18-like, linux-6.18.",
        "<span class=\"world\">simulated</span>",
        "linux-6.18-like model",
    ] {
        let escaped = text.replace('\'', "&#39;");
        assert!(page.contains(text) || page.contains(&escaped), "{text}");
    }

    run.world = RunWorld::Simulated;
    run.fallback = Some("The model stands for the kernel: no namespaces".into());
    assert!(text_table(&run, false).contains("! The model stands for the kernel: no namespaces\n"));
    run.calibration = None;
    let shown = self::page(&run, &recordings);
    assert!(shown.contains("tcplab run scenario.toml --world sim --trials"));
    assert!(shown.contains("A simulated path is exact."));
    // What stood for `linux` stands for it again, where it did.
    let simulated = [("reno", Some("6.12")), ("cubic", None)];
    for (case, (name, kernel)) in run.cases.iter_mut().zip(simulated) {
        assert_eq!(case.name, name);
        (case.world, case.kernel) = (World::Simulated, kernel.map(str::to_owned));
    }
    let shown = self::page(&run, &recordings);
    for command in [
        "tcplab run scenario.toml --world sim --kernel 6.12 --trials",
        "tcplab run scenario.toml --world sim --kernel 6.12 --case reno --trial",
        "tcplab run scenario.toml --world sim --case cubic --trial",
    ] {
        assert!(shown.contains(command), "{command}");
    }
}
