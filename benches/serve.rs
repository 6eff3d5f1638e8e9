//! `cargo bench --bench serve`: calls per second over HTTP keep-alive beside what the library gets with the same cores, taking
//! turns in one run: absolute figures on a shared machine mean little, ratios between neighbours hold.
//!
//! The server and the library are pinned to half of the cores (`taskset`), the generator below to the other half. It is this
//! file, not `oha`: nothing has to be installed. It links nothing of skillcell: it runs the program.
//!
//! Two ratios: of calls per second, for a machine that is otherwise idle; and of processor time, the library's median call
//! beside all that the server's threads used for one, which holds where others use the same cores.
//!
//! Options, as variables: `SKILLCELL` (the program), `CONNECTIONS` (16), `SECONDS` (4), `ROUNDS` (5), `SERVE_ARGS`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ADDRESS: &str = "127.0.0.1:18473";
const SKILL: &str = "skills-compat/demo/nothing";

fn main() {
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default);
    let (connections, rounds) = (number("CONNECTIONS", 16), number("ROUNDS", 5));
    let time = Duration::from_secs(number("SECONDS", 4));
    let cores = Cores::split();
    let server = Server::start(&cores.server);
    pin_self(&cores.generator);
    let (mut by_rate, mut by_time) = (Vec::new(), Vec::new());
    println!("server on cores {}, generator on {}; {connections} connections", cores.server, cores.generator);
    println!("library /s   http /s   ratio   p50 ms   p99 ms   library us   server us   ratio   healthz us");
    for _ in 0..rounds {
        let (library, call_us) = library_figures(&cores.server);
        let (mut http, server_us) = server.measure(connections, time, &call_request());
        let (_, nothing_us) = server.measure(connections, time / 4, &request("GET", "/healthz", ""));
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

/// Which cores are whose, as `taskset` has them.
struct Cores {
    server: String,
    generator: String,
}

impl Cores {
    fn split() -> Cores {
        let count = std::thread::available_parallelism().map_or(2, usize::from);
        match count {
            1 => Cores { server: "0".into(), generator: "0".into() },
            _ => Cores { server: format!("0-{}", count / 2 - 1), generator: format!("{}-{}", count / 2, count - 1) },
        }
    }
}

fn program() -> String {
    let built = option_env!("CARGO_BIN_EXE_skillcell").map(str::to_owned);
    std::env::var("SKILLCELL").ok().or(built).expect("SKILLCELL names the program")
}

fn pin_self(cores: &str) {
    let pid = std::process::id().to_string();
    let _ = Command::new("taskset").args(["-cp", cores, &pid]).stdout(Stdio::null()).status();
}

/// The server, for as long as this lives.
struct Server(Child);

impl Server {
    fn start(cores: &str) -> Server {
        let more = std::env::var("SERVE_ARGS").unwrap_or_default();
        let child = Command::new("taskset")
            .args(["-c", cores, &program(), "serve", SKILL, "--listen", ADDRESS])
            .args(more.split_whitespace())
            .spawn()
            .expect("taskset starts");
        let server = Server(child);
        let started = Instant::now();
        while !is_ready() {
            assert!(started.elapsed() < Duration::from_secs(300), "the server gets ready");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }
}

impl Server {
    /// Loads it; the processor time of all its threads for one request, in microseconds, goes with the result.
    fn measure(&self, connections: u64, time: Duration, request: &str) -> (Measured, f64) {
        let before = self.processor_ns();
        let measured = load(connections, time, request);
        let used_us = (self.processor_ns() - before) / 1e3;
        let count = measured.times.len().max(1) as f64;
        (measured, used_us / count)
    }

    fn processor_ns(&self) -> f64 {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.0.id())).expect("the server runs");
        let used = tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
        used.filter_map(|text| text.split(' ').next()?.parse::<f64>().ok()).sum()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_ready() -> bool {
    let Ok(mut stream) = TcpStream::connect(ADDRESS) else { return false };
    let _ = stream.write_all(request("GET", "/readyz", "").as_bytes());
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).is_ok() && &answer == b"HTTP/1.1 200"
}

fn request(method: &str, path: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn call_request() -> String {
    request("POST", "/v1/skills/nothing/calls", "{\"params\": {}}")
}

struct Measured {
    rate: f64,
    times: Vec<Duration>,
}

impl Measured {
    fn percentile(&mut self, share: f64) -> Duration {
        self.times.sort_unstable();
        let place = ((self.times.len() as f64 * share) as usize).min(self.times.len().saturating_sub(1));
        self.times.get(place).copied().unwrap_or_default()
    }
}

/// Each connection sends its next request when the one before is answered.
fn load(connections: u64, time: Duration, request: &str) -> Measured {
    let started = Instant::now();
    let times: Vec<Duration> = std::thread::scope(|scope| {
        let work = || call_until(started + time, request.as_bytes());
        let running: Vec<_> = (0..connections).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("a connection works")).collect()
    });
    Measured { rate: times.len() as f64 / started.elapsed().as_secs_f64(), times }
}

fn call_until(end: Instant, request: &[u8]) -> Vec<Duration> {
    let stream = TcpStream::connect(ADDRESS).expect("the server takes connections");
    stream.set_nodelay(true).expect("the socket takes options");
    let (mut reader, mut writer) = (BufReader::new(stream.try_clone().expect("a descriptor is left")), stream);
    let (mut times, mut body) = (Vec::new(), Vec::new());
    while Instant::now() < end {
        let started = Instant::now();
        writer.write_all(request).expect("the request is taken");
        let (status, length) = read_head(&mut reader);
        body.resize(length, 0);
        reader.read_exact(&mut body).expect("the body arrives");
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        times.push(started.elapsed());
    }
    times
}

fn read_head(reader: &mut impl BufRead) -> (u16, usize) {
    let (mut line, mut status, mut length) = (String::new(), 0, 0);
    loop {
        line.clear();
        reader.read_line(&mut line).expect("the answer arrives");
        let text = line.trim_end();
        match text.split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().expect("a number")
            }
            Some(_) => {}
            None if text.is_empty() => return (status, length),
            None => status = text.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status"),
        }
    }
}

/// What `skillcell bench` gets with these cores, with a thread for each: calls per second, and the median call in us.
fn library_figures(cores: &str) -> (f64, f64) {
    let output = Command::new("taskset")
        .args(["-c", cores, &program(), "--quiet", "bench", SKILL, "--json", "--calls", "5000"])
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
