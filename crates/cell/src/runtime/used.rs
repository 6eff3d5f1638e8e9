//! Which functions of the pinned runtime calls are known to use: `runtime-assets/used-functions.txt`, made by
//! `examples/used_functions.rs`. Nothing depends on its being right but time: what it lacks is compiled when it is called.

use std::sync::LazyLock;

pub const LIST: &str = include_str!("../../../../runtime-assets/used-functions.txt");

static USED: LazyLock<Vec<(u32, u32)>> = LazyLock::new(|| parse_ranges(LIST));

/// Whether the function is known to be used that is at this place among those with a body.
pub fn is_used(place: u32) -> bool {
    if crate::parts::NOTED.get().is_some() {
        return false;
    }
    let after = USED.partition_point(|(first, _)| *first <= place);
    after.checked_sub(1).is_some_and(|index| place <= USED[index].1)
}

/// `12 40-57`: numbers and ranges of them, in order; lines that begin with `#` are about them.
fn parse_ranges(text: &str) -> Vec<(u32, u32)> {
    let words = text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    words
        .filter_map(|word| {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            Some((first.parse().ok()?, last.parse().ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::pinned_runtime;

    #[test]
    fn the_list_is_of_the_pinned_runtime_and_in_order() {
        assert!(LIST.contains(&pinned_runtime().wheel.sha256));
        assert!(USED.iter().all(|(first, last)| first <= last));
        assert!(USED.windows(2).all(|two| two[0].1 < two[1].0));
        assert!(USED.len() > 100);
    }

    #[test]
    fn ranges_and_numbers_are_read() {
        assert_eq!(parse_ranges("# of it\n3 5-7\n9\n"), [(3, 3), (5, 7), (9, 9)]);
    }
}
