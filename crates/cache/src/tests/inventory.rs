//! Promise: listing tells what is there, and cleaning removes what was asked for and disturbs nobody.

use std::fs;
use std::io::Write;
use std::time::Duration;

use super::{Bench, read};
use crate::progress::Silent;
use crate::{Bucket, Error, Flaw, Selection};
use serde_json::Value;

#[test]
fn listing_tells_sizes_and_damage_and_cleaning_removes_only_what_is_selected() {
    let bench = Bench::new();
    for name in ["a", "b", "c"] {
        bench.put(name, b"hello");
    }
    fs::remove_file(bench.seal("b")).unwrap();
    let listed = bench.cache.list().unwrap();
    let names: Vec<_> = listed.iter().map(|e| (e.name.as_str(), e.flaw.clone())).collect();
    assert_eq!(names, [("a", None), ("b", Some(Flaw::Unsealed)), ("c", None)]);
    assert!(listed[0].bytes > 5 && listed[0].made.is_some() && listed[0].last_used.is_some());

    let cleaned = bench.cache.clean(&Selection::Damaged).unwrap();
    assert_eq!(cleaned.removed.len(), 1);
    assert!(bench.cache.clean(&Selection::UnusedFor(Duration::from_secs(60))).unwrap().removed.is_empty());
    assert!(bench.open("a").is_some() && bench.open("c").is_some());
    assert!(bench.cache.clean(&Selection::Bucket(Bucket::Image)).unwrap().removed.is_empty());
    assert_eq!(bench.cache.clean(&Selection::All).unwrap().removed.len(), 2);
    assert!(bench.cache.list().unwrap().is_empty());
}

#[test]
fn cleaning_leaves_alone_what_is_being_made() {
    let bench = Bench::new();
    let made = bench.cache.replace(Bucket::Code, "x", "testing", &Silent, |w| {
        fs::write(bench.data("x"), "as if half published").unwrap();
        let cleaned = bench.cache.clean(&Selection::All).unwrap();
        assert_eq!((cleaned.removed.len(), cleaned.busy.len()), (0, 1));
        assert!(bench.open("x").is_none() && bench.data("x").exists());
        w.write_all(b"whole").unwrap();
        Ok::<_, Error>(Value::Null)
    });
    assert_eq!(read(made.unwrap()), b"whole");
}

#[test]
fn opening_an_artefact_counts_as_using_it() {
    let bench = Bench::new();
    bench.put("x", b"hello");
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(1_000_000);
    fs::File::options().write(true).open(bench.seal("x")).unwrap().set_modified(long_ago).unwrap();
    bench.open("x").unwrap();
    let idle = bench.cache.list().unwrap()[0].last_used.unwrap().elapsed().unwrap();
    assert!(idle < Duration::from_secs(1000), "{idle:?}");
}
