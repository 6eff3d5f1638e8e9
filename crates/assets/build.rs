//! Embeds what is in `runtime-assets`. Never uses the network.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let assets = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../runtime-assets");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("guest.rs"), guest_files(&assets.join("guest"))).expect("OUT_DIR is writable");
    fs::write(out.join("standins.rs"), standin_files(&assets.join("standins"))).expect("OUT_DIR is writable");
}

/// The guest's own Python files: path and content.
fn guest_files(folder: &Path) -> String {
    let mut list = String::from(
        "/// The guest's own Python files: path and content.\npub static GUEST_FILES: &[(&str, &[u8])] = &[\n",
    );
    for (file, name) in files_below(folder).iter().filter(|(_, name)| name.ends_with(".py")) {
        writeln!(list, "    ({name:?}, include_bytes!({:?})),", file.display()).expect("to a string");
    }
    list.push_str("];\n");
    list
}

/// The stand-ins' files: the distribution's folder, the path below it, and the content.
fn standin_files(folder: &Path) -> String {
    let mut list = String::from(
        "/// The files of stand-ins: distribution, path and content.\npub static STANDIN_FILES: &[(&str, &str, &[u8])] = &[\n",
    );
    for (file, name) in files_below(folder) {
        // What lies beside the folders is about them.
        let Some((distribution, path)) = name.split_once('/') else { continue };
        writeln!(list, "    ({distribution:?}, {path:?}, include_bytes!({:?})),", file.display()).expect("to a string");
    }
    list.push_str("];\n");
    list
}

/// All files below a folder but compiled Python, in order: where each is, and its path from there.
fn files_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    gather(folder, &mut files);
    files.sort();
    let name = |file: &Path| file.strip_prefix(folder).expect("below it").to_str().expect("plain names").to_owned();
    files.into_iter().map(|file| (file.clone(), name(&file))).collect()
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).expect("it is in the repository") {
        let path = entry.expect("readable").path();
        if path.is_dir() && !path.ends_with("__pycache__") {
            gather(&path, files);
        } else if path.is_file() && path.extension().is_none_or(|ending| ending != "pyc") {
            files.push(path);
        }
    }
}
