//! What is linked is valid, the same each time, and means what it should; what is not understood is refused by name.
//!
//! That translated and linked programs *do* the same is shown by running them: `scripts/compare-exceptions.mjs`.

mod build;
mod exceptions;
mod limits;
mod linking;
mod properties;
mod real;
mod refusals;

use wasmparser::{Operator, Parser, Payload, Validator, WasmFeatures};

use crate::input::FEATURES;

/// What the output may use: no legacy exceptions, but `ref.test` on functions, for the trampoline.
fn output_features() -> WasmFeatures {
    FEATURES.difference(WasmFeatures::LEGACY_EXCEPTIONS) | WasmFeatures::GC | WasmFeatures::FUNCTION_REFERENCES
}

#[track_caller]
fn assert_valid(module: &[u8]) {
    if let Err(error) = Validator::new_with_features(output_features()).validate_all(module) {
        panic!("the output is not valid: {error}");
    }
}

/// Calls `look` with each instruction of each body.
fn for_each_operator(module: &[u8], mut look: impl FnMut(usize, Operator<'_>)) {
    let mut body = 0;
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CodeSectionEntry(entry) = payload.expect("a payload") {
            for operator in entry.get_operators_reader().expect("a body") {
                look(body, operator.expect("an operator"));
            }
            body += 1;
        }
    }
}

/// The instructions of one body, as text.
fn body_text(module: &[u8], wanted: usize) -> Vec<String> {
    let mut text = Vec::new();
    for_each_operator(module, |body, operator| {
        if body == wanted {
            text.push(format!("{operator:?}"));
        }
    });
    text
}
