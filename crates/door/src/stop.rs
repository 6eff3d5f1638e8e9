//! How a host function ends a call. Apart from the functions, because the door ends calls too and knows no Wasmtime.

use skillcell_limits::LimitKind;

/// Why a host function ended the call instead of returning to the guest. Found in a Wasmtime error by `downcast_ref`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    #[error("limit {0:?} exceeded")]
    Exceeded(LimitKind),
    #[error("the call was cancelled")]
    Cancelled,
    #[error("the guest exited with status {0}")]
    Exit(i32),
    #[error("the guest has no memory to call the host with")]
    NoMemory,
    #[error("the host has no random numbers to give")]
    NoEntropy,
}
