//! The `[design]` section: which combinations of levels are cases.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use tcplab_units::Rng;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::fault::Fault;
use crate::key::Key;
use crate::located::Located;
use crate::matrix::{CASES_MAX, Matrix, Wanted, select};
use crate::problem::Problem;

/// Larger spaces are sampled without listing all combinations.
const ENUMERATED_MAX: u128 = 100_000;
/// Draws per wanted combination before giving up.
const DRAWS: usize = 1_000;
/// Attempts at a hypercube before giving up.
const ATTEMPTS: usize = 20;

/// Which combinations of the matrix's levels are cases. Default: all.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DesignSpec {
    /// Keys of the matrix that advance together, as lists of two or more, such as
    /// `[["path.rate", "path.delay"]]`: the first level of one combines only with the first level
    /// of the others, and so on. Paired keys need equally many levels.
    #[serde(default)]
    pairs: Vec<Located<Vec<Located<String>>>>,
    /// Combinations to leave out, by keys of the matrix and a level or a list of levels each, such
    /// as `[{ "path.rate" = "1 Gbit/s", "client.socket.congestion" = "bbr" }]`.
    #[serde(default)]
    #[schemars(with = "Vec<BTreeMap<String, serde_json::Value>>")]
    exclude: Vec<Spanned<BTreeMap<String, Spanned<toml::Value>>>>,
    /// Run a sample of the remaining combinations instead of all.
    sample: Option<Located<SampleSpec>>,
}

/// How many combinations to sample, and how: one of `latin_hypercube` and `random`. The same file
/// gives the same sample.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SampleSpec {
    /// A Latin hypercube of this many cases: every factor has each of its levels equally often (or
    /// once more), so that few cases teach most about each factor.
    #[schemars(range(min = 1, max = 1000))]
    latin_hypercube: Option<usize>,
    /// This many cases, all combinations equally likely.
    #[schemars(range(min = 1, max = 1000))]
    random: Option<usize>,
    /// Seed of the sample. Default: 1.
    #[serde(default = "default_seed")]
    seed: u64,
}

fn default_seed() -> u64 {
    1
}

impl DesignSpec {
    /// Takes the section out of the file.
    pub(crate) fn take(file: &mut Spanned<DeTable<'_>>) -> Result<DesignSpec, Fault> {
        let Some(section) = file.get_ref().get("design").cloned() else {
            return Ok(DesignSpec::default());
        };
        let span = section.span();
        let DeValue::Table(table) = section.into_inner() else {
            let problem = Problem::Value("expected a table, such as `[design]`".into());
            return Err(Fault::at("design", problem, file));
        };
        let table = Spanned::new(span, table);
        let read = DesignSpec::deserialize(toml::de::Deserializer::from(table))
            .map_err(|error| Fault::reading(&error, file));
        file.get_mut().remove("design");
        read
    }

    /// Chooses the cells of `matrix`; returns a description of the choice.
    pub(crate) fn apply(&self, matrix: &mut Matrix<'_>, source: &str) -> Result<String, Fault> {
        let mut space = Space::of(matrix, self.groups(matrix)?);
        for exclude in &self.exclude {
            let wanted = select(exclude.get_ref(), matrix, source).map_err(not_where)?;
            if wanted.is_empty() {
                return Err(Fault::new(Problem::ExcludesAll, exclude.span()));
            }
            let excluded = space.excluded(matrix, &wanted);
            if excluded.iter().any(Vec::is_empty) {
                return Err(Fault::new(Problem::ExcludesNothing, exclude.span()));
            }
            space.exclusions.push(excluded);
        }
        let (chosen, summary) = match &self.sample {
            None => space.all(matrix.span())?,
            Some(sample) => sample.get_ref().draw(&space).map_err(|problem| {
                let span = sample.span();
                Fault::new(problem, span)
            })?,
        };
        if chosen.is_empty() {
            let span = self.exclude.first().map_or(0..0, Spanned::span);
            return Err(Fault::new(Problem::ExcludesAll, span));
        }
        let cells = chosen.iter().map(|row| space.levels(row)).collect();
        matrix.choose(cells, space.groups);
        Ok(summary)
    }

    /// Indices of the factors that advance together; a single factor is a group too.
    fn groups(&self, matrix: &Matrix<'_>) -> Result<Vec<Vec<usize>>, Fault> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut paired = BTreeSet::new();
        for pair in &self.pairs {
            let mut group = Vec::new();
            for written in pair.get_ref() {
                let index = Key::parse(written.get_ref()).and_then(|key| matrix.index(&key));
                let index = index.ok_or_else(|| {
                    let (key, factors) = (written.get_ref().clone(), matrix.keys());
                    Fault::new(Problem::NotVariedHere { key, factors }, written.span())
                })?;
                if !paired.insert(index) {
                    let problem = Problem::PairedTwice(written.get_ref().clone());
                    return Err(Fault::new(problem, written.span()));
                }
                group.push(index);
                let (first, count) = (group[0], |index: usize| matrix.count(index));
                if count(first) != count(index) {
                    let other = pair.get_ref()[0].get_ref();
                    let keys = format!("`{}` and `{other}`", written.get_ref());
                    let problem = Problem::PairsUnequal(keys, count(index), count(first));
                    return Err(Fault::new(problem, written.span()));
                }
            }
            if group.len() < 2 {
                return Err(Fault::new(Problem::NoPair, pair.span()));
            }
            groups.push(group);
        }
        let alone = matrix.factors().enumerate().map(|(index, _)| index);
        groups.extend(alone.filter(|index| !paired.contains(index)).map(|index| vec![index]));
        // The first factor of the file varies slowest.
        groups.sort_by_key(|group| group.iter().copied().min());
        Ok(groups)
    }
}

/// This section has no `where`.
fn not_where(fault: Fault) -> Fault {
    let problem = match *fault.problem {
        Problem::NotAFactor { key, factors } => Problem::NotVariedHere { key, factors },
        other => other,
    };
    Fault { problem: Box::new(problem), ..fault }
}

/// For each group the index of its level.
type Row = Vec<usize>;

/// All combinations, and the excluded ones.
struct Space {
    /// Factors that advance together.
    groups: Vec<Vec<usize>>,
    /// The number of levels of each group.
    sizes: Vec<usize>,
    /// For each exclusion the matching levels of each group.
    exclusions: Vec<Vec<Vec<usize>>>,
}

impl Space {
    fn of(matrix: &Matrix<'_>, groups: Vec<Vec<usize>>) -> Space {
        let sizes = groups.iter().map(|group| matrix.count(group[0])).collect();
        Space { groups, sizes, exclusions: Vec::new() }
    }

    /// The number of combinations, including excluded ones.
    fn total(&self) -> u128 {
        self.sizes.iter().fold(1, |total: u128, &size| total.saturating_mul(size as u128))
    }

    /// The levels of each group that match `wanted`. A group without any: no combination matches.
    fn excluded(&self, matrix: &Matrix<'_>, wanted: &[Wanted]) -> Vec<Vec<usize>> {
        let fits = |factor: usize, level: usize| {
            let (key, text) = matrix.text(factor, level);
            wanted.iter().all(|(of, texts)| *of != key || texts.contains(text))
        };
        let of_group = |(group, &size): (&Vec<usize>, &usize)| -> Vec<usize> {
            (0..size).filter(|&level| group.iter().all(|&factor| fits(factor, level))).collect()
        };
        self.groups.iter().zip(&self.sizes).map(of_group).collect()
    }

    fn is_case(&self, row: &[usize]) -> bool {
        let fits = |exclusion: &Vec<Vec<usize>>| {
            exclusion.iter().zip(row).all(|(levels, level)| levels.contains(level))
        };
        !self.exclusions.iter().any(fits)
    }

    /// The combination with this index, the first group varying slowest.
    fn row(&self, mut number: u128) -> Row {
        let mut row: Row = Vec::with_capacity(self.sizes.len());
        for &size in self.sizes.iter().rev() {
            row.push((number % size as u128) as usize);
            number /= size as u128;
        }
        row.reverse();
        row
    }

    /// The level of each factor.
    fn levels(&self, row: &[usize]) -> Vec<usize> {
        let mut levels = vec![0; self.groups.iter().map(Vec::len).sum()];
        for (group, &level) in self.groups.iter().zip(row) {
            for &factor in group {
                levels[factor] = level;
            }
        }
        levels
    }

    /// All combinations that are not excluded, if few enough to list.
    fn left(&self) -> Option<Vec<Row>> {
        let total = self.total();
        let all = (total <= ENUMERATED_MAX).then(|| (0..total).map(|number| self.row(number)));
        Some(all?.filter(|row| self.is_case(row)).collect())
    }

    fn all(&self, span: Range<usize>) -> Result<(Vec<Row>, String), Fault> {
        let left = self.left().ok_or_else(|| self.total()).and_then(|left| {
            if left.len() <= CASES_MAX { Ok(left) } else { Err(left.len() as u128) }
        });
        let left = left
            .map_err(|found| Fault::new(Problem::TooManyCases { found, most: CASES_MAX }, span))?;
        let summary = match (self.total(), left.len()) {
            (1, _) => "one case".into(),
            (total, left) if total == left as u128 => format!("all {total} combinations"),
            (total, left) => format!("{left} of {total} combinations, the rest excluded"),
        };
        Ok((left, summary))
    }
}

impl SampleSpec {
    /// Draws distinct combinations, sorted in the order of the matrix.
    fn draw(&self, space: &Space) -> Result<(Vec<Row>, String), Problem> {
        let (wanted, name) = match (self.latin_hypercube, self.random) {
            (Some(wanted), None) => (wanted, "a Latin hypercube sample"),
            (None, Some(wanted)) => (wanted, "a random sample"),
            _ => return Err(Problem::NotOneSample),
        };
        if wanted == 0 || wanted > CASES_MAX {
            return Err(Problem::SampleSize { most: CASES_MAX });
        }
        let left = space.left();
        let there = left.as_ref().map_or(space.total(), |left| left.len() as u128);
        if wanted as u128 > there {
            return Err(Problem::SampleTooLarge { wanted, there: there as usize });
        }
        let mut rng = Rng::new(self.seed, name);
        let rows = match (self.random, left) {
            (Some(_), Some(mut left)) => {
                rng.shuffle(&mut left);
                left.truncate(wanted);
                Some(left)
            }
            (Some(_), None) => rejecting(space, wanted, &mut rng),
            (None, _) => (0..ATTEMPTS).find_map(|_| hypercube(space, wanted, &mut rng)),
        };
        let mut rows = rows.ok_or(Problem::NoSample { wanted })?;
        rows.sort_unstable();
        let summary = format!("{name} of {wanted} of {there} combinations, seed {}", self.seed);
        Ok((rows, summary))
    }
}

/// Draws from a space too large to list, rejecting excluded rows.
fn rejecting(space: &Space, wanted: usize, rng: &mut Rng) -> Option<Vec<Row>> {
    let mut rows = BTreeSet::new();
    for _ in 0..wanted * DRAWS {
        if rows.len() == wanted {
            break;
        }
        let row: Row = space.sizes.iter().map(|&size| rng.below(size as u64) as usize).collect();
        if space.is_case(&row) {
            rows.insert(row);
        }
    }
    (rows.len() == wanted).then(|| rows.into_iter().collect())
}

/// A Latin hypercube sample (McKay, Beckman and Conover 1979) over levels: for each group a column
/// with every level equally often, in random order. Excluded and duplicate rows exchange levels
/// with other rows until none is left, which keeps the balance.
fn hypercube(space: &Space, wanted: usize, rng: &mut Rng) -> Option<Vec<Row>> {
    let mut rows: Vec<Row> = vec![Row::new(); wanted];
    for &size in &space.sizes {
        let mut column: Vec<usize> = (0..wanted / size).flat_map(|_| 0..size).collect();
        // Random levels fill the remainder.
        let mut rest: Vec<usize> = (0..size).collect();
        rng.shuffle(&mut rest);
        column.extend(&rest[..wanted % size]);
        rng.shuffle(&mut column);
        rows.iter_mut().zip(column).for_each(|(row, level)| row.push(level));
    }
    let mut bad = unwanted(space, &rows);
    for _ in 0..DRAWS {
        let Some(&one) = bad.first() else { return Some(rows) };
        let other = rng.below(wanted as u64) as usize;
        let group = rng.below(space.sizes.len() as u64) as usize;
        let exchange = |rows: &mut Vec<Row>| {
            let level = rows[one][group];
            rows[one][group] = rows[other][group];
            rows[other][group] = level;
        };
        exchange(&mut rows);
        let now = unwanted(space, &rows);
        if now.len() <= bad.len() {
            bad = now;
        } else {
            exchange(&mut rows);
        }
    }
    bad.is_empty().then_some(rows)
}

/// Excluded rows and duplicates.
fn unwanted(space: &Space, rows: &[Row]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let is_good = |row: &Row| space.is_case(row) && seen.insert(row.clone());
    let good: Vec<bool> = rows.iter().map(is_good).collect();
    (0..rows.len()).filter(|&index| !good[index]).collect()
}

#[cfg(test)]
mod tests;
