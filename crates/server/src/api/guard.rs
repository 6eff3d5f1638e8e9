//! What every request passes first: is it meant for this server, does it come from a page of another site, whose is it, and
//! what is it called.
//!
//! A page in a browser on this machine can reach a server on loopback. What it can't do is choose `Host` and `Origin`:
//! a name that was made to lead here (DNS rebinding) is in `Host`, and another site's page is in `Origin`. An address in
//! `Host` is fine, since no name was looked up then.

use std::net::IpAddr;
use std::sync::atomic::Ordering;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{AUTHORIZATION, CACHE_CONTROL, CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use http::uri::Authority;
use http::{Method, StatusCode};

use super::super::{Client, page, tokens};
use super::{Api, Problem};
use skillcell_door::audit::RequestOrigin;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const MAX_ID_BYTES: usize = 128;
/// Whoever is asked whether it lives has no token.
const OPEN_PATHS: [&str; 2] = ["/healthz", "/readyz"];

/// What a request is called, in its answer and in the audit.
#[derive(Debug, Clone)]
pub struct RequestInfo {
    /// The client's own name for it, or a random one.
    pub id: String,
    /// W3C's `traceparent`, if it is well formed.
    pub traceparent: Option<String>,
}

impl RequestInfo {
    /// For the audit.
    pub fn origin(&self) -> RequestOrigin {
        let mut origin = RequestOrigin::new(self.id.clone());
        origin.traceparent = self.traceparent.clone();
        origin
    }

    fn of_headers(headers: &HeaderMap) -> RequestInfo {
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.:".contains(&b);
        let is_id = |id: &&str| (1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(is_plain);
        let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        RequestInfo {
            id: text(&REQUEST_ID).filter(is_id).map_or_else(random_id, str::to_owned),
            traceparent: text(&TRACEPARENT).filter(|text| is_traceparent(text)).map(str::to_owned),
        }
    }
}

/// `00-<32 hex>-<16 hex>-<2 hex>`, not all zeros.
pub(crate) fn is_traceparent(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let is_hex = |part: &str, length| {
        part.len() == length && part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let [version, trace, parent, flags] = parts[..] else { return false };
    let is_zero = |part: &str| part.bytes().all(|b| b == b'0');
    is_hex(version, 2)
        && is_hex(trace, 32)
        && is_hex(parent, 16)
        && is_hex(flags, 2)
        && !is_zero(trace)
        && !is_zero(parent)
}

fn random_id() -> String {
    let mut id = [0; 16];
    // Without random numbers the id is of no use, and nothing else is wrong.
    let _ = getrandom::fill(&mut id);
    tokens::to_hex(&id)
}

pub(super) async fn guard_request(State(api): State<Api>, mut request: Request, next: Next) -> Response {
    let info = RequestInfo::of_headers(request.headers());
    let id = HeaderValue::from_str(&info.id);
    let is_page = page::is_page_path(request.uri().path());
    let mut response = match admit(&api, &request, is_page) {
        Ok(client) => {
            request.extensions_mut().insert(client);
            request.extensions_mut().insert(info);
            next.run(request).await
        }
        // A person is told so in words, and asked by the browser.
        Err(problem) if is_page && problem.status() == StatusCode::UNAUTHORIZED => page::ask_to_sign_in(),
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    if let Ok(id) = id {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if api.inner.draining.load(Ordering::Relaxed) {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Who it comes from, if it may come in.
fn admit(api: &Api, request: &Request, is_page: bool) -> Result<Client, Problem> {
    let host = check_host(api, request)?;
    check_site(api, request, &host, is_page)?;
    if api.inner.tokens.is_empty() {
        return Ok(Client::default());
    }
    let bearer = bearer_token(request.headers()).and_then(|token| api.inner.tokens.client(token));
    // A browser sends passwords by itself, also for pages of other sites: only the page takes them, which those can't use.
    let browser = || sole_authorization(request.headers()).filter(|_| is_page).and_then(page::basic_token);
    match bearer.or_else(|| api.inner.tokens.client(&browser()?)) {
        Some(client) => Ok(client.clone()),
        None if OPEN_PATHS.contains(&request.uri().path()) => Ok(Client::default()),
        None => Err(Problem::unauthorized()),
    }
}

/// The `Host` that it was sent to, which must be one of ours.
fn check_host(api: &Api, request: &Request) -> Result<Authority, Problem> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (host, more) = (hosts.next(), hosts.next());
    let named = host.filter(|_| more.is_none()).and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let named = named.ok_or_else(|| Problem::bad_request("bad_host", "there must be one `Host`"))?;
    let is_ours = |authority: &Authority| is_own_host(authority.host(), &api.inner.options.allow_hosts);
    // A request may name a host in its first line too.
    if !is_ours(&named) || !request.uri().authority().is_none_or(is_ours) {
        let detail = "this server goes by no such name; its operator can add it";
        return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "wrong_host", detail));
    }
    Ok(named)
}

fn is_own_host(host: &str, allowed: &[String]) -> bool {
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    address.parse::<IpAddr>().is_ok()
        || host.eq_ignore_ascii_case("localhost")
        || allowed.iter().any(|name| name.eq_ignore_ascii_case(host))
}

/// Whether a browser sent it for a page of another site.
fn check_site(api: &Api, request: &Request, host: &Authority, is_page: bool) -> Result<(), Problem> {
    let refused = || Problem::new(StatusCode::FORBIDDEN, "cross_site", "pages of other sites may not use this server");
    let headers = request.headers();
    let mut origins = headers.get_all(ORIGIN).iter();
    if let Some(origin) = origins.next() {
        let origin = origin.to_str().map_err(|_| refused())?;
        // Those may use the API, with tokens of their own.
        let is_listed = !is_page && api.inner.options.allow_origins.iter().any(|allowed| allowed == origin);
        if origins.next().is_some() || !(is_listed || is_same_origin(origin, host)) {
            return Err(refused());
        }
        return Ok(());
    }
    // Following a link to the page itself is harmless; nothing else that another site causes is expected.
    let text = |name: &str| headers.get(name).map(HeaderValue::as_bytes);
    let is_link = request.method() == Method::GET && text("sec-fetch-mode") == Some(b"navigate");
    match text("sec-fetch-site") {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) if is_link && request.uri().path() == "/" => Ok(()),
        Some(_) => Err(refused()),
    }
}

/// The scheme may be a proxy's.
fn is_same_origin(origin: &str, host: &Authority) -> bool {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host.as_str()))
}

fn sole_authorization(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = sole_authorization(headers)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_made_to_lead_here_is_not_ours() {
        let allowed = ["skills.example.org".to_owned()];
        for ours in ["localhost", "LOCALHOST", "127.0.0.1", "[::1]", "10.0.0.1", "Skills.Example.org"] {
            assert!(is_own_host(ours, &allowed), "{ours}");
        }
        for other in
            ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "localhost.", "127.1", "0x7f.1"]
        {
            assert!(!is_own_host(other, &allowed), "{other}");
        }
    }

    #[test]
    fn an_origin_is_ours_with_the_same_host_and_port() {
        let host = Authority::from_static("localhost:8080");
        assert!(is_same_origin("http://localhost:8080", &host) && is_same_origin("https://localhost:8080", &host));
        for other in ["null", "http://localhost", "http://localhost:8081", "http://evil.example", "localhost:8080", ""]
        {
            assert!(!is_same_origin(other, &host), "{other}");
        }
    }

    #[test]
    fn a_traceparent_is_taken_only_if_it_is_one() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert!(is_traceparent(good));
        for bad in [
            "",
            "00",
            &good.to_uppercase(),
            &good[1..],
            &good.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
        ] {
            assert!(!is_traceparent(bad), "{bad}");
        }
    }
}
