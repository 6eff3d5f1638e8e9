//! The generator of load: connections that are kept, each with one request at a time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::server::ADDRESS;

/// A request as text, with further header lines.
pub fn request(method: &str, path: &str, headers: &[&str], body: &str) -> String {
    let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A call of the skill that does nothing.
pub fn call_request(headers: &[&str]) -> String {
    request("POST", "/v1/skills/nothing/calls", headers, "{\"params\": {}}")
}

/// What was answered, and how fast.
pub struct Measured {
    pub rate: f64,
    pub times: Vec<Duration>,
}

impl Measured {
    pub fn percentile(&mut self, share: f64) -> Duration {
        self.times.sort_unstable();
        let place = ((self.times.len() as f64 * share) as usize).min(self.times.len().saturating_sub(1));
        self.times.get(place).copied().unwrap_or_default()
    }
}

/// Each connection sends its next request when the one before is answered.
pub fn load(connections: u64, time: Duration, request: &str) -> Measured {
    load_allowing(&[200], connections, time, request)
}

/// The same where answers may have other statuses.
pub fn load_allowing(statuses: &[u16], connections: u64, time: Duration, request: &str) -> Measured {
    let started = Instant::now();
    let times: Vec<Duration> = std::thread::scope(|scope| {
        let work = || call_until(started + time, request.as_bytes(), statuses);
        let running: Vec<_> = (0..connections).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("a connection works")).collect()
    });
    Measured { rate: times.len() as f64 / started.elapsed().as_secs_f64(), times }
}

fn call_until(end: Instant, request: &[u8], statuses: &[u16]) -> Vec<Duration> {
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
        assert!(statuses.contains(&status), "{status}: {}", String::from_utf8_lossy(&body));
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
