//! Scrubbing: the first line of an input is a secret's value, the rest a text that may have it, in any form.
//!
//! Between the placeholders that are put in, nothing of these forms is left; a text without them stays as it is; and a
//! stream gives the same however it is cut.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::planted_secret::{PlantedSecret, hex_encode, percent_encode};
use super::{contains_bytes, first_line};
use skillcell_http::{Scrubber, Scrubbing};

pub fn run(data: &[u8]) {
    let Some((value, text)) = first_line(data) else { return };
    let Some(planted) = PlantedSecret::with_value("a.test", value) else { return };
    let (scrubber, text) = (Arc::new(planted.scrubber()), planted.fill_forms(text));
    let clean = scrubber.scrub_bytes(&text).into_owned();
    let forms = encoded_forms(value);
    for piece in split_at_placeholders(&clean, planted.placeholder.as_bytes()) {
        for form in &forms {
            assert!(!contains_bytes(piece, form), "{} is left: {}", form.escape_ascii(), clean.escape_ascii());
        }
    }
    if clean.len() == text.len() && !contains_bytes(&clean, planted.placeholder.as_bytes()) {
        assert_eq!(clean, text);
    }
    let cut = usize::from(data[data.len() - 1]);
    for cut in [1, 2, cut.max(1)] {
        assert_eq!(scrub_in_pieces(&scrubber, &text, cut), clean, "it depends on how the text is cut: {cut}");
    }
}

fn scrub_in_pieces(scrubber: &Arc<Scrubber>, text: &[u8], cut: usize) -> Vec<u8> {
    let (mut scrubbing, mut out) = (Scrubbing::new(scrubber.clone()), Vec::new());
    text.chunks(cut).for_each(|piece| scrubbing.push(piece, &mut out));
    scrubbing.finish(&mut out);
    out
}

fn encoded_forms(value: &str) -> Vec<Vec<u8>> {
    let bytes = value.as_bytes();
    let json = serde_json::to_string(value).unwrap_or_default();
    let mut forms = vec![
        bytes.to_vec(),
        json.as_bytes()[1..json.len() - 1].to_vec(),
        hex_encode(bytes).into_bytes(),
        hex_encode(bytes).to_uppercase().into_bytes(),
        percent_encode(bytes).into_bytes(),
        percent_encode(bytes).to_uppercase().into_bytes(),
    ];
    // Whole groups of three bytes around it, at each alignment: no padding, and no character of it is the value's alone.
    for before in 0..3 {
        let around = [&b"xy"[..before], bytes, &b"xy"[..(6 - before - bytes.len() % 3) % 3]].concat();
        forms.push(STANDARD.encode(&around).into_bytes());
    }
    forms.into_iter().filter(|form| !form.is_empty()).collect()
}

/// The parts between placeholders: a value that spans a placeholder's edge is a coincidence, not a leak.
fn split_at_placeholders<'t>(text: &'t [u8], placeholder: &[u8]) -> Vec<&'t [u8]> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.windows(placeholder.len()).position(|window| window == placeholder) {
        pieces.push(&rest[..at]);
        rest = &rest[at + placeholder.len()..];
    }
    pieces.push(rest);
    pieces
}
