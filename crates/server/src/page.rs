//! The operator's page: what is served and what it may do, a form to try a call, and what happens. docs/reference/serve.md
//! describes it.
//!
//! ```text
//!   GET  /             figures, skills, calls
//!   GET  /skills/{id}  a skill, and a form for its params
//!   POST /skills/{id}  the same, with how the call ended
//!   GET  /events       what happens, for the script
//! ```
//!
//! It reads and calls as any client does: through [`Service`], with that client's rights. Everything of it works without
//! its script but for what comes by itself.
//!
//! Everything that came from a skill is untrusted: `maud` escapes markup, the finished page has no characters that reorder or
//! hide others, texts are cut, and the Content-Security-Policy allows only the script and the style that it names by hash.

mod calls;
mod feed;
mod figures;
mod form;
mod form_markup;
mod overview;
mod report;
mod skill;
mod verdicts;

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use http::header::{self, HeaderName, HeaderValue};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

pub(crate) use self::form::Filled;
use self::verdicts::Verdicts;
use super::{Api, Client};
use skillcell_quote::escape_unprintable;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");
/// Each holds a connection.
const MAX_WATCHERS: usize = 32;
/// Pages for which plans are made at once; others wait.
const MAX_PLANNING: usize = 2;

/// The page of one server. Clones share everything.
#[derive(Clone)]
pub struct Page {
    inner: Arc<Inner>,
}

struct Inner {
    api: Api,
    verdicts: Verdicts,
    watchers: Arc<Semaphore>,
    planning: Semaphore,
}

impl Page {
    /// The page over this API.
    pub fn new(api: Api) -> Page {
        let (watchers, planning) = (Arc::new(Semaphore::new(MAX_WATCHERS)), Semaphore::new(MAX_PLANNING));
        Page { inner: Arc::new(Inner { api, verdicts: Verdicts::default(), watchers, planning }) }
    }

    /// Its routes, to be put behind the API's guard.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/", get(overview::show_overview))
            .route("/skills/{id}", get(skill::show_skill).post(skill::try_call))
            .route("/events", get(feed::stream_events))
            .with_state(self.clone())
            .layer(from_fn(admit_operators))
    }
}

/// Whether a path is of the page, where a browser's own way to sign in does.
pub(crate) fn is_page_path(path: &str) -> bool {
    path == "/" || path == "/events" || path.starts_with("/skills/")
}

/// It shows what all clients do, and how a refusal could be lifted.
async fn admit_operators(request: Request, next: Next) -> Response {
    let is_operator = request.extensions().get::<Client>().is_some_and(Client::is_operator);
    if is_operator {
        next.run(request).await
    } else {
        tell(StatusCode::FORBIDDEN, "This page is for operators", SIGN_IN)
    }
}

const SIGN_IN: &str = "Sign in with a token that has `operator = true`, as the password; the name does not matter. \
                       To use another token, close the browser first.";

/// The answer to who has no token: the browser asks for one.
pub(crate) fn ask_to_sign_in() -> Response {
    let mut response = tell(StatusCode::UNAUTHORIZED, "A token is needed", SIGN_IN);
    let challenge = HeaderValue::from_static("Basic realm=\"skillcell\", charset=\"UTF-8\"");
    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    response
}

/// The token that a browser sends, as the password.
pub(crate) fn basic_token(credentials: &str) -> Option<String> {
    let (scheme, encoded) = credentials.split_once(' ')?;
    let decoded = STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let text = String::from_utf8(decoded).ok()?;
    text.split_once(':').map(|(_, password)| password.to_owned())
}

/// A page that only says something.
fn tell(status: StatusCode, title: &str, words: &str) -> Response {
    let main = html! { h1 { (title) } p { (sentence_markup(words)) } };
    (status, render_page(title, &main)).into_response()
}

/// A whole page, with the headers that hold it.
struct Rendered(String);

fn render_page(title: &str, main: &Markup) -> Rendered {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · skillcell" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.home href="/" { "skillcell" }
                    nav aria-label="Pages" {
                        a href="/#now" { "Now" } a href="/#skills" { "Skills" } a href="/#calls" { "Calls" }
                    }
                }
                main #main { (main) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    Rendered(escape_unprintable(&page.into_string()) + "\n")
}

impl IntoResponse for Rendered {
    fn into_response(self) -> Response {
        static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
            let policy = format!(
                "default-src 'none'; script-src '{}'; style-src '{}'; connect-src 'self'; form-action 'self'; \
                 base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
                csp_hash(SCRIPT),
                csp_hash(STYLE)
            );
            HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
        });
        let fixed = [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            // With `no-referrer` a browser sends `Origin: null` with the form.
            (header::REFERRER_POLICY, "same-origin"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        ];
        let mut response = (fixed, self.0).into_response();
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, POLICY.clone());
        response
    }
}

/// The hash by which a Content-Security-Policy names a script or style.
fn csp_hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// Where a skill's page is; its id is one segment.
fn skill_path(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let encoded =
        id.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    format!("/skills/{}", encoded.collect::<String>())
}

/// A sentence, with what is in backticks as code.
fn sentence_markup(text: &str) -> Markup {
    if !text.matches('`').count().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browsers_password_is_the_token() {
        let of = |text: &str| basic_token(&format!("Basic {}", STANDARD.encode(text)));
        assert_eq!(of("anna:sct_1:2").as_deref(), Some("sct_1:2"));
        assert_eq!(of(":t").as_deref(), Some("t"));
        assert_eq!((of("no colon"), basic_token("Basic !"), basic_token("Bearer YTpi")), (None, None, None));
    }

    #[test]
    fn an_id_is_one_segment_of_a_path() {
        assert_eq!(skill_path("office/a b\"<é"), "/skills/office%2Fa%20b%22%3C%C3%A9");
    }

    #[test]
    fn a_page_names_its_script_and_style_and_lets_nothing_else_run() {
        let response = tell(StatusCode::OK, "<b>", "`<i>` here");
        let policy = response.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.contains(&csp_hash(SCRIPT)) && policy.starts_with("default-src 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        let page = render_page("<b>", &html! { (sentence_markup("`<i>` here")) }).0;
        assert!(page.contains("&lt;b&gt;") && page.contains("<code>&lt;i&gt;</code> here"));
        // What ends a script or style early would leave it without its hash.
        assert!(!SCRIPT.contains("</") && !STYLE.contains("</"));
        assert_eq!(escape_unprintable(SCRIPT), SCRIPT);
        assert_eq!(escape_unprintable(STYLE), STYLE);
    }
}
