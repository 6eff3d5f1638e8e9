//! The linker and the exception pass. An input's first line is `program`, and the rest decides what a main and a side do; or it
//! is `modules N`, and the rest is a main of N bytes, then a side.
//!
//! Beside not panicking: what is linked or translated is valid, the same again, and not much longer than it was; a program is
//! always linked.

use skillcell_link::samples::{check_output, main_module, side_module};
use skillcell_link::{LinkError, Linked, Side, Wanted, link, translate_exceptions};

use super::{assert_fit_to_show, first_line};

pub fn run(data: &[u8]) {
    let Some((line, rest)) = first_line(data) else { return };
    if line == "program" {
        let (main, side) = rest.split_at(rest.len() / 2);
        let (main, side) = (main_module(main), side_module(side));
        assert!(link_two(&main, &side).is_ok());
        check_linked(&main, &side);
    } else if let Some(length) = line.strip_prefix("modules ").and_then(|length| length.parse::<usize>().ok()) {
        let (main, side) = rest.split_at(length.min(rest.len()));
        check_linked(main, side);
    }
}

fn link_two(main: &[u8], side: &[u8]) -> Result<Linked, LinkError> {
    let wanted = Wanted { functions: &["run"], addresses: &["counter"], ..Wanted::default() };
    link(main, &[Side { name: "side.so", bytes: side }], &wanted)
}

fn check_linked(main: &[u8], side: &[u8]) {
    match link_two(main, side) {
        Ok(linked) => {
            assert_eq!(check_output(&linked.module), Ok(()));
            assert!(linked.module.len() <= 16 * (main.len() + side.len()) + 4096, "{} bytes", linked.module.len());
            assert_eq!(link_two(main, side).ok(), Some(linked), "the same again");
        }
        Err(error) => assert_fit_to_show(&error.to_string()),
    }
    check_translated(main);
    check_translated(side);
}

fn check_translated(module: &[u8]) {
    match translate_exceptions(module) {
        Ok(translated) => {
            assert_eq!(check_output(&translated), Ok(()));
            assert!(translated.len() <= 16 * module.len() + 4096, "{} bytes", translated.len());
            assert_eq!(translate_exceptions(&translated).ok(), Some(translated), "nothing is left to translate");
        }
        Err(error) => assert_fit_to_show(&error.to_string()),
    }
}
