//! A page of `docs` whose figures runs give: its text, with a placeholder for each of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use super::figures::Figures;

/// `NAME.in`, from which `docs/NAME.md` is made: a table in TOML between lines of `+++`, then
/// Markdown with placeholders, `{{RUN CASE METRIC DECIMALS}}`. Cases and metrics are read as in
/// [`super::measured`]; `%` before the decimals shows a ratio in percent.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) name: String,
    /// The scenarios, by the name that placeholders have for them.
    runs: BTreeMap<String, String>,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    runs: BTreeMap<String, String>,
}

/// One place in the text.
pub(super) struct Placeholder<'a> {
    pub(super) scenario: &'a str,
    /// `CASE METRIC`.
    pub(super) asked: String,
    is_percent: bool,
    decimals: usize,
}

impl Template {
    pub(super) fn read(file: &Path) -> anyhow::Result<Template> {
        let what = || format!("cannot read {}", file.display());
        let text = fs::read_to_string(file).with_context(what)?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Template::parse(name, &text).with_context(what)
    }

    fn parse(name: String, text: &str) -> anyhow::Result<Template> {
        let parts = text.strip_prefix("+++\n").and_then(|rest| rest.split_once("+++\n"));
        let (head, text) = parts.context("it does not begin with a table between lines of +++")?;
        let Head { runs } = toml::from_str(head)?;
        Ok(Template { name, runs, text: text.to_owned() })
    }

    pub(super) fn scenarios(&self) -> impl Iterator<Item = &str> {
        self.runs.values().map(String::as_str)
    }

    /// All placeholders, in their order.
    pub(super) fn placeholders(&self) -> anyhow::Result<Vec<Placeholder<'_>>> {
        let inside = |rest: &str| {
            let (inside, _) = rest.split_once("}}").context("a placeholder has no end")?;
            self.placeholder(inside).with_context(|| format!("{{{{{inside}}}}}"))
        };
        self.text.split("{{").skip(1).map(inside).collect()
    }

    fn placeholder(&self, inside: &str) -> anyhow::Result<Placeholder<'_>> {
        let words: Vec<&str> = inside.split(' ').collect();
        let [run, case, metric, form] = words[..] else {
            anyhow::bail!("write RUN CASE METRIC DECIMALS");
        };
        let scenario = self.runs.get(run).with_context(|| format!("no run is called {run}"))?;
        let (is_percent, decimals) = match form.strip_prefix('%') {
            Some(decimals) => (true, decimals),
            None => (false, form),
        };
        let decimals = decimals.parse().context("no number of decimals")?;
        Ok(Placeholder { scenario, asked: format!("{case} {metric}"), is_percent, decimals })
    }

    /// Markdown.
    ///
    /// # Errors
    /// When a placeholder is none, or has no figure.
    pub(super) fn page(&self, figures: &Figures) -> anyhow::Result<String> {
        let mut page = self.text.split("{{").next().unwrap_or_default().to_owned();
        let rests = self.text.split("{{").skip(1);
        for (place, rest) in self.placeholders()?.into_iter().zip(rests) {
            let Placeholder { scenario, asked, .. } = &place;
            let value = figures.value(scenario, asked);
            let value = value.with_context(|| format!("{scenario} has no figure of `{asked}`"))?;
            page += &place.shown(value);
            page += rest.split_once("}}").map_or("", |(_, after)| after);
        }
        Ok(page)
    }
}

impl Placeholder<'_> {
    /// With commas where the whole part has four digits or more.
    fn shown(&self, value: f64) -> String {
        let value = if self.is_percent { value * 100.0 } else { value };
        let text = format!("{value:.*}", self.decimals);
        let whole = text.split('.').next().unwrap_or_default().len();
        let mut shown = String::new();
        for (index, digit) in text.char_indices() {
            if (1..whole).contains(&index) && (whole - index).is_multiple_of(3) {
                shown.push(',');
            }
            shown.push(digit);
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(text: &str) -> Template {
        let head = "+++\n[runs]\none = \"folder/one\"\n+++\n";
        Template::parse("page".into(), &format!("{head}{text}")).unwrap()
    }

    #[test]
    fn placeholders_become_figures() {
        let figures: Figures = serde_json::from_str(
            r#"{"folder/one": {"world": "models", "definition": "", "claims": {}, "values": {
                "a goodput": 1234.56, "a/b goodput": 0.335}}}"#,
        )
        .unwrap();
        for (text, page) in [
            ("none\n", "none\n"),
            ("**{{one a goodput 1}}** and {{one a goodput 0}}", "**1,234.6** and 1,235"),
            ("{{one a/b goodput 2}}, {{one a/b goodput %1}} %", "0.34, 33.5 %"),
        ] {
            assert_eq!(template(text).page(&figures).unwrap(), page);
        }
        for (text, part) in [
            ("{{one c goodput 1}}", "folder/one has no figure of `c goodput`"),
            ("{{two a goodput 1}}", "no run is called two"),
            ("{{one a goodput}}", "RUN CASE METRIC DECIMALS"),
            ("{{one a goodput x}}", "no number of decimals"),
            ("{{one a goodput 1", "has no end"),
        ] {
            let error = format!("{:#}", template(text).page(&figures).unwrap_err());
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(Template::parse(String::new(), "text").is_err());
    }
}
