//! A manifest's `permissions`, as JSON: YAML is read in the guest, and what the host gets of it is this.

use std::sync::LazyLock;

use serde_json::Value;

use super::assert_fit_to_show;
use skillcell_policy::schema::is_valid;
use skillcell_policy::{DenialKind, Effective, Grants, Permissions, PolicyFile};

const SCHEMA: &str = include_str!("../../../docs/reference/permissions.schema.json");

pub fn run(data: &[u8]) {
    let Ok(manifest) = serde_json::from_slice::<Value>(data) else { return };
    let asked = manifest.get("permissions").unwrap_or(&manifest);
    match Permissions::parse(asked) {
        Ok(permissions) => check_accepted(asked, &permissions),
        Err(error) => assert_fit_to_show(&error.to_string()),
    }
}

fn check_accepted(value: &Value, asked: &Permissions) {
    let shown = asked.to_value();
    assert_eq!(Permissions::parse(&shown).as_ref(), Ok(asked), "{shown}");
    static SCHEMA_VALUE: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(SCHEMA).expect("a schema"));
    assert_ne!(is_valid(&SCHEMA_VALUE, value), Ok(false), "the parser takes what the schema does not");
    asked.describe().iter().for_each(|line| assert_fit_to_show(line));
    assert!(asked.changes_since(asked).is_empty());
    check_approved(asked);
    check_nothing_granted(asked);
}

/// An approval grants all but folders, which only an operator can name.
fn check_approved(asked: &Permissions) {
    let missing = Effective::of("a/b", Some(asked), &Grants::of_approval(asked)).missing;
    assert!(missing.iter().all(|missing| missing.kind == DenialKind::File), "{missing:?}");
}

/// Without a grant nothing holds; and the lines that are then advised are enough, but for what is warned of.
fn check_nothing_granted(asked: &Permissions) {
    let first = Effective::of("a/b", Some(asked), &Grants::default());
    assert_eq!(first.grants, Grants::default());
    let mut granted = Grants::default();
    for missing in &first.missing {
        assert_fit_to_show(&missing.message());
        let Some(line) = missing.line.as_deref() else {
            assert!(missing.warning.is_some() && missing.flag.is_none() && missing.command.is_none(), "{missing:?}");
            continue;
        };
        let file = PolicyFile::parse(&line.replace("\"FOLDER:", "\"/folder:")).expect(line);
        granted = granted.merged_with(file.grants_for("a/b"));
        assert_eq!(file.grants_for("a/c"), Grants::default(), "a line for one skill is for no other");
    }
    let second = Effective::of("a/b", Some(asked), &granted);
    assert!(second.missing.iter().all(|missing| missing.warning.is_some()), "{:?}", second.missing);
}
