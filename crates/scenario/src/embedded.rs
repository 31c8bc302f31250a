//! Files of the repository that the program carries.

use std::sync::LazyLock;

use tcplab_embedded::embedded;

embedded! {
    /// What `build.rs` names.
    FILES
}

/// Name, without folder and ending, and text of files, by name.
pub(crate) type Texts = [(&'static str, &'static str)];

/// The built-in scenarios: the files in `scenarios/`.
pub fn catalogue() -> &'static Texts {
    static ALL: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
        let mut all = FILES.below("scenarios", ".toml");
        // Those compare models with kernels, for `tcplab fidelity`.
        all.retain(|(name, _)| !name.starts_with("fidelity/"));
        all
    });
    &ALL
}

/// The files in `paths/`.
pub fn presets() -> &'static Texts {
    static ALL: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| FILES.below("paths", ".toml"));
    &ALL
}

/// The files in `stacks/`.
pub(crate) fn stacks() -> &'static Texts {
    static ALL: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| FILES.below("stacks", ".toml"));
    &ALL
}

/// The schema of scenario files, as editors find it.
pub(crate) fn schema() -> &'static str {
    FILES.get("scenario.schema.json").expect("`build.rs` packs it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    #[test]
    fn every_scenario_is_read_and_asks_a_question() {
        assert!(catalogue().len() >= 60, "{}", catalogue().len());
        for (name, source) in catalogue() {
            match Scenario::parse(source, name) {
                Err(error) => panic!("{name}: {error}"),
                Ok(read) => assert!(read.question.is_some_and(|it| it.ends_with('?')), "{name}"),
            }
        }
    }
}
