//! The `dylink.0` section of a side module: how much memory and table it takes, and which libraries it needs.

use skillcell_quote::brief;
use wasmparser::{Dylink0SectionReader, Dylink0Subsection, MemInfo, SymbolFlags};

use crate::error::name_parse;
use crate::limits::MAX_ALIGNMENT;
use crate::{LinkError, Refusal};

/// What a side module says about itself.
#[derive(Default)]
pub(crate) struct Dylink<'a> {
    pub memory_bytes: u32,
    /// As a power of two.
    pub memory_alignment: u32,
    pub table_slots: u32,
    /// As a power of two.
    pub table_alignment: u32,
    /// File names of libraries that have to be loaded before.
    pub needed: Vec<&'a str>,
}

impl<'a> Dylink<'a> {
    /// Reads the section. What a subsection means is fixed; one that is not known may change what the others mean.
    pub fn read(module: &str, reader: Dylink0SectionReader<'a>) -> Result<Dylink<'a>, LinkError> {
        let mut dylink = Dylink::default();
        let mut has_size = false;
        for subsection in reader {
            match subsection.map_err(|source| name_parse(module, source))? {
                Dylink0Subsection::MemInfo(_) if has_size => return Err(Refusal::SubsectionTwice.of(module)),
                Dylink0Subsection::MemInfo(info) => {
                    dylink.set_sizes(module, info)?;
                    has_size = true;
                }
                Dylink0Subsection::Needed(names) => dylink.needed.extend(names),
                Dylink0Subsection::ExportInfo(exports) => {
                    if let Some(export) = exports.iter().find(|export| export.flags.contains(SymbolFlags::TLS)) {
                        return Err(Refusal::ThreadLocal(brief(export.name)).of(module));
                    }
                }
                // Which imports may stay unresolved: all may. Where libraries would be looked for: they are given.
                Dylink0Subsection::ImportInfo(_) | Dylink0Subsection::RuntimePath(_) => {}
                Dylink0Subsection::Unknown { ty, .. } => return Err(Refusal::Subsection(ty).of(module)),
            }
        }
        Ok(dylink)
    }

    fn set_sizes(&mut self, module: &str, info: MemInfo) -> Result<(), LinkError> {
        for alignment in [info.memory_alignment, info.table_alignment] {
            if alignment > MAX_ALIGNMENT {
                return Err(Refusal::Alignment(alignment).of(module));
            }
        }
        self.memory_bytes = info.memory_size;
        self.memory_alignment = info.memory_alignment;
        self.table_slots = info.table_size;
        self.table_alignment = info.table_alignment;
        Ok(())
    }
}
