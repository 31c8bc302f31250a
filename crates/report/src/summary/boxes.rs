//! Box plots and bars of trials.

use tcplab_plot::{BarRow, BoxRow, BoxShape, Content};
use tcplab_results::Case;
use tcplab_stats::{BoxPlot, marginal_means};

use super::measure::Measured;

/// The name of the response times of single requests in the names of figures.
pub(crate) const REQUESTS: &str = "requests";

/// Of fewer values quartiles say less than the values themselves.
pub(crate) const BOXED_LEAST: usize = 4;

/// What the parts of box plots are.
pub(crate) const BOXES_EXPLAINED: &str = "Box: first to third quartile, with the median. Whiskers: \
     the farthest values within 1.5 lengths of the box. Dots: values beyond; of fewer than 4 values \
     all.";
/// What bars of cases are.
pub(crate) const BARS_EXPLAINED: &str =
    "Bar: mean, from zero. Line: 95 % confidence interval of the mean (Student’s t).";
/// What the parts of rows of dots are.
pub(crate) const DOTS_EXPLAINED: &str = "Each dot is a trial. Bold line: median of the variant. \
     Thin line: 95 % confidence interval of the median (from six trials). Grey box: middle half of \
     the trials.";

/// A box for each group of finite values: quartiles, whiskers and outliers, as [`BoxPlot`] has
/// them. Fewer than [`BOXED_LEAST`] values are dots without a box.
pub(crate) fn boxes<'v>(groups: impl Iterator<Item = (String, &'v [f64])>) -> Content {
    let row = |(name, values): (String, &[f64])| {
        let found = BoxPlot::of(values).filter(|_| values.len() >= BOXED_LEAST);
        let (shape, dots) = match found {
            Some(BoxPlot { quartiles, whiskers, outliers }) => {
                (Some(BoxShape { quartiles, whiskers }), outliers)
            }
            None => (None, values.to_vec()),
        };
        BoxRow { name, values: values.to_vec(), shape, dots }
    };
    Content::Boxes(groups.map(row).collect())
}

/// A box for each name that has values.
pub(crate) fn named_boxes<'v>(groups: impl Iterator<Item = (&'v String, &'v Vec<f64>)>) -> Content {
    let with_values = groups.filter(|(_, values)| !values.is_empty());
    boxes(with_values.map(|(name, values)| (name.clone(), values.as_slice())))
}

/// A box for each level of a factor, of all trials with it.
pub(crate) fn boxes_by(measured: &Measured, factor: usize) -> Content {
    let levels = measured.values_by_level(factor);
    named_boxes(measured.factors[factor].levels.iter().zip(&levels))
}

/// The marginal mean of each level of a factor, as the report has it.
pub(crate) fn bars_by(measured: &Measured, factor: usize) -> Content {
    let means = marginal_means(&measured.blocks(factor));
    let named = measured.factors[factor].levels.iter().zip(means);
    bars(named.map(|(level, (mean, interval))| {
        let interval = interval.map(|it| (measured.unscaled(it.low), measured.unscaled(it.high)));
        (level.clone(), measured.unscaled(mean), interval)
    }))
}

/// The mean of a metric of each case, with its interval; none without any.
pub(crate) fn bars_of_cases(cases: &[Case], metric: &str) -> Option<Content> {
    let mean = |case: &Case| {
        let summary = case.summaries.iter().find(|it| it.name == metric)?;
        let mean = Some(summary.mean).filter(|mean| mean.is_finite())?;
        Some((case.name.clone(), mean, summary.interval))
    };
    let means: Vec<_> = cases.iter().filter_map(mean).collect();
    (!means.is_empty()).then(|| bars(means.into_iter()))
}

/// A bar for each name with its mean and the interval of that.
pub(crate) fn bars(means: impl Iterator<Item = (String, f64, Option<(f64, f64)>)>) -> Content {
    Content::Bars(means.map(|(name, mean, interval)| BarRow { name, mean, interval }).collect())
}
