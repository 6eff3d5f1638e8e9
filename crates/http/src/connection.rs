//! A connection to a server: plain or TLS, every wait bounded by a deadline.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{ClientConfig, ClientConnection};

use crate::error::HttpError;
use crate::limits::from_now;
use crate::place::Place;
use crate::tls;

/// How much is read from a server at once.
const PIECE_BYTES: usize = 64 << 10;
/// The most reads, of some 4 KiB, that what TLS says between two requests may take.
const MAX_UNASKED_READS: usize = 8;

/// Which connections can stand for each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub tls: bool,
    pub place: Place,
    pub address: SocketAddr,
}

/// An open connection, pinned to the address that was checked.
pub struct Connection {
    pub key: Key,
    /// It served a request before, so the server may have given it up.
    pub reused: bool,
    /// The call that alone may use it again: it sent a body on it. See `pool.rs`.
    pub only_for: Option<u64>,
    stream: Stream,
    /// The server takes nothing more.
    muted: bool,
    /// What looking for bytes found instead: the kernel tells of an error once, and of an end after that.
    broken: Option<ErrorKind>,
    /// What came from the server and was not consumed: `received[start..end]`.
    received: Vec<u8>,
    start: usize,
    end: usize,
}

/// Plain, unless there is a session.
struct Stream {
    socket: TcpStream,
    session: Option<Box<ClientConnection>>,
}

/// A socket whose every system call ends in time. A socket's own time-out would start anew with each byte of a record.
struct Timed<'a> {
    socket: &'a TcpStream,
    by: Instant,
}

impl Connection {
    /// Connects, within the deadline.
    pub fn open(place: &Place, address: SocketAddr, deadline: Instant) -> io::Result<Connection> {
        let socket = TcpStream::connect_timeout(&address, left(deadline)?)?;
        socket.set_nodelay(true)?;
        let key = Key { tls: false, place: place.clone(), address };
        let (stream, received) = (Stream { socket, session: None }, Vec::new());
        Ok(Connection {
            key,
            reused: false,
            only_for: None,
            stream,
            muted: false,
            broken: None,
            received,
            start: 0,
            end: 0,
        })
    }

    /// Shakes hands. Only a connection that carried nothing can become TLS.
    pub fn start_tls(self, config: &Arc<ClientConfig>, deadline: Instant) -> Result<Connection, HttpError> {
        if self.stream.session.is_some() {
            return Ok(self);
        }
        let place = &self.key.place;
        let name = tls::server_name(place)?;
        let mut session = ClientConnection::new(config.clone(), name).map_err(|error| tls::failed(place, error))?;
        let mut timed = Timed { socket: &self.stream.socket, by: deadline };
        while session.is_handshaking() {
            match session.complete_io(&mut timed) {
                Ok((0, 0)) => return Err(tls::failed(place, "the server closed the connection")),
                Ok(_) => {}
                Err(error) => return Err(handshake_error(place, &error)),
            }
        }
        let stream = Stream { session: Some(Box::new(session)), ..self.stream };
        Ok(Connection { key: Key { tls: true, ..self.key }, stream, ..self })
    }

    /// What came from the server and was not consumed yet.
    pub fn received(&self) -> &[u8] {
        &self.received[self.start..self.end]
    }

    pub fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Waits for more from the server. 0 is the end.
    pub fn fill(&mut self, deadline: Instant) -> io::Result<usize> {
        if let Some(kind) = self.broken {
            return Err(kind.into());
        }
        if self.start > 0 {
            self.received.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.received.len() < self.end + PIECE_BYTES {
            self.received.resize(self.end + PIECE_BYTES, 0);
        }
        let count = self.stream.read(&mut self.received[self.end..self.end + PIECE_BYTES], deadline);
        // Many servers end TLS without saying so; bodies that end with the connection are taken as they come, as by `ssl`.
        let count = count.or_else(|error| if error.kind() == ErrorKind::UnexpectedEof { Ok(0) } else { Err(error) })?;
        self.end += count;
        Ok(count)
    }

    /// Sends all of it; each piece within `idle`, all of it within the deadline.
    pub fn send(&mut self, mut bytes: &[u8], idle: Duration, deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() && !self.muted {
            let count = self.stream.write(bytes, deadline.min(from_now(idle)))?;
            if count == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
            bytes = &bytes[count..];
        }
        if self.muted { Ok(()) } else { self.stream.flush(deadline.min(from_now(idle))) }
    }

    /// From now on, what would be sent is dropped; there may still be something to read.
    pub fn mute(&mut self) {
        self.muted = true;
    }

    pub fn is_muted(&self) -> bool {
        self.muted
    }

    /// Whether reading would not wait: there is more, an end or an error. What was received already is not looked at.
    pub fn has_more(&mut self) -> bool {
        if let Some(session) = &mut self.stream.session
            && session.process_new_packets().map_or(true, |state| state.plaintext_bytes_to_read() > 0)
        {
            return true;
        }
        let socket = &self.stream.socket;
        if socket.set_nonblocking(true).is_err() {
            return true;
        }
        let peeked = socket.peek(&mut [0]);
        let silent = peeked.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        let blocks = socket.set_nonblocking(false).is_ok();
        self.note(peeked);
        !blocks || !silent
    }

    fn note(&mut self, peeked: io::Result<usize>) {
        let lasting = peeked.err().filter(|error| !is_timeout(error) && error.kind() != ErrorKind::Interrupted);
        self.broken = self.broken.or(lasting.map(|error| error.kind()));
    }

    /// Waits for the server to say something, or for the deadline. Nothing is consumed.
    pub fn wait_for_bytes(&mut self, deadline: Instant) {
        let socket = &self.stream.socket;
        if left(deadline).and_then(|left| socket.set_read_timeout(Some(left))).is_ok() {
            let peeked = socket.peek(&mut [0]);
            self.note(peeked);
        }
    }

    /// Whether the server neither closed it nor said anything unasked.
    pub fn is_quiet(&mut self) -> bool {
        if self.muted || self.start != self.end || self.stream.socket.set_nonblocking(true).is_err() {
            return false;
        }
        let quiet = self.stream.is_quiet();
        self.stream.socket.set_nonblocking(false).is_ok() && quiet
    }
}

impl Stream {
    fn read(&mut self, buffer: &mut [u8], by: Instant) -> io::Result<usize> {
        let mut timed = Timed { socket: &self.socket, by };
        match &mut self.session {
            None => timed.read(buffer),
            Some(session) => rustls::Stream::new(session.as_mut(), &mut timed).read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8], by: Instant) -> io::Result<usize> {
        let mut timed = Timed { socket: &self.socket, by };
        match &mut self.session {
            None => timed.write(bytes),
            Some(session) => rustls::Stream::new(session.as_mut(), &mut timed).write(bytes),
        }
    }

    fn flush(&mut self, by: Instant) -> io::Result<()> {
        let mut timed = Timed { socket: &self.socket, by };
        match &mut self.session {
            None => Ok(()),
            Some(session) => rustls::Stream::new(session.as_mut(), &mut timed).flush(),
        }
    }

    /// With a socket that doesn't block. TLS may have something to say between requests: session tickets, but not for ever.
    fn is_quiet(&mut self) -> bool {
        let blocks = |error: &io::Error| error.kind() == ErrorKind::WouldBlock;
        let Some(session) = &mut self.session else {
            return self.socket.peek(&mut [0]).is_err_and(|error| blocks(&error));
        };
        for _ in 0..MAX_UNASKED_READS {
            match session.read_tls(&mut self.socket) {
                Err(error) => return blocks(&error),
                Ok(0) => return false,
                Ok(_) => match session.process_new_packets() {
                    Ok(state) if state.plaintext_bytes_to_read() == 0 && !state.peer_has_closed() => {}
                    _ => return false,
                },
            }
        }
        false
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        retry(|| {
            self.socket.set_read_timeout(Some(left(self.by)?))?;
            self.socket.read(buffer)
        })
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        retry(|| {
            self.socket.set_write_timeout(Some(left(self.by)?))?;
            self.socket.write(bytes)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether an error means that time ran out.
pub fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// A time-out of the socket is final: rustls would take `WouldBlock` for a reason to do something else meanwhile.
fn retry<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match operation() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if is_timeout(&error) => return Err(ErrorKind::TimedOut.into()),
            result => return result,
        }
    }
}

fn left(deadline: Instant) -> io::Result<Duration> {
    match deadline.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(ErrorKind::TimedOut.into()),
        left => Ok(left),
    }
}

fn handshake_error(place: &Place, error: &io::Error) -> HttpError {
    if is_timeout(error) {
        return HttpError::TimedOut { doing: "shaking hands" };
    }
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(error) => tls::failed(place, error),
        None if error.kind() == ErrorKind::UnexpectedEof => tls::failed(place, "the server closed the connection"),
        None => tls::failed(place, error),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn looking_for_bytes_does_not_turn_a_reset_into_an_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let by = from_now(Duration::from_secs(10));
        let mut connection =
            Connection::open(&Place::parse("127.0.0.1", address.port()).unwrap(), address, by).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        connection.send(b"more than is read", Duration::from_secs(1), by).unwrap();
        server.read_exact(&mut [0]).unwrap();
        drop(server);
        connection.wait_for_bytes(by);
        assert!(connection.has_more());
        assert_eq!(connection.fill(by).map_err(|error| error.kind()), Err(ErrorKind::ConnectionReset));
    }
}
