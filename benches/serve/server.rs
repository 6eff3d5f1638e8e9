//! The server that is loaded: the program, on a part of the cores.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::load::{Measured, load, request};

pub const ADDRESS: &str = "127.0.0.1:18473";
/// A skill that does nothing.
pub const NOTHING: &str = "skills-compat/demo/nothing";

/// Which cores are whose, as `taskset` has them.
pub struct Cores {
    pub server: String,
    pub generator: String,
}

impl Cores {
    pub fn split() -> Cores {
        let count = std::thread::available_parallelism().map_or(2, usize::from);
        match count {
            1 => Cores { server: "0".into(), generator: "0".into() },
            _ => Cores { server: format!("0-{}", count / 2 - 1), generator: format!("{}-{}", count / 2, count - 1) },
        }
    }
}

pub fn program() -> String {
    let built = option_env!("CARGO_BIN_EXE_skillcell").map(str::to_owned);
    std::env::var("SKILLCELL").ok().or(built).expect("SKILLCELL names the program")
}

pub fn pin_self(cores: &str) {
    let pid = std::process::id().to_string();
    let _ = Command::new("taskset").args(["-cp", cores, &pid]).stdout(Stdio::null()).status();
}

/// The server, for as long as this lives.
pub struct Server(Child);

impl Server {
    /// With these arguments, on a port of its own, once it is ready.
    pub fn start(cores: &str, arguments: &[&str]) -> Server {
        let more = std::env::var("SERVE_ARGS").unwrap_or_default();
        let child = Command::new("taskset")
            .args(["-c", cores, &program()])
            .args(arguments)
            .args(["--listen", ADDRESS])
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
    pub fn measure(&self, connections: u64, time: Duration, request: &str) -> (Measured, f64) {
        let before = self.processor_ns();
        let measured = load(connections, time, request);
        let used_us = (self.processor_ns() - before) / 1e3;
        let count = measured.times.len().max(1) as f64;
        (measured, used_us / count)
    }

    /// Its private memory, in KiB.
    pub fn private_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).expect("the server runs");
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("the kernel tells");
        line.split_whitespace().next().and_then(|kib| kib.parse().ok()).expect("a number")
    }

    /// Its threads and descriptors.
    pub fn threads_and_descriptors(&self) -> (usize, usize) {
        let count = |what| std::fs::read_dir(format!("/proc/{}/{what}", self.0.id())).expect("the server runs").count();
        (count("task"), count("fd"))
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
    let _ = stream.write_all(request("GET", "/readyz", &[], "").as_bytes());
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).is_ok() && &answer == b"HTTP/1.1 200"
}
