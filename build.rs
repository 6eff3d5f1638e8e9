//! Every pinned wheel needs a full sha256, or the program would trust whatever an index serves: without one it isn't built.

use std::fs;

fn main() {
    println!("cargo::rerun-if-changed=runtime-assets/pins.toml");
    let text = fs::read_to_string("runtime-assets/pins.toml").expect("runtime-assets/pins.toml is there");
    let pins: toml::Table = text.parse().expect("runtime-assets/pins.toml is TOML");
    let runtimes = pins["runtime"].as_table().expect("[runtime.*]").values();
    let lists = ["package", "test-package"].map(|key| pins[key].as_array().expect("[[package]], [[test-package]]"));
    let packages = lists.into_iter().flatten();
    for pin in runtimes.chain(packages) {
        let hash = pin["sha256"].as_str().expect("a pin has a sha256");
        assert!(hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()), "not a sha256: {hash}");
    }
}
