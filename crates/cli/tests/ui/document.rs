//! The interface is what its document says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::page::{Page, SMALL};
use crate::schema::{faults, widened_by};

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/ui-openapi.json")
}

/// The addresses and methods in the server's source.
fn routes() -> BTreeMap<String, Vec<String>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/src/api/mod.rs");
    let source = fs::read_to_string(source).unwrap();
    let parts = source.split(".route(").skip(1).filter_map(|part| {
        let path = part.split('"').nth(1)?;
        let call = part.split('"').nth(2)?;
        let methods = ["get", "post", "delete", "put"];
        let methods = methods.iter().filter(|it| call.contains(&format!("{it}(")));
        let methods: Vec<String> = methods.map(|it| (*it).to_owned()).collect();
        path.starts_with("/api/").then(|| (path.to_owned(), methods))
    });
    parts.collect()
}

#[test]
fn document_has_every_address() {
    let document: Value = serde_json::from_slice(&fs::read(file()).unwrap()).unwrap();
    let described: BTreeMap<String, Vec<String>> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(path, methods)| {
            let mut methods: Vec<String> = methods.as_object().unwrap().keys().cloned().collect();
            methods.sort();
            (path.clone(), methods)
        })
        .collect();
    let mut routes = routes();
    for methods in routes.values_mut() {
        methods.sort();
    }
    assert_eq!(described, routes);
}

/// A job that runs, and one that was stopped, has no exit code yet.
#[test]
fn job_that_is_stopped_is_as_described() {
    let page = Page::start();
    let toml = SMALL.replace("trials = 2", "trials = 5000").replace("500 kB", "5 MB");
    let id = page.begin(&json!({ "do": "run", "toml": toml, "world": "sim" }));
    let document: Value = serde_json::from_slice(&fs::read(file()).unwrap()).unwrap();
    let (one, stop) = (format!("/api/jobs/{id}"), format!("/api/jobs/{id}/stop"));
    let running = page.get(&one).json();
    assert_eq!((&running["exit_code"], &running["is_running"]), (&Value::Null, &json!(true)));
    let stopped = page.post(&stop, &json!({})).json();
    let ended = page.wait(id);
    let list = page.get("/api/jobs").json()["jobs"][0].clone();
    for (place, method, answer) in [
        ("/api/jobs/{id}", "get", running),
        ("/api/jobs/{id}/stop", "post", stopped),
        ("/api/jobs/{id}", "get", ended),
        ("/api/jobs", "get", list),
    ] {
        let content = &document["paths"][place][method]["responses"]["200"]["content"];
        let mut schema = &content["application/json"]["schema"];
        if place == "/api/jobs" {
            schema = &schema["properties"]["jobs"]["items"];
        }
        let found = faults(schema, &answer, "");
        assert!(found.is_empty(), "{place}: {found:#?} in {answer}");
    }
}

/// What is refused, for whatever reason, is refused in JSON.
#[test]
fn refusals_are_as_described() {
    let page = Page::start();
    let (own, json) = (page.own(), "Content-Type: application/json\r\n");
    let stranger = format!("Host: {}\r\n", page.at);
    let elsewhere = format!("{own}Origin: http://evil.example\r\n");
    let with_body = format!("{own}{json}");
    for (method, path, headers, body, status) in [
        ("GET", "/api/run", &own, "", 400),
        ("GET", "/api/live?run=a&case=b&trial=x", &own, "", 400),
        ("GET", "/api/jobs/none", &own, "", 400),
        ("GET", "/api/jobs", &stranger, "", 401),
        ("GET", "/api/jobs", &elsewhere, "", 403),
        ("GET", "/api/none", &own, "", 404),
        ("GET", "/api/jobs/99", &own, "", 404),
        ("PUT", "/api/jobs", &own, "", 405),
        ("DELETE", "/api/about", &own, "", 405),
        ("POST", "/api/check", &own, "{}", 415),
        ("POST", "/api/compare", &with_body, r#"["a","b"]"#, 422),
        ("POST", "/api/check", &with_body, "{", 400),
    ] {
        let answer = page.ask(method, path, headers, body.as_bytes());
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
        let kind = answer.header("content-type");
        assert_eq!(kind, Some("application/json"), "{method} {path}: {}", answer.text());
        assert!(answer.json()["error"].is_string(), "{method} {path}: {}", answer.text());
    }
}

/// Words of this program's insides say nothing to who asks.
#[test]
fn refusals_are_in_plain_words() {
    let page = Page::start();
    let event = json!({ "at": "1 s", "drop": 1.5 });
    let events = json!({ "toml": SMALL, "events": [event] });
    for (path, body, said) in [
        ("/api/run", Value::Null, "missing field `run`"),
        ("/api/run?run=", Value::Null, "a name is missing"),
        ("/api/run?run=../x", Value::Null, "`../x` is no name: it leads elsewhere"),
        ("/api/jobs/abc", Value::Null, "expected a whole number that is not negative, not `abc`"),
        (
            "/api/live?run=a&case=b&trial=x",
            Value::Null,
            "`trial`: expected a whole number that is not negative",
        ),
        ("/api/check", json!("x"), "expected an object, not \"x\""),
        ("/api/jobs", json!(null), "expected an object, not null"),
        ("/api/events", events, "expected a whole number that is not negative, not `1.5`"),
    ] {
        let answer = if body.is_null() && path != "/api/jobs" {
            page.get(path)
        } else {
            page.post(path, &body)
        };
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with(said), "{path}: {error}");
    }
}

/// Answers fit the document. With `TCPLAB_BLESS` it is widened to fit.
#[test]
fn answers_are_as_described() {
    let page = Page::start();
    let wish = json!({ "do": "run", "toml": SMALL, "name": "small", "world": "sim" });
    let run = page.run(&wish);
    let second = page.run(&wish);
    let lesson = page.get("/api/scenario?name=sockets-course/digital-unix").json();
    let lesson = json!({ "do": "run", "toml": lesson["toml"], "name": "lesson", "world": "sim" });
    let lesson = page.run(&lesson);
    let answer = format!("/api/lesson/answer?lesson=one-kilobyte&run={lesson}");
    let failed = page.begin(&json!({ "do": "run", "toml": "x", "name": "bad" }));
    page.wait(failed);
    let draft = json!({ "toml": SMALL, "world": "sim" });
    let figures = json!({ "runs": [run, second] });
    let figure = json!({ "runs": [run, second], "figure": "goodput/means" });
    let mistaken = json!({ "toml": "[path]\nrat = 1" });
    let jobs = page.get("/api/jobs").json()["jobs"].as_array().unwrap().clone();
    let first = format!("/api/jobs/{}", jobs.last().unwrap()["id"]);
    let trial = format!("run={run}&case=reno&trial=1");
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let capture = fs::read_dir(capture).unwrap().map(|it| it.unwrap().path());
    let mut captures: Vec<PathBuf> =
        capture.filter(|it| it.extension().is_some_and(|ending| ending == "zst")).collect();
    captures.sort();
    let headers = format!("{}Content-Type: application/octet-stream\r\n", page.own());
    let brought = fs::read(&captures[0]).unwrap();
    let brought = page.ask("POST", "/api/captures?name=a.pcap.zst", &headers, &brought).json();
    let id = brought["id"].as_str().unwrap();
    let (_server, latency) = crate::latency::kept_result(&page);
    let of = format!("id={id}");
    let made = json!({ "id": id, "kind": "listing", "connection": 1 });
    let one = format!("/api/capture/product?{of}&number=1");
    let mut document: Value = serde_json::from_slice(&fs::read(file()).unwrap()).unwrap();
    for (method, place, path, body) in [
        ("get", "/api/about", "/api/about".to_owned(), Value::Null),
        ("get", "/api/scenarios", "/api/scenarios".into(), Value::Null),
        ("get", "/api/scenario", "/api/scenario?name=interruption".into(), Value::Null),
        ("get", "/api/paths", "/api/paths".into(), Value::Null),
        ("post", "/api/check", "/api/check".into(), draft.clone()),
        ("post", "/api/check", "/api/check".into(), mistaken),
        // A mistake that has no remedy.
        ("post", "/api/check", "/api/check".into(), json!({ "toml": "x" })),
        ("post", "/api/estimate", "/api/estimate".into(), draft.clone()),
        ("post", "/api/outlook", "/api/outlook".into(), draft),
        ("post", "/api/events", "/api/events".into(), json!({ "toml": SMALL, "events": [] })),
        ("get", "/api/runs", "/api/runs".into(), Value::Null),
        ("get", "/api/run", format!("/api/run?run={run}"), Value::Null),
        ("get", "/api/run", format!("/api/run?{trial}"), Value::Null),
        ("get", "/api/compare", format!("/api/compare?a={run}&b={second}"), Value::Null),
        ("post", "/api/compare", "/api/compare".into(), json!({ "a": run, "b": second })),
        ("post", "/api/figures", "/api/figures".into(), figures),
        ("post", "/api/figures", "/api/figures".into(), figure),
        ("get", "/api/jobs", "/api/jobs".into(), Value::Null),
        ("get", "/api/jobs/{id}", first.clone(), Value::Null),
        ("get", "/api/jobs/{id}", format!("/api/jobs/{failed}"), Value::Null),
        ("post", "/api/jobs/{id}/stop", format!("{first}/stop"), json!({})),
        ("get", "/api/latencies", "/api/latencies".into(), Value::Null),
        ("get", "/api/latency", format!("/api/latency?name={latency}"), Value::Null),
        ("delete", "/api/latency", format!("/api/latency?name={latency}"), Value::Null),
        ("get", "/api/live/packets", format!("/api/live/packets?{trial}"), Value::Null),
        ("get", "/api/live/states", format!("/api/live/states?{trial}"), Value::Null),
        ("get", "/api/lessons", "/api/lessons".into(), Value::Null),
        ("get", "/api/lesson/answer", answer, Value::Null),
        ("get", "/api/options", "/api/options".into(), Value::Null),
        ("get", "/api/programs", "/api/programs".into(), Value::Null),
        ("get", "/api/program", "/api/program?name=echo".into(), Value::Null),
        ("get", "/api/captures", "/api/captures".into(), Value::Null),
        // Before it is read, and then.
        ("get", "/api/capture", format!("/api/capture?{of}"), Value::Null),
        ("post", "/api/capture/read", "/api/capture/read".into(), json!({ "id": id })),
        ("get", "/api/capture", format!("/api/capture?{of}"), Value::Null),
        ("post", "/api/capture/products", "/api/capture/products".into(), made),
        ("get", "/api/capture/product", one.clone(), Value::Null),
        ("delete", "/api/capture/product", one, Value::Null),
        ("delete", "/api/capture", format!("/api/capture?{of}"), Value::Null),
        ("post", "/api/jobs", "/api/jobs".into(), wish),
        ("delete", "/api/run", format!("/api/run?run={second}"), Value::Null),
    ] {
        let answer = match method {
            "post" => page.post(&path, &body),
            "delete" => page.delete(&path),
            _ => page.get(&path),
        };
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let answer = answer.json();
        let content = &mut document["paths"][place][method]["responses"]["200"]["content"];
        let schema = &mut content["application/json"]["schema"];
        if std::env::var_os("TCPLAB_BLESS").is_some() {
            *schema = widened_by(schema, &answer);
        }
        let found = faults(schema, &answer, "");
        assert!(found.is_empty() && schema.get("type").is_some(), "{path}: {found:#?}");
    }
    if std::env::var_os("TCPLAB_BLESS").is_some() {
        fs::write(file(), serde_json::to_string_pretty(&document).unwrap() + "\n").unwrap();
    }
}
