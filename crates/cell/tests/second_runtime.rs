//! The second runtime itself, without skills: it boots, and what its Python asks of the host is answered as the file system and
//! WASI answer it. Where npm is not there and the package is not in the cache, they say so and do nothing.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use skillcell_cache::Cache;
use skillcell_cache::progress::Silent;
use skillcell_cell::runtime::files::CommonFiles;
use skillcell_cell::runtime::linking::{SideModule, Sides, check_core, program_id};
use skillcell_cell::runtime::{Runtime, open_compiled_stdlib};
use skillcell_cell::{Ending, Inputs, Machine, Machines, boot_interpreter, run_source};
use skillcell_door::Door;
use skillcell_limits::cancel::CancelToken;
use skillcell_limits::outcome::Outcome;
use skillcell_limits::{Limits, RuntimeKind};
use skillcell_packages::provision::{self, Fetch};

struct Bench {
    cache: Cache,
    fetch: Fetch,
    machines: Machines,
}

/// The user's cache, or that of `SKILLCELL_CACHE_DIR`, so that the runtime is compiled once.
static BENCH: LazyLock<Option<Bench>> = LazyLock::new(|| {
    let (cache, fetch) = (Cache::locate(None).expect("a cache"), Fetch::default());
    if let Err(error) = provision::pyodide_files(&cache, &fetch, &Silent) {
        println!("skipped: Pyodide's package can't be had: {error}");
        return None;
    }
    Some(Bench { cache, fetch, machines: Machines::default() })
});

impl Bench {
    fn runtime(&self) -> Runtime<'_> {
        let Bench { cache, fetch, .. } = self;
        Runtime { kind: RuntimeKind::Pyodide, sides: Arc::default(), cache, fetch, progress: &Silent }
    }

    fn machine(&self) -> Arc<Machine> {
        self.machines.get(&self.runtime(), false).expect("a machine")
    }

    fn files(&self, machine: &Machine) -> CommonFiles {
        let runtime = self.runtime();
        let bytes = runtime.compiled_stdlib(machine).expect("the library").bytes;
        let packages = provision::pyodide_framework(&self.cache, &self.fetch, &Silent).expect("packages");
        let cache = self.cache.clone();
        let open = move || {
            let found = open_compiled_stdlib(&cache, &Silent).map_err(std::io::Error::other)?;
            found.ok_or_else(|| std::io::ErrorKind::NotFound.into())
        };
        CommonFiles::open_pyodide(&runtime, Box::new(open), bytes, packages).expect("files")
    }
}

/// Runs source in a new interpreter. `None` if there is no runtime.
fn run(source: &str, limits: Limits) -> Option<Ending> {
    let bench = BENCH.as_ref()?;
    let machine = bench.machine();
    let files = bench.files(&machine);
    let mounts = files.mounts_with([]);
    let inputs = Inputs { mounts, door: Door::default(), limits, monotonic_ns: 0, cancel: CancelToken::default() };
    let base = bench.runtime().base_image(&machine).expect("a base image");
    let mut cell = machine.new_cell(&base, inputs).expect("a cell");
    // Nobody finishes this interpreter, so nothing may stay in its buffers.
    let source = format!("import sys; sys.stdout.reconfigure(line_buffering=True)\n{source}");
    let ran = boot_interpreter(&mut cell).and_then(|()| run_source(&mut cell, &source));
    Some(cell.take_ending(ran.map(drop)))
}

fn printed(source: &str) -> Option<String> {
    let ending = run(source, Limits::default())?;
    let errors = String::from_utf8_lossy(&ending.stderr).into_owned();
    assert!(errors.is_empty(), "{errors}\n{:?}", ending.outcome);
    Some(String::from_utf8_lossy(&ending.stdout).into_owned())
}

#[test]
fn python_runs_and_the_door_is_a_function() {
    let source = "import sys, _host\nprint(sys.version_info[:2], sys.platform, _host.call)\n";
    let Some(said) = printed(source) else { return };
    assert!(said.starts_with("(3, 14) emscripten <built-in"), "{said}");
}

#[test]
fn what_the_door_does_not_take_is_an_exception() {
    let source = "
import _host
for odd in (5, 'x', None, bytearray(9), b'', b'?what'):
    try:
        print(_host.call(odd))
    except Exception as error:
        print(type(error).__name__)
";
    let Some(said) = printed(source) else { return };
    assert_eq!(
        said.lines().collect::<Vec<_>>(),
        ["TypeError", "TypeError", "TypeError", "TypeError", "OSError", "OSError"],
        "{said}"
    );
}

#[test]
fn files_folders_and_times_are_the_file_systems() {
    let source = r"
import os, time, stat
os.chdir('/tmp'); print(os.getcwd())
os.makedirs('a/b'); open('a/b/f', 'w').write('hello'); os.truncate('a/b/f', 4)
print(sorted(os.listdir('a')), os.stat('a/b/f').st_size, open('/tmp/a/b/f').read())
os.utime('a/b/f', ns=(1_000_001_000, 2_000_002_000)); print(os.stat('a/b/f').st_mtime_ns)
os.rename('a/b/f', 'g'); print(os.listdir('/tmp/a/../a/b'), stat.S_ISDIR(os.stat('a').st_mode))
for n in range(300): open(f'a/{n:0200}', 'w').close()
print(len(os.listdir('a')), len(list(os.scandir('a'))))
import shutil, tempfile
folder = os.open('a', os.O_RDONLY); print(len(os.listdir(folder)), len(list(os.scandir(folder)))); os.close(folder)
with tempfile.TemporaryDirectory() as held: os.makedirs(held + '/x/y'); open(held + '/x/z', 'w').close()
shutil.copytree('a', 'c'); shutil.rmtree('c'); print(os.path.exists(held), os.path.exists('c'))
for what in (lambda: open('/lib/x', 'w'), lambda: os.symlink('g', 'h'), lambda: os.rmdir('a'), lambda: os.stat('none')):
    try: what(); print('no')
    except OSError as error: print(error.errno)
print(time.gmtime(0)[:6], time.strftime('%Y-%m-%d', time.gmtime(951782400)), time.mktime((2000, 2, 29, 0, 0, 0, 0, 0, 0)))
print(os.system('id'), os.umask(0o22))
try: import ssl
except ImportError as error: print(error.name)
";
    let Some(said) = printed(source) else { return };
    let lines: Vec<&str> = said.lines().collect();
    let expected = [
        "/tmp",
        "['b'] 4 hell",
        "2000002000",
        "[] True",
        "301 301",
        "301 301",
        "False False",
        "69",
        "58",
        "55",
        "44",
        "(1970, 1, 1, 0, 0, 0) 2000-02-29 951782400.0",
        "-1 18",
        "ssl",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn waiting_ends_at_the_deadline_and_computing_too() {
    for source in ["import select; select.select([], [], [], 100)", "while True: pass"] {
        let Some(ending) = run(source, Limits::within(Duration::from_secs(1))) else { return };
        assert!(matches!(ending.outcome, Outcome::Exceeded(skillcell_limits::LimitKind::Deadline, _)), "{ending:?}");
    }
}

/// A newer core may want more of a host than this one has: that is found when it is got, and named.
#[test]
fn a_core_that_imports_what_is_not_offered_is_refused_by_name() {
    let Some(bench) = BENCH.as_ref() else { return };
    let files = provision::pyodide_files(&bench.cache, &bench.fetch, &Silent).expect("the package");
    let mut core = files.core().expect("the core");
    check_core(&core).expect("all is offered");
    let (known, unknown) = (b"__syscall_getcwd", b"__syscall_getcwx");
    let place = core.windows(known.len()).position(|window| window == known).expect("it imports that");
    core[place..place + known.len()].copy_from_slice(unknown);
    let refused = check_core(&core).expect_err("nobody has that").to_string();
    assert!(refused.contains("`env.__syscall_getcwx`"), "{refused}");
}

#[test]
fn a_program_is_named_by_its_core_and_libraries_in_any_order() {
    let module = |path: &str, bytes: &[u8]| SideModule { path: path.to_owned(), bytes: bytes.into() };
    let named = |modules: Vec<SideModule>| program_id("core", &Sides::new(modules));
    let (one, two) = (module("/a.so", b"1"), module("/b.so", b"2"));
    assert_eq!(named(vec![one.clone(), two.clone()]), named(vec![two.clone(), one.clone()]));
    let others = [
        named(vec![one.clone()]),
        named(Vec::new()),
        named(vec![one, module("/b.so", b"3")]),
        named(vec![module("/a.so", b"1/b.so2")]),
        program_id("another core", &Sides::default()),
    ];
    let different: std::collections::HashSet<&String> = others.iter().collect();
    assert_eq!(different.len(), others.len());
    let Some(bench) = BENCH.as_ref() else { return };
    assert!(bench.runtime().id().starts_with("pyodide-"));
}
