//! Links, or only translates, files: to look at the output, and for `scripts/compare-exceptions.mjs`.
//!
//! ```text
//! cargo run --release -p skillcell-link --features samples --example link -- link OUT MAIN SIDE…
//!                                                                          -- translate OUT MODULE
//!                                                                          -- samples FOLDER COUNT
//! ```
//!
//! `samples` writes programs with exceptions: as they are, translated, and linked.

use std::process::ExitCode;
use std::{env, fs};

use skillcell_link::{Side, Wanted, link, samples, translate_exceptions};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["translate", out, module] => translate_file(out, module),
        ["link", out, main, ref sides @ ..] => link_files(out, main, sides),
        ["samples", folder, count] => write_samples(folder, count),
        _ => Err("usage: samples FOLDER COUNT | link OUT MAIN SIDE… | translate OUT MODULE".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            if let Some(cause) = error.source() {
                eprintln!("  caused by: {cause}");
            }
            ExitCode::from(2)
        }
    }
}

fn translate_file(out: &str, module: &str) -> Result<(), Box<dyn std::error::Error>> {
    fs::write(out, translate_exceptions(&fs::read(module)?)?)?;
    Ok(())
}

fn link_files(out: &str, main: &str, paths: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    let main = fs::read(main)?;
    let files = paths.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
    let sides: Vec<Side<'_>> = paths.iter().zip(&files).map(|(name, bytes)| Side { name, bytes }).collect();
    let functions = env::var("EXPORTS").unwrap_or_default();
    let functions: Vec<&str> = functions.split_whitespace().collect();
    let mut linked = link(&main, &sides, &Wanted { functions: &functions, ..Wanted::default() })?;
    fs::write(out, std::mem::take(&mut linked.module))?;
    println!("{linked:#?}");
    Ok(())
}

fn write_samples(folder: &str, count: &str) -> Result<(), Box<dyn std::error::Error>> {
    // Numbers that look random: xorshift.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut roll = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    for number in 0..count.parse::<u32>()? {
        let bytes: Vec<u8> = (0..600).map(|_| roll()).collect();
        let (main, side) = (samples::main_module(&bytes[..300]), samples::side_module(&bytes[300..]));
        let sides = [Side { name: "side.so", bytes: &side }];
        let wanted = Wanted { functions: &["run"], ..Wanted::default() };
        for (kind, module) in [
            ("main", main.clone()),
            ("side", side.clone()),
            ("main.translated", translate_exceptions(&main)?),
            ("side.translated", translate_exceptions(&side)?),
            ("linked", link(&main, &sides, &wanted)?.module),
        ] {
            fs::write(format!("{folder}/{number}.{kind}.wasm"), module)?;
        }
    }
    Ok(())
}
