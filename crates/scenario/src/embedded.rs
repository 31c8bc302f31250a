//! Files of the repository embedded into the program.

/// Names and sources of the files `NAME.toml` in a folder of the repository (`folder/name` in a
/// subfolder). A test checks that no file is missing.
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

    /// Names of the files in a folder, and in those in it that hold any.
    fn files_in(place: &Path, before: &str) -> Vec<String> {
        let entries = std::fs::read_dir(place).unwrap().map(Result::unwrap);
        let names = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().unwrap();
            if entry.path().is_dir() {
                return files_in(&entry.path(), &format!("{before}{name}/"));
            }
            name.strip_suffix(".toml").map(|name| format!("{before}{name}")).into_iter().collect()
        };
        entries.flat_map(names).collect()
    }

    #[test]
    fn every_file_is_embedded() {
        let folders =
            [("scenarios", catalogue()), ("paths", presets()), ("stacks", crate::profile::FILES)];
        for (folder, embedded) in folders {
            let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
            // A folder of which nothing is embedded is for something else.
            let has_folder = |file: &String| {
                let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
                embedded.iter().any(|(name, _)| name.starts_with(folder))
            };
            let mut files = files_in(&place, "");
            files.retain(has_folder);
            files.sort();
            let embedded: Vec<&str> = embedded.iter().map(|(name, _)| *name).collect();
            assert_eq!(
                embedded, files,
                "embed each file of {folder}/, in the order of their names"
            );
        }
    }
}
