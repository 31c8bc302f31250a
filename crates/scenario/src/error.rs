//! Errors in a scenario file, each with its line and its remedy.

use std::fmt;
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};

use crate::fault::Fault;
use crate::mistakes::Faults;
use crate::problem::{Problem, meant, nearest};
use crate::schema::ReadAs;

/// The mistakes that are shown; more are counted.
const SHOWN: usize = 20;

/// A scenario that cannot run. As a [`Diagnostic`] it shows the place of its first mistake;
/// [`others`](ScenarioError::others) are the next.
#[derive(Debug)]
pub struct ScenarioError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    problem: Box<Problem>,
    span: Range<usize>,
    /// Shown at the place; the help stands below it.
    label: String,
    help: Option<String>,
    file: NamedSource<String>,
    others: Vec<ScenarioError>,
    /// How many mistakes there are beside those.
    unshown: usize,
    are_all: bool,
}

impl ScenarioError {
    /// The faults, at least one, of a file.
    pub(crate) fn of(read_as: ReadAs, faults: Faults, source: &str, name: &str) -> ScenarioError {
        let Faults { mut found, are_all } = faults;
        let unshown = found.len().saturating_sub(SHOWN);
        found.truncate(SHOWN);
        let mut errors = found.into_iter().map(|fault| Self::new(read_as, fault, source, name));
        let mut error = errors.next().expect("at least one fault");
        error.0.others = errors.collect();
        (error.0.unshown, error.0.are_all) = (unshown, are_all);
        error
    }

    fn new(read_as: ReadAs, fault: Fault, source: &str, name: &str) -> ScenarioError {
        let Fault { problem, span, key, .. } = fault;
        let described = key.as_ref().filter(|_| problem.wants_description());
        let description = described.and_then(|key| {
            // Of a key that nothing describes its table.
            let mut near = [Some(key.clone()), key.above()].into_iter().flatten();
            near.find_map(|key| Some(format!("{key}: {}", read_as.description(&key)?)))
        });
        let help = [elsewhere(read_as, &problem), problem.help(), description]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>();
        ScenarioError(Box::new(Inner {
            label: match key {
                Some(key) if !matches!(*problem, Problem::MissingKey { .. }) => key.to_string(),
                _ => "here".into(),
            },
            help: (!help.is_empty()).then(|| help.join("\n")),
            span: first_line(span, source),
            file: NamedSource::new(format!("{name}.toml"), source.to_string()),
            problem,
            others: Vec::new(),
            unshown: 0,
            are_all: true,
        }))
    }

    /// Names the file by the path that the user gave.
    #[must_use]
    pub fn in_file(mut self, path: &str) -> ScenarioError {
        let source = self.0.file.inner().clone();
        self.0.file = NamedSource::new(path, source);
        let others = std::mem::take(&mut self.0.others);
        self.0.others = others.into_iter().map(|other| other.in_file(path)).collect();
        self
    }

    /// The other mistakes in the file, in its order, each an error of its own.
    pub fn others(&self) -> &[ScenarioError] {
        &self.0.others
    }

    /// How many mistakes there are beside this one and the [`others`](ScenarioError::others).
    pub fn unshown(&self) -> usize {
        self.0.unshown
    }

    /// Whether these are all: of a file with very many mistakes, or of a very large one, not all
    /// are counted.
    pub fn are_all_counted(&self) -> bool {
        self.0.are_all
    }

    /// What is wrong.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// Its place in the file, bytes; within a line.
    pub fn span(&self) -> Range<usize> {
        self.0.span.clone()
    }

    /// What to do about it.
    pub fn remedy(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The line it is in, from 1.
    pub fn line(&self) -> usize {
        self.0.file.inner()[..self.0.span.start].matches('\n').count() + 1
    }
}

/// Where an unknown key belongs, if not in its own table: elsewhere in its section; a factor
/// anywhere.
fn elsewhere(read_as: ReadAs, problem: &Problem) -> Option<String> {
    let Problem::UnknownKey { key, table, allowed } = problem else { return None };
    let is_here = allowed.iter().any(|known| known == meant(key));
    if is_here || nearest(key, allowed.iter().map(String::as_str)).is_some() {
        return None;
    }
    let own = table.as_deref().and_then(|table| table.rsplit('.').next());
    if own == Some(key) {
        return Some(format!("`{key}` cannot stand in `{key}`"));
    }
    let mut keys = read_as.keys_called(meant(key));
    if let Some(table) = table {
        let section = table.split('.').next();
        keys.retain(|it| it.split('.').next() == section);
        if keys.is_empty() {
            keys = read_as.keys_like(table, key);
        }
    }
    // A table of several forms has it in each.
    keys.dedup();
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    (!keys.is_empty()).then(|| format!("did you mean {}?", keys.join(" or ")))
}

/// Cuts a span of several lines to its first.
fn first_line(span: Range<usize>, source: &str) -> Range<usize> {
    let start = span.start.min(source.len());
    let text = source.get(start..span.end.min(source.len())).unwrap_or_default();
    start..start + text.find(['\r', '\n']).unwrap_or(text.len())
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.problem.fmt(f)
    }
}

impl std::error::Error for ScenarioError {}

impl Diagnostic for ScenarioError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.0.file)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new_with_span(Some(self.0.label.clone()), self.0.span.clone());
        Some(Box::new(std::iter::once(label)))
    }
}
