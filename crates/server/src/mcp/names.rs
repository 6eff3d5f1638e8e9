//! Names of tools: of `[a-z0-9_]`, at most 40 characters, the same in every run, and never the name of two skills.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::run_script::RUN_SCRIPT;
use super::session_tools::CLOSE_SESSION;

/// Clients put a prefix before it, and cut or drop what is longer than 63 or 64 with it.
pub const MAX_CHARS: usize = 40;
/// Hexadecimal digits of a digest that tells apart what would have one name.
const DIGEST_CHARS: usize = 8;

/// A name for each of these ids. Where ids would share one, each of them gets a digest of its id instead of the bare name, so
/// that no skill ever takes another's.
pub fn name_tools<'a>(ids: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, String> {
    let ids: BTreeSet<&str> = ids.into_iter().collect();
    let mut sharing: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for id in &ids {
        sharing.entry(plain_name(id)).or_default().push(id);
    }
    let mut taken: BTreeSet<String> = BTreeSet::from([RUN_SCRIPT.to_owned(), CLOSE_SESSION.to_owned()]);
    let mut named = BTreeMap::new();
    // Bare names come first: a digest that looks like one of them is what gives way.
    let (alone, together): (Vec<_>, Vec<_>) = sharing.into_iter().partition(|(_, ids)| ids.len() == 1);
    for (name, ids) in alone.into_iter().chain(together) {
        let is_shared = ids.len() > 1;
        for id in ids {
            let name = if is_shared { with_digest(&name, id, 0) } else { name.clone() };
            let free = std::iter::once(name.clone()).chain((1u32..).map(|round| with_digest(&name, id, round)));
            let name = free.into_iter().find(|name| taken.insert(name.clone())).unwrap_or_default();
            named.insert(id.to_owned(), name);
        }
    }
    named
}

/// An id in the letters of a name. One that is too long is cut, with a digest of the whole id.
fn plain_name(id: &str) -> String {
    let lower = id.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    let words = lower.collect::<String>();
    let name = words.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    let name = match name.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => name,
        _ => format!("skill_{name}").trim_end_matches('_').to_owned(),
    };
    if name.len() > MAX_CHARS { with_digest(&name, id, 0) } else { name }
}

fn with_digest(name: &str, id: &str, round: u32) -> String {
    let digest = Sha256::digest(format!("{round}:{id}").as_bytes());
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let start = &name[..name.len().min(MAX_CHARS - DIGEST_CHARS - 1)];
    format!("{}_{}", start.trim_end_matches('_'), &digits[..DIGEST_CHARS])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ids: &[&str]) -> Vec<String> {
        let named = name_tools(ids.iter().copied());
        ids.iter().map(|id| named[*id].clone()).collect()
    }

    #[test]
    fn an_id_is_its_name_in_lower_case_with_underscores() {
        assert_eq!(
            names(&["office/gmail_handler", "My Skill-2.0", "3d/print"]),
            ["office_gmail_handler", "my_skill_2_0", "skill_3d_print"]
        );
        assert_eq!(names(&["日本"]), ["skill"]);
    }

    #[test]
    fn a_name_is_short_plain_and_stable_whatever_the_id() {
        let long = "data_engineering/a_very_long_name_of_a_skill_that_goes_on";
        let other = "data_engineering/a_very_long_name_of_a_skill_that_goes_off";
        let [one, two] = names(&[long, other]).try_into().unwrap();
        assert_ne!(one, two);
        assert_eq!(names(&[long])[0], one);
        for name in [one, two].into_iter().chain(names(&["", "\u{0}", "---", "ÄÖ/é"])) {
            assert!(!name.is_empty() && name.len() <= MAX_CHARS, "{name}");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{name}");
        }
    }

    #[test]
    fn no_skill_takes_the_name_of_the_tool_for_scripts() {
        assert_ne!(names(&["run/skill-script"])[0], RUN_SCRIPT);
    }

    #[test]
    fn no_skill_takes_the_name_of_another() {
        let clashing = ["a/b", "a_b", "A-B", "c/d"];
        let named = names(&clashing);
        assert_eq!(named.iter().collect::<BTreeSet<_>>().len(), clashing.len());
        // None of the three is found by the bare name, which one of them alone would have had.
        assert!(!named.contains(&"a_b".to_owned()) && named.contains(&"c_d".to_owned()), "{named:?}");
        // A skill whose bare name is what another's digest made.
        let taken = named[0].clone();
        let with_impostor = name_tools(clashing.into_iter().chain([taken.as_str()]));
        assert_eq!(with_impostor.values().collect::<BTreeSet<_>>().len(), 5);
    }
}
