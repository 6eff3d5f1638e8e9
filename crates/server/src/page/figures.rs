//! The figures at the top: how busy the service is, and how long calls took, as bars on a scale where each line is ten times
//! the one before. The same values go into the page and, each second, to who watches it.

use std::time::Duration;

use maud::{Markup, html};
use serde::Serialize;

use crate::{Latency, Service};

const SHARES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];
/// The scale goes from 10 µs to 100 s.
const DECADES: [&str; 8] = ["10 µs", "0.1 ms", "1 ms", "10 ms", "0.1 s", "1 s", "10 s", "100 s"];
const DECADE_WIDTH: f64 = 100.0;
const FIRST_SECONDS: f64 = 1e-5;

/// What is shown.
#[derive(Debug, Serialize)]
pub struct Figures {
    running: usize,
    waiting: usize,
    workers: usize,
    calls: u64,
    denials: u64,
    turned_away: u64,
    percentiles: Vec<Percentile>,
}

#[derive(Debug, Serialize)]
struct Percentile {
    name: &'static str,
    text: String,
    /// Of its bar.
    width: f64,
}

impl Figures {
    pub fn new(service: &Service) -> Figures {
        let (load, activity) = (service.load(), service.activity());
        let skills = activity.skills();
        let mut latency = Latency::default();
        skills.values().for_each(|skill| latency.add_all(&skill.latency));
        Figures {
            running: load.running,
            waiting: load.waiting,
            workers: load.workers,
            calls: latency.count(),
            denials: skills.values().map(|skill| skill.denials).sum(),
            turned_away: activity.turned_away().values().sum(),
            percentiles: SHARES.iter().map(|(name, share)| make_percentile(name, latency.percentile(*share))).collect(),
        }
    }

    pub fn markup(&self) -> Markup {
        let tiles = [
            ("running", "running", self.running.to_string()),
            ("waiting", "in the queue", self.waiting.to_string()),
            ("workers", "workers", self.workers.to_string()),
            ("calls", "calls so far", self.calls.to_string()),
            ("denials", "requests denied", self.denials.to_string()),
            ("turned_away", "calls turned away", self.turned_away.to_string()),
        ];
        html! {
            section.now aria-labelledby="now" {
                h2 #now { "Now" }
                dl.tiles {
                    @for (name, label, value) in tiles { div { dt { (label) } dd data-figure=(name) { (value) } } }
                }
            }
            section.latency aria-labelledby="latency" {
                h2 #latency { "How long calls take" }
                p.note { "On a worker, since the server's start; each to within its bucket. The scale is logarithmic." }
                dl.bars {
                    @for bar in &self.percentiles { (bar_markup(bar)) }
                    div.axis aria-hidden="true" {
                        span {} div.ticks { @for tick in DECADES { span { (tick) } } } span {}
                    }
                }
            }
        }
    }
}

fn make_percentile(name: &'static str, time: Option<Duration>) -> Percentile {
    let width = time.map_or(0.0, |time| (time.as_secs_f64() / FIRST_SECONDS).log10() * DECADE_WIDTH);
    Percentile {
        name,
        text: time.map_or_else(|| "–".to_owned(), format_time),
        width: width.clamp(0.0, full_width()).round(),
    }
}

fn full_width() -> f64 {
    DECADE_WIDTH * (DECADES.len() - 1) as f64
}

fn bar_markup(bar: &Percentile) -> Markup {
    let view = format!("0 0 {} 20", full_width());
    html! {
        div {
            dt { (bar.name) }
            dd {
                svg viewBox=(view) preserveAspectRatio="none" aria-hidden="true" focusable="false" {
                    @for line in 0..DECADES.len() {
                        @let x = DECADE_WIDTH * line as f64;
                        line.grid x1=(x) y1="0" x2=(x) y2="20" {}
                    }
                    rect.bar x="0" y="3" height="14" width=(bar.width) data-bar=(bar.name) {}
                }
                span data-percentile=(bar.name) { (bar.text) }
            }
        }
    }
}

/// With three digits, in the unit that suits it.
pub fn format_time(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    match ms {
        _ if ms < 9.995 => format!("{ms:.2} ms"),
        _ if ms < 99.95 => format!("{ms:.1} ms"),
        _ if ms < 999.5 => format!("{ms:.0} ms"),
        _ => format!("{:.2} s", ms / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_time_on_the_scale_and_never_longer_than_it() {
        let width = |ms: f64| make_percentile("p", Some(Duration::from_secs_f64(ms / 1e3))).width;
        assert_eq!([0.0001, 0.01, 0.1, 1.0, 1e5, 1e9].map(width), [0.0, 0.0, 100.0, 200.0, 700.0, 700.0]);
        assert_eq!(make_percentile("p", None).width, 0.0);
    }

    #[test]
    fn times_have_three_digits() {
        let told = [0.0512, 9.999, 12.34, 99.97, 250.0, 999.9, 30_000.0]
            .map(|ms: f64| format_time(Duration::from_secs_f64(ms / 1e3)));
        assert_eq!(told, ["0.05 ms", "10.0 ms", "12.3 ms", "100 ms", "250 ms", "1.00 s", "30.00 s"]);
    }
}
