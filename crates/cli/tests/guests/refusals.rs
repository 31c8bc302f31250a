//! What cannot run says why, and what would help.

use std::fs;

use crate::home::Home;
use crate::image::Images;

const SCENARIO: &str = r#"
title    = "Refused"
path     = { delay = "5 ms" }
workload = { upload = "10 kB" }
client   = { stack = "linux-6.12" }
server   = { stack = "linux-6.12" }
"#;

#[test]
fn missing_kernel_is_named_with_the_command_that_builds_it() {
    let home = Home::with("it.toml", SCENARIO);
    for line in ["run it.toml", "run it.toml --dry-run", "run it.toml --world sim"] {
        home.refuses(&[(line, "there is no kernel 6.12 in"), (line, "tcplab kernel build 6.12")]);
    }
    assert!(!home.exists("runs"), "nothing is begun");
}

#[test]
fn kernel_of_another_version_is_not_used() {
    let Some(images) = Images::find() else { return };
    let home = Home::with("it.toml", SCENARIO);
    home.make_directory("kernels");
    let copied = home.path("kernels/6.12");
    fs::create_dir(&copied).unwrap();
    for name in ["linux", "config", "manifest.json"] {
        fs::copy(images.folder().join("6.12").join(name), copied.join(name)).unwrap();
    }
    let manifest = copied.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let at = text.find("configuration_hash").unwrap() + "configuration_hash".len() + 4;
    fs::write(&manifest, format!("{}00000000{}", &text[..at], &text[at + 8..])).unwrap();
    let part = "was built by another version of tcplab";
    home.refuses(&[("run it.toml", part), ("run it.toml", "tcplab kernel build 6.12")]);
}

#[test]
fn what_takes_no_virtual_time_needs_real_time() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    let tail = "path = { same_host = true }\nrepeat = { trials = 1 }\ntitle = \"t\"\n";
    let pipe = "workload = { through = \"pipe\", upload = \"1 MB\" }\n";
    let load = "workload = { load = { design = \"fork\", requests = 4, concurrency = 1 } }\n";
    for (workload, part) in [(pipe, "takes no virtual time"), (load, "take no virtual time")] {
        home.write("it.toml", format!("{tail}{workload}"));
        let said = images.run(&home, "run it.toml --world sim").refusal("run");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn congestion_control_that_the_kernel_lacks_is_told() {
    let Some(images) = Images::find() else { return };
    let text = format!("{SCENARIO}[client.socket]\ncongestion = \"no-such\"\n");
    let text = text.replace("client   = { stack = \"linux-6.12\" }\n", "");
    let text = text.replace("[client.socket]", "[client]\nstack = \"linux-6.12\"\n[client.socket]");
    let home = Home::with("it.toml", text);
    let ended = images.run(&home, "run it.toml");
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("no-such"), "{}", ended.stderr);
}
