//! Checks and embeds what is in `runtime-assets`. Never uses the network.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let guest = root.join("runtime-assets/guest");
    println!("cargo::rerun-if-changed={}", guest.display());
    println!("cargo::rerun-if-changed=runtime-assets/pins.toml");
    check_pins(&root.join("runtime-assets/pins.toml"));

    println!("cargo::rustc-env=SKILLCELL_ANALYSIS={:016x}", digest(&root.join("src/analysis")));
    println!("cargo::rerun-if-changed=runtime-assets/native");
    let mut files = Vec::new();
    gather(&guest, &mut files);
    files.sort();
    let mut list = String::from(
        "/// The guest's own Python files: path and content.\nstatic GUEST_FILES: &[(&str, &[u8])] = &[\n",
    );
    for file in &files {
        let name = file.strip_prefix(&guest).expect("below guest").to_str().expect("plain names").replace('\\', "/");
        writeln!(list, "    ({name:?}, include_bytes!({:?})),", file.display()).expect("to a string");
    }
    list.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("guest.rs"), list).expect("OUT_DIR is writable");
    fs::write(out.join("standins.rs"), standins(&root.join("runtime-assets/standins"))).expect("OUT_DIR is writable");
}

/// Tells one state of the analysis from another: a verdict that is kept is that of the code that reached it.
fn digest(folder: &Path) -> u64 {
    let mut files = Vec::new();
    gather_all(folder, &mut files);
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in &files {
        fs::read(file).expect("it was listed").hash(&mut hasher);
    }
    hasher.finish()
}

/// The stand-ins' files: the distribution's folder, the path below it, and the content.
fn standins(folder: &Path) -> String {
    let mut files = Vec::new();
    gather_all(folder, &mut files);
    files.sort();
    let mut list = String::from(
        "/// The files of stand-ins: distribution, path and content.\nstatic STANDIN_FILES: &[(&str, &str, &[u8])] = &[\n",
    );
    for file in &files {
        let name = file.strip_prefix(folder).expect("below it").to_str().expect("plain names").replace('\\', "/");
        // What lies beside the folders is about them.
        let Some((distribution, path)) = name.split_once('/') else { continue };
        writeln!(list, "    ({distribution:?}, {path:?}, include_bytes!({:?})),", file.display()).expect("to a string");
    }
    list.push_str("];\n");
    list
}

fn gather_all(folder: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).expect("it is in the repository") {
        let path = entry.expect("readable").path();
        if path.is_dir() && !path.ends_with("__pycache__") {
            gather_all(&path, files);
        } else if path.is_file() && path.extension().is_none_or(|ending| ending != "pyc") {
            files.push(path);
        }
    }
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).expect("runtime-assets/guest is there") {
        let path = entry.expect("readable").path();
        if path.is_dir() && !path.ends_with("__pycache__") {
            gather(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "py") {
            files.push(path);
        }
    }
}

/// Every pinned wheel needs a full sha256, or provisioning would trust whatever an index serves.
fn check_pins(path: &Path) {
    let text = fs::read_to_string(path).expect("runtime-assets/pins.toml is there");
    let pins: toml::Table = text.parse().expect("runtime-assets/pins.toml is TOML");
    let runtimes = pins["runtime"].as_table().expect("[runtime.*]").values();
    let lists = ["package", "test-package"].map(|key| pins[key].as_array().expect("[[package]], [[test-package]]"));
    let packages = lists.into_iter().flatten();
    for pin in runtimes.chain(packages) {
        let hash = pin["sha256"].as_str().expect("a pin has a sha256");
        assert!(hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()), "not a sha256: {hash}");
    }
}
