//! Where states stand and how edges go.

use tcplab_trace::{Edge, TcpState};

/// A state's position. CLOSED has two, as in RFC 9293: where connections begin and where they end.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatePosition {
    pub(super) state: TcpState,
    pub(super) x: i64,
    pub(super) y: i64,
    /// The lower CLOSED.
    pub(super) is_end: bool,
}

const fn place(state: TcpState, x: i64, y: i64) -> StatePosition {
    StatePosition { state, x, y, is_end: false }
}

impl StatePosition {
    pub(super) const ALL: [StatePosition; 12] = [
        place(TcpState::Closed, 520, 50),
        place(TcpState::Listen, 520, 180),
        place(TcpState::SynReceived, 210, 320),
        place(TcpState::SynSent, 830, 320),
        place(TcpState::Established, 520, 450),
        place(TcpState::FinWait1, 210, 590),
        place(TcpState::CloseWait, 830, 590),
        place(TcpState::FinWait2, 210, 740),
        place(TcpState::Closing, 520, 740),
        place(TcpState::LastAck, 830, 740),
        place(TcpState::TimeWait, 520, 880),
        StatePosition { state: TcpState::Closed, x: 830, y: 880, is_end: true },
    ];
}

/// The route of an edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    from: (i64, i64),
    to: (i64, i64),
    /// The two control points of a curve; none of a straight line.
    bend: Option<[(i64, i64); 2]>,
    /// The label's position and anchor.
    label: (i64, i64, &'static str),
}

const fn straight(from: (i64, i64), to: (i64, i64), label: (i64, i64, &'static str)) -> Route {
    Route { from, to, bend: None, label }
}

const fn bent(
    from: (i64, i64),
    bend: [(i64, i64); 2],
    to: (i64, i64),
    label: (i64, i64, &'static str),
) -> Route {
    Route { from, to, bend: Some(bend), label }
}

/// An edge from one state to another with its route.
type Drawn = (TcpState, TcpState, Route);

/// The edges of the figure.
const FIGURE: &[Drawn] = &[
    (TcpState::Closed, TcpState::Listen, straight((505, 68), (505, 162), (494, 115, "end"))),
    (TcpState::Listen, TcpState::Closed, straight((535, 162), (535, 68), (546, 115, "start"))),
    (
        TcpState::Closed,
        TcpState::SynSent,
        bent((586, 46), [(760, 46), (850, 130)], (850, 302), (872, 150, "start")),
    ),
    (
        TcpState::SynSent,
        TcpState::Closed,
        bent((815, 302), [(810, 180), (720, 62)], (586, 58), (700, 158, "end")),
    ),
    (
        TcpState::Listen,
        TcpState::SynReceived,
        bent((454, 176), [(330, 176), (195, 200)], (195, 302), (214, 212, "end")),
    ),
    (
        TcpState::SynReceived,
        TcpState::Listen,
        bent((240, 302), [(250, 240), (370, 196)], (454, 190), (372, 252, "start")),
    ),
    (
        TcpState::Listen,
        TcpState::SynSent,
        bent((586, 186), [(680, 190), (770, 230)], (785, 302), (668, 246, "end")),
    ),
    (
        TcpState::SynSent,
        TcpState::SynReceived,
        straight((764, 320), (276, 320), (520, 288, "middle")),
    ),
    (
        TcpState::SynReceived,
        TcpState::Established,
        bent((225, 338), [(240, 400), (340, 440)], (454, 446), (350, 396, "start")),
    ),
    (
        TcpState::SynSent,
        TcpState::Established,
        bent((815, 338), [(800, 400), (700, 440)], (586, 446), (700, 396, "end")),
    ),
    (
        TcpState::SynReceived,
        TcpState::FinWait1,
        straight((180, 338), (180, 572), (170, 455, "end")),
    ),
    (
        TcpState::Established,
        TcpState::FinWait1,
        bent((470, 468), [(420, 530), (330, 560)], (276, 582), (376, 500, "end")),
    ),
    (
        TcpState::Established,
        TcpState::CloseWait,
        bent((570, 468), [(620, 530), (710, 560)], (764, 582), (664, 500, "start")),
    ),
    (TcpState::FinWait1, TcpState::FinWait2, straight((190, 608), (190, 722), (180, 665, "end"))),
    (
        TcpState::FinWait1,
        TcpState::Closing,
        bent((276, 598), [(370, 620), (470, 660)], (500, 722), (404, 606, "start")),
    ),
    (TcpState::CloseWait, TcpState::LastAck, straight((845, 608), (845, 722), (856, 665, "start"))),
    (
        TcpState::FinWait2,
        TcpState::TimeWait,
        bent((205, 758), [(215, 840), (330, 876)], (454, 882), (192, 838, "end")),
    ),
    (TcpState::Closing, TcpState::TimeWait, straight((520, 758), (520, 862), (530, 800, "start"))),
    (TcpState::LastAck, TcpState::Closed, straight((845, 758), (845, 862), (856, 810, "start"))),
    (TcpState::TimeWait, TcpState::Closed, straight((586, 880), (764, 880), (676, 896, "middle"))),
];

/// Drawn only if walked: by RST to CLOSED, and edges that the figure omits.
const BESIDE: &[Drawn] = &[
    (
        TcpState::SynReceived,
        TcpState::Closed,
        bent((165, 302), [(120, 160), (300, 50)], (454, 50), (150, 190, "end")),
    ),
    (
        TcpState::Established,
        TcpState::Closed,
        bent((586, 460), [(690, 500), (650, 800)], (770, 862), (652, 660, "end")),
    ),
    (
        TcpState::Closing,
        TcpState::Closed,
        bent((586, 748), [(680, 760), (700, 800)], (764, 870), (664, 770, "start")),
    ),
    (
        TcpState::FinWait1,
        TcpState::Closed,
        bent((144, 590), [(10, 660), (10, 945)], (800, 898), (286, 898, "start")),
    ),
    (
        TcpState::FinWait2,
        TcpState::Closed,
        bent((144, 746), [(40, 900), (300, 960)], (800, 898), (286, 898, "start")),
    ),
    (
        TcpState::CloseWait,
        TcpState::Closed,
        bent((896, 596), [(1010, 660), (1010, 840)], (896, 880), (1036, 770, "end")),
    ),
    (
        TcpState::SynReceived,
        TcpState::CloseWait,
        bent((260, 338), [(400, 380), (640, 540)], (764, 578), (470, 410, "start")),
    ),
    (
        TcpState::SynSent,
        TcpState::FinWait1,
        bent((790, 338), [(640, 380), (400, 540)], (276, 578), (560, 410, "end")),
    ),
];

impl Route {
    /// The route of an edge of the figure.
    pub(super) fn of(from: TcpState, to: TcpState) -> Option<Route> {
        Route::among(FIGURE, from, to)
    }

    /// The route of a walked edge, in the figure or not.
    pub(super) fn walked(from: TcpState, to: TcpState) -> Option<Route> {
        Route::of(from, to).or_else(|| Route::among(BESIDE, from, to))
    }

    fn among(drawn: &[Drawn], from: TcpState, to: TcpState) -> Option<Route> {
        drawn.iter().find(|row| (row.0, row.1) == (from, to)).map(|row| row.2)
    }

    /// Whether an edge leads to the lower CLOSED: it ends a connection, or an attempt.
    pub(super) fn ends_below(edge: &Edge) -> bool {
        let never_was =
            matches!(edge.from, TcpState::SynSent | TcpState::SynReceived | TcpState::Listen);
        edge.to == TcpState::Closed && !never_was && !edge.event.is_call()
    }

    pub(super) fn path(&self) -> String {
        let ((x, y), (to_x, to_y)) = (self.from, self.to);
        match self.bend {
            None => format!("M{x} {y}L{to_x} {to_y}"),
            Some([one, other]) => {
                format!("M{x} {y}C{} {} {} {} {to_x} {to_y}", one.0, one.1, other.0, other.1)
            }
        }
    }

    /// The direction in which to shift it to make room for another edge.
    pub(super) fn normal(&self) -> (i64, i64) {
        let (across, down) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        match (across.abs() > 3 * down.abs(), down.abs() > 3 * across.abs()) {
            (true, _) => (0, 1),
            (_, true) => (1, 0),
            // A curve that falls to the right is passed above and to the right, one that falls to
            // the left above and to the left.
            _ if (across > 0) == (down > 0) => (1, -1),
            _ => (1, 1),
        }
    }

    #[cfg(test)]
    pub(super) fn start(&self) -> (i64, i64) {
        self.from
    }

    /// Its end and its direction there, in degrees clockwise from the right.
    pub(super) fn end(&self) -> ((i64, i64), i64) {
        let (x, y) = self.bend.map_or(self.from, |[_, second]| second);
        let (across, down) = ((self.to.0 - x) as f64, (self.to.1 - y) as f64);
        (self.to, down.atan2(across).to_degrees().round() as i64)
    }

    pub(super) fn label(&self) -> (i64, i64, &'static str) {
        self.label
    }
}
