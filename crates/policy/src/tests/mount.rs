//! Mounts: one spelling, and nothing over what the cell itself needs.

use crate::{BadMount, GuestPath, Mode, MountGrant};

#[test]
fn mounts_are_read_only_unless_they_say_otherwise() {
    for (text, shown) in [
        ("/srv/data:/data", "/srv/data:/data:ro"),
        ("./out:/home/skill/out:rw", "./out:/home/skill/out:rw"),
        ("a:b:/tmp/x/:ro", "a:b:/tmp/x:ro"),
        ("~/é:/dätä", "~/é:/dätä:ro"),
    ] {
        let mount = MountGrant::parse(text).unwrap();
        assert_eq!(mount.to_string(), shown);
        assert_eq!(MountGrant::parse(shown).unwrap(), mount);
    }
}

#[test]
fn nothing_is_mounted_over_what_the_cell_needs() {
    for path in [
        "/",
        "/usr",
        "/usr/local",
        "/usr/local/",
        "/usr/local/lib/x",
        "/skills",
        "/skills/a/b",
        "/dev",
        "/dev/x",
        "/proc",
        "/proc/self",
        "/tmp",
        "/home",
        "/home/skill",
    ] {
        assert!(matches!(GuestPath::parse(path), Err(BadMount::Taken { .. })), "{path}");
    }
    for path in ["/tmp/x", "/home/skill/x", "/home/other", "/data", "/usr/share", "/devices", "/skills2", "/tmpx"] {
        GuestPath::parse(path).expect(path);
    }
}

#[test]
fn guest_paths_have_one_spelling() {
    for path in [
        "data",
        "",
        "./data",
        "//data",
        "/data//x",
        "/data/../usr/local",
        "/data/.",
        "/data/..",
        "/a\0b",
        "/a\nb",
        "/a\\b",
        "/a:b",
        "/\u{202e}x",
    ] {
        GuestPath::parse(path).expect_err(path);
    }
    assert!(matches!(GuestPath::parse(&format!("/{}", "a".repeat(256))), Err(BadMount::Segment(_))));
    assert_eq!(GuestPath::parse(&"/a".repeat(600)), Err(BadMount::TooLong));
}

#[test]
fn texts_that_are_no_mounts_are_refused() {
    for text in [
        "",
        ":",
        "/data",
        "/a:",
        ":/data",
        "/a:/data:rwx",
        "/a:/data:RW",
        "/a:data",
        "/a:data:rw",
        "/a::rw",
        "\0:/data",
    ] {
        MountGrant::parse(text).expect_err(text);
    }
}

#[test]
fn read_write_covers_read_only_at_the_same_place() {
    let mount = MountGrant::parse("/srv:/data:rw").unwrap();
    let (data, below) = (GuestPath::parse("/data").unwrap(), GuestPath::parse("/data/x").unwrap());
    assert!(
        mount.covers(&data, Mode::ReadOnly)
            && mount.covers(&data, Mode::ReadWrite)
            && !mount.covers(&below, Mode::ReadOnly)
    );
    let narrowed = mount.at_most(Mode::ReadOnly);
    assert!(narrowed.covers(&data, Mode::ReadOnly) && !narrowed.covers(&data, Mode::ReadWrite));
}
