//! The factors of a run's matrix as columns.

use tcplab_results::Run;
use tcplab_table::{Column, Kind, Value};

use super::typed::{key, typed};

/// The columns that say of which case a row is.
pub(super) struct Factors {
    /// Name, kind and meaning of each.
    columns: Vec<(String, Kind, String)>,
    /// The cells of each case.
    cells: Vec<Vec<Value>>,
}

impl Factors {
    /// Those of the run: for each factor a column of its levels; where these are numbers, a column
    /// of the numbers, beside the column of the levels as the scenario has them (`…_label`).
    pub(super) fn of(run: &Run) -> Factors {
        let mut factors = Factors { columns: Vec::new(), cells: vec![Vec::new(); run.cases.len()] };
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in run.cases.iter().flat_map(|case| &case.levels) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        for name in names {
            let level = |case: &tcplab_results::Case| {
                case.levels.iter().find(|(own, _)| own == name).map(|(_, level)| level.clone())
            };
            factors.add(name, &run.cases.iter().map(level).collect::<Vec<_>>());
        }
        factors
    }

    /// The columns, the first of them at this place of a row.
    pub(super) fn columns(&self, first: usize) -> Vec<Column<Vec<Value>>> {
        let of = |(index, (name, kind, meaning)): (usize, &(String, Kind, String))| {
            Column::at(first + index, name.clone(), *kind, meaning.clone())
        };
        self.columns.iter().enumerate().map(of).collect()
    }

    /// The cells of the case at this index.
    pub(super) fn cells(&self, case: usize) -> &[Value] {
        &self.cells[case]
    }

    fn add(&mut self, name: &str, levels: &[Option<String>]) {
        let numbers: Vec<_> = levels.iter().map(|level| level.as_deref().map(typed)).collect();
        let is_number = |value: &Value| matches!(value, Value::Whole(_) | Value::Number(_));
        let mut units = numbers.iter().flatten().filter(|(_, it)| is_number(it)).map(|(it, _)| *it);
        let unit = units.next();
        let key = key(name);
        let text = |level: &Option<String>| Value::from(level.clone());
        let flags: Option<Vec<_>> = levels.iter().map(|level| flag(level.as_deref())).collect();
        if let Some(flags) = flags {
            let meaning = format!("The level of the factor {name}");
            return self.column(key, Kind::Flag, meaning, flags.into_iter());
        }
        let Some(unit) = unit.filter(|unit| units.all(|other| other == *unit)) else {
            let meaning = format!("The level of the factor {name}");
            return self.column(key, Kind::Text, meaning, levels.iter().map(text));
        };
        let all_whole = !numbers.iter().flatten().any(|(_, it)| matches!(it, Value::Number(_)));
        let kind = if all_whole { Kind::Whole } else { Kind::Number };
        let cell = |value: &Option<(&str, Value)>| match value {
            Some((_, Value::Whole(number))) if !all_whole => Value::Number(*number as f64),
            Some((_, value)) if is_number(value) => value.clone(),
            _ => Value::Empty,
        };
        let meaning = format!("The level of the factor {name}; empty if it is no number");
        self.column(format!("{key}{unit}"), kind, meaning, numbers.iter().map(cell));
        let meaning = format!("The level of the factor {name}, as the scenario has it");
        self.column(format!("{key}_label"), Kind::Text, meaning, levels.iter().map(text));
    }

    fn column(
        &mut self,
        name: String,
        kind: Kind,
        meaning: String,
        cells: impl Iterator<Item = Value>,
    ) {
        self.columns.push((name, kind, meaning));
        for (row, cell) in self.cells.iter_mut().zip(cells) {
            row.push(cell);
        }
    }
}

/// Yes or no, where a level is one of these.
fn flag(level: Option<&str>) -> Option<Value> {
    match level {
        Some("true") => Some(Value::Flag(true)),
        Some("false") => Some(Value::Flag(false)),
        Some(_) => None,
        None => Some(Value::Empty),
    }
}
