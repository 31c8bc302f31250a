//! The book: the tutorial's commands, run as printed; and every link and page of `docs/`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::home::{Home, ended};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn page(name: &str) -> String {
    fs::read_to_string(docs().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The blocks of code of one language, in their order.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let fence = format!("\n```{language}\n");
    let each = text.split(fence.as_str()).skip(1);
    each.map(|rest| rest.split("\n```").next().unwrap()).collect()
}

/// Whether a line is what was printed, where `…` stands for anything.
fn is_line(printed: &str, found: &str) -> bool {
    let mut parts = printed.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = found.strip_prefix(first) else { return false };
    let others: Vec<&str> = parts.collect();
    for (index, part) in others.iter().enumerate() {
        let is_last = index + 1 == others.len();
        let at = if is_last {
            rest.ends_with(part).then(|| rest.len() - part.len())
        } else {
            rest.find(part)
        };
        let Some(at) = at else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

/// The one directory that `*` in an argument means.
fn with_star(home: &Home, line: &str) -> String {
    let word = |word: &str| match word.split_once("/*/") {
        Some((before, after)) => {
            let one = home.only(before);
            let name = one.file_name().unwrap().to_string_lossy().into_owned();
            format!("{before}/{name}/{after}")
        }
        None => word.to_owned(),
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn printed_lines_match_with_gaps_only_where_they_are_marked() {
    assert!(is_line("runs/first/…/x: 3 …", "runs/first/2026-ab/x: 3 s"));
    assert!(is_line("", "") && is_line("a", "a"));
    for (printed, found) in [("a", "ab"), ("a…c", "ab"), ("", "a"), ("…b", "ab c")] {
        assert!(!is_line(printed, found), "{printed} {found}");
    }
}

/// In virtual time, so that it is the same each time.
#[test]
fn tutorial_typed_as_printed_gives_what_is_printed() {
    let text = page("tutorial.md");
    let home = Home::new();
    home.write("first.toml", blocks(&text, "toml")[0]);
    type_sessions(&home, &text);
    type_sessions(&home, &page("how-tos.md"));
}

fn type_sessions(home: &Home, text: &str) {
    let sessions = blocks(text, "console");
    assert!(sessions.len() > 3, "there are commands");
    for session in sessions {
        for command in session.split("$ ").skip(1) {
            let (line, printed) = command.split_once('\n').unwrap_or((command, ""));
            let found = match line.split_once(' ') {
                Some(("tcplab", rest)) => home.answer(&with_star(home, rest)),
                Some(("cat", file)) => home.text(file),
                _ => panic!("the tutorial has a command of another program: {line}"),
            };
            let mut found: Vec<&str> = found.trim_end().lines().collect();
            let mut printed: Vec<&str> = printed.trim_end().lines().collect();
            // The rest is left out.
            if printed.last() == Some(&"…") {
                printed.pop();
                assert!(found.len() > printed.len(), "$ {line}: nothing is left out");
                found.truncate(printed.len());
            }
            let is_same = printed.len() == found.len()
                && printed.iter().zip(&found).all(|(one, other)| is_line(one, other.trim_end()));
            let found = found.join("\n");
            assert!(is_same, "$ {line}\n{}\n--- is really:\n{found}", printed.join("\n"));
        }
    }
}

/// Whether a sample is what was printed, where a line `…` stands for any lines.
fn is_sample(sample: &str, printed: &str) -> bool {
    let mut rest = printed;
    sample.trim_end().split("\n…\n").all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// The samples of README, and of the page on statistics, whose scenario is README's.
#[test]
fn samples_outside_the_tutorial_are_what_is_printed() {
    let readme = page("../README.md");
    let sample = |text: &str, part: &str| {
        let all = blocks(text, "text").into_iter().chain(blocks(text, "toml"));
        let mut fitting = all.filter(|block| block.contains(part));
        fitting.next().unwrap_or_else(|| panic!("no sample with {part}")).to_owned()
    };
    let home = Home::with("mine.toml", sample(&readme, "\nrate  = "));
    let capture = "corpus/groundtruth/rwnd_limited.snd.pcap.zst";
    let mut trace = home.command(&format!("trace {capture}"));
    let found = ended(trace.current_dir(docs().join(".."))).answer("trace");
    let wanted = sample(&readme, capture);
    assert!(is_sample(&wanted, &found), "README has\n{wanted}\n--- is really:\n{found}");

    home.write("dealy.toml", home.text("mine.toml").replacen("delay", "dealy", 1));
    let found = home.refusal("run dealy.toml");
    let wanted = sample(&readme, "unknown key `dealy`");
    let help = wanted.lines().last().unwrap().trim_end_matches(" …");
    assert!(found.contains(help), "README has\n{help}\n--- is really:\n{found}");

    home.answer("run mine.toml --trials 20 --world sim --kernel model --quiet");
    let line = "compare mine --by queue --levels '1 bdp,4 bdp' --metrics goodput,mean_rtt";
    let ended = home.run(line);
    let wanted = sample(&page("statistics.md"), "B is worse than A in 2 of 4");
    let found = ended.stdout;
    assert!(is_sample(&wanted, &found), "the page has\n{wanted}\n--- is really:\n{found}");
}

/// Targets of links in a page, without those in code.
fn links(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        let prose = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        found.extend(targets.map(|(target, _)| target.to_owned()));
    }
    found
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    kept.map(|it| if it == ' ' { '-' } else { it }).collect()
}

#[test]
fn every_link_of_the_documentation_leads_somewhere() {
    let root = docs().join("..");
    let mut pages = vec![root.join("README.md"), root.join("ARCHITECTURE.md")];
    let mut folders = vec![docs()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "md") {
                pages.push(path);
            }
        }
    }
    assert!(pages.len() > 60);
    let mut wrong = Vec::new();
    for page in &pages {
        for link in links(&fs::read_to_string(page).unwrap()) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((&link, ""));
            let target =
                if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let is_page = target.extension().is_some_and(|it| it == "md");
            let has_place = || {
                let text = fs::read_to_string(&target).unwrap();
                let headings = text.lines().filter(|line| line.starts_with('#'));
                place.is_empty()
                    || headings.map(anchor).any(|it| it == place)
                    || text.contains(&format!("id=\"{place}\""))
            };
            if !target.exists() || (is_page && !has_place()) {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "links that lead nowhere:\n{}", wrong.join("\n"));
}

/// A page outside the book cannot be found by its readers.
#[test]
fn every_page_of_the_documentation_is_in_the_book() {
    let summary = page("SUMMARY.md");
    let all = ["", "decisions/", "documents/", "how-to/"].into_iter().flat_map(|folder| {
        let entries = docs().join(folder).read_dir().unwrap();
        entries.map(move |it| format!("{folder}{}", it.unwrap().file_name().to_string_lossy()))
    });
    let missing: Vec<String> = all
        .filter(|name| {
            Path::new(name).extension().is_some_and(|it| it == "md") && name != "SUMMARY.md"
        })
        .filter(|name| !summary.contains(&format!("]({name})")))
        .collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:?}");
}

/// Where a page lists all of something, it has all.
#[test]
fn lists_of_the_documentation_are_complete() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/elsewhere.rs");
    let source = fs::read_to_string(source).unwrap();
    let refused: BTreeSet<&str> = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Command::")?.split('"').nth(1))
        .collect();
    let systems = page("systems.md");
    let (_, list) = systems.split_once("(\"shell needs Linux\"): ").expect("a list of commands");
    let (list, _) = list.split_once(';').expect("an end of the list");
    let listed: BTreeSet<&str> = list.split('`').skip(1).step_by(2).collect();
    assert!(refused.len() > 5);
    assert_eq!(listed, refused, "docs/systems.md lists those that src/elsewhere.rs refuses");

    let course = page("sockets-course.md");
    for entry in docs().join("../scenarios/sockets-course").read_dir().unwrap() {
        let file = entry.unwrap().path();
        let row = format!("\n| `sockets-course/{}` |", file.file_stem().unwrap().display());
        assert!(course.contains(&row), "docs/sockets-course.md lacks{row}");
    }

    let columns = page("tables.md");
    let (_, rest) = columns.split_once("\n## connections\n").expect("the table");
    let rows = rest.split("\n## ").next().unwrap().lines().filter(|it| it.starts_with("| `"));
    let described = format!("the description of {} columns", rows.count());
    assert!(page("scale.md").contains(&described), "docs/scale.md does not say: {described}");
}

#[test]
fn figures_of_a_run_are_written_from_the_command_line() {
    let home = Home::new();
    home.write("first.toml", blocks(&page("tutorial.md"), "toml")[0]);
    home.answer("run first.toml --world sim -q");
    let list = home.answer("plot first");
    let names: Vec<&str> =
        list.lines().filter_map(|line| line.split_once("  ")).map(|it| it.0).collect();
    let names = names.into_iter().filter(|name| !name.contains('…'));
    let names = names.map(|name| name.replace("METRIC", "goodput"));
    let mut count = 0;
    for name in names {
        home.answer(&format!("plot first --figure {name} -o a.svg"));
        let svg = home.text("a.svg");
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{name}");
        assert_stands_alone(&svg);
        let as_pgf = format!("plot first --figure {name} -o a.pgf");
        if name.starts_with("verdicts/") {
            home.refuses(&[(&as_pgf, "pgfplots cannot draw `verdicts/")]);
        } else {
            home.answer(&as_pgf);
            let pgf = home.text("a.pgf");
            let is_whole = pgf.contains("\\addplot") && pgf.ends_with("\\end{tikzpicture}\n");
            assert!(is_whole, "{name}: {pgf}");
        }
        home.answer(&format!("plot first --figure {name} -o a.csv"));
        let csv = home.text("a.csv");
        assert!(csv.lines().count() > 1, "{name}");
        assert_eq!(home.answer(&format!("plot first --figure {name} --table=csv")), csv);
        let text = home.answer(&format!("plot first --figure {name} --table"));
        assert_eq!(text.lines().count(), csv.lines().count(), "{text}");
        let json = home.json(&format!("plot first --figure {name} --table=json"));
        assert_eq!(json["rows"].as_array().unwrap().len(), csv.lines().count() - 1, "{json}");
        count += 1;
    }
    assert!(count > 3, "{list}");
    let trial = home.answer("plot first --figure reno/1");
    let name = trial.split_whitespace().next().unwrap();
    let svg = home.answer(&format!("plot first --figure {name}"));
    assert!(svg.contains("class=\"layers\"") && svg.contains("stroke: #0072b2"), "{svg}");
    assert_stands_alone(&svg);
    let of_trial =
        |kind: &str| trial.lines().any(|line| line.starts_with(&format!("reno/1/{kind}  ")));
    assert!(of_trial("state-diagram") && of_trial("episode-1"), "{trial}");
    for figure in ["state-diagram", "episode-1"] {
        home.answer(&format!("plot first --figure reno/1/{figure} -o a.svg"));
        let svg = home.text("a.svg");
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{figure}");
        assert_stands_alone(&svg);
    }
    let walked = home.answer("plot first --figure reno/1/state-diagram --table=csv");
    assert!(walked.starts_with("end,step,from,to,event,\"time, s\",frame\n"), "{walked}");
    assert!(walked.contains("client,1,CLOSED,SYN-SENT,"), "{walked}");
    home.refuses(&[
        ("plot first --table", "--figure <NAME>"),
        ("plot first --figure answer --table=xml", "xml"),
        ("plot first --figure reno/1/episode-1 --table", "draws packets"),
        ("plot first --figure answr", "did you mean `answer`?"),
        ("plot first --figure answer -o a", "use FILE.svg, FILE.png, FILE.pdf, FILE.csv, FILE"),
        ("plot first --figure reno/99", "no figure `reno/99`"),
        (&format!("plot first --figure {name} -o a.csv"), "draws packets"),
        (&format!("plot first --figure {name} -o a.pgf"), "pgfplots cannot draw"),
        ("plot nothing", "nothing"),
    ]);
}

/// Programs of SVG 1.1 know no variables, no pairs of colours, and no strokes that are not scaled.
fn assert_stands_alone(svg: &str) {
    let absent = ["var(", "light-dark(", "color-mix(", "<style", "system-ui", "vector-effect"];
    for absent in absent.into_iter().chain(["preserveAspectRatio"]) {
        assert!(!svg.contains(absent), "{absent}: {svg}");
    }
}
