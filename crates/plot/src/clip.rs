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
        for piece in self.pieces(places) {
            let mut last = piece[0];
            d += &format!("M{:.1} {:.1}", last.0, last.1);
            for (x, y) in &piece[1..] {
                d += &match (x - last.0, y - last.1) {
                    (_, 0.0) => format!("H{x:.1}"),
                    (0.0, _) => format!("V{y:.1}"),
                    _ => format!("L{x:.1} {y:.1}"),
                };
                last = (*x, *y);
            }
        }
        d
    }

    /// The pieces of a line through `places` that lie inside.
    pub(crate) fn pieces(&self, places: &[Place]) -> Vec<Vec<Place>> {
        let mut pieces: Vec<Vec<Place>> = Vec::new();
        for pair in places.windows(2) {
            let Some((from, until)) = self.segment(pair[0], pair[1]) else { continue };
            // Of a line that passes a corner, or only comes to an edge, nothing lies inside.
            if from == until {
                continue;
            }
            match pieces.last_mut() {
                Some(piece) if piece.last() == Some(&from) => piece.push(until),
                _ => pieces.push(vec![from, until]),
            }
        }
        pieces
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
            (vec![(5.0, 5.0), (5.0, 20.0), (7.0, 20.0), (7.0, 5.0)], "M5.0 5.0V10.0M7.0 10.0V5.0"),
            (vec![(-5.0, 0.0), (15.0, 10.0)], "M0.0 2.5L10.0 7.5"),
            (vec![(-5.0, -1.0), (15.0, -1.0)], ""),
            (vec![(3.0, 3.0)], ""),
        ] {
            assert_eq!(edges.path(&places), d);
        }
    }
}
