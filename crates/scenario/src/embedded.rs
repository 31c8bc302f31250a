//! Files of the repository in the program itself.

/// Name and source of files `NAME.toml` in a folder of the repository, by name: no file of the
/// folder may be missing, which a test checks.
macro_rules! embedded {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$((
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $folder, "/", $name, ".toml")),
        )),*]
    };
}
pub(crate) use embedded;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{catalogue, presets};

    #[test]
    fn no_file_is_forgotten() {
        let folders =
            [("scenarios", catalogue()), ("paths", presets()), ("stacks", crate::profile::FILES)];
        for (folder, embedded) in folders {
            let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
            let mut files: Vec<String> = std::fs::read_dir(place)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .filter_map(|file| file.strip_suffix(".toml").map(String::from))
                .collect();
            files.sort();
            let embedded: Vec<&str> = embedded.iter().map(|(name, _)| *name).collect();
            assert_eq!(
                embedded, files,
                "embed each file of {folder}/, in the order of their names"
            );
        }
    }
}
