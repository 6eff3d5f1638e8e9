//! The comparison as a drawing: a bar for each tier of each skill, on a scale where each line is ten times the one
//! before, since tiers differ by factors and not by amounts. Plain SVG that follows the reader's light or dark.

use std::fmt::Write;

use maud::html;

use skillcell_quote::one_line;

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub label: String,
    /// Decides the colour.
    pub kind: usize,
    pub p50_ms: f64,
    pub p99_ms: f64,
}

/// The bars of one skill.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub title: String,
    pub bars: Vec<Bar>,
}

const WIDTH: f64 = 760.0;
const LEFT: f64 = 110.0;
const RIGHT: f64 = 100.0;
const BAR: f64 = 16.0;
const ROW: f64 = 24.0;
const TOP: f64 = 44.0;
const STYLE: &str = "\
text{font:12px system-ui,sans-serif;fill:#222}.t{font-weight:600}.g{stroke:#ccc}.w{stroke:#222;stroke-width:1.5}\
.k0{fill:#2e7d4f}.k1{fill:#3b6fb6}.k2{fill:#b7791f}.k3{fill:#9b2c2c}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#444}.w{stroke:#ddd}\
.k0{fill:#5cb583}.k1{fill:#7aa7e0}.k2{fill:#dba648}.k3{fill:#d97070}}";

/// Draws the chart as SVG. Values that a logarithmic scale can't show (zero and less) are left out.
pub fn draw_chart(heading: &str, groups: &[Group]) -> String {
    let scale = Scale::for_groups(groups);
    let rows: usize = groups.iter().map(|group| group.bars.len() + 1).sum();
    let height = TOP + ROW * rows as f64 + 28.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{0}\">\
         <style>{STYLE}</style><text class=\"t\" x=\"8\" y=\"20\">{0}</text>",
        escape_text(heading)
    );
    scale.draw_grid(&mut svg, height);
    let mut y = TOP;
    for group in groups {
        let _ = write!(svg, "<text class=\"t\" x=\"8\" y=\"{:.0}\">{}</text>", y + 13.0, escape_text(&group.title));
        y += ROW;
        for bar in group.bars.iter().filter(|bar| bar.p50_ms > 0.0) {
            draw_bar(&mut svg, &scale, bar, y);
            y += ROW;
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_bar(svg: &mut String, scale: &Scale, bar: &Bar, y: f64) {
    let (end, far, middle) = (scale.x(bar.p50_ms), scale.x(bar.p99_ms.max(bar.p50_ms)), y + BAR / 2.0);
    let _ = write!(
        svg,
        "<text x=\"16\" y=\"{text:.0}\">{label}</text>\
         <rect class=\"k{kind}\" x=\"{LEFT}\" y=\"{y:.0}\" width=\"{width:.1}\" height=\"{BAR}\"/>\
         <line class=\"w\" x1=\"{end:.1}\" y1=\"{middle:.1}\" x2=\"{far:.1}\" y2=\"{middle:.1}\"/>\
         <text x=\"{after:.1}\" y=\"{text:.0}\">{value}</text>",
        text = y + 12.5,
        label = escape_text(&bar.label),
        kind = bar.kind.min(3),
        width = end - LEFT,
        after = far + 6.0,
        value = format_ms(bar.p50_ms),
    );
}

/// Powers of ten from the first one below all values to the first above.
struct Scale {
    low: i32,
    high: i32,
}

impl Scale {
    fn for_groups(groups: &[Group]) -> Scale {
        let values = || groups.iter().flat_map(|group| &group.bars).flat_map(|bar| [bar.p50_ms, bar.p99_ms]);
        let positive = || values().filter(|ms| *ms > 0.0 && ms.is_finite());
        let low = positive().fold(f64::INFINITY, f64::min);
        let high = positive().fold(0.0, f64::max);
        if high == 0.0 {
            return Scale { low: 0, high: 1 };
        }
        let low = low.log10().floor() as i32;
        Scale { low, high: (high.log10().ceil() as i32).max(low + 1) }
    }

    fn x(&self, ms: f64) -> f64 {
        let part = (ms.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        LEFT + part.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    fn draw_grid(&self, svg: &mut String, height: f64) {
        for power in self.low..=self.high {
            let (x, ms) = (self.x(10f64.powi(power)), 10f64.powi(power));
            let _ = write!(
                svg,
                "<line class=\"g\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom:.0}\"/>\
                 <text x=\"{x:.1}\" y=\"{base:.0}\" text-anchor=\"middle\">{value}</text>",
                bottom = height - 24.0,
                base = height - 8.0,
                value = format_ms(ms),
            );
        }
    }
}

fn format_ms(ms: f64) -> String {
    match ms {
        _ if ms < 1.0 => format!("{} µs", (ms * 1000.0).round()),
        _ if ms < 10.0 => format!("{ms:.1} ms").replace(".0 ", " "),
        _ if ms < 10_000.0 => format!("{ms:.0} ms"),
        _ => format!("{:.0} s", ms / 1000.0),
    }
}

/// Names come from skills' folders, so they are untrusted.
fn escape_text(text: &str) -> String {
    html! { (one_line(text)) }.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(title: &str, values: &[(f64, f64)]) -> Group {
        let bar = |(kind, &(p50_ms, p99_ms)): (usize, &(f64, f64))| Bar { label: "tier".into(), kind, p50_ms, p99_ms };
        Group { title: title.into(), bars: values.iter().enumerate().map(bar).collect() }
    }

    #[test]
    fn ten_times_as_long_is_one_line_further() {
        let scale = Scale::for_groups(&[group("a", &[(0.05, 0.1), (250.0, 400.0)])]);
        assert_eq!((scale.low, scale.high), (-2, 3));
        let step = scale.x(1.0) - scale.x(0.1);
        assert!((scale.x(10.0) - scale.x(1.0) - step).abs() < 1e-9);
    }

    #[test]
    fn a_name_stays_text() {
        let svg = draw_chart("h", &[group("<script>alert(1)</script>", &[(1.0, 2.0)])]);
        assert!(!svg.contains("<script") && svg.contains("&lt;script"));
    }

    #[test]
    fn nothing_measured_draws_no_bar() {
        let svg = draw_chart("h", &[group("a", &[(0.0, 0.0)]), group("b", &[])]);
        assert!(!svg.contains("<rect") && !svg.contains("NaN") && !svg.contains("inf"));
    }
}
