//! A policy file, `skillcell.toml`: what is read, written and read again grants the same; nobody gets another's section.

use super::assert_fit_to_show;
use skillcell_policy::{GrantKind, Grants, PolicyFile};

/// More entries than this are not read in one section.
const MAX_ENTRIES: usize = 256;
const UNNAMED: &str = "no section\u{1} has this name";

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let file = match PolicyFile::parse(text) {
        Ok(file) => file,
        Err(error) => return assert_fit_to_show(&error.to_string()),
    };
    let for_all = file.grants_for(UNNAMED);
    assert!(file.skill_names().all(|skill| !skill.is_empty() && skill != UNNAMED));
    for skill in file.skill_names().chain([UNNAMED]).take(8) {
        let granted = file.grants_for(skill);
        assert!(
            for_all.http.deny.iter().all(|rule| granted.http.deny.contains(rule)),
            "a denial for all holds for all"
        );
        check_round_trip(skill, &granted);
    }
}

fn check_round_trip(skill: &str, granted: &Grants) {
    let texts = |grants: &Grants| GrantKind::ALL.map(|kind| grants.texts(kind));
    if texts(granted).iter().any(|texts| texts.len() > MAX_ENTRIES) {
        return;
    }
    let mut text = format!("[skill.{}]\n", toml_string(skill));
    for kind in GrantKind::ALL {
        let entries: Vec<String> = granted.texts(kind).iter().map(|text| toml_string(text)).collect();
        text += &format!("{} = [{}]\n", kind.key(), entries.join(", "));
    }
    let again = PolicyFile::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(texts(&again.grants_for(skill)), texts(granted), "{text}");
    assert_eq!(
        again.grants_for("another"),
        if skill == "another" { again.grants_for(skill) } else { Grants::default() }
    );
}

/// JSON's texts are TOML's, but for one character.
fn toml_string(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default().replace('\u{7f}', "\\u007f")
}
