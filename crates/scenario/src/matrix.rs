//! The `[matrix]` section: what is varied, and the cases that come of it.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::Case;
use crate::error::Problem;
use crate::fault::Fault;
use crate::file::{SECTIONS, VARIED_SECTIONS};
use crate::key::Key;

/// More cases than this are a slip of the pen.
pub(crate) const CASES_MAX: usize = 1_000;

/// What a file name of a case may take, bytes.
const NAME_MAX: usize = 80;

/// The factors in the order they are written, and which combinations of their levels are cases.
#[derive(Debug, Default)]
pub(crate) struct Matrix<'i> {
    factors: Vec<Factor<'i>>,
    /// Where the section stands.
    span: Range<usize>,
    /// Of each cell the level of every factor, by its number.
    cells: Vec<Vec<usize>>,
    /// Factors that advance together, by their number; one alone is a group too.
    groups: Vec<Vec<usize>>,
}

/// A key and the values it takes in turn; or a free name, and what several keys are set to
/// together.
#[derive(Debug)]
pub(crate) struct Factor<'i> {
    pub(crate) key: Key,
    /// Where the key stands.
    pub(crate) span: Range<usize>,
    pub(crate) levels: Vec<Level<'i>>,
}

/// One of the values.
#[derive(Debug)]
pub(crate) struct Level<'i> {
    /// As people call it: a string without its quotes, anything else as it is written.
    pub(crate) text: String,
    /// Whether the text tells by itself what it is of.
    is_word: bool,
    /// What it sets, in the order written.
    pub(crate) settings: Vec<Setting<'i>>,
}

/// What a level does to the file.
#[derive(Debug)]
pub(crate) struct Setting<'i> {
    pub(crate) key: Key,
    /// Where the key stands.
    pub(crate) span: Range<usize>,
    pub(crate) value: Spanned<DeValue<'i>>,
}

/// One level of each factor.
pub(crate) type Cell<'m, 'i> = Vec<(&'m Factor<'i>, &'m Level<'i>)>;

impl<'i> Matrix<'i> {
    /// Takes the section out of the file.
    pub(crate) fn take(file: &mut DeTable<'i>, source: &str) -> Result<Matrix<'i>, Fault> {
        let Some(section) = file.remove("matrix") else { return Ok(Matrix::default()) };
        let span = section.span();
        let DeValue::Table(table) = section.into_inner() else {
            return Err(Fault::new(Problem::MatrixNotATable, span));
        };
        let mut factors = table
            .into_iter()
            .map(|(key, value)| Factor::read(&key, value, source))
            .collect::<Result<Vec<_>, _>>()?;
        factors.sort_by_key(|factor| factor.span.start);
        for (i, factor) in factors.iter().enumerate() {
            if factors[..i].iter().any(|earlier| earlier.key == factor.key) {
                let problem = Problem::FactorTwice(factor.key.to_string());
                return Err(Fault::new(problem, factor.span.clone()));
            }
            let set = factors[..i].iter().flat_map(Factor::settings);
            let earlier: Vec<&Key> = set.map(|setting| &setting.key).collect();
            if let Some(twice) = factor.settings().find(|setting| earlier.contains(&&setting.key)) {
                let problem = Problem::FactorTwice(twice.key.to_string());
                return Err(Fault::new(problem, twice.span.clone()));
            }
        }
        Ok(Matrix { factors, span, ..Matrix::default() })
    }

    /// Makes these combinations the cells, with the factors of each group advancing together.
    pub(crate) fn choose(&mut self, cells: Vec<Vec<usize>>, groups: Vec<Vec<usize>>) {
        (self.cells, self.groups) = (cells, groups);
    }

    /// The combinations of levels that are cases, the first factor varying slowest.
    pub(crate) fn cells(&self) -> Vec<Cell<'_, 'i>> {
        let of = |cell: &Vec<usize>| {
            let levels = self.factors.iter().zip(cell);
            levels.map(|(factor, &level)| (factor, &factor.levels[level])).collect()
        };
        self.cells.iter().map(of).collect()
    }

    /// Where the section stands.
    pub(crate) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The number of the factor of this key.
    pub(crate) fn index(&self, key: &Key) -> Option<usize> {
        self.factors.iter().position(|factor| factor.key == *key)
    }

    /// How many levels a factor has.
    pub(crate) fn count(&self, factor: usize) -> usize {
        self.factors[factor].levels.len()
    }

    /// The key of a factor, and how one of its levels is called.
    pub(crate) fn text(&self, factor: usize, level: usize) -> (String, &String) {
        let factor = &self.factors[factor];
        (factor.key.to_string(), &factor.levels[level].text)
    }

    /// The factors that advance with this one, itself among them.
    fn group(&self, key: &str) -> impl Iterator<Item = &Factor<'i>> {
        let is_it = |index: &usize| self.factors[*index].key.to_string() == key;
        let group = self.groups.iter().find(|group| group.iter().any(is_it));
        group.into_iter().flatten().map(|&index| &self.factors[index])
    }

    /// Whether two factors advance together.
    pub(crate) fn are_paired(&self, one: &Key, other: &Key) -> bool {
        one != other && self.group(&one.to_string()).any(|factor| factor.key == *other)
    }

    /// The levels that a case has in all factors which advance with the one of this key, where it
    /// has this level there.
    pub(crate) fn with_partners(&self, key: &str, level: &str) -> Vec<(String, String)> {
        let own = self.factors.iter().find(|factor| factor.key.to_string() == key);
        let number = own.and_then(|own| own.levels.iter().position(|it| it.text == level));
        let of = |factor: &Factor<'_>| {
            Some((factor.key.to_string(), factor.levels[number?].text.clone()))
        };
        self.group(key).filter_map(of).collect()
    }

    /// The factors in the order they are written.
    pub(crate) fn factors(&self) -> impl Iterator<Item = &Factor<'i>> {
        self.factors.iter()
    }

    /// The factor of this key.
    pub(crate) fn factor(&self, key: &Key) -> Option<&Factor<'i>> {
        self.factors.iter().find(|factor| factor.key == *key)
    }

    /// The keys of all factors.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.factors.iter().map(|factor| factor.key.to_string()).collect()
    }

    /// Gives the cases of [`Matrix::cells`] names that tell them apart.
    pub(crate) fn named(&self, mut cases: Vec<Case>) -> Vec<Case> {
        let mut taken = BTreeSet::new();
        for (case, cell) in cases.iter_mut().zip(self.cells()) {
            let wanted = name(&cell);
            let mut name = wanted.clone();
            let mut copy = 1;
            // File systems that fold letters are common enough.
            while !taken.insert(name.to_ascii_lowercase()) {
                copy += 1;
                name = format!("{wanted}-{copy}");
            }
            case.name = name;
        }
        cases
    }
}

impl<'i> Factor<'i> {
    fn read(
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
                return Err(Fault::new(unknown_section(&key), span));
            }
            _ => return Err(Fault::new(Problem::LevelsNotAList(key.to_string()), value_span)),
        };
        if levels.is_empty() {
            return Err(Fault::new(Problem::NoLevels(key.to_string()), value_span));
        }
        Ok(Factor { key, span, levels })
    }

    fn settings(&self) -> impl Iterator<Item = &Setting<'i>> {
        self.levels.iter().flat_map(|level| &level.settings)
    }
}

/// Whether a key can differ from case to case.
fn may_vary(key: &Key, span: &Range<usize>) -> Result<(), Fault> {
    if !SECTIONS.contains(&key.section()) {
        return Err(Fault::new(unknown_section(key), span.clone()));
    }
    if !VARIED_SECTIONS.contains(&key.section()) {
        return Err(Fault::new(Problem::NotVaried(key.to_string()), span.clone()));
    }
    Ok(())
}

fn unknown_section(key: &Key) -> Problem {
    Problem::UnknownKey {
        key: key.section().into(),
        table: None,
        allowed: VARIED_SECTIONS.iter().map(|s| (*s).to_string()).collect(),
    }
}

/// The values that one key takes.
fn plain_levels<'i>(
    key: &Key,
    span: &Range<usize>,
    values: DeArray<'i>,
    source: &str,
) -> Result<Vec<Level<'i>>, Fault> {
    let mut levels: Vec<Level<'i>> = Vec::new();
    for value in values {
        let text = text_of(&value, source);
        if levels.iter().any(|level| level.text == text) {
            let problem = Problem::LevelTwice { key: key.to_string(), level: text };
            return Err(Fault::new(problem, value.span()));
        }
        let is_word = value.get_ref().is_str();
        let settings = vec![Setting { key: key.clone(), span: span.clone(), value }];
        levels.push(Level { text, is_word, settings });
    }
    Ok(levels)
}

/// Levels that have names, and set several keys each.
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

/// What people call a value: a string without its quotes, anything else as it is written, in one
/// line.
fn text_of(value: &Spanned<DeValue<'_>>, source: &str) -> String {
    match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        _ => written_at(&value.span(), source),
    }
}

/// What is written at `span`, in one line.
pub(crate) fn written_at(span: &Range<usize>, source: &str) -> String {
    source[span.clone()].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The levels of a cell, fit for a file name: `reno`, `5Mbit-s_nodelay=true`.
fn name(cell: &Cell<'_, '_>) -> String {
    let parts: Vec<String> = cell
        .iter()
        .map(|(factor, level)| {
            let plain = slug(&level.text);
            // A word speaks for itself, and so does a quantity; a bare number or truth does not.
            let speaks = level.is_word
                && !plain.starts_with('-')
                && plain.contains(|c: char| c.is_ascii_alphabetic());
            let last = factor.key.0.last().expect("a key has parts");
            match last.rsplit('.').next() {
                Some(what) if !speaks => format!("{what}={plain}"),
                _ => plain,
            }
        })
        .collect();
    let mut name = if parts.is_empty() { "base".into() } else { parts.join("_") };
    name.truncate(NAME_MAX);
    name
}

/// Letters, digits and `.` of a text; the gap between a number and its unit closes, everything
/// else becomes `-`. ASCII only.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_ascii_alphanumeric() || (c == '.' || c == '_') && !slug.is_empty() {
            slug.push(c);
        } else if c == ' '
            && slug.ends_with(|c: char| c.is_ascii_digit())
            && chars.peek().is_some_and(char::is_ascii_alphabetic)
        {
            // `64 KiB` reads well as `64KiB`.
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "-".into() } else { slug.into() }
}
