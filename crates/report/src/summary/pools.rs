//! Many variants at a glance: those that differ only in the number on the axis of the first plot,
//! taken together.

use tcplab_results::{Case, Recovery, Run};

/// This many variants are listed one by one.
const MOST_ALONE: usize = 24;

/// Variants that are shown in one row.
pub(crate) struct Pool<'r> {
    /// The variant's name; of several the levels that they share.
    pub(crate) name: String,
    /// At least one.
    pub(crate) cases: Vec<&'r Case>,
}

impl Pool<'_> {
    /// Their recovery episodes.
    pub(crate) fn recovery(&self) -> Recovery {
        let mut all = Recovery::default();
        self.cases.iter().for_each(|case| all.add(&case.recovery()));
        all
    }
}

/// The factor over which variants are taken together; none where few are listed one by one, or no
/// plot has a factor on its axis.
pub(crate) fn pooled_over(run: &Run) -> Option<&str> {
    let plot = run.plots.iter().find(|plot| plot.against.is_none())?;
    (run.cases.len() > MOST_ALONE).then_some(plot.over.as_str())
}

/// The variants by what they share without the factor `over`, in their order; each by itself
/// without one.
pub(crate) fn pools<'r>(run: &'r Run, over: Option<&str>) -> Vec<Pool<'r>> {
    let mut pools: Vec<Pool<'_>> = Vec::new();
    for case in &run.cases {
        let Some(over) = over else {
            pools.push(Pool { name: case.name.clone(), cases: vec![case] });
            continue;
        };
        let shared = case.levels.iter().filter(|(key, _)| key != over);
        let shared: Vec<&str> = shared.map(|(_, level)| level.as_str()).collect();
        let name = if shared.is_empty() { "all".into() } else { shared.join(", ") };
        match pools.iter_mut().find(|pool| pool.name == name) {
            Some(pool) => pool.cases.push(case),
            None => pools.push(Pool { name, cases: vec![case] }),
        }
    }
    pools
}
