//! `$ref` to a place in the same schema. Everything that makes such an address mean something else in
//! jsonschema (a base address further down, anchors, escapes) is left to the guest.

use super::draft::{Draft, is_plain_address};
use super::{Doubt, Steps, shape};
use serde_json::Value;
use std::collections::HashMap;

pub struct Refs<'a> {
    root: &'a Value,
    draft: Draft,
    /// The targets found so far; each is a schema in good shape.
    targets: HashMap<&'a str, &'a Value>,
}

impl<'a> Refs<'a> {
    pub fn new(root: &'a Value, draft: Draft) -> Self {
        Self { root, draft, targets: HashMap::new() }
    }

    pub fn resolve(&mut self, address: &'a str, steps: &mut Steps) -> Result<&'a Value, Doubt> {
        steps.spend(1 + address.len() / 64)?;
        if let Some(target) = self.targets.get(address) {
            return Ok(target);
        }
        let fragment = address.strip_prefix('#').ok_or(Doubt)?;
        if self.targets.is_empty() && !identifies_only_the_root(self.root, self.root, self.draft, steps)? {
            return Err(Doubt);
        }
        let target = follow_pointer(self.root, fragment).ok_or(Doubt)?;
        if !std::ptr::eq(target, self.root) {
            shape::check_schema_below(target, self.draft, steps)?;
        }
        self.targets.insert(address, target);
        Ok(target)
    }
}

/// Follows a pointer as jsonschema does, which does not mind slashes missing or too many at either end.
fn follow_pointer<'a>(root: &'a Value, fragment: &str) -> Option<&'a Value> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"$_-./~+".contains(&b);
    let pointer = fragment.trim_matches('/');
    if !fragment.bytes().all(plain) || pointer.is_empty() {
        return fragment.bytes().all(plain).then_some(root);
    }
    pointer.split('/').try_fold(root, |place, part| match place {
        Value::Object(members) => members.get(&part.replace("~1", "/").replace("~0", "~")),
        // Python would also take `-1`, `+1` or `1_0` for an index.
        Value::Array(items) if part.bytes().all(|b| b.is_ascii_digit()) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Whether nothing but the root has an identifier, and that one is a plain address.
fn identifies_only_the_root(value: &Value, root: &Value, draft: Draft, steps: &mut Steps) -> Result<bool, Doubt> {
    steps.spend(1)?;
    let is_root = std::ptr::eq(value, root);
    let below: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => {
            let own = members.iter().all(|(name, value)| match name.as_str() {
                "$anchor" | "$dynamicAnchor" => false,
                "$id" | "id" if name == draft.id_keyword() && is_root => {
                    value.as_str().is_some_and(is_plain_address)
                        && !(draft.ref_stands_alone() && members.contains_key("$ref"))
                }
                "$id" => false,
                // A property of this name has a schema for its value, not text.
                "id" => !value.as_str().is_some_and(|id| draft == Draft::Four || id.starts_with('#')),
                _ => true,
            });
            if !own {
                return Ok(false);
            }
            members.values().collect()
        }
        _ => return Ok(true),
    };
    for value in below {
        if !identifies_only_the_root(value, root, draft, steps)? {
            return Ok(false);
        }
    }
    Ok(true)
}
