//! Which functions of a runtime's binary the host does in their place (`digests`), and the bodies that call it then.
//!
//! They are found by name. One whose name is missing or not unique, or whose type is another, stays as it is: a newer runtime
//! may be slower for that, never wrong.

use std::collections::BTreeMap;

use wasm_encoder::{BlockType, Function};
use wasmparser::{Name, NameSectionReader};

use crate::digests::Digest;

/// The functions that are replaced, by their index in the binary.
pub type ByHost = BTreeMap<u32, Replaced>;

/// What a function does, and with which arguments, all of them `i32`. There is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// `(block, state)`
    Block(Digest),
    /// `(state, blocks, count)`
    Blocks(Digest),
}

/// Of HACL*, which CPython has for where there is no OpenSSL. Whatever hashes with SHA-2 there comes through these two.
const KNOWN: [(&str, Replaced); 3] = [
    ("sha256_update", Replaced::Block(Digest::Sha256)),
    ("sha512_update", Replaced::Block(Digest::Sha512)),
    ("_Py_LibHacl_Hacl_Hash_SHA1_update_multi", Replaced::Blocks(Digest::Sha1)),
];

/// Those that a name section has once.
pub fn find_replaced(names: NameSectionReader<'_>) -> wasmparser::Result<ByHost> {
    let mut found: BTreeMap<&str, (u32, Replaced, u32)> = BTreeMap::new();
    for name in names {
        let Name::Function(functions) = name? else { continue };
        for naming in functions {
            let naming = naming?;
            if let Some((known, replaced)) = KNOWN.iter().find(|(known, _)| *known == naming.name) {
                found.entry(known).or_insert((naming.index, *replaced, 0)).2 += 1;
            }
        }
    }
    Ok(found.into_values().filter(|found| found.2 == 1).map(|(index, replaced, _)| (index, replaced)).collect())
}

impl Replaced {
    pub fn digest(self) -> Digest {
        match self {
            Replaced::Block(digest) | Replaced::Blocks(digest) => digest,
        }
    }

    pub fn has_type(self, ty: &wasmparser::FuncType) -> bool {
        let params = match self {
            Replaced::Block(_) => 2,
            Replaced::Blocks(_) => 3,
        };
        ty.results().is_empty() && ty.params() == &[wasmparser::ValType::I32; 3][..params]
    }

    /// The body that calls the host, which is the function `import` there.
    pub fn body(self, import: u32) -> Vec<u8> {
        let mut body = Function::new([]);
        let mut code = body.instructions();
        match self {
            Replaced::Block(_) => {
                code.local_get(0).local_get(1).call(import);
            }
            Replaced::Blocks(digest) => {
                code.block(BlockType::Empty).local_get(2).i32_eqz().br_if(0).loop_(BlockType::Empty);
                code.local_get(1).local_get(0).call(import);
                code.local_get(1).i32_const(digest.block_bytes()).i32_add().local_set(1);
                code.local_get(2).i32_const(1).i32_sub().local_tee(2).br_if(0).end().end();
            }
        }
        code.end();
        body.into_raw_body()
    }
}
