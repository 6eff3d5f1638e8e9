//! A connection to a server: plain or TLS, every wait bounded by a deadline.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::http::error::HttpError;
use crate::http::limits::from_now;
use crate::http::place::Place;
use crate::http::tls;

/// How much is read from a server at once.
const PIECE_BYTES: usize = 64 << 10;

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
    stream: Stream,
    /// The server takes nothing more.
    muted: bool,
    /// What came from the server and was not consumed: `received[start..end]`.
    received: Vec<u8>,
    start: usize,
    end: usize,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Connection {
    /// Connects, within the deadline.
    pub fn open(place: &Place, address: SocketAddr, deadline: Instant) -> io::Result<Connection> {
        let stream = TcpStream::connect_timeout(&address, left(deadline)?)?;
        stream.set_nodelay(true)?;
        let key = Key { tls: false, place: place.clone(), address };
        let (stream, received) = (Stream::Plain(stream), Vec::new());
        Ok(Connection { key, reused: false, stream, muted: false, received, start: 0, end: 0 })
    }

    /// Shakes hands. Only a connection that carried nothing can become TLS.
    pub fn start_tls(self, config: &Arc<ClientConfig>, deadline: Instant) -> Result<Connection, HttpError> {
        let Stream::Plain(mut socket) = self.stream else { return Ok(self) };
        let place = &self.key.place;
        let name = tls::server_name(place)?;
        let mut session = ClientConnection::new(config.clone(), name).map_err(|error| tls::failed(place, error))?;
        while session.is_handshaking() {
            let limited = limit(&socket, deadline).and_then(|()| session.complete_io(&mut socket));
            match limited {
                Ok((0, 0)) => return Err(tls::failed(place, "the server closed the connection")),
                Ok(_) => {}
                Err(error) => return Err(handshake_error(place, &error)),
            }
        }
        let stream = Stream::Tls(Box::new(StreamOwned::new(session, socket)));
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
        if self.start > 0 {
            self.received.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.received.len() < self.end + PIECE_BYTES {
            self.received.resize(self.end + PIECE_BYTES, 0);
        }
        let count = retry(|| {
            limit(self.stream.socket(), deadline)?;
            self.stream.read(&mut self.received[self.end..self.end + PIECE_BYTES])
        });
        // Many servers end TLS without saying so; bodies that end with the connection are taken as they come, as by `ssl`.
        let count = count.or_else(|error| if error.kind() == ErrorKind::UnexpectedEof { Ok(0) } else { Err(error) })?;
        self.end += count;
        Ok(count)
    }

    /// Sends all of it; each piece within `idle`, all of it within the deadline.
    pub fn send(&mut self, mut bytes: &[u8], idle: Duration, deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() && !self.muted {
            let by = deadline.min(from_now(idle));
            let count = retry(|| {
                limit(self.stream.socket(), by)?;
                self.stream.write(bytes)
            })?;
            if count == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
            bytes = &bytes[count..];
        }
        if self.muted { Ok(()) } else { self.stream.flush() }
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
        if let Stream::Tls(stream) = &mut self.stream
            && stream.conn.process_new_packets().map_or(true, |state| state.plaintext_bytes_to_read() > 0)
        {
            return true;
        }
        let socket = self.stream.socket();
        if socket.set_nonblocking(true).is_err() {
            return true;
        }
        let silent = socket.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        socket.set_nonblocking(false).is_err() || !silent
    }

    /// Waits for the server to say something, or for the deadline. Nothing is consumed.
    pub fn wait_for_bytes(&self, deadline: Instant) {
        let socket = self.stream.socket();
        if limit(socket, deadline).is_ok() {
            let _ = socket.peek(&mut [0]);
        }
    }

    /// Whether the server neither closed it nor said anything unasked.
    pub fn is_quiet(&mut self) -> bool {
        if self.muted || self.start != self.end || self.stream.socket().set_nonblocking(true).is_err() {
            return false;
        }
        let quiet = self.stream.is_quiet();
        self.stream.socket().set_nonblocking(false).is_ok() && quiet
    }
}

impl Stream {
    fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Tls(stream) => &stream.sock,
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(_) => Ok(()),
            Stream::Tls(stream) => retry(|| stream.flush()),
        }
    }

    /// With a socket that doesn't block. TLS may have something to say between requests: session tickets.
    fn is_quiet(&mut self) -> bool {
        let blocks = |error: &io::Error| error.kind() == ErrorKind::WouldBlock;
        match self {
            Stream::Plain(socket) => socket.peek(&mut [0]).is_err_and(|error| blocks(&error)),
            Stream::Tls(stream) => loop {
                let StreamOwned { conn, sock } = &mut **stream;
                match conn.read_tls(sock) {
                    Err(error) => return blocks(&error),
                    Ok(0) => return false,
                    Ok(_) => match conn.process_new_packets() {
                        Ok(state) if state.plaintext_bytes_to_read() == 0 && !state.peer_has_closed() => {}
                        _ => return false,
                    },
                }
            },
        }
    }
}

/// Whether an error means that time ran out.
pub fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn retry<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match operation() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn limit(socket: &TcpStream, deadline: Instant) -> io::Result<()> {
    let left = Some(left(deadline)?);
    socket.set_read_timeout(left)?;
    socket.set_write_timeout(left)
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
