//! The form of translated code. What it does is shown by running it.

use wasm_encoder::BlockType::{Empty, Result as Returns};
use wasm_encoder::Instruction as I;
use wasm_encoder::ValType;

use super::build::Parts;
use super::{assert_valid, body_text};
use crate::translate_exceptions;

/// The names of the instructions that a body of type `() -> ()` becomes.
fn translate_body(body: &[I<'_>]) -> Vec<String> {
    let translated = translate_exceptions(&Parts::main().function(0, body).bytes()).expect("a translated module");
    assert_valid(&translated);
    let name = |line: String| line.split([' ', '{']).next().unwrap_or_default().to_owned();
    body_text(&translated, 0).into_iter().map(name).collect()
}

#[test]
fn a_body_without_exceptions_stays_as_it_is() {
    let body = [I::Block(Empty), I::Nop, I::Br(0), I::End];
    assert_eq!(translate_body(&body), ["Block", "Nop", "Br", "End", "End"]);
}

#[test]
fn an_exception_is_kept_only_where_it_is_thrown_again() {
    let dropped = translate_body(&[I::Try(Empty), I::Nop, I::CatchAll, I::Nop, I::End]);
    assert_eq!(dropped, ["Block", "Block", "TryTable", "Nop", "End", "Br", "End", "Nop", "End", "End"]);
    let kept = translate_body(&[I::Try(Empty), I::Nop, I::CatchAll, I::Rethrow(0), I::End]);
    let clause = ["LocalSet", "LocalGet", "ThrowRef"];
    assert_eq!(
        kept,
        [&["Block", "Block", "TryTable", "Nop", "End", "Br", "End"][..], &clause, &["End", "End"]].concat()
    );
}

#[test]
fn a_try_that_catches_nothing_is_a_block() {
    assert_eq!(translate_body(&[I::Try(Empty), I::Nop, I::End]), ["Block", "Nop", "End", "End"]);
}

#[test]
fn delegating_to_the_caller_throws_outside_of_everything() {
    let body = [I::Try(Empty), I::Try(Empty), I::Nop, I::Delegate(1), I::CatchAll, I::End];
    let text = translate_body(&body);
    assert_eq!(text[0], "Block");
    assert_eq!(text[text.len() - 4..], ["Return", "End", "ThrowRef", "End"]);
}

#[test]
fn what_is_delegated_to_one_that_delegates_goes_where_that_one_does() {
    // The outermost catches; the middle one delegates to it, the innermost to the middle one.
    let chained =
        [I::Try(Empty), I::Try(Empty), I::Try(Empty), I::Nop, I::Delegate(0), I::Delegate(0), I::CatchAll, I::End];
    let text = translate_body(&chained);
    assert_eq!(text.iter().filter(|name| *name == "TryTable").count(), 3);
    assert_eq!(text.iter().filter(|name| *name == "ThrowRef").count(), 1, "one entrance, in the outermost");
    // Through one that catches nothing: to the caller.
    let through = [I::Try(Empty), I::Try(Empty), I::Nop, I::Delegate(0), I::End];
    assert_eq!(translate_body(&through).iter().filter(|name| *name == "Return").count(), 1);
}

#[test]
fn clauses_side_by_side_share_a_local_and_those_inside_do_not() {
    let rethrowing = [I::Try(Empty), I::Nop, I::CatchAll, I::Rethrow(0), I::End];
    let side_by_side = [rethrowing.clone(), rethrowing.clone()].concat();
    let inside = [&[I::Try(Empty), I::Nop, I::CatchAll][..], &rethrowing, &[I::Rethrow(0), I::End]].concat();
    let locals = |body: &[I<'_>]| -> Vec<String> {
        let module = translate_exceptions(&Parts::main().function(0, body).bytes()).expect("a translated module");
        assert_valid(&module);
        body_text(&module, 0).into_iter().filter(|line| line.starts_with("LocalSet")).collect()
    };
    let set = |local: u32| format!("LocalSet {{ local_index: {local} }}");
    assert_eq!(locals(&side_by_side), [set(0), set(0)]);
    assert_eq!(locals(&inside), [set(0), set(1)]);
}

#[test]
fn values_and_branches_go_through_added_blocks() {
    let number = Returns(ValType::I32);
    let body = [
        I::Block(number),
        I::Try(number),
        I::I32Const(1),
        I::Br(1),
        I::Catch(0),
        I::Br(0),
        I::CatchAll,
        I::I32Const(2),
        I::I32Const(0),
        I::BrTable(vec![0, 1].into(), 1),
        I::End,
        I::End,
        I::Drop,
    ];
    translate_body(&body);
}

#[test]
fn code_of_the_standard_passes_through_with_its_labels_moved() {
    let tables = wasm_encoder::Catch::All { label: 0 };
    let body = [
        I::Try(Empty),
        I::Block(Empty),
        I::TryTable(Empty, vec![tables].into()),
        I::Nop,
        I::End,
        I::End,
        I::CatchAll,
        I::End,
    ];
    assert_eq!(translate_body(&body).iter().filter(|name| *name == "TryTable").count(), 2);
}

#[test]
fn nesting_as_deep_as_a_body_allows_takes_linear_time() {
    // Each delegates outwards; a search from each through all others would take minutes.
    const DEPTH: usize = 200_000;
    let opened = std::iter::repeat_n(I::Try(Empty), DEPTH);
    let delegated = std::iter::repeat_n(I::Delegate(0), DEPTH - 1);
    let body: Vec<I<'_>> = opened.chain(delegated).chain([I::CatchAll, I::End]).collect();
    assert!(translate_body(&body).len() > 2 * DEPTH);
}
