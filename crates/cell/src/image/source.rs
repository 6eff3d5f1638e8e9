//! What an image is compiled from: a module in a file without a name, mapped for the compiler.
//!
//! Wasmtime's compiler borrows the module until it is done, and has copies of its data besides, two at a time. As the module may be hundreds
//! of megabytes, it is not in memory of our own but in a mapped file, whose pages go once the compiler has its first copy:
//!
//! ```text
//!                          parse, lay out   │ compile      append to the object   write the object out
//!   module (mapped)        ████████████████ │ released
//!   the memory, laid out          █████████ │ █████████████████████████████
//!   the object's section                    │                   ███████████   ████████████████████
//!   the artefact                            │                                 ████████████████████
//! ```

use std::fs::File;
use std::sync::Arc;

use memmap2::{Mmap, UncheckedAdvice};

/// A module, mapped. Clones are of the same mapping.
#[derive(Clone)]
pub struct ModuleSource(Arc<Mmap>);

impl ModuleSource {
    /// Maps what was written to `file`, which has no name: nobody else can have it open.
    #[allow(unsafe_code)]
    pub fn map_file(file: &File) -> std::io::Result<ModuleSource> {
        // SAFETY: a mapped file must not change. This one has no name, so that only this process could write to it or make it
        // shorter, and nothing does.
        let mapped = unsafe { Mmap::map(file)? };
        Ok(ModuleSource(Arc::new(mapped)))
    }

    /// The module, as WebAssembly.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Gives the pages back; whoever reads on gets them from the file again.
    #[allow(unsafe_code)]
    pub fn release_pages(&self) {
        // SAFETY: advice that may change what is read is for pages that were written to. Those of a read-only mapping are the
        // file's, before and after.
        let _ = unsafe { self.0.unchecked_advise(UncheckedAdvice::DontNeed) };
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn pages_that_were_given_back_read_the_same() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..100_000_u32).map(|place| (place % 251) as u8).collect();
        file.write_all(&bytes).unwrap();
        let source = ModuleSource::map_file(&file).unwrap();
        assert_eq!(source.bytes(), bytes);
        source.release_pages();
        assert_eq!(source.bytes(), bytes);
    }
}
