//! A factor and its levels.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::fault::Fault;
use crate::key::Key;
use crate::problem::Problem;
use crate::sections::{SECTIONS, VARIED_SECTIONS};

/// The most levels of a factor: ten times the cases there may be, for samples.
const LEVELS_MAX: usize = 10_000;

/// A key and its values; or a free name, and the settings of several keys.
#[derive(Debug)]
pub(crate) struct Factor<'i> {
    pub(crate) key: Key,
    /// The key's span.
    pub(crate) span: Range<usize>,
    pub(crate) levels: Vec<Level<'i>>,
}

/// One value of a factor.
#[derive(Debug)]
pub(crate) struct Level<'i> {
    /// A string without its quotes, anything else as written.
    pub(crate) text: String,
    /// Whether the text is a word, which needs no key beside it.
    pub(super) is_word: bool,
    /// What it sets, in the order of the file.
    pub(crate) settings: Vec<Setting<'i>>,
}

/// A key that a level sets.
#[derive(Debug)]
pub(crate) struct Setting<'i> {
    pub(crate) key: Key,
    /// The key's span.
    pub(crate) span: Range<usize>,
    pub(crate) value: Spanned<DeValue<'i>>,
}

/// One level of each factor.
pub(crate) type Cell<'m, 'i> = Vec<(&'m Factor<'i>, &'m Level<'i>)>;

impl<'i> Factor<'i> {
    pub(super) fn read(
        key: &Spanned<std::borrow::Cow<'i, str>>,
        value: Spanned<DeValue<'i>>,
        source: &str,
    ) -> Result<Factor<'i>, Fault> {
        let (span, written) = (key.span(), key.get_ref().to_string());
        let Some(key) = Key::parse(&written) else {
            return Err(Fault::new(Problem::NotAKey(written), span));
        };
        let value_span = value.span();
        let levels = match value.into_inner() {
            DeValue::Array(values) => {
                may_vary(&key, &span)?;
                plain_levels(&key, &span, values, source)?
            }
            DeValue::Table(levels) if !SECTIONS.contains(&key.section()) => named_levels(levels)?,
            _ if !SECTIONS.contains(&key.section()) => {
                return Err(unknown_section(&key, span));
            }
            _ => return Err(Fault::new(Problem::LevelsNotAList(key.to_string()), value_span)),
        };
        if levels.len() > LEVELS_MAX {
            let problem = format!("{} levels: give at most {LEVELS_MAX}", levels.len());
            return Err(Fault::new(Problem::Value(problem), value_span));
        }
        if levels.is_empty() {
            return Err(Fault::new(Problem::NoLevels(key.to_string()), value_span));
        }
        Ok(Factor { key, span, levels })
    }

    /// Whether its levels have names, and not the values of one key.
    pub(super) fn has_named_levels(&self) -> bool {
        !SECTIONS.contains(&self.key.section())
    }

    pub(super) fn settings(&self) -> impl Iterator<Item = &Setting<'i>> {
        self.levels.iter().flat_map(|level| &level.settings)
    }
}

/// Refuses keys that cannot differ between cases.
fn may_vary(key: &Key, span: &Range<usize>) -> Result<(), Fault> {
    if !SECTIONS.contains(&key.section()) {
        return Err(unknown_section(key, span.clone()));
    }
    if !VARIED_SECTIONS.contains(&key.section()) {
        return Err(Fault::new(Problem::NotVaried(key.to_string()), span.clone()));
    }
    Ok(())
}

fn unknown_section(key: &Key, span: Range<usize>) -> Fault {
    let problem = Problem::UnknownKey {
        key: key.section().into(),
        table: None,
        allowed: VARIED_SECTIONS.iter().map(|s| (*s).to_string()).collect(),
    };
    Fault { is_shape: true, ..Fault::new(problem, span) }
}

/// Levels that are values of one key.
fn plain_levels<'i>(
    key: &Key,
    span: &Range<usize>,
    values: DeArray<'i>,
    source: &str,
) -> Result<Vec<Level<'i>>, Fault> {
    let mut levels: Vec<Level<'i>> = Vec::new();
    let mut texts = BTreeSet::new();
    for value in values {
        let text = text_at(&value, source);
        if !texts.insert(text.clone()) {
            let problem = Problem::LevelTwice { key: key.to_string(), level: text };
            return Err(Fault::new(problem, value.span()));
        }
        let is_word = value.get_ref().is_str();
        let settings = vec![Setting { key: key.clone(), span: span.clone(), value }];
        levels.push(Level { text, is_word, settings });
    }
    Ok(levels)
}

/// Levels with names, which set several keys each.
fn named_levels(table: DeTable<'_>) -> Result<Vec<Level<'_>>, Fault> {
    let mut named: Vec<_> = table.into_iter().collect();
    named.sort_by_key(|(name, _)| name.span().start);
    let mut levels = Vec::new();
    for (name, value) in named {
        let (text, span) = (name.get_ref().to_string(), value.span());
        let DeValue::Table(keys) = value.into_inner() else {
            return Err(Fault::new(Problem::LevelNotATable(text), span));
        };
        let mut settings = Vec::new();
        for (written, value) in keys {
            let span = written.span();
            let Some(key) = Key::parse(written.get_ref()) else {
                return Err(Fault::new(Problem::NotAKey(written.get_ref().to_string()), span));
            };
            may_vary(&key, &span)?;
            settings.push(Setting { key, span, value });
        }
        settings.sort_by_key(|setting| setting.span.start);
        levels.push(Level { text, is_word: true, settings });
    }
    Ok(levels)
}

/// The text of a value: a string without its quotes, anything else as written, in one line.
fn text_at(value: &Spanned<DeValue<'_>>, source: &str) -> String {
    match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        _ => written_at(&value.span(), source),
    }
}

/// The source at `span`, in one line.
pub(crate) fn written_at(span: &Range<usize>, source: &str) -> String {
    source[span.clone()].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of a level.
pub(crate) fn text_of(level: &toml::Value) -> String {
    match level {
        toml::Value::String(text) => text.clone(),
        level => level.to_string(),
    }
}
