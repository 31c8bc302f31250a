//! Runs that the page starts, shows, stops and removes.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::page::{Page, SMALL, until};

fn wish(name: &str) -> Value {
    json!({ "do": "run", "toml": SMALL, "name": name, "world": "sim" })
}

#[test]
fn trials_outside_the_range_are_refused() {
    let page = Page::start();
    for trials in [0, 100_000, 4_000_000_000_u32] {
        let mut job = wish("small");
        job["trials"] = trials.into();
        let series = json!({ "do": "series", "folder": "tuning", "trials": trials });
        let extend = json!({ "do": "extend", "run": "none", "trials": trials });
        let draft = json!({ "toml": SMALL, "world": "sim", "trials": trials });
        for (path, body) in [
            ("/api/estimate", &draft),
            ("/api/jobs", &job),
            ("/api/jobs", &series),
            ("/api/jobs", &extend),
        ] {
            let answer = page.post(path, body);
            assert_eq!(answer.status, 400, "{body}");
            assert!(answer.text().contains("1 to 99999"), "{}", answer.text());
        }
    }
    let draft = json!({ "toml": SMALL, "world": "sim", "trials": 99_999 });
    assert_eq!(page.post("/api/estimate", &draft).status, 200);
}

/// The report's main picture has a panel for each level of a third factor, four at most.
#[test]
fn panels_that_are_left_out_are_counted() {
    let page = Page::start();
    let panels = |count: usize| {
        let queues: Vec<String> = (1..=count).map(|nth| format!("{nth}0 packets")).collect();
        let controls = &["reno", "cubic", "vegas", "westwood", "bbr"][..count];
        let toml = format!(
            r#"
            title    = "Panels"
            path     = {{ rate = "10 Mbit/s" }}
            workload = {{ upload = "20 kB" }}
            repeat   = {{ trials = 1 }}
            [matrix]
            "path.queue" = {queues:?}
            "path.delay" = ["5 ms", "10 ms", "20 ms"]
            "client.socket.congestion" = {controls:?}
            "#
        );
        let run = page.run(&json!({ "do": "run", "toml": toml, "name": "panels", "world": "sim" }));
        let address = page.get(&format!("/api/run?run={run}")).json()["report"].clone();
        let report = page.get(address.as_str().unwrap()).text();
        let main = report.split("class=\"trends main-picture\"").nth(1).unwrap();
        let main = main.split("All trends").next().unwrap();
        let left_out = main.split(" panels").next().unwrap();
        let left_out = main.contains(" panels").then(|| left_out[left_out.len() - 6..].to_owned());
        (main.matches("<figure").count(), left_out)
    };
    assert_eq!(panels(3), (3, None));
    assert_eq!(panels(5), (4, Some("4 of 5".into())));
}

#[test]
fn estimate_that_is_refused_says_what_helps() {
    let page = Page::start();
    let toml = format!("{SMALL}\n[client]\nstack = \"linux-6.12\"\n");
    let refused = page.post("/api/estimate", &json!({ "toml": toml, "world": "sim" }));
    assert_eq!(refused.status, 400);
    let said = refused.json();
    assert!(said["error"].as_str().unwrap().contains("6.12"), "{said}");
    assert!(said["remedy"].as_str().unwrap().contains("tcplab kernel build"), "{said}");
}

/// Half a minute in virtual time, a thousand times.
fn long() -> Value {
    let toml = SMALL.replace("trials = 2", "trials = 5000").replace("500 kB", "5 MB");
    json!({ "do": "run", "toml": toml, "name": "long", "world": "sim" })
}

#[test]
fn run_from_start_to_report() {
    let page = Page::start();
    let estimate = page.post("/api/estimate", &json!({ "toml": SMALL, "world": "sim" })).json();
    assert!(estimate["in_words"].as_str().unwrap().starts_with("2 cases"), "{estimate}");
    let seen = page.post("/api/outlook", &json!({ "toml": SMALL })).json();
    assert!(seen["picture"].as_str().unwrap().starts_with("<svg"));
    let run = page.run(&wish("small"));
    let it = page.get(&format!("/api/run?run={run}")).json();
    let trials = it["trials"].as_array().unwrap();
    assert!(trials.len() == 4 && trials.iter().all(|it| it["state"] == "whole"), "{it}");
    assert!(it["told"]["answer"].as_str().unwrap().contains("transfer time"), "{}", it["told"]);
    // The report is in a sandbox, with its own scripts alone, and needs no token.
    let address = it["report"].as_str().unwrap();
    let report = page.ask("GET", address, &format!("Host: {}\r\n", page.at), b"");
    let policy = report.header("content-security-policy").unwrap();
    assert!(policy.starts_with("sandbox allow-scripts") && !policy.contains("same-origin"));
    let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap();
    let text = report.text();
    assert!(text.contains(&format!("<script nonce=\"{nonce}\">")) && !text.contains("<script>"));
    assert!(text.contains("Small"));
    files_of_the_report_are_saved(&page, &run, address);
    let list = page.get("/api/runs").json();
    assert_eq!((&list["count"], &list["runs"][0]["run"]), (&json!(1), &json!(run)));
    is_found_by_words(&page);
    // Two runs are compared as the command does.
    let second = page.run(&wish("small"));
    let compared = page.post("/api/compare", &json!({ "a": run, "b": second })).json();
    assert_eq!(page.get(compared["report"].as_str().unwrap()).status, 200, "{compared}");
    // They are in one figure as `tcplab plot` draws it, under labels of one's own.
    let both = json!({ "runs": [run, second] });
    let list = page.post("/api/figures", &both).json();
    assert_eq!(
        (&list["figures"][0]["name"], &list["drawn"]),
        (&"transfer_time/means".into(), &Value::Null)
    );
    let wish = json!({ "runs": [run, second], "labels": ["<a>", "b"], "figure": "goodput/trials" });
    let drawn = page.post("/api/figures", &wish).json();
    let svg = drawn["drawn"]["svg"].as_str().unwrap();
    assert!(svg.contains("&lt;a&gt;: ") && !svg.contains("<a>"), "{svg}");
    assert!(drawn["command"].as_str().unwrap().ends_with("--label b --figure goodput/trials"));
    // Those of one run are its own.
    let wish = json!({ "runs": [run], "figure": "goodput/boxes", "x_label": "<speed>" });
    let drawn = page.post("/api/figures", &wish).json();
    let svg = drawn["drawn"]["svg"].as_str().unwrap();
    assert!(svg.contains("class=\"scene boxes\"") && svg.contains("&lt;speed&gt;"), "{svg}");
    let typed = drawn["command"].as_str().unwrap();
    assert!(typed.ends_with(" --figure goodput/boxes '--x-label=<speed>'"), "{typed}");
    // Relative to the first, with a look of its own.
    let wish = json!({
        "runs": [run, second], "labels": ["<a>", "b"], "figure": "goodput/ecdf",
        "relative_to": "1", "title": "It's <so>", "y_range": "..50", "x_scale": "log",
        "colors": { "2": "#cc3311" },
    });
    let drawn = page.post("/api/figures", &wish).json();
    let svg = drawn["drawn"]["svg"].as_str().unwrap();
    for part in ["times that of &lt;a&gt;", "It&#39;s &lt;so&gt;", "color=\"#cc3311\""] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    let typed = drawn["command"].as_str().unwrap();
    let looks = r"--color=2=#cc3311' '--title=It'\''s <so>' --y-range=..50 --x-scale=log";
    assert!(typed.contains(" --relative-to=1 --figure goodput/ecdf '"), "{typed}");
    assert!(typed.ends_with(looks), "{typed}");
    for (wrong, status) in [
        (json!({ "runs": [] }), 400),
        (json!({ "runs": [run], "relative_to": "1" }), 400),
        (json!({ "runs": [run], "figure": "nosuch" }), 404),
        (json!({ "runs": [run], "figure": "goodput/bars", "x_scale": "log" }), 400),
        (json!({ "runs": vec![&run; 4001] }), 400),
        (json!({ "runs": [run, second], "relative_to": "3" }), 400),
        (json!({ "runs": [run, second], "figure": "goodput/means", "x_range": "1.." }), 400),
        (json!({ "runs": [run, second], "figure": "goodput/means", "colors": { "1": "x" } }), 400),
        (json!({ "runs": [run, second], "figure": "goodput/means", "x_scale": "odd" }), 422),
        (json!({ "runs": [run, "../x"] }), 403),
        (json!({ "runs": [run, "small/x"] }), 404),
        (json!({ "runs": [run, second], "labels": ["a", "a"] }), 400),
        (json!({ "runs": [run, second], "labels": ["a"] }), 400),
        (json!({ "runs": [run, second], "figure": "nosuch" }), 404),
    ] {
        assert_eq!(page.post("/api/figures", &wrong).status, status, "{wrong}");
    }
    comparison_without_results_keeps_the_earlier_page(&page, [&run, &second], &compared);
    // It is not made smaller.
    let fewer = page.post("/api/jobs", &json!({ "do": "extend", "run": run, "trials": 1 }));
    assert_eq!(fewer.status, 400);
    assert!(fewer.text().contains("has 2 trials of a case: extend it to 2 or more"), "{fewer:?}");
    // It is extended, by trials and by a level, then removed.
    let state = page.wait(page.begin(&json!({ "do": "extend", "run": run, "trials": 3 })));
    assert_eq!(state["is_finished"], true, "{state}");
    let it = page.get(&format!("/api/run?run={run}")).json();
    assert_eq!(it["trials"].as_array().unwrap().len(), 6);
    run_gets_a_level(&page, &run);
    assert_eq!(page.delete(&format!("/api/run?run={run}")).status, 200);
    assert_eq!(page.get(&format!("/api/run?run={run}")).status, 404);
}

fn run_gets_a_level(page: &Page, run: &str) {
    let toml = SMALL.replace("[\"reno\"", "[\"vegas\", \"reno\"");
    let wish = json!({ "do": "extend", "run": run, "trials": 3, "toml": toml, "name": "small" });
    let state = page.wait(page.begin(&wish));
    assert_eq!(state["is_finished"], true, "{state}");
    let it = page.get(&format!("/api/run?run={run}")).json();
    let levels = it["trials"].as_array().unwrap().iter().map(|it| it["level"].as_str().unwrap());
    assert_eq!(levels.collect::<Vec<_>>(), ["vegas", "reno", "cubic"].repeat(3));
    assert_eq!(it["scenario"], toml);
}

#[test]
fn stopped_run_is_resumed() {
    let page = Page::start();
    let id = page.begin(&long());
    // One at a time.
    assert_eq!(page.post("/api/jobs", &wish("other")).status, 409);
    let run = until(|| {
        let state = page.get(&format!("/api/jobs/{id}")).json();
        let is_under_way = state["latest"]["event"] == "stored";
        is_under_way.then(|| state["run"].as_str().unwrap().to_owned())
    });
    // Its directory is locked.
    assert_eq!(page.delete(&format!("/api/run?run={run}")).status, 409);
    assert_eq!(page.post(&format!("/api/jobs/{id}/stop"), &json!({})).status, 200);
    let state = page.wait(id);
    assert_eq!(state["is_finished"], false);
    assert!(state["said"].as_str().unwrap().contains("resume with"), "{state}");
    let resumed = page.begin(&json!({ "do": "resume", "run": run }));
    until(|| {
        let state = page.get(&format!("/api/jobs/{resumed}")).json();
        (state["latest"]["event"] == "stored").then_some(())
    });
}

#[test]
fn events_come_as_they_happen_and_once_more() {
    let page = Page::start();
    let id = page.begin(&wish("small"));
    let listen = |last: &str| {
        let mut stream = page.connect();
        let head = format!("GET /api/jobs/{id}/events HTTP/1.1\r\n{}{last}\r\n", page.own());
        stream.write_all(head.as_bytes()).unwrap();
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        let mut events = Vec::new();
        for line in lines {
            if let Some(data) = line.strip_prefix("data: ") {
                events.push(serde_json::from_str::<Value>(data).unwrap());
                if events.last().unwrap().get("is_running").is_some() {
                    break;
                }
            }
        }
        events
    };
    let all = listen("");
    let names: Vec<&str> = all.iter().filter_map(|it| it["event"].as_str()).collect();
    assert_eq!((names[0], *names.last().unwrap()), ("begun", "finished"));
    assert_eq!(names.iter().filter(|name| **name == "stored").count(), 4);
    assert!(
        all.iter().skip(1).all(|it| it["event"] == "finished"
            || it["left_seconds"].is_number()
            || it["id"] == id)
    );
    // A page that comes back goes on behind the last event that it saw.
    let rest = listen(&format!("Last-Event-ID: {}\r\n", names.len() - 2));
    assert_eq!(rest[rest.len() - 2]["event"], "finished");
    assert_eq!(rest.len(), 2, "{rest:?}");
}

#[test]
fn server_that_dies_takes_its_run_along_and_is_found_again() {
    let page = Page::start();
    let (at, token) = (page.at.clone(), page.token.clone());
    let id = page.begin(&long());
    let run = until(|| {
        let state = page.get(&format!("/api/jobs/{id}")).json();
        (state["latest"]["event"] == "stored").then(|| state["run"].as_str().unwrap().to_owned())
    });
    let home = page.end(Signal::KILL);
    let page = Page::start_in(home, &at);
    assert_eq!((&page.at, &page.token), (&at, &token));
    // The run ended with the server: its directory is free, and what was done is kept.
    let done = until(|| {
        let answer = page.post("/api/jobs", &json!({ "do": "resume", "run": run }));
        assert_eq!(answer.status, 200, "{}", answer.text());
        let state = page.wait_or_stored(answer.json()["id"].as_u64().unwrap());
        (state["latest"]["event"] == "stored").then_some(state)
    });
    assert_eq!(done["run"], json!(run));
    let it = page.get(&format!("/api/run?run={run}")).json();
    assert!(it["trials"].as_array().unwrap().iter().any(|it| it["state"] == "whole"));
    // Ctrl-C ends the server and the run in short time.
    let began = std::time::Instant::now();
    page.end(Signal::INT);
    assert!(began.elapsed().as_secs() < 20);
}

#[test]
fn names_with_markup_stay_text() {
    let page = Page::start();
    let toml = SMALL.replace("\"Small\"", "\"<script>alert(1)</script>\"");
    let run = page.run(&json!({ "do": "run", "toml": toml, "name": "markup", "world": "sim" }));
    let it = page.get(&format!("/api/run?run={run}"));
    assert_eq!(it.header("content-type"), Some("application/json"));
    let report = page.get(it.json()["report"].as_str().unwrap()).text();
    assert!(!report.contains("<script>alert"), "the title is a script");
}

/// What the page shows to type runs the same: the world, the seed, the cases, the trials.
#[test]
fn commands_of_a_run_do_the_same() {
    let page = Page::start();
    let mut job = wish("small");
    // More than a number of JavaScript holds.
    job["seed"] = json!("18446744073709551615");
    job["case"] = json!("cubic");
    let run = page.run(&job);
    let it = page.get(&format!("/api/run?run={run}")).json();
    assert_eq!(it["seed"], "18446744073709551615");
    let place = page.runs().join(&run).display().to_string();
    let runs = page.runs().display().to_string();
    assert_eq!(it["kernel"], "model");
    let same = format!(
        "tcplab run {place}/scenario.toml --world=sim --kernel=model --seed=18446744073709551615 \
         --case=cubic --trials=2 --runs={runs}"
    );
    assert_eq!(it["commands"], json!([format!("tcplab report {place}"), same]));
    // So the page asks for what stood for `linux`.
    job["kernel"] = json!("model");
    let kernel = |run: &str| page.get(&format!("/api/run?run={run}")).json()["kernel"].clone();
    assert_eq!(kernel(&page.run(&job)), "model");
    job["kernel"] = json!("none-of-this-name");
    let ended = page.wait(page.begin(&job));
    let said = ended["said"].as_str().unwrap();
    assert!(said.contains("none-of-this-name"), "{said}");
    for seed in [json!(-1), json!(1.5), json!("x"), json!("18446744073709551616")] {
        job["seed"] = seed;
        let refused = page.post("/api/jobs", &job);
        assert_eq!(refused.status, 400);
        assert!(refused.text().contains("a seed is a whole number from 0 to"), "{refused:?}");
    }
}

/// A page that is left open never means the job of another server.
#[test]
fn jobs_of_two_servers_have_other_numbers() {
    let page = Page::start();
    let first = page.begin(&wish("small"));
    page.wait(first);
    let page = Page::start_in(page.end(Signal::KILL), "127.0.0.1:0");
    let second = page.begin(&wish("small"));
    assert!(second > first && second < 1 << 53, "{first} {second}");
    let gone = page.get(&format!("/api/jobs/{first}/events"));
    assert_eq!(gone.status, 404);
    assert!(gone.text().contains("this server has no job"), "{gone:?}");
}

/// All experiments of a folder are one job; a page names none of its own.
#[test]
fn folder_is_run_as_a_series() {
    let page = Page::start();
    for folder in ["", "..", "/etc", "no-such-folder", "--runs=x"] {
        let refused = page.post("/api/jobs", &json!({ "do": "series", "folder": folder }));
        assert_eq!(refused.status, 404, "{folder}: {}", refused.text());
    }
    let wish = json!({ "do": "series", "folder": "haiku-tcp", "world": "sim", "quick": true });
    let id = page.begin(&wish);
    let state = until(|| {
        let state = page.get(&format!("/api/jobs/{id}")).json();
        state["run"].is_string().then_some(state)
    });
    assert_eq!(state["command"].as_str().unwrap().find("tcplab run haiku-tcp"), Some(0), "{state}");
    assert_eq!(page.post(&format!("/api/jobs/{id}/stop"), &json!({})).status, 200);
    let state = page.wait(id);
    assert_eq!(state["is_finished"], false, "{state}");
    assert!(state["run"].as_str().unwrap().starts_with("haiku-tcp"), "{state}");
}

/// Files in the directories of a place.
/// Those that it links, to be saved; nothing else of the run, and nothing elsewhere.
fn files_of_the_report_are_saved(page: &Page, run: &str, address: &str) {
    let place = page.runs().join(run);
    fs::write(page.home.path().join("secret.json"), "secret").unwrap();
    symlink(page.home.path().join("secret.json"), place.join("link.json")).unwrap();
    let get = |name: &str| {
        let path = address.replace("report.html", name);
        page.ask("GET", &path, &format!("Host: {}\r\n", page.at), b"")
    };
    for name in ["run.json", "metrics.csv", "scenario.toml", "trials/reno-1/client.pcapng"] {
        let saved = get(name);
        let file = name.rsplit('/').next().unwrap();
        let disposition = format!("attachment; filename=\"{file}\"");
        assert_eq!(saved.header("content-disposition"), Some(&*disposition), "{name}");
        assert_eq!(saved.body, fs::read(place.join(name)).unwrap(), "{name}");
    }
    for name in [
        "link.json",
        "../../secret.json",
        "trials/reno-1/result.json",
        "trials",
        "none.csv",
        "LOCK",
    ] {
        let refused = get(name);
        assert!([403, 404].contains(&refused.status), "{name}: {}", refused.status);
        assert!(!refused.text().contains("secret\n") && refused.text() != "secret", "{name}");
    }
    fs::remove_file(place.join("link.json")).unwrap();
}

fn files_below(place: &Path) -> Vec<PathBuf> {
    let entries = |place: &Path| fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
    entries(place).flat_map(|it| entries(&it).collect::<Vec<_>>()).collect()
}

/// The only run, by a word of its name, its title or its answer, and in portions.
fn is_found_by_words(page: &Page) {
    for (asked, found) in [
        ("word=SMALL", 1),
        ("word=transfer%20time", 1),
        ("word=nosuch", 0),
        ("from=1", 1),
        ("most=0", 1),
    ] {
        let list = page.get(&format!("/api/runs?{asked}")).json();
        let counts = (&list["count"], &list["found"], &list["unread"]);
        assert_eq!(counts, (&json!(1), &json!(found), &json!(0)), "{asked}");
        let is_shown = found == 1 && asked.starts_with("word");
        assert_eq!(list["runs"].as_array().unwrap().len(), usize::from(is_shown), "{asked}");
    }
}

/// A comparison that comes to nothing leaves the earlier page of the same runs, and nothing new.
fn comparison_without_results_keeps_the_earlier_page(
    page: &Page,
    [run, second]: [&String; 2],
    compared: &Value,
) {
    let results = page.runs().join(second).join("run.json");
    let aside = results.with_extension("aside");
    fs::rename(&results, &aside).unwrap();
    assert_eq!(page.post("/api/compare", &json!({ "a": run, "b": second })).status, 400);
    assert_eq!(page.post("/api/compare", &json!({ "a": second, "b": run })).status, 400);
    assert_eq!(page.get(compared["report"].as_str().unwrap()).status, 200, "{compared}");
    let kept = files_below(&page.runs().join(".comparisons"));
    assert!(kept.len() == 1 && kept[0].ends_with("report.html"), "{kept:?}");
    fs::rename(&aside, &results).unwrap();
}
