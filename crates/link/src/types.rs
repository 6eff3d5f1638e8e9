//! Function types, each once.

use std::collections::HashMap;

use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{FuncType, TypeSection};

use crate::limits::{MAX_TYPES, check_amount};
use crate::{LinkError, Refusal};

/// The types of the output. An index stays what it is.
#[derive(Default)]
pub(crate) struct TypePool {
    types: Vec<FuncType>,
    indices: HashMap<FuncType, u32>,
}

impl TypePool {
    /// The index of a type, which is added if there is none like it.
    pub fn add(&mut self, kind: FuncType) -> u32 {
        if let Some(&index) = self.indices.get(&kind) {
            return index;
        }
        let index = self.types.len() as u32;
        self.types.push(kind.clone());
        self.indices.insert(kind, index);
        index
    }

    /// Adds all types of a module; the index of each in the output.
    pub fn add_all(&mut self, module: &str, types: &[wasmparser::FuncType]) -> Result<Vec<u32>, LinkError> {
        types.iter().map(|kind| Ok(self.add(encode_type(module, kind)?))).collect()
    }

    /// Appends types as they are, whether or not there are such: for a module that keeps its indices.
    pub fn append_all(&mut self, module: &str, types: &[wasmparser::FuncType]) -> Result<(), LinkError> {
        for kind in types {
            let kind = encode_type(module, kind)?;
            self.indices.entry(kind.clone()).or_insert(self.types.len() as u32);
            self.types.push(kind);
        }
        Ok(())
    }

    pub fn section(&self) -> Result<TypeSection, LinkError> {
        check_amount("types", self.types.len() as u64, MAX_TYPES)?;
        let mut section = TypeSection::new();
        for kind in &self.types {
            section.ty().func_type(kind);
        }
        Ok(section)
    }
}

/// A function type, for the encoder.
pub(crate) fn encode_type(module: &str, kind: &wasmparser::FuncType) -> Result<FuncType, LinkError> {
    RoundtripReencoder.func_type(kind.clone()).map_err(|_| Refusal::Index.of(module))
}
