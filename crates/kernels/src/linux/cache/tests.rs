use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;

fn name(text: &str) -> KernelName {
    text.parse().unwrap()
}

fn sample(of: &str) -> Value {
    json!({
        "schema": "tcplab.kernel", "version": 1, "name": of, "release": "6.12.117",
        "source": {"kind": "package", "package": "linux-source-6.12", "version": "6.12.117-1", "suite": null},
        "patches": ["hz"], "configuration_hash": configuration_hash(), "missing_options": [],
        "hz": 250, "seccomp": false, "compiler": "gcc 12", "image_hash": image_hash(b"image"), "image_bytes": 5,
        "built_unix_ns": 1_800_000_000_000_000_000_i64, "compiled_files": 900
    })
}

/// A cache with one image.
fn cache(of: &str) -> (tempfile::TempDir, Cache) {
    let home = tempfile::tempdir().unwrap();
    let cache = Cache::at(home.path().join("kernels"));
    write(&cache, of, &sample(of).to_string());
    (home, cache)
}

fn write(cache: &Cache, of: &str, manifest: &str) {
    let directory = cache.root().join(of);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(MANIFEST), manifest).unwrap();
    fs::write(directory.join(IMAGE), "image").unwrap();
}

#[test]
fn image_is_found_listed_and_removed() {
    let (_home, cache) = cache("6.12");
    let kernel = cache.find(&name("6.12")).unwrap();
    assert!(kernel.is_current() && kernel.image().is_file());
    assert_eq!(cache.kernels().unwrap().len(), 1);
    assert!(cache.remove(&name("6.12")).unwrap());
    assert!(cache.kernels().unwrap().is_empty());
    assert!(matches!(cache.remove(&name("6.12")), Err(CacheError::Unknown { .. })));
}

#[test]
fn missing_cache_is_empty() {
    let cache = Cache::at("/nonexistent/kernels".into());
    assert!(cache.kernels().unwrap().is_empty());
    assert!(matches!(cache.find(&name("6.12")), Err(CacheError::Unknown { .. })));
}

#[test]
fn image_of_other_configuration_is_not_current() {
    let (_home, cache) = cache("6.12");
    let mut manifest = sample("6.12");
    manifest["configuration_hash"] = json!("0123456789abcdef");
    write(&cache, "6.12", &manifest.to_string());
    assert!(!cache.find(&name("6.12")).unwrap().is_current());
}

#[test]
fn image_that_has_changed_is_refused_for_trials() {
    let (_home, cache) = cache("6.12");
    let kernel = cache.find(&name("6.12")).unwrap();
    kernel.check_for_trials().unwrap();
    fs::write(kernel.image(), "imagE").unwrap();
    let error = kernel.check_for_trials().unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel 6.12 cannot be used: its image `linux` is damaged: it is not what was built"
    );
    assert!(error.remedy().unwrap().contains("tcplab kernel remove 6.12"));
}

#[test]
fn what_is_no_image_is_listed_with_its_problem() {
    let (home, cache) = cache("6.12");
    write(&cache, "garbage", "{\u{1b}[2J");
    write(&cache, "other", &sample("6.12").to_string());
    write(&cache, "schema", &sample("schema").to_string().replace("tcplab.kernel", "tcplab.run"));
    write(&cache, "cut", &sample("cut").to_string());
    fs::write(cache.root().join("cut/linux"), "img").unwrap();
    write(&cache, "lacks", "{\"schema\": \"tcplab.kernel\", \"version\": 1}");
    write(&cache, "a b", &sample("a b").to_string());
    fs::create_dir(cache.root().join("empty")).unwrap();
    fs::write(cache.root().join("file"), "").unwrap();
    symlink(cache.root().join("6.12"), cache.root().join("link")).unwrap();
    write(&cache, "linked", "");
    fs::remove_file(cache.root().join("linked/manifest.json")).unwrap();
    symlink(cache.root().join("6.12/manifest.json"), cache.root().join("linked/manifest.json"))
        .unwrap();
    let all = cache.kernels().unwrap();
    assert_eq!(all.iter().flatten().count(), 1);
    let problems: Vec<String> = all
        .into_iter()
        .filter_map(Result::err)
        .map(|Unusable { name, problem }| format!("{name}: {problem}"))
        .collect();
    assert_eq!(problems.len(), 10, "{problems:#?}");
    for (name, part) in [
        ("garbage", "manifest.json"),
        ("other", "is of `6.12`"),
        ("schema", "schema and version"),
        ("cut", "3 bytes"),
        ("lacks", "missing field"),
        ("a b", "no name of a kernel"),
        ("file", "not a directory"),
        ("link", "a link"),
    ] {
        let is_told =
            |line: &&String| line.starts_with(&format!("{name}: ")) && line.contains(part);
        assert!(problems.iter().any(|line| is_told(&line)), "{name}: {problems:#?}");
    }
    drop(home);
}

#[test]
fn link_is_removed_and_its_target_kept() {
    let (home, cache) = cache("6.12");
    let target = home.path().join("precious");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("file"), "").unwrap();
    symlink(&target, cache.root().join("link")).unwrap();
    assert!(matches!(cache.find(&name("link")), Err(CacheError::Unusable { .. })));
    assert!(cache.remove(&name("link")).unwrap());
    assert!(target.join("file").exists() && !cache.root().join("link").exists());
}

#[test]
fn second_process_is_refused() {
    let (_home, cache) = cache("6.12");
    let lock = cache.lock(&name("6.12")).unwrap();
    assert!(matches!(cache.remove(&name("6.12")), Err(CacheError::Busy { .. })));
    drop(lock);
    assert!(cache.remove(&name("6.12")).unwrap());
}

#[test]
fn unfinished_build_is_removed() {
    let (_home, cache) = cache("6.12");
    fs::create_dir_all(cache.work(&name("7.2")).join("tree")).unwrap();
    assert!(!cache.remove(&name("7.2")).unwrap());
    assert!(!cache.work(&name("7.2")).exists());
}

#[test]
fn newest_kernel_is_none_of_a_commit() {
    let (_home, cache) = cache("6.12");
    let with = |of: &str, release: &str, source: Option<Value>| {
        let mut manifest = sample(of);
        manifest["release"] = json!(release);
        if let Some(source) = source {
            manifest["source"] = source;
        }
        write(&cache, of, &manifest.to_string());
    };
    with("6.12", "6.12.117", None);
    let commit = json!({"kind": "commit", "repository": "/linux", "commit": "00ff"});
    with("bisect-00ff", "7.2.0", Some(commit));
    assert_eq!(cache.newest().unwrap().unwrap().manifest.name, "6.12");
    with("7.1", "7.1.3", None);
    assert_eq!(cache.newest().unwrap().unwrap().manifest.name, "7.1");
}
