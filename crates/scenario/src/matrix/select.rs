//! Levels that a claim or an exclusion selects.

use std::collections::BTreeMap;

use toml::Spanned;

use super::Matrix;
use super::factor::{text_of, written_at};
use crate::fault::Fault;
use crate::key::Key;
use crate::problem::Problem;

/// A factor's key and its selected levels.
pub(crate) type Wanted = (String, Vec<String>);

/// Finds the factors and levels in `only`.
pub(crate) fn select(
    only: &BTreeMap<String, Spanned<toml::Value>>,
    matrix: &Matrix<'_>,
    source: &str,
) -> Result<Vec<Wanted>, Fault> {
    let mut wanted = Vec::new();
    for (written, level) in only {
        let Some(factor) = Key::parse(written).and_then(|key| matrix.factor(&key)) else {
            let problem = Problem::NotAFactor { key: written.clone(), factors: matrix.keys() };
            return Err(Fault::new(problem, level.span()));
        };
        let texts = match level.get_ref() {
            toml::Value::String(text) => vec![text.clone()],
            toml::Value::Array(several) => several.iter().map(text_of).collect(),
            _ => vec![written_at(&level.span(), source)],
        };
        let unknown = |text: &&String| !factor.levels.iter().any(|level| level.text == **text);
        if let Some(text) = texts.iter().find(unknown) {
            let levels = factor.levels.iter().map(|level| level.text.clone()).collect();
            let (key, level_span) = (factor.key.to_string(), level.span());
            let problem = Problem::NoSuchLevel { key, level: text.clone(), levels };
            return Err(Fault::new(problem, level_span));
        }
        wanted.push((factor.key.to_string(), texts));
    }
    Ok(wanted)
}
