//! The `[matrix]` section: the factors and their combinations.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::case::Case;
use crate::fault::Fault;
use crate::key::Key;
use crate::problem::Problem;

mod factor;
mod names;
mod select;

pub(crate) use factor::{Cell, Factor, text_of, written_at};
pub(crate) use select::{Wanted, select};

/// The most factors: each is compared with all before it.
const FACTORS_MAX: usize = 100;
/// More cases than this are a typing error.
pub(crate) const CASES_MAX: usize = 1_000;

/// The factors in the order of the file, and the combinations of levels that are cases.
#[derive(Debug, Default)]
pub(crate) struct Matrix<'i> {
    factors: Vec<Factor<'i>>,
    /// The section's span.
    span: Range<usize>,
    /// For each cell the index of each factor's level.
    cells: Vec<Vec<usize>>,
    /// Indices of factors that advance together; a single factor is a group too.
    groups: Vec<Vec<usize>>,
}

impl<'i> Matrix<'i> {
    /// Takes the section out of the file.
    pub(crate) fn take(file: &mut DeTable<'i>, source: &str) -> Result<Matrix<'i>, Fault> {
        let Some(section) = file.remove("matrix") else { return Ok(Matrix::default()) };
        let span = section.span();
        let DeValue::Table(table) = section.into_inner() else {
            return Err(Fault::new(Problem::MatrixNotATable, span));
        };
        if table.len() > FACTORS_MAX {
            let problem = format!("{} factors: give at most {FACTORS_MAX}", table.len());
            return Err(Fault::new(Problem::Value(problem), span));
        }
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

    /// Sets the combinations that are cases, and the groups of factors that advance together.
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

    /// The section's span.
    pub(crate) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The index of the factor with this key.
    pub(crate) fn index(&self, key: &Key) -> Option<usize> {
        self.factors.iter().position(|factor| factor.key == *key)
    }

    /// The number of levels of a factor.
    pub(crate) fn count(&self, factor: usize) -> usize {
        self.factors[factor].levels.len()
    }

    /// The key of a factor, and the text of one of its levels.
    pub(crate) fn text(&self, factor: usize, level: usize) -> (String, &String) {
        let factor = &self.factors[factor];
        (factor.key.to_string(), &factor.levels[level].text)
    }

    /// The factors that advance with this one, including itself.
    fn group(&self, key: &str) -> impl Iterator<Item = &Factor<'i>> {
        let is_it = |index: &usize| self.factors[*index].key.to_string() == key;
        let group = self.groups.iter().find(|group| group.iter().any(is_it));
        group.into_iter().flatten().map(|&index| &self.factors[index])
    }

    /// Whether two factors advance together.
    pub(crate) fn are_paired(&self, one: &Key, other: &Key) -> bool {
        one != other && self.group(&one.to_string()).any(|factor| factor.key == *other)
    }

    /// The levels of all factors in the group of `key` when that factor has `level`.
    pub(crate) fn with_partners(&self, key: &str, level: &str) -> Vec<(String, String)> {
        let own = self.factors.iter().find(|factor| factor.key.to_string() == key);
        let number = own.and_then(|own| own.levels.iter().position(|it| it.text == level));
        let of = |factor: &Factor<'_>| {
            Some((factor.key.to_string(), factor.levels[number?].text.clone()))
        };
        self.group(key).filter_map(of).collect()
    }

    /// The factors in the order of the file.
    pub(crate) fn factors(&self) -> impl Iterator<Item = &Factor<'i>> {
        self.factors.iter()
    }

    /// The factor with this key.
    pub(crate) fn factor(&self, key: &Key) -> Option<&Factor<'i>> {
        self.factors.iter().find(|factor| factor.key == *key)
    }

    /// The factor with a key of the file.
    pub(crate) fn find(&self, written: &Spanned<String>) -> Result<&Factor<'i>, Fault> {
        Key::parse(written.get_ref()).and_then(|key| self.factor(&key)).ok_or_else(|| {
            let (key, factors) = (written.get_ref().clone(), self.keys());
            Fault::new(Problem::NotVariedHere { key, factors }, written.span())
        })
    }

    /// The keys of all factors.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.factors.iter().map(|factor| factor.key.to_string()).collect()
    }

    /// Refuses values of a factor that are one value in two spellings: `cases`, in the order of
    /// [`Matrix::cells`], are then the same. Levels with names may be.
    pub(crate) fn check_levels_differ(&self, cases: &[Case]) -> Result<(), Fault> {
        for group in &self.groups {
            let factor = &self.factors[group[0]];
            if group.iter().any(|&index| self.factors[index].has_named_levels()) {
                continue;
            }
            // By level, the other levels of each cell and the hash of its case.
            let mut made: BTreeMap<usize, BTreeSet<(Vec<usize>, &str)>> = BTreeMap::new();
            for (cell, case) in self.cells.iter().zip(cases) {
                let others = (0..cell.len()).filter(|index| !group.contains(index));
                let others = others.map(|index| cell[index]).collect();
                made.entry(cell[group[0]]).or_default().insert((others, &case.hash));
            }
            let mut first = BTreeMap::new();
            for (level, made) in made {
                if let Some(before) = first.insert(made, level) {
                    let [one, other] =
                        [before, level].map(|level| factor.levels[level].text.clone());
                    let span = factor.levels[level].settings[0].value.span();
                    let problem = Problem::LevelsEqual { key: factor.key.to_string(), one, other };
                    return Err(Fault::new(problem, span));
                }
            }
        }
        Ok(())
    }

    /// Names the cases of [`Matrix::cells`] uniquely.
    pub(crate) fn named(&self, mut cases: Vec<Case>) -> Vec<Case> {
        let mut taken = BTreeSet::new();
        for (case, cell) in cases.iter_mut().zip(self.cells()) {
            let wanted = names::name(&cell);
            let mut name = wanted.clone();
            let mut copy = 1;
            // Some file systems ignore case.
            while !taken.insert(name.to_lowercase()) {
                copy += 1;
                name = format!("{wanted}-{copy}");
            }
            case.name = name;
        }
        cases
    }
}
