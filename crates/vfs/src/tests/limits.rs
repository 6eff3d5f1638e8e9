//! Each cap, run into; and that whatever a cell does, what it gave back is no longer charged.

use super::*;

#[test]
fn a_cell_that_writes_nothing_is_charged_nothing() {
    let mut vfs = vfs(Caps { open_files: 1, scratch_bytes: 0, scratch_files: 0 });
    assert_eq!(vfs.text("/packages/yaml/__init__.py").unwrap(), "import yaml");
    assert_eq!((vfs.scratch_usage(), vfs.limits_hit()), ((0, 0), None));
}

#[test]
fn one_open_file_too_many_is_refused_and_remembered() {
    let mut vfs = vfs(Caps { open_files: 2, ..ROOMY });
    vfs.try_open("/", READ).unwrap();
    let second = vfs.try_open("/dev/null", READ).unwrap();
    assert_eq!(vfs.try_open("/tmp/f", CREATE), Err(Errno::Mfile));
    assert_eq!(vfs.limits_hit(), Some(LimitKind::OpenFiles));
    assert_eq!(vfs.info("/tmp/f"), Err(Errno::Noent));
    vfs.close(second).unwrap();
    vfs.try_open("/tmp/f", CREATE).unwrap();
}

#[test]
fn a_failed_open_does_not_use_up_the_cap() {
    let mut vfs = vfs(Caps { open_files: 1, ..ROOMY });
    for _ in 0..5 {
        assert_eq!(vfs.try_open("/no", READ), Err(Errno::Noent));
    }
    vfs.try_open("/dev/null", READ).unwrap();
}

#[test]
fn one_scratch_file_too_many_is_refused_and_remembered() {
    let mut vfs = vfs(Caps { scratch_files: 2, ..ROOMY });
    vfs.mkdir("/tmp/d").unwrap();
    vfs.put("/packages/nested/cache/f", b"").unwrap();
    assert_eq!(vfs.put("/tmp/g", b""), Err(Errno::Nospc));
    assert_eq!(vfs.mkdir("/tmp/e"), Err(Errno::Nospc));
    assert_eq!(vfs.limits_hit(), Some(LimitKind::ScratchFiles));
    vfs.rmdir("/tmp/d").unwrap();
    vfs.put("/tmp/g", b"").unwrap();
}

#[test]
fn a_write_past_the_quota_stops_short_like_a_full_disk() {
    let mut vfs = vfs(Caps { scratch_bytes: 10, ..ROOMY });
    let fd = vfs.try_open("/tmp/f", CREATE).unwrap();
    assert_eq!(vfs.write(fd, &[1; 8]), Ok(8));
    assert_eq!(vfs.limits_hit(), None);
    assert_eq!(vfs.write(fd, &[2; 8]), Ok(2));
    assert_eq!(vfs.write(fd, &[3; 8]), Err(Errno::Nospc.into()));
    assert_eq!(vfs.limits_hit(), Some(LimitKind::ScratchBytes));
    assert_eq!(vfs.write_at(fd, &[4; 8], 0), Ok(8));
    assert_eq!(vfs.scratch_usage().0, 10);
}

#[test]
fn holes_are_charged_in_full() {
    let mut vfs = vfs(Caps { scratch_bytes: 1000, ..ROOMY });
    let fd = vfs.try_open("/tmp/f", CREATE).unwrap();
    assert_eq!(vfs.write_at(fd, b"x", 1000), Err(Errno::Nospc));
    assert_eq!(vfs.write_at(fd, b"x", u64::MAX), Err(Errno::Fbig));
    assert_eq!(vfs.set_size(fd, 1001), Err(Errno::Nospc));
    assert_eq!(vfs.set_size(fd, u64::MAX), Err(Errno::Nospc));
    assert_eq!(vfs.allocate(fd, u64::MAX, 2), Err(Errno::Fbig));
    assert_eq!(vfs.scratch_usage().0, 0);
    vfs.set_size(fd, 600).unwrap();
    assert_eq!(vfs.put("/packages/nested/cache/g", &[0; 401]), Err(Errno::Nospc));
    assert_eq!(vfs.scratch_usage().0, 1000);
}

#[test]
fn output_keeps_what_fits_and_then_stops_the_call() {
    let mut vfs = vfs(ROOMY);
    assert_eq!(vfs.write(1, b"12345"), Ok(5));
    assert_eq!(vfs.write(1, b"67890"), Err(WriteError::Overrun(LimitKind::StdoutBytes)));
    assert_eq!(vfs.write(2, b"123456789"), Err(WriteError::Overrun(LimitKind::StderrBytes)));
    assert_eq!((&vfs.stdout.bytes[..], &vfs.stderr.bytes[..]), (&b"12345678"[..], &b"12345678"[..]));
}

#[test]
fn a_cell_may_move_to_another_thread() {
    fn movable<T: Send>(_: &T) {}
    movable(&vfs(ROOMY));
}

/// A small generator, so that a failing sequence can be run again from its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn path(&mut self) -> String {
        let base = ["/tmp", "/packages/nested/cache"][self.roll(2) as usize];
        (0..=self.roll(3)).fold(base.into(), |path, _| format!("{path}/{}", self.roll(3)))
    }
}

fn act(vfs: &mut Vfs, dice: &mut Dice) {
    let fd = 4 + dice.roll(6) as u32;
    let size = dice.roll(3000);
    // Errors are part of the game; only the accounts are checked.
    let _ = match dice.roll(10) {
        0 | 1 => vfs.try_open(&dice.path(), Open { truncate: size.is_multiple_of(5), ..CREATE }).map(drop),
        2 => vfs.close(fd),
        3 => vfs.write(fd, &vec![7; size as usize]).map(drop).map_err(|_| Errno::Nospc),
        4 => vfs.write_at(fd, &[7; 9], size * 10).map(drop),
        5 => vfs.set_size(fd, size),
        6 => vfs.mkdir(&dice.path()),
        7 => vfs.rm(&dice.path()),
        8 => vfs.rmdir(&dice.path()),
        _ => vfs.mv(&dice.path(), &dice.path()),
    };
}

fn remove_all(vfs: &mut Vfs, path: &str) {
    for name in vfs.list(path) {
        let child = format!("{path}/{name}");
        if vfs.info(&child).unwrap().kind == Kind::Directory {
            remove_all(vfs, &child);
            vfs.rmdir(&child).unwrap();
        } else {
            vfs.rm(&child).unwrap();
        }
    }
}

#[test]
fn any_sequence_stays_within_the_caps_and_ends_at_zero() {
    let caps = Caps { open_files: 6, scratch_bytes: 20_000, scratch_files: 12 };
    for seed in 1..=200 {
        let (mut vfs, mut dice) = (vfs(caps), Dice(0x9E37_79B9_7F4A_7C15 ^ seed));
        for _ in 0..300 {
            act(&mut vfs, &mut dice);
            let (bytes, files) = vfs.scratch_usage();
            assert!(bytes <= caps.scratch_bytes && files <= caps.scratch_files, "seed {seed}");
        }
        (4..10).for_each(|fd| vfs.close(fd).unwrap_or_default());
        remove_all(&mut vfs, "/tmp");
        remove_all(&mut vfs, "/packages/nested/cache");
        assert_eq!(vfs.scratch_usage(), (0, 0), "seed {seed}");
        assert_eq!(vfs.scratch.allowance.open_files, 0, "seed {seed}");
    }
}
