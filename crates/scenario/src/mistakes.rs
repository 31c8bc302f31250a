//! All mistakes of a file in one go: each that is found is taken out, and the file is read again.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::fault::Fault;
use crate::problem::{Problem, nearest};

/// Readings of one file; some mistakes need two. Nobody mends more at once.
const ROUNDS: usize = 120;

/// The span of what is not in the file.
const NOWHERE: Range<usize> = usize::MAX..usize::MAX;

/// Bytes of text to read in all of these; large files show their first mistakes.
const READ_MAX: usize = 640_000;

/// The mistakes of a file, at least one, in their order.
#[derive(Debug)]
pub(crate) struct Faults {
    pub(crate) found: Vec<Fault>,
    /// Whether there are no more of them.
    pub(crate) are_all: bool,
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Faults {
        Faults { found: vec![fault], are_all: true }
    }
}

/// Reads `file`, or finds its mistakes. Mistakes that may follow from one that was
/// taken out are left out.
pub(crate) fn read_all<'i, T>(
    mut file: Spanned<DeTable<'i>>,
    source: &str,
    mut read: impl FnMut(Spanned<DeTable<'i>>) -> Result<T, Fault>,
) -> Result<T, Faults> {
    let mut found: Vec<Fault> = Vec::new();
    let (mut touched, mut removed) = (Vec::new(), Vec::new());
    let mut are_all = false;
    for _ in 0..(READ_MAX / source.len().max(1)).clamp(1, ROUNDS) {
        let fault = match read(file.clone()) {
            Ok(value) if found.is_empty() => return Ok(value),
            Ok(_) => {
                are_all = true;
                break;
            }
            Err(fault) => fault,
        };
        let is_known = |it: &Fault| it.span == fault.span && it.problem == fault.problem;
        if found.iter().any(is_known) {
            are_all = true;
            break;
        }
        let place = place_of(&fault.span, file.get_ref()).unwrap_or_default();
        let is_first = found.is_empty();
        let is_own =
            is_first || !(may_follow(&fault, &place, &touched) || is_removed(&fault, &removed));
        let is_mended = mend(file.get_mut(), &fault, &place, &mut touched);
        removed.push(place);
        if is_own {
            found.push(fault);
        }
        if !is_mended {
            are_all = true;
            break;
        }
    }
    found.sort_by_key(|fault| fault.span.start);
    Err(Faults { found, are_all })
}

/// A key, or an item of a list, by the names and numbers that lead to it.
type Place = Vec<String>;

/// The place whose name or value is at `span`, the innermost.
fn place_of(span: &Range<usize>, table: &DeTable<'_>) -> Option<Place> {
    table.iter().find_map(|(name, value)| {
        let here = name.span() == *span;
        let below = place_in(span, value).or_else(|| here.then(Place::new))?;
        Some(std::iter::once(name.get_ref().to_string()).chain(below).collect())
    })
}

fn place_in(span: &Range<usize>, value: &Spanned<DeValue<'_>>) -> Option<Place> {
    let inner = match value.get_ref() {
        DeValue::Table(table) => place_of(span, table),
        DeValue::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            let below = place_in(span, item)?;
            Some(std::iter::once(index.to_string()).chain(below).collect())
        }),
        _ => None,
    };
    inner.or_else(|| (value.span() == *span).then(Place::new))
}

/// Whether a fault may be there only because something was taken out of the tables `touched`.
fn may_follow(fault: &Fault, place: &[String], touched: &[Place]) -> bool {
    if !place.is_empty() && touched.iter().any(|it| it.starts_with(place)) {
        return true;
    }
    if depends_on_other_sections(&fault.problem) {
        let sections = ["matrix", "design", "workload", "flow"];
        let mut changed = touched.iter().filter_map(|it| it.first());
        return changed.any(|section| sections.contains(&section.as_str()));
    }
    let table = place.split_last().map_or(place, |(_, table)| table);
    !fault.is_shape && !table.is_empty() && touched.iter().any(|it| it == table)
}

/// Whether a key is missing that was taken out itself, perhaps seen from below its table, as by a
/// factor that sets another key there.
fn is_removed(fault: &Fault, removed: &[Place]) -> bool {
    let Problem::MissingKey { key, table: Some(table) } = &*fault.problem else { return false };
    let table: Vec<&str> = table.split('.').collect();
    removed.iter().filter_map(|it| it.split_last()).any(|(last, way)| {
        last == key && way.len() <= table.len() && way.iter().zip(&table).all(|(a, b)| a == b)
    })
}

/// Whether a claim, plot, design or second path has this problem only beside the other sections as
/// they are.
fn depends_on_other_sections(problem: &Problem) -> bool {
    matches!(
        problem,
        Problem::NotAFactor { .. }
            | Problem::NotVariedHere { .. }
            | Problem::NoSuchFlow { .. }
            | Problem::NoSuchLevel { .. }
            | Problem::NoCaseLeft
            | Problem::NothingToCompare
            | Problem::WhichLevels { .. }
            | Problem::NotOneLevel
            | Problem::OnePoint
            | Problem::NothingToDrawOver
            | Problem::NoMultipath
            | Problem::NoNumbers(_)
            | Problem::NoLevels(_)
            | Problem::ExcludesNothing
            | Problem::ExcludesAll
            | Problem::PairsUnequal(..)
            | Problem::SampleTooLarge { .. }
            | Problem::NoSample { .. }
    )
}

/// Takes a mistake out of the file: corrects the name of a key, adds what is missing, or removes
/// the key or item. Returns whether it could.
fn mend(file: &mut DeTable<'_>, fault: &Fault, place: &[String], touched: &mut Vec<Place>) -> bool {
    if let (Problem::MissingKey { key, table: None }, []) = (&*fault.problem, place) {
        return put_stand_in(file, key);
    }
    let Some((last, way)) = place.split_last() else { return false };
    if let (Problem::UnknownKey { key, allowed, .. }, Some(table)) =
        (&*fault.problem, table_at(file, way))
        && let Some(near) = nearest(key, allowed.iter().map(String::as_str))
        && key == last
        && !table.contains_key(near)
        && let Some((name, value)) = table.remove_entry(key.as_str())
    {
        table.insert(Spanned::new(name.span(), Cow::Owned(near.to_owned())), value);
        return true;
    }
    touched.push(way.to_vec());
    if way.is_empty() && put_stand_in(file, last) {
        return true;
    }
    if remove_key(file, way, last) {
        return true;
    }
    let is_removed = remove_item(file, way, last);
    if is_removed {
        renumber(touched, way, last);
    }
    is_removed
}

/// Puts something in the place of a section that must be there.
fn put_stand_in(file: &mut DeTable<'_>, key: &str) -> bool {
    let text = |text: &'static str| Spanned::new(NOWHERE, DeValue::String(Cow::Borrowed(text)));
    let name = |name: &'static str| Spanned::new(NOWHERE, Cow::Borrowed(name));
    let (key, value) = match key {
        "title" => ("title", text("")),
        "path" => ("path", Spanned::new(NOWHERE, DeValue::Table(DeTable::new()))),
        "workload" => {
            let mut workload = DeTable::new();
            workload.insert(name("upload"), text("1 B"));
            ("workload", Spanned::new(NOWHERE, DeValue::Table(workload)))
        }
        _ => return false,
    };
    file.remove(key);
    file.insert(name(key), value);
    true
}

fn table_at<'t, 'i>(file: &'t mut DeTable<'i>, way: &[String]) -> Option<&'t mut DeTable<'i>> {
    let Some((first, below)) = way.split_first() else { return Some(file) };
    match value_at(file.get_mut(first.as_str())?, below)? {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

fn value_at<'t, 'i>(
    value: &'t mut Spanned<DeValue<'i>>,
    way: &[String],
) -> Option<&'t mut DeValue<'i>> {
    let Some((first, below)) = way.split_first() else { return Some(value.get_mut()) };
    match value.get_mut() {
        DeValue::Table(table) => value_at(table.get_mut(first.as_str())?, below),
        DeValue::Array(items) => value_at(items.get_mut(first.parse::<usize>().ok()?)?, below),
        _ => None,
    }
}

fn remove_key(file: &mut DeTable<'_>, way: &[String], last: &str) -> bool {
    table_at(file, way).is_some_and(|table| table.remove(last).is_some())
}

fn remove_item(file: &mut DeTable<'_>, way: &[String], last: &str) -> bool {
    let Some((first, below)) = way.split_first() else { return false };
    let list = file.get_mut(first.as_str()).and_then(|value| value_at(value, below));
    match (list, last.parse::<usize>()) {
        (Some(DeValue::Array(items)), Ok(index)) if index < items.len() => {
            let all = std::mem::replace(items, DeArray::new()).into_iter().enumerate();
            *items = all.filter(|(at, _)| *at != index).map(|(_, item)| item).collect();
            true
        }
        _ => false,
    }
}

/// The items behind the one that was removed have other numbers now.
fn renumber(touched: &mut Vec<Place>, way: &[String], removed: &str) {
    let number = |it: &Place| it.get(way.len()).and_then(|part| part.parse::<usize>().ok());
    let removed = removed.parse::<usize>().ok();
    touched.retain(|it| !it.starts_with(way) || number(it).is_none() || number(it) != removed);
    for it in touched.iter_mut().filter(|it| it.starts_with(way)) {
        if let Some(number) = number(it).filter(|number| Some(*number) > removed) {
            it[way.len()] = (number - 1).to_string();
        }
    }
}
