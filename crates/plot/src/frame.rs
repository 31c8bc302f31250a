//! The frame around a plane: axes and the names of the interruptions.

use crate::drawn::inside;
use crate::scale::{Across, Scale, Ticks, byte_unit};
use crate::svg::escape;
use crate::view::{Band, Unit};

/// Pixels: the plane's place in its graph.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) left: i64,
    pub(crate) top: i64,
    pub(crate) across: i64,
    pub(crate) height: i64,
    pub(crate) width: i64,
}

/// The visible part of the plane: seconds or bytes, and values in the axis's unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) across: Across,
    pub(crate) from: f64,
    pub(crate) until: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Window {
    pub(crate) fn whole(scale: &Scale) -> Window {
        let Scale { across, low, high, .. } = *scale;
        let (from, until) = scale.edges();
        Window { across, from, until, low, high }
    }
}

/// Pixels that a tick needs: of time or sequence, of value.
const TIME_ROOM: i64 = 64;
const VALUE_ROOM: i64 = 28;
/// More ticks of value are too dense.
const MOST_VALUES: i64 = 8;
/// About the pixels of a letter.
const LETTER: f64 = 6.2;

impl Frame {
    pub(crate) fn bottom(&self) -> i64 {
        self.top + self.height
    }

    pub(crate) fn right(&self) -> i64 {
        self.left + self.across
    }

    /// Of seconds or bytes.
    pub(crate) fn x(&self, place: f64, window: &Window) -> f64 {
        let share = (place - window.from) / (window.until - window.from).max(1e-9);
        self.left as f64 + share * self.across as f64
    }

    fn y(&self, value: f64, low: f64, high: f64) -> f64 {
        self.bottom() as f64 - (value - low) / (high - low).max(1e-300) * self.height as f64
    }

    /// The plane's nested `<svg>`, not closed.
    pub(crate) fn plane(&self, view_box: &str) -> String {
        format!(
            concat!(
                r#"<svg class="plane" x="{x}" y="{y}" width="{w}" height="{h}" "#,
                r#"viewBox="{view_box}" data-units="{units}" preserveAspectRatio="none">"#,
            ),
            x = self.left,
            y = self.top,
            w = self.across,
            h = self.height,
            view_box = view_box,
            units = view_box.trim_start_matches("0 0 "),
        )
    }

    /// Ticks, labels and units.
    pub(crate) fn axes(
        &self,
        svg: &mut String,
        window: &Window,
        unit: &Unit,
        right: Option<(f64, &str)>,
    ) {
        svg.push_str(r#"<g class="ticks">"#);
        self.times(svg, window, true);
        let name = self.values(svg, window, unit);
        if let Some((factor, _)) = right {
            self.others(svg, window, factor);
        }
        svg.push_str("</g>");
        let y = self.top - 10;
        svg.push_str(&format!(r#"<text class="unit" x="0" y="{y}">{}</text>"#, escape(name)));
        if let Some((_, unit)) = right {
            let (x, unit) = (self.right() + 8, escape(unit));
            svg.push_str(&format!(r#"<text class="far unit" x="{x}" y="{y}">{unit}</text>"#));
        }
    }

    /// Ticks and labels of one of several stacked frames; the last one has the times.
    pub(crate) fn stacked_axes(&self, svg: &mut String, window: &Window, unit: &Unit, last: bool) {
        svg.push_str(r#"<g class="ticks">"#);
        self.times(svg, window, last);
        self.values(svg, window, unit);
        svg.push_str("</g>");
    }

    fn times(&self, svg: &mut String, window: &Window, with_labels: bool) {
        let (top, bottom) = (self.top, self.bottom());
        let most = (self.across / TIME_ROOM).max(2) as usize;
        let (size, unit) = match window.across {
            Across::Time => (1.0, "s"),
            Across::Sequence => byte_unit(Ticks::between(window.from, window.until, most).step),
        };
        let times = Ticks::between(window.from / size, window.until / size, most);
        for at in &times.at {
            let (x, label) = (self.x(*at * size, window), times.label(*at));
            svg.push_str(&format!(r#"<path d="M{x:.1} {top}V{bottom}"/>"#));
            if with_labels {
                let label = format!("{label} {unit}");
                let (x, y) = (inside(x, &label, self.width as f64), bottom + 16);
                svg.push_str(&format!(r#"<text class="time" x="{x:.1}" y="{y}">{label}</text>"#));
            }
        }
    }

    /// The left axis; returns its unit's name.
    fn values<'a>(&self, svg: &mut String, window: &Window, unit: &'a Unit) -> &'a str {
        let most = (self.height / VALUE_ROOM).clamp(2, MOST_VALUES) as usize;
        let (size, name) = match unit {
            Unit::Bytes => byte_unit(Ticks::between(window.low, window.high, most).step),
            Unit::Named(name) => (1.0, name.as_str()),
            Unit::Rows(names) => {
                self.names(svg, window, names);
                return "";
            }
        };
        let (low, high) = (window.low / size, window.high / size);
        let values = Ticks::between(low, high, most);
        for at in &values.at {
            let (y, label) = (self.y(*at, low, high), values.label(*at));
            svg.push_str(&format!(r#"<path d="M{} {y:.1}H{}"/>"#, self.left, self.right()));
            let (x, y) = (self.left - 8, y + 4.0);
            svg.push_str(&format!(r#"<text class="value" x="{x}" y="{y:.1}">{label}</text>"#));
        }
        name
    }

    /// At the top of each row.
    fn names(&self, svg: &mut String, window: &Window, names: &[String]) {
        for (index, name) in names.iter().enumerate() {
            let top = self.y((names.len() - index) as f64, window.low, window.high);
            let (x, y) = (self.left + 4, top + 14.0);
            svg.push_str(&format!(r#"<path d="M{} {top:.1}H{}"/>"#, self.left, self.right()));
            svg.push_str(&format!(
                r#"<text class="row" x="{x}" y="{y:.1}">{}</text>"#,
                escape(name)
            ));
        }
    }

    fn others(&self, svg: &mut String, window: &Window, factor: f64) {
        let (low, high) = (window.low * factor, window.high * factor);
        let most = (self.height / VALUE_ROOM).clamp(2, MOST_VALUES) as usize;
        let values = Ticks::between(low, high, most);
        for at in &values.at {
            let (y, label) = (self.y(*at, low, high), values.label(*at));
            let (right, x) = (self.right(), self.right() + 8);
            svg.push_str(&format!(r#"<path d="M{right} {y:.1}h4"/>"#));
            svg.push_str(&format!(
                r#"<text class="other" x="{x}" y="{:.1}">{label}</text>"#,
                y + 4.0
            ));
        }
    }

    /// The names of the interruptions above the plane: the long ones if all fit, else those short
    /// ones that do not overlap.
    pub(crate) fn band_labels(&self, svg: &mut String, window: &Window, bands: &[Band]) {
        let places: Vec<(&Band, f64)> = bands
            .iter()
            .map(|band| (band, f64::midpoint(band.from.as_secs_f64(), band.until.as_secs_f64())))
            .filter(|(_, at)| (window.from..=window.until).contains(at))
            .collect();
        if places.is_empty() {
            return;
        }
        let spans = |text: fn(&Band) -> &str| -> Vec<(f64, f64)> {
            let span = |(band, at): &(&Band, f64)| {
                let half = text(band).chars().count() as f64 * LETTER / 2.0 + 3.0;
                (self.x(*at, window) - half, self.x(*at, window) + half)
            };
            places.iter().map(span).collect()
        };
        let long = spans(|band| &band.label);
        let fits = long.windows(2).all(|pair| pair[0].1 <= pair[1].0)
            && long.iter().all(|(from, until)| *from >= 0.0 && *until <= self.width as f64);
        let text: fn(&Band) -> &str = if fits { |band| &band.label } else { |band| &band.short };
        svg.push_str(r#"<g class="band-labels">"#);
        let mut free_from = f64::MIN;
        for ((band, at), (from, until)) in places.iter().zip(spans(text)) {
            let hidden = if from < free_from { " hidden" } else { "" };
            if hidden.is_empty() {
                free_from = until;
            }
            svg.push_str(&format!(
                concat!(
                    r#"<text class="band-label {}{hidden}" x="{:.1}" y="{}" data-at="{at}" "#,
                    r#"data-long="{}" data-short="{}">{}</text>"#,
                ),
                band.class,
                self.x(*at, window),
                self.top - 8,
                escape(&band.label),
                escape(&band.short),
                escape(text(band)),
                hidden = hidden,
                at = at,
            ));
        }
        svg.push_str("</g>");
    }
}
