//! The exception pass alone, over one module that stays as it is otherwise: to be held against other translators and engines.

use wasm_encoder::reencode::Reencode;
use wasm_encoder::{CodeSection, Module, RawSection};
use wasmparser::{Parser, Payload};

use crate::error::{name_parse, name_rewrite};
use crate::exceptions::{BodyFacts, Landings, translate_body};
use crate::input::Input;
use crate::limits::{MAX_INPUT_BYTES, check_amount};
use crate::types::{TypePool, encode_type};
use crate::{LinkError, Refusal};

/// Keeps every index.
struct SameIndices;

impl Reencode for SameIndices {
    type Error = Refusal;
}

/// Translates legacy exceptions in a module; the rest of it, with all sections and indices, stays.
pub fn translate_exceptions(module: &[u8]) -> Result<Vec<u8>, LinkError> {
    const NAME: &str = "module";
    check_amount("bytes of input", module.len() as u64, MAX_INPUT_BYTES)?;
    let input = Input::parse(NAME, module)?;
    let mut types = TypePool::default();
    types.append_all(NAME, &input.types)?;
    let landings = tag_landings(&input, &mut types)?;
    let mut out = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload.map_err(|source| name_parse(NAME, source))?;
        let Some((id, range)) = payload.as_section() else { continue };
        match payload {
            Payload::TypeSection(_) => _ = out.section(&types.section()?),
            Payload::CodeSectionStart { .. } => _ = out.section(&translate_code(&input, &landings)?),
            // Bodies: they are in the section above.
            Payload::CodeSectionEntry(_) => {}
            // Maps of code to sources would be wrong now; names stay right, since no index changes.
            _ => _ = out.section(&RawSection { id, data: module.get(range).unwrap_or_default() }),
        }
    }
    Ok(out.finish())
}

fn tag_landings(input: &Input<'_>, types: &mut TypePool) -> Result<Landings, LinkError> {
    let mut landings = Landings::default();
    for &tag in input.imported_tags.iter().map(|(_, kind)| kind).chain(&input.tags) {
        let kind = input.types.get(tag as usize).ok_or_else(|| Refusal::Index.of(input.name))?;
        landings.add(encode_type(input.name, kind)?.params(), types);
    }
    Ok(landings)
}

fn translate_code(input: &Input<'_>, landings: &Landings) -> Result<CodeSection, LinkError> {
    let mut code = CodeSection::new();
    for (index, body) in (input.imported_functions.len() as u32..).zip(&input.bodies) {
        let params = input.signature(index)?.params().len() as u32;
        let facts = BodyFacts { params, types: &input.types, landings };
        let function =
            translate_body(&mut SameIndices, body, &facts).map_err(|error| name_rewrite(input.name, error))?;
        code.function(&function);
    }
    Ok(code)
}
