use proptest::prelude::*;

use super::PathMap;

fn map(mounts: &[(&[&str], &str)]) -> PathMap {
    let mut map = PathMap::default();
    mounts.iter().for_each(|(hosts, guest)| map.add_mount(hosts.iter().copied(), guest));
    map
}

fn to_guest(map: &PathMap, text: &str) -> String {
    map.guest_path(text).unwrap_or_else(|| text.to_owned())
}

#[test]
fn paths_in_a_mount_are_mapped_by_whole_components() {
    let map = map(&[(&["/home/me/in"], "/data")]);
    for (host, guest) in [
        ("/home/me/in", "/data"),
        ("/home/me/in/", "/data/"),
        ("/home/me/in/a.txt", "/data/a.txt"),
        ("//home/./me//in/sub/../a b.txt", "/data/a b.txt"),
        ("/home/me/in/..hidden/...", "/data/..hidden/..."),
        ("/home/me/other/../in/x/", "/data/x/"),
    ] {
        assert_eq!(map.guest_path(host).as_deref(), Some(guest));
    }
    for other in [
        "",
        "/",
        "home/me/in/a",
        "./in/a",
        "/home/me/inner/a",
        "/home/me/in/../secret",
        "/home/me/in/../../..",
        "/home/me",
        "see /home/me/in/a",
        "file:///home/me/in/a",
        "/HOME/me/in/a",
        "/home/me/in/a\nb",
        "/home/me/in/\0",
        "/data/a",
        "~/in/a",
    ] {
        assert_eq!(map.guest_path(other), None, "{other:?}");
    }
    assert_eq!(map.guest_path(&format!("/home/me/in/{}", "x".repeat(4096))), None);
}

#[test]
fn results_come_back_in_the_operators_spelling() {
    let map = map(&[(&["/link/in", "/real/in"], "/data")]);
    assert_eq!(map.guest_path("/real/in/a").as_deref(), Some("/data/a"));
    assert_eq!(map.guest_path("/link/in/a").as_deref(), Some("/data/a"));
    assert_eq!(map.host_path("/data/a").as_deref(), Some("/link/in/a"));
    assert_eq!(map.host_path("/data/../data/./b/").as_deref(), Some("/link/in/b/"));
    for other in ["/database", "/tmp/a", "/", "data/a", "/data/../etc"] {
        assert_eq!(map.host_path(other), None, "{other}");
    }
}

#[test]
fn the_deepest_folder_counts_and_a_covered_file_is_left_alone() {
    let map =
        map(&[(&["/a"], "/data"), (&["/a/b"], "/deep"), (&["/c"], "/data/sub"), (&["/a"], "/again"), (&["/"], "/all")]);
    assert_eq!(to_guest(&map, "/a/x"), "/data/x");
    assert_eq!(to_guest(&map, "/a/b/x"), "/deep/x");
    assert_eq!(to_guest(&map, "/c/x"), "/data/sub/x");
    assert_eq!(to_guest(&map, "/a/sub/x"), "/a/sub/x", "in the cell, another folder is there");
    assert_eq!(to_guest(&map, "/etc/x"), "/all/etc/x");
    assert_eq!(to_guest(&map, "/"), "/all");
    assert_eq!(map.host_path("/data/sub/x").as_deref(), Some("/c/x"));
    assert_eq!(map.host_path("/again/x").as_deref(), Some("/a/x"));
    assert_eq!(map.host_path("/all/").as_deref(), Some("/"));
}

#[test]
fn values_at_any_depth_are_mapped_and_keys_never() {
    let map = map(&[(&["/in"], "/data")]);
    let json =
        r#"{"/in/key": "/in/a", "list": ["/in/\u00e9", {"p": "/in", "n": 1e400}], "t": "see /in/a", "q": "\/in\/\"x"}"#;
    let mapped = r#"{"/in/key": "/data/a", "list": ["/data/é", {"p": "/data", "n": 1e400}], "t": "see /in/a", "q": "/data/\"x"}"#;
    assert_eq!(map.to_guest(json, 1000).unwrap().as_deref(), Some(mapped));
    assert_eq!(map.to_guest(r#"["/other", 1, "x"]"#, 1000).unwrap(), None);
    let deep = format!("{}\"/data/a\"{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(map.to_host(&deep, 1 << 20).unwrap().is_some_and(|json| json.contains("[\"/in/a\"]")));
}

#[test]
fn a_result_does_not_grow_beyond_its_cap() {
    let map = map(&[(&[&*format!("/{}", "long/".repeat(500))], "/d")]);
    let json = format!("[{}\"/d\"]", "\"/d\",".repeat(1_000_000));
    assert!(map.to_host(&json, 16 << 20).is_err());
}

/// The same rule, written another way: by characters, with `std::path`.
fn naive(mounts: &[(String, String)], text: &str) -> Option<String> {
    use std::path::{Component, Path, PathBuf};
    let clean = |text: &str| {
        let mut clean = PathBuf::from("/");
        for part in Path::new(text).components() {
            match part {
                Component::ParentDir => drop(clean.pop()),
                Component::Normal(name) => clean.push(name),
                _ => {}
            }
        }
        clean
    };
    let path = Path::new(text).is_absolute().then(|| clean(text))?;
    let within = |folder: &str| path.strip_prefix(clean(folder)).ok().map(Path::to_path_buf);
    let mut found: Vec<_> =
        mounts.iter().filter_map(|(host, guest)| Some((clean(host), guest, within(host)?))).collect();
    found.sort_by_key(|(host, ..)| std::cmp::Reverse(host.components().count()));
    let (_, guest, rest) = found.into_iter().next()?;
    let mapped = clean(&format!("{guest}/{}", rest.display()));
    let covered = mounts.iter().any(|(_, other)| {
        clean(other).components().count() > clean(guest).components().count() && mapped.starts_with(clean(other))
    });
    let slash = if text.ends_with('/') && path != Path::new("/") { "/" } else { "" };
    (!covered).then(|| format!("{}{slash}", mapped.display()))
}

fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof!["[ab]", Just("..".to_owned()), Just(".".to_owned()), Just(String::new())],
        0..6,
    )
    .prop_map(|names| names.join("/"))
    .prop_flat_map(|text| prop_oneof![4 => Just(format!("/{text}")), 1 => Just(text)])
}

fn mounts() -> impl Strategy<Value = Vec<(String, String)>> {
    let guest = |(first, second): (String, Option<String>)| {
        format!("/{first}{}", second.map_or(String::new(), |s| format!("/{s}")))
    };
    let mount = ("(/[ab]){0,3}", ("[gh]", proptest::option::of("[ab]")).prop_map(guest));
    let mount = mount.prop_map(|(host, guest)| (if host.is_empty() { "/".to_owned() } else { host }, guest));
    // Two mounts at one place are refused by policy.
    proptest::collection::vec(mount, 0..4).prop_map(|mut mounts| {
        let mut seen = std::collections::BTreeSet::new();
        mounts.retain(|(_, guest)| seen.insert(guest.clone()));
        mounts
    })
}

proptest! {
    #[test]
    fn the_rule_is_the_one_that_the_other_implementation_has(mounts in mounts(), text in path()) {
        let mut map = PathMap::default();
        mounts.iter().for_each(|(host, guest)| map.add_mount([host.as_str()], guest));
        prop_assert_eq!(map.guest_path(&text), naive(&mounts, &text));
    }

    /// What goes in comes out: the same file, in its plain spelling.
    #[test]
    fn a_path_that_went_in_comes_back(mounts in mounts(), text in path()) {
        let mut map = PathMap::default();
        mounts.iter().for_each(|(host, guest)| map.add_mount([host.as_str()], guest));
        if let Some(guest) = map.guest_path(&text) {
            let back = map.host_path(&guest).expect("it lies in a mount");
            let plain = |text: &str| super::path_components(text).map(|names| names.join("/"));
            prop_assert_eq!(plain(&back), plain(&text));
            prop_assert_eq!(map.guest_path(&back), Some(guest));
        }
    }

    #[test]
    fn any_text_is_survived(text in ".*", mounts in mounts()) {
        let mut map = PathMap::default();
        mounts.iter().for_each(|(host, guest)| map.add_mount([host.as_str()], guest));
        let json = serde_json::to_string(&[&text]).unwrap();
        let mapped = map.to_guest(&json, 1 << 20).unwrap().unwrap_or(json);
        let back: Vec<String> = serde_json::from_str(&mapped).unwrap();
        prop_assert_eq!(&back, &[map.guest_path(&text).unwrap_or(text)]);
    }
}
