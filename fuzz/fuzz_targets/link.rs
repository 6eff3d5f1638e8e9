#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skillcell_fuzzing::run("link", data));
