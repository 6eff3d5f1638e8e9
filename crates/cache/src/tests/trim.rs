//! Promise: a bucket stays within its bytes, and what is in use stays in it.

use std::fs;
use std::time::{Duration, SystemTime};

use super::Bench;
use crate::Bucket;

const DAY: Duration = Duration::from_secs(24 * 3600);

fn used(bench: &Bench, name: &str, ago: Duration) {
    let seal = fs::File::options().write(true).open(bench.seal(name)).unwrap();
    seal.set_modified(SystemTime::now() - ago).unwrap();
}

fn left(bench: &Bench) -> Vec<String> {
    bench.cache.list().unwrap().into_iter().map(|entry| entry.name).collect()
}

#[test]
fn what_was_not_used_for_longest_makes_room() {
    let bench = Bench::new();
    for (name, days) in [("a", 3), ("b", 1), ("c", 2)] {
        bench.put(name, &[7; 1000]);
        used(&bench, name, DAY * days);
    }
    let bytes = bench.cache.bucket_bytes(Bucket::Code).unwrap();
    assert!(bench.cache.trim(Bucket::Code, bytes, 30 * DAY).unwrap().is_empty());
    let removed = bench.cache.trim(Bucket::Code, bytes - 1, 30 * DAY).unwrap();
    assert_eq!((removed.len(), left(&bench)), (1, vec!["b".to_owned(), "c".to_owned()]));
    bench.cache.trim(Bucket::Code, bytes / 2, 30 * DAY).unwrap();
    assert_eq!(left(&bench), ["b"]);
    assert!(bench.open("b").is_some(), "and it is whole");
}

#[test]
fn what_is_in_use_or_being_made_stays_however_long_ago_it_was_opened() {
    let bench = Bench::new();
    let opened = bench.put("used", &[7; 1000]);
    bench.put("made", &[7; 1000]);
    ["used", "made"].iter().for_each(|name| used(&bench, name, 2 * DAY));
    let guard = bench.cache.try_lock("code-made", "testing").unwrap().expect("nobody has it");
    assert!(bench.cache.trim(Bucket::Code, 0, 30 * DAY).unwrap().is_empty());
    drop(guard);
    bench.cache.trim(Bucket::Code, 0, 30 * DAY).unwrap();
    assert_eq!(left(&bench), ["used"]);
    drop(opened);
    bench.cache.trim(Bucket::Code, 0, 30 * DAY).unwrap();
    assert!(left(&bench).is_empty());
}

#[test]
fn what_was_used_a_moment_ago_makes_room_too() {
    let bench = Bench::new();
    for name in ["a", "b", "c"] {
        bench.put(name, &[7; 1000]);
    }
    used(&bench, "b", Duration::from_secs(1));
    let bytes = bench.cache.bucket_bytes(Bucket::Code).unwrap();
    bench.cache.trim(Bucket::Code, bytes - 1, 30 * DAY).unwrap();
    assert_eq!(left(&bench), ["a", "c"]);
}

#[test]
fn other_kinds_are_left_alone() {
    let bench = Bench::new();
    bench.put("a", &[7; 1000]);
    assert!(bench.cache.trim(Bucket::Image, 0, 30 * DAY).unwrap().is_empty());
    assert_eq!(left(&bench), ["a"]);
}

#[test]
fn what_is_too_old_to_be_used_goes_first() {
    let bench = Bench::new();
    for name in ["a", "b"] {
        bench.put(name, &[7; 1000]);
        used(&bench, name, 2 * DAY);
    }
    std::thread::sleep(Duration::from_millis(1100)); // seals tell whole seconds
    assert_eq!(bench.cache.trim(Bucket::Code, u64::MAX, Duration::ZERO).unwrap().len(), 2);
}
