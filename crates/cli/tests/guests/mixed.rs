//! Kernels and models at the two ends of one path.

use serde_json::Value;

use crate::home::Home;
use crate::image::{Images, VERSION};

const SCENARIO: &str = r#"
title    = "Mixed"
path     = { rate = "10 Mbit/s", delay = "5 ms", queue = "64 kB", loss = "1 %" }
workload = { upload = "300 kB" }
repeat   = { trials = 1 }

[matrix.ends]
kernels = { "client.stack" = "linux-6.12", "server.stack" = "linux-6.12" }
sends   = { "client.stack" = "linux-6.12", "server.stack" = "model:windows-7" }
takes   = { "client.stack" = "model:osx-10.7", "server.stack" = "linux-6.12" }
models  = { "client.stack" = "model:linux-6.18", "server.stack" = "model:linux-6.18" }

[[expect]]
claim  = "Every byte arrives intact"
metric = "payload_intact"
equals = true
"#;

fn stacks(case: &Value) -> Vec<&str> {
    let all = case["stacks"].as_array().unwrap();
    all.iter().map(|stack| stack["name"].as_str().unwrap()).collect()
}

#[test]
fn kernel_and_model_share_a_path() {
    let Some(images) = Images::find() else { return };
    let run = images.run_scenario(&Home::new(), SCENARIO, "");
    assert_eq!(run["claims"][0]["held"], true, "{}", run["claims"]);
    for case in run["cases"].as_array().unwrap() {
        assert_eq!(case["world"], "sim", "{case}");
        let [client, server] = stacks(case)[..] else { panic!("{case}") };
        match case["name"].as_str().unwrap() {
            "kernels" => assert!(client.starts_with("Linux 6.12") && server == client),
            "sends" => assert!(client.starts_with("Linux 6.12") && server == "windows-7"),
            "takes" => assert!(client == "osx-10.7" && server.starts_with("Linux 6.12")),
            _ => assert_eq!((client, server), ("linux-6.18", "linux-6.18")),
        }
    }
}

/// `linux` is the newest kernel in virtual time, or the one that is asked for, or the model.
#[test]
fn kernel_stands_for_linux() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    let scenario = SCENARIO.split("[matrix.ends]").next().unwrap().to_owned();
    let newest = images.run_scenario(&home, &scenario, "--world sim --runs newest");
    let named =
        images.run_scenario(&home, &scenario, &format!("--world sim --kernel {VERSION} --runs a"));
    let model = images.run_scenario(&home, &scenario, "--world sim --kernel model --runs b");
    let client = |run: &Value| stacks(&run["cases"][0])[0].to_owned();
    assert!(client(&newest).starts_with("Linux "), "{}", client(&newest));
    assert!(client(&named).starts_with("Linux 6.12"), "{}", client(&named));
    assert_eq!(client(&model), "linux-6.18");
}
