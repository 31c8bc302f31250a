//! Box plots and bars of trials.

use tcplab_plot::{BarRow, BoxRow, BoxShape, Content};
use tcplab_stats::BoxPlot;

/// Of fewer values quartiles say less than the values themselves.
pub(crate) const BOXED_LEAST: usize = 4;

/// A box for each group of finite values: quartiles, whiskers and outliers, as [`BoxPlot`] has
/// them. Fewer than [`BOXED_LEAST`] values are dots without a box.
pub(crate) fn boxes<'v>(groups: impl Iterator<Item = (String, &'v [f64])>) -> Content {
    let row = |(name, values): (String, &[f64])| match BoxPlot::of(values)
        .filter(|_| values.len() >= BOXED_LEAST)
    {
        Some(BoxPlot { quartiles, whiskers, outliers }) => {
            let shape = Some(BoxShape { quartiles, whiskers });
            BoxRow { name, shape, dots: outliers }
        }
        None => BoxRow { name, shape: None, dots: values.to_vec() },
    };
    Content::Boxes(groups.map(row).collect())
}

/// A bar for each name with its mean and the interval of that.
pub(crate) fn bars(means: impl Iterator<Item = (String, f64, Option<(f64, f64)>)>) -> Content {
    Content::Bars(means.map(|(name, mean, interval)| BarRow { name, mean, interval }).collect())
}
