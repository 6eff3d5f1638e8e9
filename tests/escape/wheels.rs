//! Hostile wheels: they are made in the stage's folder `wheels`, and a loopback server has an archive whose `setup.py` would
//! write the file `marker` there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use serde::Deserialize;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::common::server::{Server, answer};
use crate::props::Prop;
use crate::stage::Stage;

const ARCHIVE: &str = "trapped-1.0.tar.gz";

pub struct Wheels {
    server: Server,
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
        let server = Server::start(None, move |_| Some(answer("200 OK", &[("Connection", "close")], &archive)));
        stage.words.put("trap", &format!("http://127.0.0.1:{}/{ARCHIVE}", server.port));
        fs::create_dir(stage.path("wheels")).expect("made");
        made.iter().for_each(|one| make(one, stage));
        Wheels { server, marker: stage.path("marker") }
    }
}

impl Prop for Wheels {
    fn check(&mut self, expected: &toml::Value) -> Vec<String> {
        let expected: Saw = expected.clone().try_into().expect("what `wheels` saw");
        let (asked, ran) = (self.server.connections(), self.marker.exists());
        let fine = asked == expected.asked && ran == expected.ran;
        if fine { Vec::new() } else { vec![format!("wheels: the server was asked {asked} times, and it ran: {ran}")] }
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
