//! Hostile wheels: they are made in the stage's folder `wheels`, and a loopback server has an archive whose `setup.py` would
//! write the file `marker` there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde::Deserialize;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::props::Prop;
use crate::stage::Stage;

const ARCHIVE: &str = "trapped-1.0.tar.gz";

pub struct Wheels {
    asked: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    port: u16,
    marker: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Made {
    name: String,
    #[serde(default)]
    requires: Vec<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Saw {
    /// How often the server was asked.
    asked: usize,
    /// Whether something ran, or was written, that must not be.
    ran: bool,
}

impl Wheels {
    pub fn start(settings: &toml::Value, stage: &mut Stage) -> Wheels {
        let made: Vec<Made> = settings.clone().try_into().expect("settings of `wheels`");
        let archive = archive(stage);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        stage.words.put("trap", &format!("http://127.0.0.1:{port}/{ARCHIVE}"));
        fs::create_dir(stage.path("wheels")).expect("made");
        made.iter().for_each(|one| make(one, stage));
        let (asked, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, stopped) = (asked.clone(), stop.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                count.fetch_add(1, Ordering::SeqCst);
                let _ = answer(stream, &archive);
            }
        });
        Wheels { asked, stop, port, marker: stage.path("marker") }
    }
}

impl Prop for Wheels {
    fn check(&mut self, expected: &toml::Value) -> Vec<String> {
        let expected: Saw = expected.clone().try_into().expect("what `wheels` saw");
        let (asked, ran) = (self.asked.load(Ordering::SeqCst), self.marker.exists());
        let fine = asked == expected.asked && ran == expected.ran;
        if fine { Vec::new() } else { vec![format!("wheels: the server was asked {asked} times, and it ran: {ran}")] }
    }
}

impl Drop for Wheels {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// Sources that write a file when they are built.
fn archive(stage: &Stage) -> Vec<u8> {
    let source = stage.path("trapped-1.0");
    fs::create_dir(&source).expect("made");
    let marker = stage.path("marker");
    let setup =
        format!("open({marker:?}, 'w').write('x')\nfrom setuptools import setup\nsetup(name='trapped', version='1.0')");
    fs::write(source.join("setup.py"), setup).expect("written");
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(stage.path(ARCHIVE)).arg("-C").arg(stage.folder.path()).arg("trapped-1.0");
    assert!(tar.status().expect("tar runs").success());
    fs::read(stage.path(ARCHIVE)).expect("read")
}

fn make(made: &Made, stage: &Stage) {
    let Made { name, requires, files } = made;
    let info = format!("{name}-1.dist-info");
    let mut metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1\n");
    requires.iter().for_each(|one| metadata += &format!("Requires-Dist: {}\n", stage.words.fill(one)));
    let tag = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n".to_owned();
    let own = [("METADATA", metadata), ("WHEEL", tag), ("RECORD", String::new())];
    let own = own.into_iter().map(|(file, text)| (format!("{info}/{file}"), text));
    let given = files.iter().map(|(path, text)| (stage.words.fill(path), stage.words.fill(text)));
    let mut zip = ZipWriter::new(File::create(stage.path(&format!("wheels/{name}-1-py3-none-any.whl"))).expect("made"));
    for (path, text) in given.chain(own) {
        zip.start_file(path, SimpleFileOptions::default()).expect("an entry");
        zip.write_all(text.as_bytes()).expect("written");
    }
    zip.finish().expect("a wheel");
}

fn answer(mut stream: TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut request = [0; 4096];
    let _ = stream.read(&mut request)?;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", bytes.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(bytes)
}
