//! Pointers, lengths and numbers that no honest guest would pass. None may panic, allocate or hang the host.

use super::*;

/// Every function of preview 1 that returns to the guest without waiting.
const ALL: [&str; 44] = [
    "args_get",
    "args_sizes_get",
    "environ_get",
    "environ_sizes_get",
    "clock_res_get",
    "clock_time_get",
    "fd_advise",
    "fd_allocate",
    "fd_close",
    "fd_datasync",
    "fd_fdstat_get",
    "fd_fdstat_set_flags",
    "fd_fdstat_set_rights",
    "fd_filestat_get",
    "fd_filestat_set_size",
    "fd_filestat_set_times",
    "fd_pread",
    "fd_prestat_get",
    "fd_prestat_dir_name",
    "fd_pwrite",
    "fd_read",
    "fd_readdir",
    "fd_renumber",
    "fd_seek",
    "fd_sync",
    "fd_tell",
    "fd_write",
    "path_create_directory",
    "path_filestat_get",
    "path_filestat_set_times",
    "path_link",
    "path_open",
    "path_readlink",
    "path_remove_directory",
    "path_rename",
    "path_symlink",
    "path_unlink_file",
    "proc_raise",
    "random_get",
    "sched_yield",
    "sock_accept",
    "sock_recv",
    "sock_send",
    "sock_shutdown",
];

#[test]
fn a_bad_pointer_is_a_fault() {
    let mut cell = Cell::new();
    let fd = cell.open("tmp/f", 1, RIGHTS_READ_WRITE).unwrap();
    let end = i64::from(MEMORY_BYTES);
    for bad in [end, end - 3, i64::from(u32::MAX), i64::from(u32::MAX) - 7] {
        for (name, args) in [
            ("args_get", vec![bad, DATA.into()]),
            ("args_get", vec![OUT.into(), bad]),
            ("args_sizes_get", vec![bad, OUT.into()]),
            ("clock_time_get", vec![0, 0, bad]),
            ("fd_fdstat_get", vec![fd, bad]),
            ("fd_filestat_get", vec![fd, bad]),
            ("fd_read", vec![fd, bad, 1, OUT.into()]),
            ("fd_read", vec![fd, 0, 0, bad]),
            ("fd_write", vec![fd, bad, 1, OUT.into()]),
            ("fd_readdir", vec![3, bad, 100, 0, OUT.into()]),
            ("fd_readdir", vec![3, DATA.into(), 100, 0, bad]),
            ("fd_seek", vec![fd, 5, 0, bad]),
            ("fd_prestat_get", vec![3, bad]),
            ("path_filestat_get", vec![3, 0, bad, 5, OUT.into()]),
            ("path_create_directory", vec![3, bad, 5]),
            ("path_rename", vec![3, PATH.into(), 5, 3, bad, 5]),
            ("path_open", vec![3, 0, PATH.into(), 5, 1, RIGHTS_READ, 0, 0, bad]),
            ("poll_oneoff", vec![bad, DATA.into(), 1, OUT.into()]),
            ("poll_oneoff", vec![DATA.into(), bad, 1, OUT.into()]),
            ("random_get", vec![bad, 5]),
        ] {
            assert_eq!(cell.call(name, &args), Ok(21), "{name}{args:?}");
        }
    }
    cell.ok("fd_tell", &[fd, OUT.into()]);
    assert_eq!(cell.u64_at(OUT), 0, "a call that faults has no effect");
    assert_eq!(cell.open("tmp/g", 1, RIGHTS_READ), Ok(fd + 1), "a call that faults leaks no descriptor");
}

#[test]
fn lengths_near_the_end_of_the_address_space_do_not_wrap() {
    let mut cell = Cell::new();
    let fd = cell.open("dev/zero", 0, RIGHTS_READ_WRITE).unwrap();
    for vector in [(DATA, u32::MAX), (u32::MAX, u32::MAX), (MEMORY_BYTES - 1, 2), (u32::MAX, 1)] {
        let [iovs, count] = cell.vectors(&[vector]);
        assert_eq!(cell.call("fd_read", &[fd, iovs, count, OUT.into()]), Ok(21), "{vector:?}");
        assert_eq!(cell.call("fd_write", &[fd, iovs, count, OUT.into()]), Ok(21), "{vector:?}");
    }
    assert_eq!(cell.call("random_get", &[DATA.into(), u32::MAX.into()]), Ok(21));
    let last = i64::from(MEMORY_BYTES) - 8;
    cell.ok("fd_seek", &[fd, 0, 0, last]);
}

#[test]
fn vectors_may_overlap_themselves_but_not_be_too_many() {
    let mut cell = Cell::new();
    let fd = cell.open("dev/zero", 0, RIGHTS_READ).unwrap();
    let [iovs, count] = cell.vectors(&[(0, 16), (DATA, 8)]);
    cell.ok("fd_read", &[fd, iovs, count, OUT.into()]);
    assert_eq!(cell.u32_at(OUT), 16, "the second vector was overwritten by the first");
    assert_eq!(cell.call("fd_read", &[fd, 0, 1025, OUT.into()]), Ok(28));
    assert_eq!(cell.call("fd_write", &[fd, 0, u32::MAX.into(), OUT.into()]), Ok(28));
    cell.poke(0, &[0; 8 * 1024]);
    cell.ok("fd_read", &[fd, 0, 1024, OUT.into()]);
}

#[test]
fn one_call_moves_a_bounded_number_of_bytes() {
    let mut cell = Cell::new();
    let fd = cell.open("dev/zero", 0, RIGHTS_READ).unwrap();
    // Each vector covers nearly all memory but the table itself.
    let vectors = vec![(DATA, MEMORY_BYTES - DATA); 1000];
    let [iovs, count] = cell.vectors(&vectors);
    cell.ok("fd_read", &[fd, iovs, count, 0x1ff8]);
    assert_eq!(cell.u32_at(0x1ff8), 16 << 20);
}

#[test]
fn a_bad_vector_after_a_good_one_is_a_short_count() {
    let mut cell = Cell::new();
    let fd = cell.open("skill/hello.txt", 0, RIGHTS_READ).unwrap();
    let [iovs, count] = cell.vectors(&[(DATA, 5), (u32::MAX, 5)]);
    cell.ok("fd_read", &[fd, iovs, count, OUT.into()]);
    assert_eq!(cell.u32_at(OUT), 5);
}

#[test]
fn too_many_subscriptions_or_none_are_refused() {
    let mut cell = Cell::new();
    for count in [0, 1025, u32::MAX] {
        assert_eq!(cell.poll(count), Ok(28));
    }
}

#[test]
fn hostile_paths_are_refused_by_reason() {
    let mut cell = Cell::new();
    for (path, errno) in [
        ("", 44),
        ("../../../etc/passwd", 44),
        ("skill/hello.txt/", 54),
        ("skill/hello.txt/x", 54),
        ("a\0b", 28),
        ("skill/../dev/../../etc", 44),
    ] {
        assert_eq!(cell.open(path, 0, RIGHTS_READ), Err(errno), "{path:?}");
    }
    cell.poke(PATH, &[0xff, 0xfe]);
    assert_eq!(cell.call("path_create_directory", &[3, PATH.into(), 2]), Ok(25));
    assert_eq!(cell.call("path_create_directory", &[3, PATH.into(), 5000]), Ok(37));
    assert_eq!(cell.call("path_create_directory", &[0, PATH.into(), 2]), Ok(54));
    assert_eq!(cell.call("path_create_directory", &[77, PATH.into(), 2]), Ok(8));
}

#[test]
fn no_arguments_make_any_function_panic() {
    let mut cell = Cell::new();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut roll = |sides: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % sides as u64) as usize
    };
    let end = i64::from(MEMORY_BYTES);
    let odd =
        [0, 1, 3, 4, 5, 8, PATH.into(), DATA.into(), end - 1, end, 0x7fff_ffff, 0xffff_ffff, i64::MAX, i64::MIN, -1];
    for round in 0..20_000 {
        if round % 500 == 0 {
            cell = Cell::new();
            cell.poke(PATH, b"tmp/x");
            cell.open("tmp/y", 1, RIGHTS_READ_WRITE).unwrap();
        }
        let name = ALL[roll(ALL.len())];
        let func = cell.linker.get(&mut cell.store, MODULE, name).unwrap().into_func().unwrap();
        let args: Vec<_> = func.ty(&cell.store).params().map(|_| odd[roll(odd.len())]).collect();
        match cell.call(name, &args) {
            Ok(errno) => assert!((0..=76).contains(&errno), "{name}{args:?}"),
            Err(Stop::Exceeded(LimitKind::StdoutBytes | LimitKind::StderrBytes)) => {}
            Err(stop) => panic!("{name}{args:?}: {stop}"),
        }
    }
}
