//! The scenarios that come with tcplab, whatever directory it runs in.

/// Name and source of every file in `scenarios/`, by name.
pub fn catalogue() -> &'static [(&'static str, &'static str)] {
    CATALOGUE
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../scenarios/", $name, ".toml")))),*]
    };
}

const CATALOGUE: &[(&str, &str)] = embedded!["interruption"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    #[test]
    fn no_file_is_forgotten() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter_map(|file| file.strip_suffix(".toml").map(String::from))
            .collect();
        files.sort();
        let embedded: Vec<&str> = catalogue().iter().map(|(name, _)| *name).collect();
        assert_eq!(embedded, files, "embed each file of scenarios/, in the order of their names");
    }

    #[test]
    fn every_file_can_be_read() {
        for (name, source) in catalogue() {
            if let Err(error) = Scenario::parse(source, name) {
                panic!("{name}: {error}");
            }
        }
    }
}
