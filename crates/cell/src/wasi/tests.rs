//! The host functions as a guest meets them: called through a linker, over a real Wasmtime memory.

mod hostile;

use std::sync::Arc;

use wasmtime::{Engine, MemoryType, Store, Val, ValType};

use super::*;
use skillcell_vfs::{Caps, Content, Mount, Output, Tree};

const OUT: u32 = 0x100;
const PATH: u32 = 0x200;
const DATA: u32 = 0x2000;
const MEMORY_BYTES: u32 = 2 << 16;

const RIGHTS_READ: i64 = 1 << 1;
const RIGHTS_READ_WRITE: i64 = RIGHTS_READ | 1 << 6;

struct Cell {
    store: Store<Wasi>,
    linker: Linker<Wasi>,
    memory: Memory,
}

impl Cell {
    fn new() -> Cell {
        let mut tree = Tree::new();
        tree.insert("hello.txt", Content::Bytes(b"hello world".as_slice().into())).unwrap();
        let mounts = vec![
            Mount::tree("/skill", Arc::new(tree)).unwrap(),
            Mount::scratch("/tmp").unwrap(),
            Mount::devices("/dev").unwrap(),
        ];
        let caps = Caps { open_files: 16, scratch_bytes: 1 << 16, scratch_files: 50 };
        let mut wasi = Wasi::new(Vfs::new(mounts, caps, Output::new(10), Output::new(10)));
        wasi.args = vec!["python".into(), "-I".into()];
        wasi.env = vec![("TMPDIR".into(), "/tmp".into())];
        let engine = Engine::default();
        let mut linker = Linker::new(&engine);
        add_to_linker(&mut linker, |wasi| wasi).unwrap();
        let mut store = Store::new(&engine, wasi);
        let memory = Memory::new(&mut store, MemoryType::new(2, Some(2))).unwrap();
        store.data_mut().memory = Some(memory);
        Cell { store, linker, memory }
    }

    fn call(&mut self, name: &str, args: &[i64]) -> Result<i32, Stop> {
        let func = self.linker.get(&mut self.store, MODULE, name).unwrap().into_func().unwrap();
        let types: Vec<_> = func.ty(&self.store).params().collect();
        assert_eq!(types.len(), args.len(), "{name}");
        let value = |(ty, arg): (&ValType, &i64)| match ty {
            ValType::I32 => Val::I32(*arg as i32),
            _ => Val::I64(*arg),
        };
        let args: Vec<_> = types.iter().zip(args).map(value).collect();
        let mut results = vec![Val::I32(0); func.ty(&self.store).results().len()];
        match func.call(&mut self.store, &args, &mut results) {
            Ok(()) => Ok(results[0].unwrap_i32()),
            Err(error) => Err(*error.downcast_ref::<Stop>().expect("a stop, not a trap")),
        }
    }

    fn ok(&mut self, name: &str, args: &[i64]) {
        assert_eq!(self.call(name, args), Ok(0), "{name}{args:?}");
    }

    fn poke(&mut self, at: u32, data: &[u8]) {
        self.memory.write(&mut self.store, at as usize, data).unwrap();
    }

    fn peek(&self, at: u32, len: usize) -> &[u8] {
        &self.memory.data(&self.store)[at as usize..at as usize + len]
    }

    fn u32_at(&self, at: u32) -> u32 {
        u32::from_le_bytes(self.peek(at, 4).try_into().unwrap())
    }

    fn u64_at(&self, at: u32) -> u64 {
        u64::from_le_bytes(self.peek(at, 8).try_into().unwrap())
    }

    fn open(&mut self, path: &str, how: i64, rights: i64) -> Result<i64, i32> {
        self.poke(PATH, path.as_bytes());
        let args = [3, 0, PATH.into(), path.len() as i64, how, rights, 0, 0, OUT.into()];
        match self.call("path_open", &args).unwrap() {
            0 => Ok(self.u32_at(OUT).into()),
            errno => Err(errno),
        }
    }

    /// Puts a table of vectors at 0 and gives its address and length.
    fn vectors(&mut self, vectors: &[(u32, u32)]) -> [i64; 2] {
        for (index, (start, len)) in vectors.iter().enumerate() {
            self.poke(index as u32 * 8, &start.to_le_bytes());
            self.poke(index as u32 * 8 + 4, &len.to_le_bytes());
        }
        [0, vectors.len() as i64]
    }

    fn print(&mut self, fd: i64, text: &[u8]) -> Result<i32, Stop> {
        self.poke(DATA, text);
        let [iovs, count] = self.vectors(&[(DATA, text.len() as u32)]);
        self.call("fd_write", &[fd, iovs, count, OUT.into()])
    }

    fn clock_subscription(&mut self, index: u32, user_data: u64, clock: u32, timeout_ns: u64, flags: u16) {
        let at = DATA + index * 48;
        self.poke(at, &[0; 48]);
        self.poke(at, &user_data.to_le_bytes());
        self.poke(at + 16, &clock.to_le_bytes());
        self.poke(at + 24, &timeout_ns.to_le_bytes());
        self.poke(at + 40, &flags.to_le_bytes());
    }

    fn poll(&mut self, count: u32) -> Result<i32, Stop> {
        self.call("poll_oneoff", &[DATA.into(), 0x4000, count.into(), OUT.into()])
    }
}

#[test]
fn files_are_read_into_scattered_buffers() {
    let mut cell = Cell::new();
    let fd = cell.open("skill/hello.txt", 0, RIGHTS_READ).unwrap();
    let [iovs, count] = cell.vectors(&[(DATA, 2), (DATA + 100, 0), (DATA + 2, 100)]);
    cell.ok("fd_read", &[fd, iovs, count, OUT.into()]);
    assert_eq!((cell.u32_at(OUT), cell.peek(DATA, 11)), (11, &b"hello world"[..]));
    cell.ok("fd_pread", &[fd, iovs, count, 6, OUT.into()]);
    assert_eq!((cell.u32_at(OUT), cell.peek(DATA, 5)), (5, &b"world"[..]));
    cell.ok("fd_tell", &[fd, OUT.into()]);
    assert_eq!(cell.u64_at(OUT), 11);
    cell.ok("fd_seek", &[fd, -5, 2, OUT.into()]);
    assert_eq!(cell.u64_at(OUT), 6);
    assert_eq!(cell.call("fd_seek", &[fd, 0, 3, OUT.into()]), Ok(28));
}

#[test]
fn written_files_are_read_back() {
    let mut cell = Cell::new();
    let fd = cell.open("tmp/f", 1, RIGHTS_READ_WRITE).unwrap();
    assert_eq!(cell.print(fd, b"some text"), Ok(0));
    let [iovs, count] = cell.vectors(&[(DATA, 4)]);
    cell.ok("fd_pwrite", &[fd, iovs, count, 5, OUT.into()]);
    cell.ok("fd_filestat_set_size", &[fd, 8]);
    cell.ok("fd_allocate", &[fd, 0, 4]);
    cell.ok("fd_filestat_get", &[fd, OUT.into()]);
    assert_eq!((cell.u64_at(OUT + 32), cell.peek(OUT + 16, 1)), (8, &[4][..]));
    let [iovs, count] = cell.vectors(&[(DATA + 64, 64)]);
    cell.ok("fd_pread", &[fd, iovs, count, 0, OUT.into()]);
    assert_eq!(cell.peek(DATA + 64, 8), b"some som");
    for name in ["fd_sync", "fd_datasync", "fd_close"] {
        cell.ok(name, &[fd]);
    }
    assert_eq!(cell.call("fd_close", &[fd]), Ok(8));
}

#[test]
fn output_over_its_limit_stops_the_call_with_what_fits_kept() {
    let mut cell = Cell::new();
    assert_eq!(cell.print(1, b"12345"), Ok(0));
    assert_eq!(cell.print(1, b"67890!"), Err(Stop::Exceeded(LimitKind::StdoutBytes)));
    assert_eq!(cell.print(2, b"12345678901"), Err(Stop::Exceeded(LimitKind::StderrBytes)));
    assert_eq!(cell.store.data().vfs.stdout.bytes, b"1234567890");
}

#[test]
fn standard_streams_are_no_terminals() {
    let mut cell = Cell::new();
    for fd in 0..3 {
        cell.ok("fd_fdstat_get", &[fd, OUT.into()]);
        assert_eq!((cell.peek(OUT, 1), cell.u64_at(OUT + 8) & (1 << 2 | 1 << 5)), (&[0][..], 0));
    }
    let [iovs, count] = cell.vectors(&[(DATA, 10)]);
    cell.ok("fd_read", &[0, iovs, count, OUT.into()]);
    assert_eq!(cell.u32_at(OUT), 0);
}

#[test]
fn the_only_preopen_is_the_root() {
    let mut cell = Cell::new();
    cell.ok("fd_prestat_get", &[3, OUT.into()]);
    assert_eq!((cell.peek(OUT, 1)[0], cell.u32_at(OUT + 4)), (0, 1));
    cell.ok("fd_prestat_dir_name", &[3, DATA.into(), 1]);
    assert_eq!(cell.peek(DATA, 1), b"/");
    for fd in [0, 4, 0xffff_ffff] {
        assert_eq!(cell.call("fd_prestat_get", &[fd, OUT.into()]), Ok(8));
    }
    cell.ok("fd_fdstat_get", &[3, OUT.into()]);
    assert_eq!((cell.peek(OUT, 1)[0], cell.u64_at(OUT + 16)), (3, (1 << 30) - 1));
}

#[test]
fn arguments_and_environment_arrive_as_c_strings() {
    let mut cell = Cell::new();
    cell.ok("args_sizes_get", &[OUT.into(), (OUT + 4).into()]);
    assert_eq!((cell.u32_at(OUT), cell.u32_at(OUT + 4)), (2, 10));
    cell.ok("args_get", &[OUT.into(), DATA.into()]);
    assert_eq!((cell.u32_at(OUT + 4), cell.peek(DATA, 10)), (DATA + 7, &b"python\0-I\0"[..]));
    cell.ok("environ_sizes_get", &[OUT.into(), (OUT + 4).into()]);
    assert_eq!((cell.u32_at(OUT), cell.u32_at(OUT + 4)), (1, 12));
    cell.ok("environ_get", &[OUT.into(), DATA.into()]);
    assert_eq!(cell.peek(DATA, 12), b"TMPDIR=/tmp\0");
}

#[test]
fn a_listing_is_complete_at_every_buffer_size() {
    let mut cell = Cell::new();
    for name in ["one", "two", "a-much-longer-name"] {
        cell.open(&format!("tmp/{name}"), 1, RIGHTS_READ_WRITE).unwrap();
    }
    let dir = cell.open("tmp", 2, RIGHTS_READ).unwrap();
    for len in [42, 43, 60, 100, 4096] {
        let (mut names, mut cookie) = (Vec::new(), 0);
        loop {
            cell.ok("fd_readdir", &[dir, DATA.into(), len, cookie, OUT.into()]);
            let used = cell.u32_at(OUT) as usize;
            let buf = cell.peek(DATA, used).to_vec();
            let mut rest = &buf[..];
            while let Some(name) = rest.get(24..).and_then(|name| name.get(..rest[16] as usize)) {
                names.push(String::from_utf8(name.to_vec()).unwrap());
                cookie = i64::from_le_bytes(rest[..8].try_into().unwrap());
                rest = &rest[24 + name.len()..];
            }
            if used < len as usize {
                break;
            }
        }
        assert_eq!(names, [".", "..", "one", "two", "a-much-longer-name"], "buffer of {len}");
    }
}

#[test]
fn paths_are_opened_stated_renamed_and_removed() {
    let mut cell = Cell::new();
    cell.poke(PATH, b"tmp/dtmp/esymlink");
    cell.ok("path_create_directory", &[3, PATH.into(), 5]);
    cell.ok("path_filestat_get", &[3, 0, PATH.into(), 5, OUT.into()]);
    assert_eq!(cell.peek(OUT + 16, 1), [3]);
    cell.ok("path_rename", &[3, PATH.into(), 5, 3, (PATH + 5).into(), 5]);
    assert_eq!(cell.call("path_filestat_get", &[3, 0, PATH.into(), 5, OUT.into()]), Ok(44));
    cell.ok("path_filestat_set_times", &[3, 0, (PATH + 5).into(), 5, 0, 77, 4]);
    cell.ok("path_filestat_get", &[3, 0, (PATH + 5).into(), 5, OUT.into()]);
    assert_eq!(cell.u64_at(OUT + 48), 77);
    assert_eq!(cell.call("path_readlink", &[3, (PATH + 5).into(), 5, DATA.into(), 9, OUT.into()]), Ok(28));
    assert_eq!(cell.call("path_link", &[3, 0, (PATH + 5).into(), 5, 3, PATH.into(), 5]), Ok(58));
    assert_eq!(cell.call("path_symlink", &[PATH.into(), 5, 3, (PATH + 10).into(), 7]), Ok(58));
    assert_eq!(cell.call("path_unlink_file", &[3, (PATH + 5).into(), 5]), Ok(31));
    cell.ok("path_remove_directory", &[3, (PATH + 5).into(), 5]);
    assert_eq!(cell.open("skill/hello.txt", 0, RIGHTS_READ_WRITE), Err(69));
}

#[test]
fn random_bytes_are_fresh_and_counted() {
    let mut cell = Cell::new();
    cell.ok("random_get", &[DATA.into(), 32]);
    let first = cell.peek(DATA, 32).to_vec();
    cell.ok("random_get", &[DATA.into(), 32]);
    assert_ne!(first, cell.peek(DATA, 32));
    let fd = cell.open("dev/urandom", 0, RIGHTS_READ).unwrap();
    let [iovs, count] = cell.vectors(&[(DATA, 100)]);
    cell.ok("fd_read", &[fd, iovs, count, OUT.into()]);
    assert_eq!(cell.store.data().entropy_bytes, 164);
    assert_eq!(cell.store.data().host_calls, 4);
}

#[test]
fn clocks_run_forward_from_their_base() {
    let mut cell = Cell::new();
    cell.store.data_mut().monotonic_base = Duration::from_secs(1000);
    cell.ok("clock_time_get", &[1, 0, OUT.into()]);
    let first = cell.u64_at(OUT);
    cell.ok("clock_time_get", &[1, 0, OUT.into()]);
    assert!(cell.u64_at(OUT) >= first && first >= 1_000_000_000_000);
    cell.ok("clock_time_get", &[0, 0, OUT.into()]);
    assert!(cell.u64_at(OUT) > 1_700_000_000_000_000_000);
    cell.ok("clock_time_get", &[2, 0, OUT.into()]);
    assert!(cell.u64_at(OUT) < 1_000_000_000_000);
    assert_eq!(cell.call("clock_time_get", &[4, 0, OUT.into()]), Ok(28));
}

#[test]
fn waiting_lasts_as_long_as_asked() {
    let mut cell = Cell::new();
    let begun = Instant::now();
    cell.clock_subscription(0, 7, 1, u64::MAX, 0);
    cell.clock_subscription(1, 8, 1, 20_000_000, 0);
    assert_eq!(cell.poll(2), Ok(0));
    assert!(begun.elapsed() >= Duration::from_millis(20));
    assert_eq!((cell.u32_at(OUT), cell.u64_at(0x4000)), (1, 8));
    cell.clock_subscription(0, 9, 0, 1, 1);
    assert_eq!((cell.poll(1), cell.u32_at(OUT)), (Ok(0), 1));
}

#[test]
fn waiting_ends_at_the_deadline() {
    let mut cell = Cell::new();
    let begun = Instant::now();
    cell.store.data_mut().deadline = Some(begun + Duration::from_millis(30));
    cell.clock_subscription(0, 7, 0, 1 << 62, 0);
    assert_eq!(cell.poll(1), Err(Stop::Exceeded(LimitKind::Deadline)));
    assert!(begun.elapsed() >= Duration::from_millis(30) && begun.elapsed() < Duration::from_secs(20));
    cell.clock_subscription(0, 7, 0, 1, 0);
    assert_eq!(cell.poll(1), Err(Stop::Exceeded(LimitKind::Deadline)));
    assert_eq!(cell.call("random_get", &[DATA.into(), 32]), Err(Stop::Exceeded(LimitKind::Deadline)));
}

#[test]
fn files_are_ready_at_once_and_bad_descriptors_say_so() {
    let mut cell = Cell::new();
    cell.clock_subscription(0, 7, 1, u64::MAX, 0);
    for (index, fd) in [(1, 0_u32), (2, 99)] {
        cell.clock_subscription(index, index.into(), fd, 0, 0);
        cell.poke(DATA + index * 48 + 8, &[1]);
    }
    assert_eq!((cell.poll(3), cell.u32_at(OUT)), (Ok(0), 2));
    assert_eq!((cell.u64_at(0x4000), cell.u64_at(0x4020), cell.peek(0x4028, 1)[0]), (1, 2, 8));
}

#[test]
fn exit_stops_with_its_status_and_sockets_are_refused() {
    let mut cell = Cell::new();
    assert_eq!(cell.call("proc_exit", &[3]), Err(Stop::Exit(3)));
    assert_eq!(cell.call("sock_accept", &[0, 0, 0]), Ok(58));
    assert_eq!(cell.call("sock_recv", &[0; 6]), Ok(58));
    assert_eq!(cell.call("sock_send", &[0; 5]), Ok(58));
    assert_eq!(cell.call("sock_shutdown", &[0; 2]), Ok(58));
}

#[test]
fn appending_can_be_switched_and_descriptors_renumbered() {
    let mut cell = Cell::new();
    let fd = cell.open("tmp/f", 1, RIGHTS_READ_WRITE).unwrap();
    cell.print(fd, b"12").unwrap();
    cell.ok("fd_seek", &[fd, 0, 0, OUT.into()]);
    cell.ok("fd_fdstat_set_flags", &[fd, 1]);
    cell.print(fd, b"34").unwrap();
    cell.ok("fd_filestat_get", &[fd, OUT.into()]);
    assert_eq!(cell.u64_at(OUT + 32), 4);
    cell.ok("fd_renumber", &[fd, 1]);
    assert_eq!(cell.print(1, b"goes to the file now"), Ok(0));
    assert_eq!(cell.store.data().vfs.scratch_usage().0, 24);
    assert_eq!(cell.call("fd_advise", &[fd, 0, 0, 0]), Ok(8));
}
