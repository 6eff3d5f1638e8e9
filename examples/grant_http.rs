//! Lets a skill make one kind of request and no other. `cargo run --release --example grant_http`
//!
//! It brings its own server, on a port of 127.0.0.1 that the system chooses.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::json;
use skillcell::GrantKind;
use skillcell::{Call, Host, Outcome};

const SKILL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/skills-compat/demo/fetch");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let server = format!("http://{}", listener.local_addr()?);
    thread::spawn(move || listener.incoming().flatten().for_each(|client| drop(answer(client))));

    let host = Host::builder().build()?;
    let skill = host.skill(SKILL)?;
    for path in ["/public/page", "/private/page"] {
        let mut call = Call::new(json!({"url": format!("{server}{path}")}));
        // As with `--allow-http`. A name with a private address would need `GrantKind::Resolve` too; here the rule
        // itself names the address.
        call.grants.add(GrantKind::AllowHttp, &format!("GET {server}/*"))?;
        // A rule that denies beats every rule that allows.
        call.grants.add(GrantKind::DenyHttp, &format!("{server}/private/*"))?;
        let report = host.call(&skill, &call)?;
        match &report.outcome {
            Outcome::Returned(result) => println!("{path}: returned {result}"),
            // The skill sees what its HTTP library makes of a connection that is not made.
            Outcome::Raised(raised) => println!("{path}: raised {}", raised.kind),
            other => println!("{path}: {}", other.name()),
        }
        for denial in &report.denials {
            println!("  denied by {}", if denial.rule.is_some() { "a rule" } else { "default" });
            eprintln!("  {}", denial.message);
        }
    }
    Ok(())
}

/// Says "hello" to whatever is asked.
fn answer(client: TcpStream) -> std::io::Result<()> {
    // The request ends with an empty line: a GET has no body.
    for line in BufReader::new(&client).lines() {
        if line?.is_empty() {
            break;
        }
    }
    (&client).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
}
