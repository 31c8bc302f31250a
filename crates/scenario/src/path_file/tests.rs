use super::*;

#[test]
fn every_preset_is_embedded_read_and_documented() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../paths");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|file| file.strip_suffix(".toml").map(String::from))
        .collect();
    files.sort();
    let embedded: Vec<&str> = presets().iter().map(|(name, _)| *name).collect();
    assert_eq!(embedded, files, "embed each file of paths/, in the order of their names");
    for (name, source) in presets() {
        let preset = PathFile::parse(source, name, &mut no_files)
            .unwrap_or_else(|error| panic!("{name}: {error}, line {}", error.line()));
        assert!(preset.title.is_some_and(|it| it.len() > 20), "{name} says what it is");
        assert!(preset.reference.is_some_and(|it| it.len() > 40), "{name} names its sources");
        assert_ne!(preset.path, PathSpec::default(), "{name}");
    }
}

fn parse(source: &str) -> Result<PathFile, ScenarioError> {
    let mut read = |name: &str| match name {
        "up" => Ok(b"0\n5\n10\n".to_vec()),
        "hole" => Ok(b"0\n5\n3\n".to_vec()),
        _ => Err(format!("there is no file `{name}`")),
    };
    PathFile::parse(source, "example", &mut read)
}

#[test]
fn keys_take_the_place_of_the_presets() {
    let file = parse("preset = \"dsl-25\"\ndelay = \"5 ms\"\nforward = { rate = \"1 Mbit/s\" }");
    let path = file.unwrap().path;
    let words = |direction| path.link(direction).unwrap().describe().join(" ");
    assert_eq!(
        words(Direction::Forward),
        "A bottleneck sends 1 Mbit/s; 256 kB can wait, what comes then is dropped. \
         Each packet takes 5 ms."
    );
    assert_eq!(
        words(Direction::Reverse),
        "A bottleneck sends 25 Mbit/s; 512 kB can wait, what comes then is dropped. \
         Each packet takes 5 ms."
    );
    // A key for both directions takes the place of the preset's for each.
    let path = parse("preset = \"dsl-25\"\nrate = \"2 Mbit/s\"").unwrap().path;
    let plan = path.link(Direction::Reverse).unwrap().describe().join(" ");
    assert!(plan.starts_with("A bottleneck sends 2 Mbit/s; 512 kB can wait"), "{plan}");
}

#[test]
fn a_scenario_is_read_for_its_path_and_files_are_read_in() {
    let scenario =
        "title = \"x\"\n[path]\nrate = { trace = \"up\" }\n[workload]\nupload = \"1 MB\"";
    let file = parse(scenario).unwrap();
    assert_eq!(file.title.as_deref(), Some("x"));
    let json = serde_json::to_string(&file.path).unwrap();
    assert!(json.contains("[0,5,10]"), "{json}");
}

#[test]
fn faults_are_told_with_their_line() {
    for (source, line, message) in [
        ("delay = \"5 ms\"\nrat = \"1 Mbit/s\"", 2, "unknown key `rat`"),
        ("preset = \"dsl\"", 1, "`dsl` is not a preset"),
        ("delay = \"5 ms\"\nrate = { trace = \"none\" }", 2, "there is no file `none`"),
        (
            "delay = \"5 ms\"\nrate = { trace = \"hole\" }",
            2,
            "the trace `hole`, line 3: falls from 5 to 3",
        ),
        ("title = 5", 1, "`title` is a text"),
        ("[[stages]]\nrate = \"1 Mbit/s\"\n[[stages]]\nrate = \"0 bit/s\"", 4, "a rate of zero"),
        ("rate = \"1 Mbit/s\"\nqueue = \"2 B\"", 2, "a queue of 2 B cannot hold a packet"),
    ] {
        let error = parse(source).unwrap_err();
        assert_eq!(error.line(), line, "{source}: {error}");
        assert!(error.to_string().starts_with(message), "{source}: {error}");
    }
}
