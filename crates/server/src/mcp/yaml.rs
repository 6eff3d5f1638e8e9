//! A manifest as the host reads it, to show something before there is a guest that reads it. Nothing is decided by it: what
//! counts is what PyYAML makes of the file in a cell, and that replaces this as soon as it is there.
//!
//! The text is a stranger's, so its length, depth, nodes and aliases are bounded, and what goes beyond is not shown at all.

use serde_json::Value;

/// Longer manifests wait for the guest.
const MAX_BYTES: usize = 256 << 10;
const MAX_DEPTH: usize = 48;
const MAX_NODES: usize = 20_000;
/// Aliases are what makes a short text long: manifests have none.
const MAX_ALIASES: usize = 64;

/// The manifest's keys; none if it is no YAML, or more of it than is read here.
pub fn read_for_showing(text: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() <= MAX_BYTES)?;
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_events: 4 * MAX_NODES,
            max_aliases: MAX_ALIASES,
            max_anchors: MAX_ALIASES,
            max_merge_keys: MAX_ALIASES,
            max_documents: 1,
            max_total_scalar_bytes: 4 * MAX_BYTES,
            max_recorded_anchor_events: MAX_NODES,
            max_recorded_anchor_bytes: MAX_BYTES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_NODES,
            max_replay_stack_depth: 8,
            max_alias_expansions_per_anchor: MAX_ALIASES,
        },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).ok().filter(Value::is_object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_manifest_is_read_as_pyyaml_reads_it() {
        let text = b"name: a/b\nversion: 1.0.0\nparameters:\n  type: object\n  properties:\n    on: {type: string}\n  \
                     additionalProperties: no\ntext: |\n  two\n  lines\n";
        let read = read_for_showing(text).unwrap();
        assert_eq!(read["name"], "a/b");
        assert_eq!(read["version"], "1.0.0");
        assert_eq!(read["parameters"]["additionalProperties"], json!(false));
        assert_eq!(read["text"], "two\nlines\n");
    }

    #[test]
    fn what_would_take_much_is_not_shown() {
        let deep = "a: ".to_owned() + &"[".repeat(5000) + &"]".repeat(5000);
        let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for at in 1..9 {
            let before = format!("*a{}", at - 1);
            laughs += &format!("a{at}: &a{at} [{}]\n", [before.as_str(); 10].join(", "));
        }
        let long = format!("a: {}", "x".repeat(MAX_BYTES));
        let many = format!("a: [{}]", "1, ".repeat(MAX_NODES + 1));
        for hostile in [deep.as_str(), &laughs, &long, &many, "a: b: c", "- 1", "", "\u{feff}%", "a: *b", "&a a: *a"] {
            assert!(read_for_showing(hostile.as_bytes()).is_none_or(|read| read.to_string().len() < MAX_BYTES));
        }
        for refused in [deep.as_str(), &laughs, &long, &many] {
            assert!(read_for_showing(refused.as_bytes()).is_none(), "{}…", &refused[..20]);
        }
        assert!(read_for_showing(b"a: \xff").is_none());
    }
}
