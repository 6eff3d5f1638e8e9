//! The error numbers of WASI preview 1 that the file system and the host functions give to a cell.
//!
//! Not a host error: what goes wrong on the host's side is kept by the [`Vfs`](super::Vfs), the cell only sees `Io`.

/// A WASI preview 1 error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("WASI error {self:?}")]
#[repr(u16)]
pub enum Errno {
    Acces = 2,
    Afnosupport = 5,
    Again = 6,
    Badf = 8,
    Busy = 10,
    Exist = 20,
    Fault = 21,
    Fbig = 22,
    Ilseq = 25,
    Inval = 28,
    Io = 29,
    Isdir = 31,
    Loop = 32,
    Mfile = 33,
    Nametoolong = 37,
    Noent = 44,
    Nomem = 48,
    Nospc = 51,
    Nosys = 52,
    Notdir = 54,
    Notempty = 55,
    Notsup = 58,
    Notty = 59,
    Range = 68,
    Rofs = 69,
    Spipe = 70,
    Xdev = 75,
}
