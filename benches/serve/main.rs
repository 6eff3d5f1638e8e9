//! Load on a real `skillcell serve`. It links nothing of skillcell: it runs the program, and nothing else has to be installed.
//!
//! | `cargo bench --bench serve` | what it measures |
//! |---|---|
//! | nothing more | calls per second beside what the library gets with the same cores |
//! | `-- burning` | the latency of one token's calls while another's only burn their deadlines |
//! | `-- endurance` | the server's memory along a million calls |
//!
//! The server is pinned to half of the cores (`taskset`), the generator to the other half.
//!
//! Options, as variables: `SKILLCELL` (the program), `CONNECTIONS` (16), `SECONDS` (4), `ROUNDS` (5), `CALLS` (1,000,000),
//! `SERVE_ARGS`.

mod burning;
mod endurance;
mod load;
mod server;
mod throughput;

fn main() {
    // Cargo adds `--bench`.
    let asked = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    match asked.as_deref() {
        None => throughput::run(),
        Some("burning") => burning::run(),
        Some("endurance") => endurance::run(),
        Some(other) => panic!("there is no `{other}`: `burning` or `endurance`"),
    }
}

fn option(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}
