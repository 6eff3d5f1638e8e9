//! What systemd is told: when the service is ready, and when it stops. A line in a datagram; without systemd, nothing.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Sends `READY=1`, `STOPPING=1` or `STATUS=…` to whoever started this as a service. Nobody depends on its arrival.
pub fn notify(state: &str) {
    let _ = send_state(state);
}

fn send_state(state: &str) -> std::io::Result<()> {
    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else { return Ok(()) };
    let address = match path.as_bytes() {
        // An abstract name.
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(&path)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)?;
    Ok(())
}
