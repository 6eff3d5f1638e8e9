//! Of any bytes: no panic, and what is not refused is valid, bounded and the same each time.

use proptest::collection::vec;
use proptest::prelude::*;

use super::assert_valid;
use crate::samples::{main_module, side_module};
use crate::{LinkError, Linked, Side, Wanted, link, translate_exceptions};

fn link_two(main: &[u8], side: &[u8]) -> Result<Linked, LinkError> {
    let wanted = Wanted { functions: &["run"], addresses: &["counter"], ..Wanted::default() };
    link(main, &[Side { name: "side.so", bytes: side }], &wanted)
}

fn check_outputs(main: &[u8], side: &[u8]) {
    if let Ok(linked) = link_two(main, side) {
        assert_valid(&linked.module);
        assert!(linked.module.len() <= 16 * (main.len() + side.len()) + 4096, "{}", linked.module.len());
        assert_eq!(link_two(main, side).expect("the same"), linked);
    }
    for module in [main, side] {
        if let Ok(translated) = translate_exceptions(module) {
            assert_valid(&translated);
            assert_eq!(translate_exceptions(&translated).expect("the same"), translated, "nothing is left to do");
        }
    }
}

/// Sets bytes to others.
fn change(mut module: Vec<u8>, changes: &[(usize, u8)]) -> Vec<u8> {
    for &(place, value) in changes {
        let length = module.len();
        module[place % length] = value;
    }
    module
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn samples_are_linked_and_translated(bytes in vec(any::<u8>(), 0..600)) {
        let (main, side) = bytes.split_at(bytes.len() / 2);
        let (main, side) = (main_module(main), side_module(side));
        prop_assert!(link_two(&main, &side).is_ok() && translate_exceptions(&main).is_ok());
        check_outputs(&main, &side);
    }

    #[test]
    fn what_is_changed_is_refused_or_valid(
        bytes in vec(any::<u8>(), 0..200),
        in_main in vec(any::<(usize, u8)>(), 0..3),
        in_side in vec(any::<(usize, u8)>(), 0..3),
    ) {
        check_outputs(&change(main_module(&bytes), &in_main), &change(side_module(&bytes), &in_side));
    }

    #[test]
    fn any_bytes_are_refused(main in vec(any::<u8>(), 0..100), side in vec(any::<u8>(), 0..100)) {
        prop_assert!(link_two(&main, &side).is_err());
        prop_assert!(link_two(&main_module(&main), &side).is_err());
    }
}
