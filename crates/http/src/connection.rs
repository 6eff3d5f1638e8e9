//! A connection to a server, plain or TLS. Its socket is non-blocking; all waiting is done in `wait`.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::PollFlags;
use rustls::{ClientConfig, ClientConnection};

use crate::error::HttpError;
use crate::place::Place;
use crate::response::Response;
use crate::tls;
use crate::wait::{Wait, is_timeout};

/// How much is read from a server at once.
const PIECE_BYTES: usize = 64 << 10;
/// The most reads, of about 4 KiB each, that one check for data spends on TLS's own records.
const MAX_UNASKED_READS: usize = 8;

/// Identifies connections that are interchangeable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub tls: bool,
    pub place: Place,
    /// The proxy's address, if the connection goes through one.
    pub address: SocketAddr,
    pub proxied: bool,
}

/// An open connection, pinned to the address that was checked.
pub struct Connection {
    pub key: Key,
    /// It served a request before, so the server may have closed it.
    pub reused: bool,
    /// The only call that may reuse it, because it sent a body on it. See `pool.rs`.
    pub only_for: Option<u64>,
    stream: Stream,
    /// The server accepts no more data.
    muted: bool,
    /// An error that was found while checking for data. It is kept because the kernel reports a socket error only once.
    broken: Option<ErrorKind>,
    /// Buffer of received data; `received[start..end]` is not consumed yet.
    received: Vec<u8>,
    start: usize,
    end: usize,
}

/// Plain, unless there is a session.
struct Stream {
    socket: TcpStream,
    session: Option<Box<ClientConnection>>,
}

/// Result of checking for received data without waiting.
enum Incoming {
    Nothing,
    /// Only TLS's own records, such as session tickets; there may be more.
    Records,
    /// Application data, or the end of the stream.
    Readable,
}

/// Adapts the non-blocking socket to blocking `Read` and `Write` with a deadline.
struct WaitingSocket<'a> {
    socket: &'a TcpStream,
    wait: Wait<'a>,
}

impl Connection {
    /// Takes a connected, non-blocking socket.
    pub fn new(key: Key, socket: TcpStream) -> Connection {
        let (stream, received) = (Stream { socket, session: None }, Vec::new());
        Connection {
            key,
            reused: false,
            only_for: None,
            stream,
            muted: false,
            broken: None,
            received,
            start: 0,
            end: 0,
        }
    }

    /// Asks the proxy for a tunnel to the place (`CONNECT`). Only for a connection that was not used yet.
    pub fn open_tunnel(&mut self, wait: Wait<'_>) -> Result<(), HttpError> {
        const DOING: &str = "waiting for the proxy";
        let place = &self.key.place;
        let failed = |reason: String| HttpError::Unreachable { place: place.to_string(), reason };
        let head = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n");
        let sent = self.stream.write(head.as_bytes(), wait).map_err(|error| match is_timeout(&error) {
            true => wait.timeout_error(DOING),
            false => failed("the proxy broke off".to_owned()),
        })?;
        if sent < head.len() {
            return Err(failed("the proxy takes nothing".to_owned()));
        }
        let mut scanned = 0;
        loop {
            if let Some((response, end)) = Response::parse_received(self.received(), &mut scanned, true)? {
                // TLS clients speak first, so bytes after the proxy's head are not from the server.
                if !(200..300).contains(&response.status) || end < self.received().len() {
                    let reason = format!("the proxy answered with status {}", response.status);
                    return Err(HttpError::Unreachable { place: self.key.place.to_string(), reason });
                }
                self.consume(end);
                return Ok(());
            }
            let place = self.key.place.to_string();
            match self.fill_buffer(wait) {
                Ok(1..) => {}
                Err(error) if is_timeout(&error) => return Err(wait.timeout_error(DOING)),
                _ => return Err(HttpError::Unreachable { place, reason: "the proxy broke off".to_owned() }),
            }
        }
    }

    /// Performs the TLS handshake. Only for a connection that was not used yet.
    pub fn start_tls(mut self, config: &Arc<ClientConfig>, wait: Wait<'_>) -> Result<Connection, HttpError> {
        if self.stream.session.is_some() {
            return Ok(self);
        }
        if self.key.proxied {
            self.open_tunnel(wait)?;
        }
        let place = &self.key.place;
        let name = tls::server_name(place)?;
        let mut session =
            ClientConnection::new(config.clone(), name).map_err(|error| tls::handshake_error(place, &error))?;
        let mut waiting = WaitingSocket { socket: &self.stream.socket, wait };
        while session.is_handshaking() {
            match session.complete_io(&mut waiting) {
                Ok((0, 0)) => return Err(tls::tls_error(place, "the server closed the connection")),
                Ok(_) => {}
                Err(error) => return Err(handshake_error(place, &error, wait)),
            }
        }
        let stream = Stream { session: Some(Box::new(session)), ..self.stream };
        Ok(Connection { key: Key { tls: true, ..self.key }, stream, ..self })
    }

    /// Received data that was not consumed yet.
    pub fn received(&self) -> &[u8] {
        &self.received[self.start..self.end]
    }

    pub fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Waits for more data and appends it to the buffer. 0 means the end of the stream.
    pub fn fill_buffer(&mut self, wait: Wait<'_>) -> io::Result<usize> {
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
        let count = self.stream.read(&mut self.received[self.end..self.end + PIECE_BYTES], wait);
        // Many servers close without TLS's close_notify; like Python's `ssl`, treat that as a normal end.
        let count = count.or_else(|error| if error.kind() == ErrorKind::UnexpectedEof { Ok(0) } else { Err(error) })?;
        self.end += count;
        Ok(count)
    }

    /// Sends all bytes; each write must make progress within `idle`.
    pub fn send_all(&mut self, mut bytes: &[u8], idle: Duration, wait: Wait<'_>) -> io::Result<()> {
        while !bytes.is_empty() && !self.muted {
            let count = self.stream.write(bytes, wait.at_most(idle))?;
            if count == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
            bytes = &bytes[count..];
        }
        if self.muted { Ok(()) } else { self.stream.flush(wait.at_most(idle)) }
    }

    /// Drops everything sent from now on; reading is still possible.
    pub fn stop_sending(&mut self) {
        self.muted = true;
    }

    pub fn is_muted(&self) -> bool {
        self.muted
    }

    /// Whether a read would return at once with data, the end or an error. Ignores data that is already in the buffer.
    pub fn has_more(&mut self) -> bool {
        match self.stream.poll_incoming() {
            _ if self.broken.is_some() => true,
            Ok(incoming) => matches!(incoming, Incoming::Readable),
            Err(error) => {
                self.broken = Some(error.kind());
                true
            }
        }
    }

    /// The descriptor to poll for more data.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.socket.as_fd()
    }

    /// Whether the connection can be reused: still open, with no unexpected data. A few TLS records are tolerated.
    pub fn is_quiet(&mut self) -> bool {
        !self.muted && self.start == self.end && matches!(self.stream.poll_incoming(), Ok(Incoming::Nothing))
    }
}

impl Stream {
    fn read(&mut self, buffer: &mut [u8], wait: Wait<'_>) -> io::Result<usize> {
        let mut waiting = WaitingSocket { socket: &self.socket, wait };
        match &mut self.session {
            None => waiting.read(buffer),
            Some(session) => rustls::Stream::new(session.as_mut(), &mut waiting).read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8], wait: Wait<'_>) -> io::Result<usize> {
        let mut waiting = WaitingSocket { socket: &self.socket, wait };
        match &mut self.session {
            None => waiting.write(bytes),
            Some(session) => rustls::Stream::new(session.as_mut(), &mut waiting).write(bytes),
        }
    }

    fn flush(&mut self, wait: Wait<'_>) -> io::Result<()> {
        let mut waiting = WaitingSocket { socket: &self.socket, wait };
        match &mut self.session {
            None => Ok(()),
            Some(session) => rustls::Stream::new(session.as_mut(), &mut waiting).flush(),
        }
    }

    /// Checks for data without waiting. TLS records are processed, to tell application data from TLS's own.
    fn poll_incoming(&mut self) -> io::Result<Incoming> {
        let Some(session) = &mut self.session else {
            return match unless_blocked(|| self.socket.peek(&mut [0]))? {
                Some(_) => Ok(Incoming::Readable),
                None => Ok(Incoming::Nothing),
            };
        };
        for _ in 0..MAX_UNASKED_READS {
            let state = session.process_new_packets().map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            if state.plaintext_bytes_to_read() > 0 || state.peer_has_closed() {
                return Ok(Incoming::Readable);
            }
            match unless_blocked(|| session.read_tls(&mut self.socket))? {
                None => return Ok(Incoming::Nothing),
                Some(0) => return Ok(Incoming::Readable),
                Some(_) => {}
            }
        }
        Ok(Incoming::Records)
    }
}

impl Read for WaitingSocket<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut socket = self.socket;
        self.retry_when_ready(PollFlags::IN, || socket.read(buffer))
    }
}

impl Write for WaitingSocket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut socket = self.socket;
        self.retry_when_ready(PollFlags::OUT, || socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WaitingSocket<'_> {
    /// Checks the deadline even if the socket is always ready, because a fast server could keep the loop busy for ever.
    fn retry_when_ready<T>(&self, flags: PollFlags, mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        loop {
            if self.wait.is_over() {
                return Err(ErrorKind::TimedOut.into());
            }
            match unless_blocked(&mut operation)? {
                Some(done) => return Ok(done),
                None => self.wait.poll_sockets(&[(self.socket.as_fd(), flags)])?,
            }
        }
    }
}

/// Runs a non-blocking operation; `None` if it would block.
fn unless_blocked<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<Option<T>> {
    loop {
        match operation() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            result => return result.map(Some),
        }
    }
}

fn handshake_error(place: &Place, error: &io::Error, wait: Wait<'_>) -> HttpError {
    if is_timeout(error) {
        return wait.timeout_error("shaking hands");
    }
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(error) => tls::handshake_error(place, error),
        None if error.kind() == ErrorKind::UnexpectedEof => tls::tls_error(place, "the server closed the connection"),
        None => tls::tls_error(place, error),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::connect::connect_first;
    use crate::limits::from_now;
    use skillcell_limits::cancel::CancelToken;

    #[test]
    fn looking_for_bytes_does_not_turn_a_reset_into_an_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let cancel = CancelToken::default();
        let wait = Wait::new(from_now(Duration::from_secs(10)), &cancel);
        let (socket, _) = connect_first(&[address], wait).unwrap();
        let place = Place::parse("127.0.0.1", address.port()).unwrap();
        let mut connection = Connection::new(Key { tls: false, place, address, proxied: false }, socket);
        let (mut server, _) = listener.accept().unwrap();
        connection.send_all(b"more than is read", Duration::from_secs(1), wait).unwrap();
        server.read_exact(&mut [0]).unwrap();
        drop(server);
        wait.poll_sockets(&[(connection.descriptor(), PollFlags::IN)]).unwrap();
        assert!(connection.has_more());
        assert_eq!(connection.fill_buffer(wait).map_err(|error| error.kind()), Err(ErrorKind::ConnectionReset));
    }
}
