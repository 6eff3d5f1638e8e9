//! The real thing, where it is: `SKILLCELL_LINK_INPUTS` is a folder with `pyodide.asm.wasm` and folders of unpacked wheels for it.

use std::fs;
use std::path::{Path, PathBuf};

use super::{assert_valid, for_each_operator};
use crate::{Side, Wanted, link, translate_exceptions};

/// Shared libraries, grouped by the folder in `folder` that they are below.
fn find_wheels(folder: &Path) -> Vec<Vec<PathBuf>> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let mut wheels = Vec::new();
    for wheel in folders.into_iter().filter(|path| path.is_dir()) {
        let mut libraries = Vec::new();
        find_libraries(&wheel, &mut libraries);
        libraries.sort();
        wheels.push(libraries);
    }
    wheels.retain(|libraries| !libraries.is_empty());
    wheels
}

fn find_libraries(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            find_libraries(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "so") {
            found.push(path);
        }
    }
}

fn link_paths(main: &[u8], paths: &[PathBuf]) {
    let files: Vec<(String, Vec<u8>)> =
        paths.iter().map(|path| (path.display().to_string(), fs::read(path).expect("a library"))).collect();
    let sides: Vec<Side<'_>> = files.iter().map(|(name, bytes)| Side { name, bytes }).collect();
    let wanted = Wanted { functions: &["Py_Initialize", "sbrk"], addresses: &["_PyRuntime"], ..Wanted::default() };
    let linked = link(main, &sides, &wanted).expect("a linked module");
    assert_valid(&linked.module);
    let unknown: Vec<_> = linked.imports.iter().filter(|import| !import.for_main).collect();
    assert!(unknown.is_empty(), "sides want what main does not know: {unknown:?}");
    for_each_operator(&linked.module, |_, operator| {
        let name = format!("{operator:?}");
        assert!(!name.starts_with("TableSet") && !name.starts_with("TableGrow"), "{name}");
    });
    for (path, bytes) in &files {
        assert_valid(&translate_exceptions(bytes).unwrap_or_else(|error| panic!("{path}: {error}")));
    }
}

#[test]
fn pyodide_and_every_wheel_that_is_there_are_linked() {
    let Some(folder) = std::env::var_os("SKILLCELL_LINK_INPUTS").map(PathBuf::from) else {
        println!("skipped: SKILLCELL_LINK_INPUTS is not set");
        return;
    };
    let main = fs::read(folder.join("pyodide.asm.wasm")).expect("pyodide.asm.wasm");
    let wheels = find_wheels(&folder);
    link_paths(&main, &[]);
    for libraries in &wheels {
        link_paths(&main, libraries);
    }
    link_paths(&main, &wheels.concat());
    println!("{} wheels with {} libraries", wheels.len(), wheels.concat().len());
}
