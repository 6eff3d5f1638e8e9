//! A real Chromium, driven as a person would: chromedriver from the same package, spoken to in WebDriver over plain HTTP.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::serving::{read_answer, write_request};

/// Far more than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);
/// WebDriver's names for keys.
pub const TAB: &str = "\u{e004}";
pub const ENTER: &str = "\u{e007}";

pub struct Browser {
    driver: Child,
    address: String,
    session: String,
    _profile: TempDir,
}

impl Browser {
    /// None, and a word about it, where there is no Chromium.
    pub fn start() -> Option<Browser> {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut driver) = command.spawn() else {
            eprintln!("skipped: there is no chromedriver");
            return None;
        };
        let mut words = BufReader::new(driver.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let port = words.find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            Some(port.trim_end_matches('.').to_owned())
        });
        std::thread::spawn(move || words.for_each(drop));
        let address = format!("127.0.0.1:{}", port.expect("chromedriver tells its port"));
        let profile = TempDir::new().expect("a folder");
        let mut browser = Browser { driver, address, session: String::new(), _profile: profile };
        browser.open_session();
        Some(browser)
    }

    fn open_session(&mut self) {
        let folder = format!("--user-data-dir={}", self._profile.path().display());
        let flags = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run"];
        let flags: Vec<&str> = flags.into_iter().chain([&*folder, "--window-size=1280,900"]).collect();
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": flags}, "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let opened = self.send("POST", "/session", &wanted);
        self.session = format!("/session/{}", opened["sessionId"].as_str().expect("a session"));
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(&self.address).expect("chromedriver listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let text = if method == "POST" { body.to_string() } else { String::new() };
        write_request(&mut stream, method, path, &["Connection: close"], &text);
        let answer = read_answer(&mut stream);
        assert_eq!(answer.status, 200, "{method} {path} {body}: {}", answer.body);
        answer.json()["value"].clone()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.send("POST", &format!("{}{path}", self.session), body)
    }

    pub fn open(&self, url: &str) {
        self.post("/url", &json!({"url": url}));
    }

    /// The value of an expression in the page.
    pub fn eval(&self, expression: &str) -> Value {
        self.post("/execute/sync", &json!({"script": format!("return ({expression});"), "args": []}))
    }

    /// Waits until an expression is true.
    pub fn wait_until(&self, expression: &str) {
        let started = Instant::now();
        while self.eval(expression) != json!(true) {
            let page = self.eval("document.body.innerText");
            assert!(started.elapsed() < PATIENCE, "never: {expression}\n{page}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Presses and releases keys one after the other.
    pub fn press(&self, keys: &str) {
        let each = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key.to_string()})));
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": each.collect::<Vec<_>>()});
        self.post("/actions", &json!({"actions": [keyboard]}));
    }

    /// Presses Tab until the focus is where this is true of `it`.
    pub fn tab_to(&self, condition: &str) {
        for _ in 0..60 {
            self.press(TAB);
            if self.eval(&format!("(it => Boolean({condition}))(document.activeElement)")) == json!(true) {
                return;
            }
        }
        panic!("the keyboard does not reach {condition}");
    }

    /// A command of the browser's own protocol.
    pub fn command(&self, name: &str, params: &Value) {
        self.post("/goog/cdp/execute", &json!({"cmd": name, "params": params}));
    }

    /// What the browser complained about since it was last asked: refused scripts, missing files.
    pub fn complaints(&self) -> Vec<Value> {
        let log = self.post("/se/log", &json!({"type": "browser"}));
        let severe = |entry: &&Value| entry["level"] == "SEVERE";
        log.as_array().into_iter().flatten().filter(severe).cloned().collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Chromium ends with its session, also after a failure, and would outlive a driver that was killed.
        if let (Ok(mut stream), false) = (TcpStream::connect(&self.address), self.session.is_empty()) {
            let _ = stream.set_read_timeout(Some(PATIENCE));
            write_request(&mut stream, "DELETE", &self.session, &["Connection: close"], "");
            let _ = stream.read(&mut [0; 64]);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
