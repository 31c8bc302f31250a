//! The lower convex hull of points that come in the order of time.

/// More corners are thinned out; the hull then lies a little lower.
const MOST: usize = 1_024;

/// Corners from left to right; times in nanoseconds, from whatever zero.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hull {
    corners: Vec<(i64, i64)>,
}

/// A line under all points that lies as high as can be at their mean time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Support {
    pub(crate) slope: f64,
}

impl Hull {
    /// One more point; a time before the last one's counts as that.
    pub(crate) fn add(&mut self, x: i64, y: i64) {
        let x = self.corners.last().map_or(x, |&(last, _)| x.max(last));
        if let Some(last) = self.corners.last_mut().filter(|last| last.0 == x) {
            if y >= last.1 {
                return;
            }
            self.corners.pop();
        }
        // Andrew's monotone chain: points on or above the new edge are no corners.
        while let [.., a, b] = self.corners[..] {
            let cross = i128::from(b.0 - a.0) * i128::from(y - a.1)
                - i128::from(b.1 - a.1) * i128::from(x - a.0);
            if cross > 0 {
                break;
            }
            self.corners.pop();
        }
        self.corners.push((x, y));
        if self.corners.len() > MOST {
            let last = self.corners.len() - 1;
            let mut index = 0;
            self.corners.retain(|_| {
                index += 1;
                index % 2 == 1 || index > last
            });
        }
    }

    pub(crate) fn corners(&self) -> &[(i64, i64)] {
        &self.corners
    }

    /// The least of `y - slope * x`.
    pub(crate) fn floor(&self, slope: f64) -> Option<f64> {
        self.corners.iter().map(|&(x, y)| y as f64 - slope * x as f64).reduce(f64::min)
    }

    /// Of all lines under the points, that with the least sum of distances: through two corners.
    pub(crate) fn support(&self, mean: f64) -> Option<Support> {
        let right = self.corners.partition_point(|&(x, _)| (x as f64) < mean);
        let right = right.clamp(1, self.corners.len().checked_sub(1).filter(|last| *last > 0)?);
        let (a, b) = (self.corners[right - 1], self.corners[right]);
        Some(Support { slope: (b.1 - a.1) as f64 / (b.0 - a.0) as f64 })
    }
}
