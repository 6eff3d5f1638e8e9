//! Why modules can't be linked. Names in it are a stranger's, and are quoted where the error is made.

use skillcell_quote::brief;
use wasm_encoder::reencode;

/// Why modules can't be linked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    #[error("`{module}` is not WebAssembly of the kind that is linked")]
    Invalid { module: String, source: wasmparser::BinaryReaderError },
    #[error("`{module}` {reason}")]
    Refused { module: String, reason: Refusal },
    #[error("{what} are more than {limit}")]
    TooMuch { what: &'static str, limit: u64 },
}

/// What of a module is not understood, or contradicts itself or the others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    #[error("has a passive or declared segment")]
    InactiveSegment,
    #[error("has element expressions")]
    ElementExpressions,
    #[error("places a segment of {length} at {offset}, outside of its own space")]
    SegmentOutside { offset: u32, length: u64 },
    #[error("has a segment for table {0}")]
    SegmentOfOtherTable(u32),
    #[error("has a constant expression with `{0}`")]
    ConstantExpression(String),
    #[error("has a global that is not an `i32`")]
    GlobalType,
    #[error("writes to the imported global `{0}`")]
    GlobalWrite(String),
    #[error("imports `{0}`, which is not known")]
    UnknownImport(String),
    #[error("imports `{0}` as something else than it is")]
    ImportMismatch(String),
    #[error("imports `{0}` through itself")]
    EndlessImport(String),
    #[error("does not export `{0}`")]
    NoExport(String),
    #[error("has a tag of its own")]
    OwnTag,
    #[error("has a memory of its own")]
    OwnMemory,
    #[error("has a table of its own")]
    OwnTable,
    #[error("has no memory of its own")]
    NoMemory,
    #[error("has no function table of its own")]
    NoTable,
    #[error("has a start function")]
    Start,
    #[error("has no `dylink.0` section in front")]
    NoDylink,
    #[error("has the subsection {0} in `dylink.0`")]
    Subsection(u8),
    #[error("has the same subsection of `dylink.0` twice")]
    SubsectionTwice,
    #[error("exports `{0}` as thread-local")]
    ThreadLocal(String),
    #[error("asks for an alignment of 2^{0}")]
    Alignment(u32),
    #[error("needs `{0}`, which is not given")]
    NoLibrary(String),
    #[error("writes to the function table")]
    TableWrite,
    #[error("uses `{0}`")]
    Instruction(&'static str),
    #[error("has a `try` that takes parameters")]
    TryParameters,
    #[error("has a function that is too large once its exceptions are translated")]
    FunctionSize,
    #[error("has code that does not nest")]
    Nesting,
    #[error("has an index that is out of range")]
    Index,
}

impl Refusal {
    /// Of the module with this name.
    pub(crate) fn of(self, module: &str) -> LinkError {
        LinkError::Refused { module: brief(module), reason: self }
    }
}

/// The error of rewriting code: of the parser, of the encoder, or a refusal of ours.
pub(crate) type RewriteError = reencode::Error<Refusal>;

impl From<Refusal> for RewriteError {
    fn from(reason: Refusal) -> RewriteError {
        reencode::Error::UserError(reason)
    }
}

/// Says which module could not be rewritten.
pub(crate) fn name_rewrite(module: &str, error: RewriteError) -> LinkError {
    match error {
        reencode::Error::UserError(reason) => reason.of(module),
        reencode::Error::ParseError(source) => name_parse(module, source),
        // The rest is about types of garbage collection and components, which the validator has refused before.
        _ => Refusal::Index.of(module),
    }
}

/// Says which module could not be parsed.
pub(crate) fn name_parse(module: &str, source: wasmparser::BinaryReaderError) -> LinkError {
    LinkError::Invalid { module: brief(module), source }
}
