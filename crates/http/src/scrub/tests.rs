//! What a search takes is counted in operations, so that no clock and no busy machine has a say.

use std::sync::Arc;

use super::*;
use crate::pattern::work;
use crate::secrets::Secret;

fn scrubber(value: &str) -> Arc<Scrubber> {
    let secret = Secret::new("K@a.test".parse().unwrap(), value.to_owned());
    Arc::new(Scrubber::new(&Secrets::new(vec![secret]).unwrap()))
}

/// What it takes to search a text, whole and as a stream in pieces.
fn work_on(scrubber: &Arc<Scrubber>, text: &[u8]) -> (usize, usize) {
    let whole = work::of(|| drop(scrubber.scrub_bytes(text)));
    let (mut scrubbing, mut out) = (Scrubbing::new(scrubber.clone()), Vec::new());
    let streamed = work::of(|| {
        text.chunks(100).for_each(|piece| scrubbing.push(piece, &mut out));
        scrubbing.finish(&mut out);
    });
    (whole, streamed)
}

/// A text that begins like the value takes as long as one that does not, in every form.
#[test]
fn a_search_takes_no_longer_where_a_text_begins_like_a_value() {
    const VALUE: &str = "hunter2-9f8c61d2a7";
    let forms: [fn(&str) -> String; 4] = [
        str::to_owned,
        |text| text.bytes().map(|byte| format!("{byte:02x}")).collect(),
        |text| text.bytes().map(|byte| format!("%{byte:02x}")).collect(),
        |text| text.bytes().map(|byte| format!("&#{byte:03};\\u{byte:04x}")).collect(),
    ];
    let with = scrubber(VALUE);
    for form in forms {
        let of = |guess: &str| work_on(&with, form(guess).repeat(100).as_bytes());
        let nothing = of("################");
        for length in 1..VALUE.len() {
            let guess: String = VALUE.chars().take(length).chain("################".chars()).take(16).collect();
            assert_eq!(of(&guess), nothing, "{guess}");
        }
    }
}

/// Browsers and Python's `html.unescape` read a number without its `;`, and any count of leading zeros.
#[test]
fn a_value_in_html_numbers_is_taken_out_with_and_without_their_end() {
    const VALUE: &str = "hunter2-9f8c61d2a7";
    let forms: [fn(u8) -> String; 4] = [
        |byte| format!("&#{byte};"),
        |byte| format!("&#{byte}"),
        |byte| format!("&#X{byte:x}"),
        |byte| format!("&#{byte:012}"),
    ];
    for form in forms {
        let spelled: String = VALUE.bytes().map(form).collect();
        let left = scrubber(VALUE).scrub_bytes(format!("<b>{spelled}</b>").as_bytes()).into_owned();
        assert!(!String::from_utf8(left).unwrap().contains("&#"), "{spelled}");
    }
}

/// The same text takes as long whatever the value is, and however long it is within the usual.
#[test]
fn a_search_takes_as_long_for_any_value() {
    let text = "key=hunter2-9f8c61d2a7 %68%75 &#104; \\u0068 aHVudGVyMi0 68756e74 h\0u\0n\0t\0 \u{e9}\n".repeat(20);
    let usual = work_on(&scrubber("another-value-altogether"), text.as_bytes());
    for value in ["hunter2-8f8c61d2a7", "123456", "q\u{e9}-passphrase", &"long".repeat(17)] {
        assert_eq!(work_on(&scrubber(value), text.as_bytes()), usual, "{value}");
    }
}

/// It is all done once for each byte, however small the pieces are.
#[test]
fn a_stream_in_small_pieces_takes_no_more_than_in_large_ones() {
    let (scrubber, text) = (scrubber("hunter2-9f8c61d2a7"), vec![b'.'; 20_000]);
    let of = |size: usize| {
        let (mut scrubbing, mut out) = (Scrubbing::new(scrubber.clone()), Vec::new());
        work::of(|| text.chunks(size).for_each(|piece| scrubbing.push(piece, &mut out)))
    };
    assert_eq!(of(1), of(20_000));
}

/// Against a plain search: 2000 texts, made of pieces of the value and of what is not, in pieces and whole.
#[test]
fn a_stream_gives_what_a_whole_text_gives() {
    let scrubber = scrubber("abcabd\u{e9}");
    let parts = [
        "abcabd\u{e9}",
        "abcabd",
        "abc",
        "\u{e9}",
        "&#xe9;",
        "\\u00e9",
        "%C3%A9",
        "\n",
        "+",
        "YWJjYWJkw6k",
        "616263",
        "&#",
    ];
    let mut seed = 1u32;
    let mut next = move |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        usize::try_from(seed >> 16).unwrap() % below
    };
    for _ in 0..2000 {
        let text: String = (0..next(12)).map(|_| parts[next(parts.len())]).collect();
        let (mut scrubbing, mut out, size) = (Scrubbing::new(scrubber.clone()), Vec::new(), 1 + next(9));
        text.as_bytes().chunks(size).for_each(|piece| scrubbing.push(piece, &mut out));
        scrubbing.finish(&mut out);
        assert_eq!(String::from_utf8_lossy(&out), scrubber.scrub(&text), "{text}");
    }
}
