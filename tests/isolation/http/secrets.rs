//! Promise: a secret's value goes to its host, over its scheme, and nowhere else.

use super::support::{Guest, Rules, Server, Setup, code, get, ok, post};
use super::tls::{Authority, leads};
use skillcell_http::{Event, Secret, Secrets};

const VALUE: &str = r#"sk-live/4f"9+ b&c"#;

fn secret(host: &str, allow_plain_http: bool) -> Secrets {
    let scheme = if allow_plain_http { "http" } else { "https" };
    secrets(&format!("KEY@{scheme}://{host}"), VALUE)
}

fn secrets(grant: &str, value: &str) -> Secrets {
    Secrets::new(vec![Secret::new(grant.parse().unwrap(), value.to_owned())]).unwrap()
}

/// A guest whose secret may go to loopback in plain, and the placeholder that it sees.
fn trusted() -> (Guest, String) {
    let secrets = secret("127.0.0.1", true);
    let placeholder = secrets.placeholder("KEY").unwrap().to_owned();
    (Setup { secrets, ..Setup::default() }.guest(), placeholder)
}

#[test]
fn a_placeholder_becomes_the_value_in_headers_query_and_body() {
    let server = Server::saying(ok(""));
    let (mut guest, key) = trusted();
    guest
        .once(&server, get(&server, &format!("/p?key={key}&x=1"), &format!("Authorization: Bearer {key}\r\n")))
        .unwrap();
    let sent = server.last();
    assert!(sent.starts_with("GET /p?key=sk-live%2F4f%229%2B%20b%26c&x=1 HTTP/1.1\r\n"), "{sent}");
    assert!(sent.contains(&format!("Authorization: Bearer {VALUE}\r\n")), "{sent}");

    guest.once(&server, post(&server, "", &format!("a {key} b {key}"))).unwrap();
    let expected = format!("a {VALUE} b {VALUE}");
    assert!(server.last().ends_with(&format!("\r\n\r\n{expected}")));
    assert!(server.last().contains(&format!("Content-Length: {}\r\n", expected.len())));

    guest.once(&server, post(&server, "Content-Type: application/json\r\n", &format!("{{\"k\":\"{key}\"}}"))).unwrap();
    assert!(server.last().ends_with(r#"{"k":"sk-live/4f\"9+ b&c"}"#), "{}", server.last());

    guest
        .once(&server, post(&server, "Content-Type: application/x-www-form-urlencoded\r\n", &format!("k={key}")))
        .unwrap();
    assert!(server.last().ends_with("\r\n\r\nk=sk-live%2F4f%229%2B%20b%26c"));
}

#[test]
fn a_placeholder_inside_basic_credentials_becomes_the_value() {
    let server = Server::saying(ok(""));
    let (mut guest, key) = trusted();
    let basic = super::scrubbing::base64(format!("user:{key}").as_bytes());
    guest.once(&server, get(&server, "/", &format!("authorization: basic {basic}\r\n"))).unwrap();
    let expected = super::scrubbing::base64(format!("user:{VALUE}").as_bytes());
    assert!(server.last().contains(&format!("authorization: Basic {expected}\r\n")), "{}", server.last());
}

#[test]
fn a_placeholder_in_a_chunked_body_is_found_across_pieces() {
    let server = Server::saying(ok(""));
    let (mut guest, key) = trusted();
    let text = format!("before {key} after");
    for cut in [1, 8, 20, 40, text.len() - 7] {
        let id = guest.open(&server);
        guest.write(id, get(&server, "/", "Transfer-Encoding: chunked\r\n")).unwrap();
        for piece in [&text[..cut], &text[cut..]] {
            guest.write(id, format!("{:x}\r\n{piece}\r\n", piece.len())).unwrap();
        }
        guest.ask(id, "0\r\n\r\n").unwrap();
        guest.exchanges.close(id);
        let sent = server.last();
        let mut lines = sent.split("\r\n\r\n").nth(1).unwrap().split("\r\n");
        let mut body = String::new();
        while let (Some(_), Some(data)) = (lines.next(), lines.next()) {
            body += data;
        }
        assert_eq!(body, format!("before {VALUE} after"), "cut at {cut}");
    }
}

#[test]
fn a_placeholder_in_a_long_body_of_fixed_length_is_refused() {
    let server = Server::saying(ok(""));
    let (mut guest, key) = trusted();
    let padding = "x".repeat(1 << 20);
    assert_eq!(code(guest.once(&server, post(&server, "", &format!("{padding}{key}")))), "refused");
    assert_eq!(code(guest.once(&server, post(&server, "", &format!("{padding} skillcell_secret_KEY")))), "ok");
}

#[test]
fn a_value_with_line_ends_does_not_go_into_a_header() {
    let server = Server::saying(ok(""));
    let secrets = secrets("PEM@http://127.0.0.1", "line one\r\nEvil: yes");
    let key = secrets.placeholder("PEM").unwrap().to_owned();
    let mut guest = Setup { secrets, ..Setup::default() }.guest();
    assert_eq!(code(guest.once(&server, get(&server, "/", &format!("X: {key}\r\n")))), "refused");
    assert_eq!(code(guest.once(&server, post(&server, "", &key))), "ok");
    assert_eq!(server.count(), 1);
}

#[test]
fn to_another_host_the_placeholder_goes_as_it_is() {
    let server = Server::saying(ok(""));
    for host in ["api.example.org", "*.0.example.org", "127.0.0.1:1"] {
        let secrets = secret(host, true);
        let key = secrets.placeholder("KEY").unwrap().to_owned();
        let mut guest = Setup { secrets, ..Setup::default() }.guest();
        let basic = super::scrubbing::base64(format!("user:{key}").as_bytes());
        let text = get(&server, &format!("/?k={key}"), &format!("X: {key}\r\nAuthorization: Basic {basic}\r\n"));
        guest.once(&server, &text).unwrap();
        assert_eq!(server.last().replace("Accept-Encoding: identity\r\n", ""), text);
        guest.once(&server, post(&server, "", &key)).unwrap();
        assert!(server.last().ends_with(&key));
    }
}

#[test]
fn in_plain_http_the_value_goes_only_if_the_grant_says_so() {
    let server = Server::saying(ok(""));
    let secrets = secret("127.0.0.1", false);
    let key = secrets.placeholder("KEY").unwrap().to_owned();
    Setup { secrets, ..Setup::default() }.guest().once(&server, get(&server, "/", &format!("X: {key}\r\n"))).unwrap();
    assert!(server.last().contains(&format!("X: {key}\r\n")));

    let authority = Authority::new();
    let server = authority.server("api.example.org", |_, wire| wire.write_all(ok("").as_bytes()).is_ok());
    let secrets = secret("*.example.org", false);
    let key = secrets.placeholder("KEY").unwrap().to_owned();
    let rules = leads("api.example.org", &server);
    let mut guest = Setup { client: authority.client(), rules, secrets, ..Setup::default() }.guest();
    let id = guest.exchanges.open(true, "api.example.org", 443).unwrap();
    guest.ask(id, format!("GET / HTTP/1.1\r\nHost: api.example.org\r\nX: {key}\r\n\r\n")).unwrap();
    assert!(server.last().contains(&format!("X: {VALUE}\r\n")));
}

#[test]
fn an_echoed_value_comes_back_as_its_placeholder() {
    let server = Server::start(|request, wire| {
        let key = request.lines().find_map(|line| line.strip_prefix("X: ")).unwrap().to_owned();
        let body = format!("{key} {}", "pad ".repeat(40_000));
        wire.write_all(
            format!("HTTP/1.1 200 {key}\r\nX-{key}: 1\r\nX: {key}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
                .as_bytes(),
        )
        .is_ok()
    });
    let secrets = secrets("KEY@http://127.0.0.1", "sk-live-4f9c");
    let key = secrets.placeholder("KEY").unwrap().to_owned();
    let mut guest = Setup { secrets, rules: Rules::default(), ..Setup::default() }.guest();
    let answer = guest.once(&server, get(&server, "/", &format!("X: {key}\r\n"))).unwrap();
    assert!(server.last().contains("X: sk-live-4f9c"));
    assert!(!answer.contains("sk-live-4f9c"));
    assert_eq!(answer.matches(&key).count(), 4);
}

#[test]
fn a_host_that_gets_a_secret_is_asked_for_whole_plain_answers() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc");
    let (mut guest, _) = trusted();
    let more = "Accept-Encoding: gzip\r\nRange: bytes=0-3\r\n";
    assert_eq!(code(guest.once(&server, get(&server, "/", more))), "refused");
    assert!(!server.last().contains("Range"));
    assert!(server.last().contains("Accept-Encoding: identity\r\n") && !server.last().contains("gzip"));
}

#[test]
fn an_answer_of_that_host_is_to_be_plain_by_whatever_port_and_scheme() {
    for (host, allow_plain_http) in [("127.0.0.1:1", true), ("127.0.0.1", false)] {
        let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc");
        let mut guest = Setup { secrets: secret(host, allow_plain_http), ..Setup::default() }.guest();
        assert_eq!(code(guest.once(&server, get(&server, "/", "Accept-Encoding: gzip\r\n"))), "refused");
        assert!(server.last().contains("Accept-Encoding: identity\r\n") && !server.last().contains("gzip"));
    }
}

#[test]
fn the_audit_names_the_secret_and_not_its_value() {
    let server = Server::saying(ok(""));
    let (mut guest, key) = trusted();
    guest.once(&server, get(&server, &format!("/?k={key}"), "")).unwrap();
    let lines = serde_json::to_string(&*guest.audit.0.lock().unwrap()).unwrap();
    assert!(lines.contains(r#""secrets":["KEY"]"#) && !lines.contains("sk-live") && !lines.contains(&key), "{lines}");
}

#[test]
fn how_much_is_held_back_does_not_depend_on_a_value() {
    // A server that stops after a guess must not show, by what arrives, whether the guess starts like the value.
    let mut arrived = Vec::new();
    for guess in ["sk-live/4f\"9+ b&", "sk-nope/4f\"9+ b&", "xxxxxxxxxxxxxxxx"] {
        let (send, receive) = std::sync::mpsc::channel::<()>();
        let receive = std::sync::Mutex::new(receive);
        let server = Server::start(move |_, wire| {
            wire.write_all(
                format!("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{}{guess}", "-".repeat(12_000)).as_bytes(),
            )
            .unwrap();
            let _ = receive.lock().unwrap().recv();
            false
        });
        let (mut guest, _) = trusted();
        let id = guest.open(&server);
        guest.write(id, get(&server, "/", "")).unwrap();
        let mut bytes = 0;
        while let Ok(piece) =
            guest.exchanges.read(id, 1 << 16, std::time::Instant::now() + std::time::Duration::from_millis(60))
        {
            bytes += piece.len();
        }
        arrived.push(bytes);
        drop(send);
    }
    assert!(arrived[0] > 3800 && arrived.iter().all(|bytes| *bytes == arrived[0]), "{arrived:?}");
}

/// What the audit was told of an answer that was refused.
fn refusals(guest: &Guest) -> Vec<String> {
    let events = guest.audit.0.lock().unwrap();
    let reasons = events.iter().filter_map(|event| match event {
        Event::Decided { allowed: false, rule, reason, .. } => {
            Some(format!("{rule}: {}", reason.as_deref().unwrap_or("")))
        }
        _ => None,
    });
    reasons.collect()
}

#[test]
fn other_characters_and_parts_are_not_asked_for_and_not_passed_on() {
    let asks = "Accept-Charset: utf-16\r\nAccept: text/plain;charset=utf-32\r\nRequest-Range: bytes=1-2\r\n\
                request_range: bytes=1-2\r\nIf-Range: x\r\nContent-Type: text/plain; charset=utf-16\r\n";
    for (status, headers, reason) in [
        ("200 OK", "Content-Type: text/plain; charset=UTF-16LE\r\n", "its characters are `utf-16le`"),
        ("200 OK", "Content-Type: text/plain; charset=\"utf-7\"\r\n", "its characters are `\\\"utf-7\\\"`"),
        ("206 Partial Content", "Content-Range: bytes 1-2/9\r\n", "it is only a part, unasked"),
        ("200 OK", "Content-Range: bytes 1-2/9\r\n", "it is only a part, unasked"),
        ("200 OK", "content-type: multipart/byteranges; boundary=x\r\n", "it is only a part, unasked"),
    ] {
        let server = Server::saying(format!("HTTP/1.1 {status}\r\nContent-Length: 9\r\n{headers}\r\nsk-live/4"));
        let (mut guest, _) = trusted();
        let told = guest.once(&server, get(&server, "/", asks)).unwrap_err();
        let expected = format!(
            "an answer of a host that a secret is for is refused: {reason}, so that secrets in it can't be found"
        );
        assert_eq!(told.to_string(), expected);
        assert_eq!(refusals(&guest), [format!("secret-answer: {expected}")]);
        let sent = server.last().to_ascii_lowercase();
        for asked in ["charset", "range", "utf-"] {
            assert!(!sent.contains(asked), "{asked} in {sent}");
        }
        // From another host it is an answer like any other.
        let mut other = Setup { secrets: secret("api.example.org", true), ..Setup::default() }.guest();
        assert!(other.once(&server, get(&server, "/", asks)).unwrap().ends_with("sk-live/4"));
        assert!(server.last().contains("Accept-Charset: utf-16") && server.last().contains("Request-Range"));
    }
}

#[test]
fn a_first_line_that_is_no_http_is_scrubbed_before_it_is_cut() {
    for at in 235..=256 {
        let answer = format!("{}sk-live-0123456789abcdef and more\r\n\r\n", "x".repeat(at));
        let server = Server::start(move |_, wire| {
            let _ = wire.write_all(answer.as_bytes());
            false
        });
        let secrets = secrets("KEY@http://127.0.0.1", "sk-live-0123456789abcdef");
        let mut guest = Setup { secrets, ..Setup::default() }.guest();
        let told = guest.once(&server, get(&server, "/", "")).unwrap();
        assert!(told.starts_with("xxx") && !told.contains("sk-l"), "{at}: {told}");
    }
}

#[test]
fn a_number_with_endless_zeros_ends_the_answer() {
    let body = format!("<p>fine</p>\n<p>&#{}115;k-live</p>\n", "0".repeat(300));
    let server = Server::saying(ok(&body));
    let (mut guest, _) = trusted();
    let told = guest.once(&server, get(&server, "/", "")).unwrap_err();
    assert!(told.to_string().contains("leading zeros"), "{told}");
    assert_eq!(refusals(&guest).len(), 1);
    let mut other = Setup { secrets: secret("api.example.org", true), ..Setup::default() }.guest();
    assert!(other.once(&server, get(&server, "/", "")).unwrap().ends_with(&body));
}

/// What was told of secrets that stayed here: name, host, reason.
fn withheld(guest: &Guest) -> Vec<(String, String, String)> {
    let events = guest.audit.0.lock().unwrap();
    let told = events.iter().filter_map(|event| match event {
        Event::SecretWithheld { name, host, reason } => Some((name.clone(), host.clone(), reason.clone())),
        _ => None,
    });
    told.collect()
}

#[test]
fn a_value_that_is_not_put_in_is_told_of_wherever_the_placeholder_is() {
    let server = Server::saying(ok(""));
    let here = format!("127.0.0.1:{}", server.port());
    for (grant, reason) in [
        ("KEY@http://api.example.org", "`http://api.example.org`, which is another host"),
        ("KEY@http://127.0.0.1:1", "`http://127.0.0.1:1`, which is another port"),
        ("KEY@127.0.0.1", "`127.0.0.1` over https only"),
    ] {
        let basic = |key: &str| super::scrubbing::base64(format!("user:{key}").as_bytes());
        let requests: [&dyn Fn(&str) -> String; 5] = [
            &|key| get(&server, "/", &format!("X: {key}\r\n")),
            &|key| get(&server, &format!("/?k={key}"), ""),
            &|key| get(&server, "/", &format!("Authorization: Basic {}\r\n", basic(key))),
            &|key| post(&server, "", &format!("a {key}")),
            &|key| post(&server, "", &format!("{} {key}", "x".repeat(2 << 20))),
        ];
        for request in requests {
            let secrets = secrets(grant, VALUE);
            let key = secrets.placeholder("KEY").unwrap().to_owned();
            let mut guest = Setup { secrets, ..Setup::default() }.guest();
            guest.once(&server, request(&key)).unwrap();
            let [(name, host, told)] = &withheld(&guest)[..] else { panic!("{:?}", withheld(&guest)) };
            assert_eq!((name.as_str(), host.as_str()), ("KEY", here.as_str()));
            assert!(told.ends_with(&format!("it is granted for {reason}")), "{told}");
            assert!(!server.last().contains("sk-live"));
        }
    }
    // One that is put in, or is not wanted, is not told of; one in a path never is put in.
    let (mut guest, key) = trusted();
    guest.once(&server, get(&server, "/", &format!("X: {key}\r\n"))).unwrap();
    guest.once(&server, get(&server, "/", "X: skillcell_secret_KEY_\r\n")).unwrap();
    assert_eq!(withheld(&guest), []);
    guest.once(&server, get(&server, &format!("/bot{key}/get"), "")).unwrap();
    assert!(withheld(&guest)[0].2.ends_with("not into paths") && !server.last().contains("sk-live"));
}
