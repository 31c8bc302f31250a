//! Images beside the usual one: how runs call them, and what they need of them.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::home::{Ended, Home, ended};
use crate::image::Images;

const REST: &str = "
title    = \"Named\"
path     = { delay = \"1 ms\" }
workload = { upload = \"1 kB\" }
repeat   = { trials = 1 }
";

fn scenario(client: &str, server: &str) -> String {
    format!("{REST}client = {{ stack = \"{client}\" }}\nserver = {{ stack = \"{server}\" }}\n")
}

/// A cache with 6.12, and with `mine`, a newer one of a tree that complains while it boots.
fn home(images: &Images) -> Home {
    let home = Home::new();
    for name in ["6.12", "mine"] {
        home.make_directory(&format!("kernels/{name}"));
        for file in ["config", "manifest.json", "linux"] {
            let from = images.folder().join("6.12").join(file);
            fs::copy(from, home.path(format!("kernels/{name}/{file}"))).unwrap();
        }
    }
    let real = fs::canonicalize(home.path("kernels/6.12/linux")).unwrap();
    let complaint = "WARNING: CPU: 0 PID: 1 at net/ipv4/tcp.c:7";
    let image = format!("#!/bin/sh\necho '{complaint}'\nexec {} \"$@\"\n", real.display());
    replace(&home, &image);
    home
}

/// Makes this the image `mine`.
fn replace(home: &Home, image: &str) {
    let path = home.path("kernels/mine/linux");
    fs::write(&path, image).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let manifest = home.path("kernels/mine/manifest.json");
    let mut value: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    value["name"] = json!("mine");
    value["release"] = json!("6.12.999");
    value["source"] =
        json!({ "kind": "tree", "directory": "/src/net-next", "fingerprint": "00ff" });
    value["image_hash"] = json!(blake3::hash(image.as_bytes()).to_hex()[..16]);
    value["image_bytes"] = json!(image.len());
    fs::write(manifest, value.to_string()).unwrap();
}

fn run(home: &Home, line: &str) -> Ended {
    ended(home.command(line).env("TCPLAB_KERNELS", home.path("kernels")))
}

fn in_a_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn image_is_named_and_its_complaint_is_kept() {
    let Some(images) = Images::find() else { return };
    let home = home(&images);
    home.write("it.toml", scenario("linux-mine", "linux-6.12"));
    let ended = run(&home, "run it.toml --json --runs a");
    let (value, said) = (ended.stdout, in_a_line(&ended.stderr));
    let value: Value =
        serde_json::from_str(&value).unwrap_or_else(|error| panic!("{error}: {said}"));
    let names = value["cases"][0]["stacks"].as_array().unwrap().iter();
    let names = names.map(|stack| stack["name"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(names[0], "Linux 6.12.999 (image mine, tree net-next, 250 Hz)");
    assert!(names[1].starts_with("Linux 6.12.") && !names[1].contains("image"), "{names:?}");
    assert!(
        said.contains("the client's kernel says `WARNING: CPU: 0 PID: 1 at net/ipv4"),
        "{said}"
    );
    let directory = home.only(home.only(home.path("a")));
    let trial = home.only(directory.join("trials"));
    let console = fs::read_to_string(trial.join("client.console")).unwrap();
    assert_eq!(console, "WARNING: CPU: 0 PID: 1 at net/ipv4/tcp.c:7\n");
    assert!(!trial.join("server.console").exists(), "nothing is unusual there");
    let environment = fs::read_to_string(directory.join("environment.json")).unwrap();
    assert!(environment.contains("linux-mine in virtual time"), "{environment}");
    assert!(environment.contains("tree /src/net-next, patches "), "{environment}");

    // Built again of an edited tree: all but the hash is the same.
    let other = fs::read_to_string(home.path("kernels/mine/linux")).unwrap() + "# edited\n";
    replace(&home, &other);
    run(&home, "run it.toml --quiet --runs b").answer("the second run");
    let [a, b] = ["a", "b"].map(|runs| home.only(home.only(home.path(runs))));
    let line = format!("compare {} {}", a.display(), b.display());
    let compared = run(&home, &line).answer("compare");
    let compared = in_a_line(&compared);
    assert!(compared.contains("linux-mine in virtual time differs: A image mine"), "{compared}");
}

#[test]
fn image_that_no_end_uses_may_be_damaged_or_gone() {
    let Some(images) = Images::find() else { return };
    let home = home(&images);
    let mut image = fs::File::options().write(true).open(home.path("kernels/mine/linux")).unwrap();
    image.write_all(b"damaged").unwrap();
    home.write("it.toml", scenario("linux-6.12", "model:linux-6.12"));
    run(&home, "run it.toml --quiet --runs a").answer("run of what is not damaged");
    home.write("newest.toml", scenario("linux-newest", "linux-newest"));
    let refusal = in_a_line(&run(&home, "run newest.toml").refusal("run of what is"));
    assert!(refusal.contains("kernel mine cannot be used"), "{refusal}");
    fs::remove_dir_all(home.path("kernels/mine")).unwrap();
    let directory = home.only(home.only(home.path("a")));
    let line = format!("run --extend {} --trials 2 --json", directory.display());
    let value: Value = serde_json::from_str(&run(&home, &line).answer(&line)).unwrap();
    assert_eq!(value["cases"][0]["trials"].as_array().unwrap().len(), 2);
}

#[test]
fn kernel_that_is_named_implies_virtual_time() {
    let Some(images) = Images::find() else { return };
    let home = home(&images);
    home.write("it.toml", REST);
    let value = run(&home, "run it.toml --kernel 6.12 --json --runs a").answer("run");
    let value: Value = serde_json::from_str(&value).unwrap();
    assert_eq!(value["world"], "sim");
    let name = value["cases"][0]["stacks"][0]["name"].as_str().unwrap();
    assert!(name.starts_with("Linux 6.12.") && !name.contains("image"), "{name}");
    home.write("it.toml", scenario("linux-6.12", "linux-6.12"));
    let said = in_a_line(&run(&home, "run it.toml --kernel mine --dry-run").stderr);
    assert!(said.contains("kernel mine is not used: no end has the stack `linux`"), "{said}");
}

/// By the command of its report, where another one is the newest.
#[test]
fn run_is_repeated_on_the_kernel_that_it_ran_on() {
    let Some(images) = Images::find() else { return };
    let home = home(&images);
    home.write("it.toml", REST);
    for kernel in ["6.12", "model"] {
        let line = format!("run it.toml --kernel {kernel} --seed 7 --quiet --runs {kernel}");
        run(&home, &line).answer(&line);
        let whole = home.only(home.only(home.path(kernel)));
        let report = fs::read_to_string(whole.join("report.html")).unwrap();
        let flags = format!("--world sim --kernel {kernel} --case base --trial 1 --seed 7");
        let given = format!("run scenario.toml {flags}");
        assert!(report.contains(&format!("tcplab {given}")), "{given}");
        let mut command = home.command(&format!("{given} --json --runs again"));
        command.env("TCPLAB_KERNELS", home.path("kernels")).current_dir(&whole);
        let stacks = |text: &str| {
            let run: Value = serde_json::from_str(text).unwrap();
            run["cases"][0]["stacks"].clone()
        };
        let first = fs::read_to_string(whole.join("run.json")).unwrap();
        assert_eq!(stacks(&ended(&mut command).answer(&given)), stacks(&first));
        let [ours, theirs] = [home.only(home.only(whole.join("again"))), whole.clone()]
            .map(|run| fs::read(run.join("trials/base-1/client.pcapng")).unwrap());
        assert!(ours == theirs, "{given}");
    }
}

/// A guest that is rebooted says hello to its clock again.
#[test]
fn guest_that_reboots_has_ended() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    let program = "import ctypes; ctypes.CDLL(None).reboot(0x1234567)";
    home.write("reboot.py", program);
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return crate::home::skipped("there is no python3, so nothing was rebooted");
    }
    let line = "shell --near linux-6.12 --far linux-6.12 -s delay=1ms -- python3 reboot.py";
    let said = in_a_line(&images.run(&home, line).refusal(line));
    assert!(said.contains("it was rebooted"), "{said}");
}
