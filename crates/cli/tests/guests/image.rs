//! The image that the tests run on.

use std::path::PathBuf;

use serde_json::Value;

use crate::home::{Ended, Home, ended, skipped};

/// Its name: a version that is in Debian's present release, whose source stays.
pub(crate) const VERSION: &str = "6.12";

/// A trial of next to nothing.
const TRIAL: &str = r#"
title    = "Whether it runs"
path     = { delay = "1 ms" }
workload = { upload = "1 kB" }
repeat   = { trials = 1 }
client   = { stack = "linux-6.12" }
server   = { stack = "linux-6.12" }
"#;

/// Where images are.
#[derive(Debug)]
pub(crate) struct Images(PathBuf);

impl Images {
    /// Where the test's image is; if it is not there, or was made by another version of tcplab,
    /// prints that the test is skipped.
    pub(crate) fn find() -> Option<Images> {
        let images = Images::with(VERSION)?;
        match images.refused() {
            None => Some(images),
            Some(why) => {
                skipped(&why);
                None
            }
        }
    }

    /// Where images are, if the one of this name is there; else prints that the test is skipped.
    pub(crate) fn with(name: &str) -> Option<Images> {
        let usual = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/kernels").into();
        let folder = std::env::var_os("TCPLAB_TEST_KERNELS").map_or_else(usual, PathBuf::from);
        let images = Images(folder);
        let listed = images.run(&Home::new(), "kernel list --json").answer("kernel list");
        let listed: Value = serde_json::from_str(&listed).unwrap();
        let all = listed["kernels"].as_array().unwrap();
        if !all.iter().any(|it| it["name"] == name && it["is_current"] == true) {
            let how = if name == VERSION { "make kernel" } else { "tcplab kernel build" };
            skipped(&format!("there is no kernel {name}: `{how}` builds it"));
            return None;
        }
        Some(images)
    }

    /// Why this machine lets no kernel run, if it does not: any other failure is a fault.
    fn refused(&self) -> Option<String> {
        let home = Home::with("it.toml", TRIAL);
        let Ended { code, stderr, .. } = self.run(&home, "run it.toml --quiet");
        let words = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_refused = ["this container refuses", "no directory takes the memory"];
        let is_refused = code != Some(0) && is_refused.iter().any(|part| words.contains(part));
        is_refused.then_some(words)
    }

    /// Runs tcplab with these images.
    pub(crate) fn run(&self, home: &Home, line: &str) -> Ended {
        ended(home.command(line).env("TCPLAB_KERNELS", &self.0))
    }

    /// Runs a scenario, all of whose claims must hold and trials succeed.
    pub(crate) fn run_scenario(&self, home: &Home, text: &str, flags: &str) -> Value {
        home.write("it.toml", text);
        let line = format!("run it.toml {flags} --json");
        let answer = self.run(home, &line).answer(&line);
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    pub(crate) fn folder(&self) -> &PathBuf {
        &self.0
    }
}
