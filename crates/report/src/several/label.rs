//! What runs are called in figures, where the user does not say.

use tcplab_results::Run;

/// The title of each run. Runs of one title have their identity added: what follows the time in the
/// name of the run's directory. Where that does not tell them apart either, they are numbered.
pub fn labels(runs: &[(&Run, &str)]) -> Vec<String> {
    let titles: Vec<&str> = runs.iter().map(|(run, _)| run.title.trim()).collect();
    let mut labels: Vec<String> = Vec::new();
    for ((_, directory), title) in runs.iter().zip(&titles) {
        let is_alone = titles.iter().filter(|other| *other == title).count() == 1;
        let identity = directory.rsplit_once('-').map_or(*directory, |(_, identity)| identity);
        let label = match (title.is_empty(), is_alone) {
            (true, _) => (*directory).to_owned(),
            (false, true) => (*title).to_owned(),
            (false, false) => format!("{title} ({identity})"),
        };
        let numbered = (2..).map(|number| format!("{label} {number}"));
        let free = std::iter::once(label.clone()).chain(numbered).find(|it| !labels.contains(it));
        labels.push(free.unwrap_or(label));
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_title_are_told_apart() {
        let titled = |title: &str| Run { title: title.into(), ..Run::default() };
        let (upload, load) = (titled("Upload"), titled("Load"));
        let found = labels(&[
            (&upload, "20261128T015713-65e7a674"),
            (&load, "20261128T015714-b0c9f6f0"),
            (&upload, "20261128T015715-7f6423fe"),
            (&upload, "copy-7f6423fe"),
            (&titled(""), "kept"),
        ]);
        let expected =
            ["Upload (65e7a674)", "Load", "Upload (7f6423fe)", "Upload (7f6423fe) 2", "kept"];
        assert_eq!(found, expected);
    }
}
