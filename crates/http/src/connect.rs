//! Connects to the first of several addresses that answers, as in Happy Eyeballs (RFC 8305): address families alternate,
//! the next address is tried when one has failed or after 250 ms, and the first connection wins. Every address was
//! checked by the gate before.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::wait::{Wait, is_timeout};

/// How long an attempt runs before the next one starts in parallel.
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);
/// The most addresses that are tried; DNS may return any number.
const MAX_ATTEMPTS: usize = 16;

/// Returns a connected, non-blocking socket. The other attempts are closed.
pub fn connect_first(addresses: &[SocketAddr], wait: Wait<'_>) -> io::Result<(TcpStream, SocketAddr)> {
    let mut untried = interleave_families(addresses);
    let mut attempts: Vec<(TcpStream, SocketAddr)> = Vec::new();
    let (mut next_at, mut failure) = (Instant::now(), ErrorKind::AddrNotAvailable.into());
    loop {
        while (attempts.is_empty() || Instant::now() >= next_at)
            && !wait.is_over()
            && let Some(address) = untried.pop_front()
        {
            match start_attempt(address) {
                Ok(socket) => {
                    attempts.push((socket, address));
                    next_at = Instant::now() + ATTEMPT_DELAY;
                }
                Err(error) => failure = error,
            }
        }
        if attempts.is_empty() {
            return Err(if wait.is_over() { ErrorKind::TimedOut.into() } else { failure });
        }
        // Wake up in time to start the next attempt, if there is another address.
        let turn = if untried.is_empty() { wait } else { wait.no_later_than(next_at) };
        let sockets: Vec<(BorrowedFd<'_>, PollFlags)> =
            attempts.iter().map(|(socket, _)| (socket.as_fd(), PollFlags::OUT)).collect();
        match turn.poll_sockets(&sockets) {
            Err(error) if is_timeout(&error) && !wait.is_over() => {}
            polled => polled?,
        }
        let mut index = 0;
        while index < attempts.len() {
            match attempt_outcome(&attempts[index].0) {
                None => index += 1,
                Some(Ok(())) => return Ok(attempts.swap_remove(index)),
                // A failed attempt makes room for the next address without a delay.
                Some(Err(error)) => {
                    failure = error;
                    attempts.remove(index);
                    next_at = Instant::now();
                }
            }
        }
    }
}

/// The addresses in order, with alternating families, so that an unreachable family costs only one delay.
fn interleave_families(addresses: &[SocketAddr]) -> VecDeque<SocketAddr> {
    let Some(first) = addresses.first() else { return VecDeque::new() };
    let (same, other): (VecDeque<_>, VecDeque<_>) =
        addresses.iter().copied().partition(|address| address.is_ipv6() == first.is_ipv6());
    let mut turns = [same, other];
    let mut order = VecDeque::new();
    while order.len() < MAX_ATTEMPTS && turns.iter().any(|turn| !turn.is_empty()) {
        order.extend(turns.iter_mut().filter_map(VecDeque::pop_front));
    }
    order.truncate(MAX_ATTEMPTS);
    order
}

fn start_attempt(address: SocketAddr) -> io::Result<TcpStream> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let socket = TcpStream::from(socket);
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// The result of an attempt; `None` while it is in progress.
fn attempt_outcome(socket: &TcpStream) -> Option<io::Result<()>> {
    match (socket.take_error(), socket.peer_addr()) {
        (Err(error) | Ok(Some(error)), _) => Some(Err(error)),
        (Ok(None), Ok(_)) => Some(Ok(())),
        (Ok(None), Err(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::limits::from_now;
    use skillcell_limits::cancel::CancelToken;

    fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    /// A server whose queue is full: who connects to it hears nothing, as from a black hole. What is given keeps it full.
    fn silent() -> (SocketAddr, impl Sized) {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        rustix::net::bind(&socket, &"127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
        rustix::net::listen(&socket, 0).unwrap();
        let address: SocketAddr = rustix::net::getsockname(&socket).unwrap().try_into().unwrap();
        let full: Vec<TcpStream> = (0..2).map(|_| start_attempt(address).unwrap()).collect();
        (address, (socket, full))
    }

    #[test]
    fn families_take_turns_and_the_number_is_bounded() {
        let [four, six] = ["192.0.2.1:80", "[2001:db8::1]:80"].map(|text| text.parse::<SocketAddr>().unwrap());
        assert_eq!(interleave_families(&[six, six, six, four, four]), [six, four, six, four, six]);
        assert_eq!(interleave_families(&[four; 40]).len(), MAX_ATTEMPTS);
        assert!(interleave_families(&[]).is_empty());
    }

    #[test]
    fn an_address_that_is_silent_costs_one_delay_and_one_that_refuses_none() {
        let ((_server, good), (hole, _full)) = (listener(), silent());
        let (gone, refusing) = listener();
        drop(gone);
        let cancel = CancelToken::default();
        let wait = Wait::new(from_now(Duration::from_secs(20)), &cancel);
        let started = Instant::now();
        assert_eq!(connect_first(&[refusing, good], wait).unwrap().1, good);
        assert!(started.elapsed() < ATTEMPT_DELAY, "{:?}", started.elapsed());
        let started = Instant::now();
        assert_eq!(connect_first(&[hole, good], wait).unwrap().1, good);
        assert!((ATTEMPT_DELAY..10 * ATTEMPT_DELAY).contains(&started.elapsed()), "{:?}", started.elapsed());
        assert_eq!(connect_first(&[refusing], wait).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    }

    #[test]
    fn a_wait_for_a_connection_ends_with_its_time_and_with_a_cancellation() {
        let (hole, _full) = silent();
        let never = CancelToken::default();
        let brief = Wait::new(from_now(Duration::from_millis(30)), &never);
        assert_eq!(connect_first(&[hole, hole], brief).unwrap_err().kind(), ErrorKind::TimedOut);
        let token = CancelToken::new();
        let connecting = std::thread::spawn({
            let token = token.clone();
            move || connect_first(&[hole], Wait::new(from_now(Duration::from_secs(600)), &token)).map(drop)
        });
        std::thread::sleep(Duration::from_millis(30));
        let cancelled = Instant::now();
        token.cancel();
        assert_eq!(connecting.join().unwrap().unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(cancelled.elapsed() < Duration::from_secs(5), "{:?}", cancelled.elapsed());
    }
}
