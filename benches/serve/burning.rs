//! The latency of one token's calls: alone, and while another token's only burn their deadlines.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::load::{Measured, call_request, load, load_allowing, request};
use crate::option;
use crate::server::{Cores, NOTHING, Server, pin_self};

/// SHA-256 of the two names, which are the tokens.
const TOKENS: &str = "\
[token.alice]
sha256 = '2bd806c97f0e00af1a1fc3328fa763a9269723c8db8fac4f93af71db186d6e90'
skills = ['*']
[token.bob]
sha256 = '81b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9'
skills = ['*']
";
const BURN: &str = r#"{"params": {"way": "loop"}, "limits": {"timeout": "500ms"}}"#;

pub fn run() {
    let (connections, rounds) = (option("CONNECTIONS", 16), option("ROUNDS", 5));
    let time = Duration::from_secs(option("SECONDS", 4));
    let file = std::env::temp_dir().join(format!("skillcell-bench-{}.toml", std::process::id()));
    std::fs::write(&file, TOKENS).expect("the settings are written");
    let cores = Cores::split();
    let policy = file.to_str().expect("a path that is text");
    let server = Server::start(&cores.server, &["--policy", policy, "serve", NOTHING, "tests/skills/limits/time"]);
    let _ = std::fs::remove_file(&file);
    pin_self(&cores.generator);
    println!("alice has one connection, bob {connections}; server on cores {}", cores.server);
    println!("alone /s   p50 ms   p99 ms   beside bob /s   p50 ms   p99 ms   max ms   bob's calls");
    for _ in 0..rounds {
        let alice = call_request(&["Authorization: Bearer alice"]);
        let mut alone = load(1, time, &alice);
        let (mut beside, burnt) = load_beside_bob(connections, time, &alice);
        let [(a_rate, [a50, a99, _]), (b_rate, [b50, b99, most])] = [&mut alone, &mut beside].map(figures_of);
        println!("{a_rate:>8.0} {a50:>8.3} {a99:>8.3} {b_rate:>15.0} {b50:>8.3} {b99:>8.3} {most:>8.3} {burnt:>13}");
    }
    drop(server);
}

/// Calls per second; median, 99th percentile and maximum in ms.
fn figures_of(measured: &mut Measured) -> (f64, [f64; 3]) {
    let times = [0.5, 0.99, 1.0].map(|share| measured.percentile(share).as_secs_f64() * 1e3);
    (measured.rate, times)
}

/// Alice's calls, for as long as bob burns; and how many of his ended.
fn load_beside_bob(connections: u64, time: Duration, alice: &str) -> (Measured, usize) {
    let bob = request("POST", "/v1/skills/limits%2Ftime/calls", &["Authorization: Bearer bob"], BURN);
    let is_burning = AtomicBool::new(true);
    std::thread::scope(|scope| {
        let burning = scope.spawn(|| {
            let mut ended = 0;
            while is_burning.load(Ordering::Relaxed) {
                // Those that wait for all of their time are turned away: 429.
                ended += load_allowing(&[200, 429], connections, Duration::from_millis(1), &bob).times.len();
            }
            ended
        });
        let measured = load(1, time, alice);
        is_burning.store(false, Ordering::Relaxed);
        (measured, burning.join().expect("bob burns"))
    })
}
