//! Calls per second over HTTP keep-alive beside what the library gets with the same cores, taking turns in one run: absolute
//! figures on a shared machine mean little, ratios between neighbours hold.
//!
//! Two ratios: of calls per second, for a machine that is otherwise idle; and of processor time, the library's median call
//! beside all that the server's threads used for one, which holds where others use the same cores.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::load::{call_request, request};
use crate::option;
use crate::server::{Cores, NOTHING, Server, pin_self, program};

pub fn run() {
    let (connections, rounds) = (option("CONNECTIONS", 16), option("ROUNDS", 5));
    let time = Duration::from_secs(option("SECONDS", 4));
    let cores = Cores::split();
    let server = Server::start(&cores.server, &["serve", NOTHING]);
    pin_self(&cores.generator);
    let (mut by_rate, mut by_time) = (Vec::new(), Vec::new());
    println!("server on cores {}, generator on {}; {connections} connections", cores.server, cores.generator);
    println!("library /s   http /s   ratio   p50 ms   p99 ms   library us   server us   ratio   healthz us");
    for _ in 0..rounds {
        let (library, call_us) = library_figures(&cores.server);
        let (mut http, server_us) = server.measure(connections, time, &call_request(&[]));
        let (_, nothing_us) = server.measure(connections, time / 4, &request("GET", "/healthz", &[], ""));
        let [p50, p99] = [0.5, 0.99].map(|share| http.percentile(share).as_secs_f64() * 1e3);
        by_rate.push(http.rate / library);
        by_time.push(call_us / server_us);
        println!(
            "{library:>10.0} {:>9.0} {:>7.2} {p50:>8.3} {p99:>8.3} {call_us:>12.1} {server_us:>11.1} {:>7.2} {nothing_us:>12.1}",
            http.rate,
            http.rate / library,
            call_us / server_us
        );
    }
    println!("median ratio of rates {:.2}, of processor time {:.2}", median(by_rate), median(by_time));
}

/// What `skillcell bench` gets with these cores, with a thread for each: calls per second, and the median call in us.
fn library_figures(cores: &str) -> (f64, f64) {
    let output = Command::new("taskset")
        .args(["-c", cores, &program(), "--quiet", "bench", NOTHING, "--json", "--calls", "5000"])
        .stderr(Stdio::null())
        .output()
        .expect("the bench runs");
    let text = String::from_utf8(output.stdout).expect("it is text");
    let number = |rest: Option<&str>| rest?.trim().split([',', '}', '\n']).next()?.trim().parse::<f64>().ok();
    // The last of `throughput` has all threads; the first of `series` are cells.
    let rate = number(text.rsplit("\"calls_per_s\":").next());
    let median_ms = number(text.split("\"p50_ms\":").nth(1));
    let (rate, median_ms) = rate.zip(median_ms).unwrap_or_else(|| panic!("no figures in {text}"));
    (rate, median_ms * 1e3)
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}
