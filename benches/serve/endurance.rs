//! What the server holds along many calls: memory, threads and descriptors, at twenty places of the way.

use std::time::Duration;

use crate::load::{call_request, load};
use crate::option;
use crate::server::{Cores, NOTHING, Server, pin_self};

const SLICE: Duration = Duration::from_secs(5);

pub fn run() {
    let (calls, connections) = (option("CALLS", 1_000_000), option("CONNECTIONS", 16));
    let cores = Cores::split();
    let server = Server::start(&cores.server, &["serve", NOTHING]);
    pin_self(&cores.generator);
    println!("     calls   private KiB   threads   descriptors");
    let (mut made, mut next) = (0, 0);
    loop {
        if made >= next || made >= calls {
            let (threads, descriptors) = server.threads_and_descriptors();
            println!("{made:>10} {:>13} {threads:>9} {descriptors:>13}", server.private_kib());
            next = made + calls / 20;
        }
        if made >= calls {
            return;
        }
        made += load(connections, SLICE, &call_request(&[])).times.len() as u64;
    }
}
