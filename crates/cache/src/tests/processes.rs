//! Promise: processes that share a cache help each other, and one that is killed harms nobody.
//!
//! The other process is this test program again, in the role that `SKILLCELL_TEST_ROLE` names.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use crate::progress::{Progress, Silent};
use crate::{Artefact, Bucket, Cache, Error, Writer};
use serde_json::Value;

struct Notes(mpsc::Sender<String>);

// A `Sender` may be shared between threads, which is all that `Progress` asks for.
impl Progress for Notes {
    fn step(&self, _: &str) {}
    fn fraction(&self, _: u64, _: u64) {}
    fn note(&self, message: &str) {
        self.0.send(message.to_owned()).unwrap();
    }
}

fn make(cache: &Cache, progress: &dyn Progress, produce: impl FnOnce(&mut Writer)) -> Result<Artefact, Error> {
    cache.make(Bucket::Code, "x", "testing in a child", progress, |w| {
        produce(w);
        Ok(Value::Null)
    })
}

/// Not tests of their own: what the other process does.
/// It says "half", then waits for a line, then ends its work.
#[test]
fn child_that_makes() {
    let Some(cache) = cache_of_child() else {
        return;
    };
    make(&cache, &Silent, |w| {
        w.write_all(&[1; 100_000]).unwrap();
        eprintln!("half");
        std::io::stdin().read_line(&mut String::new()).unwrap();
        w.write_all(&[2; 100_000]).unwrap();
    })
    .unwrap();
}

/// It replaces `x` over and over.
#[test]
fn child_that_replaces() {
    let Some(cache) = cache_of_child() else {
        return;
    };
    for round in 0u8.. {
        eprintln!("half");
        let bytes = vec![round; 50_000 + usize::from(round)];
        let replaced = cache.replace(Bucket::Code, "x", "replacing", &Silent, |w| {
            w.write_all(&bytes).unwrap();
            Ok::<_, Error>(Value::from(round))
        });
        replaced.unwrap();
    }
}

fn cache_of_child() -> Option<Cache> {
    let folder = std::env::var_os("SKILLCELL_TEST_ROLE")?;
    Some(Cache::at(Path::new(&folder)).unwrap())
}

/// A child that is in the middle of its work on `x`, after so many rounds.
fn child_at_work(role: &str, folder: &Path, rounds: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("tests::processes::{role}"), "--nocapture"]).env("SKILLCELL_TEST_ROLE", folder);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    let mut halves = lines.map_while(Result::ok).filter(|line| line.contains("half"));
    assert!(halves.nth(rounds).is_some());
    child
}

#[test]
fn of_two_processes_one_works_and_the_other_waits_and_says_for_whom() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::at(dir.path()).unwrap();
    let mut child = child_at_work("child_that_makes", dir.path(), 0);
    let (send, notes) = mpsc::channel();
    let waiting = std::thread::spawn(move || make(&cache, &Notes(send), |_| panic!("the other one makes it")));
    let note = notes.recv().unwrap();
    assert_eq!(note, format!("waiting for another skillcell (process {}) that is testing in a child", child.id()));
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert_eq!(waiting.join().unwrap().unwrap().bytes, 200_000);
    assert!(child.wait().unwrap().success());
    assert!(notes.recv().is_err(), "said once");
}

#[test]
fn a_producer_killed_at_work_gives_way_to_who_waits_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::at(dir.path()).unwrap();
    let mut child = child_at_work("child_that_makes", dir.path(), 0);
    assert_eq!(std::fs::read_dir(dir.path().join("v1/tmp")).unwrap().count(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let artefact = make(&cache, &Silent, |w| w.write_all(b"mine").unwrap()).unwrap();
    assert_eq!(artefact.bytes, 4);
    assert_eq!(std::fs::read_dir(dir.path().join("v1/tmp")).unwrap().count(), 0);
}

#[test]
fn a_process_killed_at_any_moment_leaves_a_whole_artefact_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::at(dir.path()).unwrap();
    let mut opened = 0;
    for round in 0..40 {
        // Where in that round the child is when the signal arrives is left to chance.
        let mut child = child_at_work("child_that_replaces", dir.path(), round % 5);
        child.kill().unwrap();
        child.wait().unwrap();
        if let Some(artefact) = cache.open(Bucket::Code, "x", &Silent).unwrap() {
            let round: u8 = serde_json::from_value(artefact.meta).unwrap();
            assert_eq!(artefact.bytes, 50_000 + u64::from(round));
            opened += 1;
        }
        make(&cache, &Silent, |w| w.write_all(&[0; 50_000]).unwrap_or(())).unwrap();
        cache.clean(&crate::Selection::All).unwrap();
        assert_eq!(std::fs::read_dir(dir.path().join("v1/tmp")).unwrap().count(), 0);
    }
    assert!(opened > 0, "some children got that far");
}

#[test]
fn of_many_threads_one_works_and_all_get_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::at(dir.path()).unwrap();
    let made = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let artefact = make(&cache, &Silent, |w| {
                    made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    w.write_all(&[7; 300_000]).unwrap();
                });
                assert_eq!(artefact.unwrap().bytes, 300_000);
            });
        }
    });
    assert_eq!(made.into_inner(), 1);
}

#[test]
fn makers_and_cleaners_at_once_never_give_out_anything_but_the_whole() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::at(dir.path()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..30 {
                    let artefact = make(&cache, &Silent, |w| w.write_all(&[7; 300_000]).unwrap()).unwrap();
                    assert_eq!(artefact.digest, blake3::hash(&[7; 300_000]));
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..60 {
                cache.clean(&crate::Selection::All).unwrap();
            }
        });
    });
}

/// A disk of one megabyte, for as long as this lives; `None` unless we are root.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new() -> Option<SmallDisk> {
        let dir = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs"]).arg(dir.path());
        let status = mount.stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success()).then(|| SmallDisk(dir))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_is_an_error_that_names_the_file_the_need_and_the_way_out() {
    let Some(disk) = SmallDisk::new() else { return };
    let cache = Cache::at(disk.0.path()).unwrap();
    let full = cache.make(Bucket::Code, "x", "testing", &Silent, |w| {
        let _ = w.write_all(&[1; 4 << 20]); // even if the producer looks away
        Ok::<_, Error>(Value::Null)
    });
    let error = full.unwrap_err();
    let named = |path: &Path| path.starts_with(disk.0.path().join("v1/tmp"));
    assert!(matches!(&error, Error::Write { path, needed: 4194304, .. } if named(path)), "{error:?}");
    assert!(error.hint().unwrap().contains("SKILLCELL_CACHE_DIR"));
    assert_eq!(std::fs::read_dir(disk.0.path().join("v1/tmp")).unwrap().count(), 0);
    let then = make(&cache, &Silent, |w| w.write_all(b"fits").unwrap());
    assert_eq!(then.unwrap().bytes, 4);
}
