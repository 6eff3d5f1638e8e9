//! A real `skillcell serve` on a port of its own, and a client that writes what it likes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::tests;

/// Far more than anything here takes; a test that waits for longer has failed.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Serving {
    pub child: Child,
    pub address: String,
    pub folder: TempDir,
}

/// An answer, with its head's lines in lower case.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// It is a problem with this status and code.
    pub fn is(&self, status: u16, code: &str) {
        assert_eq!((self.status, &self.json()["code"]), (status, &Value::from(code)), "{self:?}");
        assert!(self.head.contains("content-type: application/problem+json"), "{self:?}");
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl Serving {
    /// Serves fixture skills, and waits until their images are there.
    pub fn start(skills: &[&str], flags: &[&str]) -> Serving {
        Serving::with_settings("", skills, flags)
    }

    /// The same with a `skillcell.toml`.
    pub fn with_settings(settings: &str, skills: &[&str], flags: &[&str]) -> Serving {
        Serving::with_env(&[], settings, skills, flags)
    }

    /// The same with variables.
    pub fn with_env(env: &[(&str, &str)], settings: &str, skills: &[&str], flags: &[&str]) -> Serving {
        let folder = TempDir::new().expect("a folder");
        std::fs::write(folder.path().join("skillcell.toml"), settings).expect("a file");
        let told = UnixDatagram::bind(folder.path().join("notify")).expect("a socket");
        told.set_read_timeout(Some(Duration::from_secs(300))).expect("a socket");
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        command.arg("--policy").arg(folder.path().join("skillcell.toml")).arg("--approvals-dir").arg(folder.path());
        command.arg("serve").args(skills.iter().map(|skill| tests().join("skills").join(skill)));
        command.args(["--listen", "127.0.0.1:0"]).args(flags).env("NOTIFY_SOCKET", folder.path().join("notify"));
        command.envs(env.iter().copied());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut words = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
        let address = words.find_map(|line| Some(line.split_once("at http://")?.1.to_owned())).expect("its address");
        // Whoever writes to a pipe that nobody reads waits.
        std::thread::spawn(move || words.for_each(|line| eprintln!("serve: {line}")));
        let mut state = [0; 64];
        let length = told.recv(&mut state).expect("it gets ready");
        assert_eq!(&state[..length], b"READY=1");
        Serving { child, address, folder }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it takes connections");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        stream
    }

    /// Sends a request on a connection of its own.
    pub fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        let mut stream = self.connect();
        write_request(&mut stream, method, path, headers, body);
        read_answer(&mut stream)
    }

    pub fn get(&self, path: &str, headers: &[&str]) -> Answer {
        self.send("GET", path, headers, "")
    }

    pub fn call(&self, skill: &str, body: &str) -> Answer {
        self.call_with(skill, &[], body)
    }

    pub fn call_with(&self, skill: &str, headers: &[&str], body: &str) -> Answer {
        self.send("POST", &format!("/v1/skills/{skill}/calls"), headers, body)
    }

    /// Begins a call and leaves it there.
    pub fn begin(&self, skill: &str, headers: &[&str], body: &str) -> TcpStream {
        let mut stream = self.connect();
        write_request(&mut stream, "POST", &format!("/v1/skills/{skill}/calls"), headers, body);
        stream
    }

    /// The value of a metric, by its name and labels.
    pub fn metric(&self, name: &str) -> f64 {
        let page = self.get("/metrics", &[]).body;
        let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(0.0, |value| value.parse().expect("a number"))
    }

    /// Waits until a metric has this value.
    pub fn wait_for(&self, name: &str, value: f64) {
        let started = std::time::Instant::now();
        while self.metric(name) != value {
            assert!(started.elapsed() < PATIENCE, "{name} is {}, not {value}", self.metric(name));
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn terminate(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn write_request(stream: &mut TcpStream, method: &str, path: &str, headers: &[&str], body: &str) {
    let has = |name: &str| headers.iter().any(|header| header.to_ascii_lowercase().starts_with(name));
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    if !has("host:") {
        text += "Host: localhost\r\n";
    }
    if !has("content-type:") && !body.is_empty() {
        text += "Content-Type: application/json\r\n";
    }
    headers.iter().for_each(|header| text += &format!("{header}\r\n"));
    text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
    // It may be answered, and the connection closed, before all of it was sent.
    let _ = stream.write_all(text.as_bytes());
}

/// Reads one answer; an empty one, with status 0, where the connection is closed.
pub fn read_answer(stream: &mut TcpStream) -> Answer {
    let mut reader = BufReader::new(stream);
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
        head += &line.to_ascii_lowercase().replace('\r', "");
        line.clear();
    }
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    match length {
        Some(_) => reader.read_exact(&mut body).expect("the body arrives"),
        None => drop(reader.read_to_end(&mut body)),
    }
    Answer { status, head, body: String::from_utf8_lossy(&body).into_owned() }
}
