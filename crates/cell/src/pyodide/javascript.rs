//! What the core imports and a cell does not have: JavaScript, sockets, mappings. A function that can give an error number says
//! `ENOSYS`; of JavaScript there is nothing to say, so it ends the call, as a crash that names the function.
//!
//! Here too: whether a core asks for no more than all this.

use std::collections::HashSet;

use skillcell_link::HostImport;
use wasmtime::{Caller, Engine, ExternType, FuncType, HeapType, Linker, Module, RefType, Store, Val, ValType};

use super::guest::number;
use crate::State;
use crate::wasi;
use skillcell_vfs::Errno;

const REFUSED: &str = include_str!("refused.txt");
const FOREIGN: &str = "env";

/// What becomes of a call to a function that is not offered.
#[derive(Clone, Copy)]
enum Answer {
    NotThere,
    Nothing,
    End,
}

pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    let mut answer = Answer::End;
    // The first paragraph is for people.
    for paragraph in REFUSED.split("\n\n").skip(1) {
        let mut lines = paragraph.lines();
        answer = match lines.next().and_then(|head| head.split(':').next()) {
            Some("not there") => Answer::NotThere,
            Some("nothing") => Answer::Nothing,
            Some("JavaScript") => Answer::End,
            _ => answer,
        };
        for line in lines {
            let mut words = line.split(' ');
            if let (Some(name), Some(params), Some(results)) = (words.next(), words.next(), words.next()) {
                refuse(linker, FOREIGN, name, signature(linker.engine(), params, results), answer)?;
            }
        }
    }
    linker.func_wrap(FOREIGN, "ffi_closure_alloc_js", new_closure)?;
    Ok(())
}

fn refuse(
    linker: &mut Linker<State>,
    module: &str,
    name: &str,
    kind: FuncType,
    answer: Answer,
) -> wasmtime::Result<()> {
    let called = name.to_owned();
    let gives_object = kind.results().any(|kind| kind.is_ref());
    linker.func_new(module, name, kind, move |mut caller: Caller<'_, State>, _, results| {
        caller.data_mut().count_host_call()?;
        let given = match answer {
            Answer::NotThere => Val::I32(number(Errno::Nosys)),
            Answer::Nothing if gives_object => Val::ExternRef(None),
            Answer::Nothing => Val::I32(0),
            Answer::End => {
                return Err(wasmtime::Error::msg(format!("it called `{called}`, which a cell does not have")));
            }
        };
        if let [result] = results {
            *result = given;
        }
        Ok(())
    })?;
    Ok(())
}

fn signature(engine: &Engine, params: &str, results: &str) -> FuncType {
    let kinds = |letters: &str| letters.chars().filter_map(value_type).collect::<Vec<_>>();
    FuncType::new(engine, kinds(params), kinds(results))
}

fn value_type(letter: char) -> Option<ValType> {
    match letter {
        'i' => Some(ValType::I32),
        'l' => Some(ValType::I64),
        'd' => Some(ValType::F64),
        'r' => Some(ValType::Ref(RefType::new(true, HeapType::Extern))),
        _ => None,
    }
}

/// `import ctypes` makes one. Its code is slot 0, which is empty: calling it ends the call.
fn new_closure(mut caller: Caller<'_, State>, size: u32, code: u32) -> wasmtime::Result<u32> {
    caller.data_mut().count_host_call()?;
    let Some(alloc) = caller.data().alloc.clone() else { return Ok(0) };
    let place = alloc.call(&mut caller, size.max(4))?;
    let written = super::guest::run(&mut caller, |_, guest| {
        guest.put_u32(code, 0)?;
        Ok(guest.put_u32(place, 0)?)
    })?;
    Ok(if place != 0 && written.is_ok() { place } else { 0 })
}

/// The first function of these that a core imports and this host does not have, if there is one.
pub fn check_imports(imports: &[HostImport]) -> wasmtime::Result<Option<String>> {
    let engine = Engine::default();
    let mut linker = Linker::new(&engine);
    wasi::add_to_linker(&mut linker, |state: &mut State| &mut state.wasi)?;
    super::add_to_linker(&mut linker)?;
    let mut store = Store::new(&engine, State::at_rest());
    let offered: HashSet<(String, String)> =
        linker.iter(&mut store).map(|(module, name, _)| (module.to_owned(), name.to_owned())).collect();
    let unknown = imports
        .iter()
        .find(|import| import.for_main && !offered.contains(&(import.module.clone(), import.name.clone())));
    Ok(unknown.map(|import| format!("{}.{}", import.module, import.name)))
}

/// Completes the host functions for this code: what a library imports and the core does not, the library may miss, so calling it
/// ends the call. What is offered must have the type that the code wants.
pub fn complete(linker: &mut Linker<State>, code: &Module) -> wasmtime::Result<()> {
    let mut store = Store::new(linker.engine(), State::at_rest());
    for import in code.imports() {
        let ExternType::Func(wanted) = import.ty() else { continue };
        let (module, name) = (import.module(), import.name());
        match linker.get(&mut store, module, name).ok().and_then(|found| found.into_func()) {
            Some(found) if FuncType::eq(&found.ty(&store), &wanted) => {}
            Some(_) => {
                return Err(wasmtime::Error::msg(format!("the runtime wants `{module}.{name}` of another type")));
            }
            None => refuse(linker, module, name, wanted, Answer::End)?,
        }
    }
    Ok(())
}
