#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skillcell_fuzz::run("http_request", data));
