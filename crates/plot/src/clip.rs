//! Lines cut at the edges of what is shown.

/// Left, upper, right and lower edge, pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edges {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

type Place = (f64, f64);

impl Edges {
    /// The data of a path through `places`, of which only what lies inside is drawn.
    pub(crate) fn path(&self, places: &[Place]) -> String {
        let mut d = String::new();
        let mut last = None;
        for pair in places.windows(2) {
            let Some((from, until)) = self.segment(pair[0], pair[1]) else { continue };
            if last != Some(from) {
                d += &format!("M{:.1} {:.1}", from.0, from.1);
            }
            d += &format!("L{:.1} {:.1}", until.0, until.1);
            last = Some(until);
        }
        d
    }

    /// The part of a segment inside (Liang and Barsky 1984).
    fn segment(&self, from: Place, until: Place) -> Option<(Place, Place)> {
        let (dx, dy) = (until.0 - from.0, until.1 - from.1);
        let (mut begin, mut end) = (0.0_f64, 1.0_f64);
        for (step, room) in [
            (-dx, from.0 - self.left),
            (dx, self.right - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom - from.1),
        ] {
            if step == 0.0 {
                if room < 0.0 {
                    return None;
                }
            } else if step < 0.0 {
                begin = begin.max(room / step);
            } else {
                end = end.min(room / step);
            }
        }
        // An end inside stays exactly where it is.
        let at = |share: f64| match share {
            0.0 => from,
            1.0 => until,
            _ => (from.0 + share * dx, from.1 + share * dy),
        };
        (begin <= end).then(|| (at(begin), at(end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_inside_is_drawn() {
        let edges = Edges { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };
        for (places, d) in [
            (vec![(1.0, 1.0), (5.0, 5.0), (9.0, 2.0)], "M1.0 1.0L5.0 5.0L9.0 2.0"),
            (
                vec![(5.0, 5.0), (5.0, 20.0), (7.0, 20.0), (7.0, 5.0)],
                "M5.0 5.0L5.0 10.0M7.0 10.0L7.0 5.0",
            ),
            (vec![(-5.0, 0.0), (15.0, 10.0)], "M0.0 2.5L10.0 7.5"),
            (vec![(-5.0, -1.0), (15.0, -1.0)], ""),
            (vec![(3.0, 3.0)], ""),
        ] {
            assert_eq!(edges.path(&places), d);
        }
    }
}
