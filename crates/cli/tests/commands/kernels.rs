//! `tcplab kernel list`, `show` and `remove`, on caches prepared by hand; nothing is built here.

use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::home::Home;

/// The manifest of an image as a text.
pub(crate) fn manifest(name: &str) -> String {
    json!({
        "schema": "tcplab.kernel",
        "version": 1,
        "name": name,
        "release": "6.12.117",
        "source": {
            "kind": "package",
            "package": "linux-source-6.12",
            "version": "6.12.117-1",
            "suite": "bookworm",
        },
        "patches": ["register-area", "hz", "random-seed"],
        "configuration_hash": "0123456789abcdef",
        "missing_options": ["CONFIG_DEFAULT_CUBIC"],
        "hz": 250,
        "seccomp": false,
        "compiler": "gcc 12.2.0",
        "image_hash": "fedcba9876543210",
        "image_bytes": 5,
        "built_unix_ns": 1_795_000_000_000_000_000_i64,
        "compiled_files": 1050,
    })
    .to_string()
}

/// Writes an image of five bytes with this manifest.
pub(crate) fn write_kernel(home: &Home, name: &str, manifest: &str) {
    home.write(&format!("kernels/{name}/manifest.json"), manifest);
    home.write(&format!("kernels/{name}/linux"), "image");
    home.write(&format!("kernels/{name}/config"), "CONFIG_HZ=250\n");
}

/// What commands print, refused or not.
fn said(home: &Home, lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        let ended = home.run(line);
        let (code, stdout, stderr) = (ended.code, ended.stdout, ended.stderr);
        writeln!(text, "$ tcplab {line}\n{stdout}{stderr}[{}]\n", code.unwrap_or(-1)).unwrap();
    }
    assert!(!text.contains("panicked"), "{text}");
    text.replace(&home.path("").display().to_string(), "/home/")
}

#[test]
fn images_are_listed_shown_and_removed() {
    let home = Home::new();
    let empty = said(&home, &["kernel list", "kernel show 6.12", "kernel remove 6.12"]);
    write_kernel(&home, "6.12", &manifest("6.12"));
    let mut tree: serde_json::Value = serde_json::from_str(&manifest("net-next")).unwrap();
    tree["source"] = json!({"kind": "tree", "directory": "/src/net-next", "fingerprint": "00"});
    tree["seccomp"] = json!(true);
    write_kernel(&home, "net-next", &tree.to_string());
    home.write("kernels/.work/7.2/log", "");
    let lines = [
        "kernel list",
        "kernel show 6.12",
        "kernel show net-next",
        "kernel show 6.1",
        "kernel remove 6.1",
        "kernel remove 6.12",
        "kernel remove 7.2",
        "kernel list",
    ];
    insta::assert_snapshot!(empty + &said(&home, &lines));
    assert!(!home.exists("kernels/6.12") && !home.exists("kernels/.work/7.2"));
}

/// Text of others steers no terminal, and what is no image is named.
#[test]
fn hostile_caches_are_listed() {
    let home = Home::new();
    write_kernel(&home, "6.12", &manifest("6.12").replace("gcc 12.2.0", r"gcc\u001b[2J\nname x"));
    write_kernel(&home, "7.2", &manifest("7.2").replace("6.12.117\"", r#"\u001b]0;title\u0007""#));
    write_kernel(&home, "garbage", "{\"name\": \u{1b}[2J");
    write_kernel(&home, "other", &manifest("6.12"));
    write_kernel(&home, "old", &manifest("old").replace("\"version\":1", "\"version\":2"));
    write_kernel(&home, "cut", &manifest("cut"));
    home.write("kernels/cut/linux", "im");
    write_kernel(&home, "e\u{1b}[31m", &manifest("x"));
    home.make_directory("kernels/empty");
    home.write("kernels/file", "");
    symlink("6.12", home.path("kernels/link")).unwrap();
    write_kernel(&home, "huge", "");
    let huge = File::create(home.path("kernels/huge/manifest.json")).unwrap();
    huge.set_len(1 << 40).unwrap();
    let lines = [
        "kernel list",
        "kernel show 6.12",
        "kernel show garbage",
        "kernel show link",
        "kernel show huge",
    ];
    let text = said(&home, &lines);
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn names_that_are_paths_are_refused() {
    let home = Home::with("precious/file", "");
    home.make_directory("kernels");
    symlink("../precious", home.path("kernels/link")).unwrap();
    insta::assert_snapshot!(said(
        &home,
        &[
            "kernel show ../x",
            "kernel remove ../precious",
            "kernel remove .",
            "kernel remove .work",
            "kernel build ../x --source .",
            "kernel build",
            "kernel build mine",
            "kernel build --source .",
            "kernel build --source missing",
            "kernel build 6.12 --jobs 0",
            "kernel remove link",
        ]
    ));
    assert!(home.exists("precious/file") && !home.exists("kernels/link"));
}

/// An image of the present configuration is not built again; this needs neither apt nor compiler.
#[test]
fn present_image_is_not_built_again() {
    let home = Home::new();
    let hash = tcplab_kernels::configuration_hash();
    write_kernel(&home, "6.12", &manifest("6.12").replace("0123456789abcdef", &hash));
    let text = home.answer("kernel build 6.12");
    assert!(text.starts_with("Kernel 6.12 is there, with the present configuration"), "{text}");
    assert!(home.answer("kernel list").contains("current"));
    assert_eq!(home.answer("kernel build 6.12 --quiet"), "");
    assert!(home.answer("kernel show 6.12").contains(" (current)"));
}

/// Without the programs that a build needs, it names all of them and downloads nothing.
#[test]
fn missing_programs_are_named_at_once() {
    let home = Home::new();
    home.make_directory("empty");
    let mut command = home.command("kernel build 6.12");
    let refusal =
        crate::home::ended(command.env("PATH", home.path("empty"))).refusal("no programs");
    let refusal = refusal.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(refusal.contains("make, gcc, ld, flex, bison, bc, patch, tar, perl, xz"), "{refusal}");
    assert!(!home.exists("kernels"));
}
