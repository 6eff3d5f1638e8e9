//! The operator's page, in a browser and without its script.

use std::io::{BufRead, BufReader, Read};

use serde_json::json;

use crate::common::browser::{Browser, ENTER, TAB};
use crate::common::serving::{Serving, write_request};

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";
const TRIAL: &str = "/skills/page%2Ftrial";
/// `alice` as a password, and `bob`; serve.rs has their hashes.
const ALICE: (&str, &str) = ("eDphbGljZQ==", "2bd806c97f0e00af1a1fc3328fa763a9269723c8db8fac4f93af71db186d6e90");
const BOB: (&str, &str) = ("eDpib2I=", "81b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9");
const NARROW: u32 = 360;

#[test]
fn a_person_reads_the_page_and_makes_calls_with_the_keyboard_alone() {
    let Some(browser) = Browser::start() else { return };
    let server = Serving::start(&["page/trial", "contract/echo"], &[]);
    browser.open(&format!("http://{}/", server.address));
    assert_eq!(
        browser.eval("[...document.querySelectorAll('.skills h3')].map(it => it.innerText)"),
        json!(["contract/echo", "page/trial"])
    );
    browser.tab_to("it.innerText === 'page/trial'");
    browser.press(ENTER);
    browser.wait_until("document.title === 'page/trial · skillcell' && document.readyState === 'complete'");
    // Every field has a label, in the order of the schema.
    let labels = "[...document.querySelectorAll('.field label')].map(it => it.innerText.split(' ')[0]).slice(0, 4)";
    assert_eq!(browser.eval(labels), json!(["text", "count", "mood", "url"]));
    assert_eq!(
        browser.eval("[...document.querySelectorAll('input, select, textarea')].every(it => it.labels.length === 1)"),
        json!(true)
    );
    browser.tab_to("it.id === 'f0'");
    browser.press(&format!("two words{TAB}3{TAB}{TAB}http://denied.example/{TAB}{ENTER}"));
    browser.wait_until("document.activeElement.id === 'result'");
    let told = browser.eval("document.getElementById('result').innerText");
    let told = told.as_str().unwrap();
    for part in
        ["returned", "Denied", "http://denied.example/", "\"text\": \"two words\"", "\"count\": 3", "</pre><script>"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(browser.complaints(), Vec::<serde_json::Value>::new(), "nothing of the skill's ran or was asked for");
    assert_eq!(browser.eval("document.title"), json!("page/trial · skillcell"));
}

#[test]
fn calls_and_figures_come_by_themselves_and_can_be_paused() {
    let Some(browser) = Browser::start() else { return };
    let server = Serving::start(&["page/trial", "contract/failing"], &[]);
    browser.open(&format!("http://{}/", server.address));
    browser.wait_until("document.getElementById('live').innerText.startsWith('Live.')");
    server.call("contract%2Ffailing", "{}");
    browser.wait_until("document.querySelector('[data-call=\"1\"] .badge')?.innerText === 'raised'");
    server.call("page%2Ftrial", r#"{"params": {"text": "a", "url": "http://denied.example/"}}"#);
    browser.wait_until(
        "document.querySelector('[data-call=\"2\"] .denied')?.innerText.includes('denied.example') ?? false",
    );
    browser.wait_until("document.querySelector('[data-figure=calls]').innerText === '2'");
    browser.wait_until("Number(document.querySelector('[data-bar=p50]').getAttribute('width')) > 0");
    browser.wait_until("document.getElementById('said').innerText.includes('calls ended')");
    browser.tab_to("it.id === 'pause'");
    browser.press(ENTER);
    server.call("contract%2Ffailing", "{}");
    // The figures go on, so what was paused would have come by now.
    browser.wait_until("document.querySelector('[data-figure=calls]').innerText === '3'");
    assert_eq!(browser.eval("document.querySelectorAll('#rows tr').length"), json!(2));
    assert_eq!(browser.complaints(), Vec::<serde_json::Value>::new());
}

#[test]
fn it_follows_dark_and_fits_a_narrow_screen() {
    let Some(browser) = Browser::start() else { return };
    let server = Serving::start(&["page/trial"], &[]);
    server.call("page%2Ftrial", r#"{"params": {"text": "a", "url": "http://denied.example/"}}"#);
    let background = "getComputedStyle(document.body).backgroundColor";
    browser.open(&format!("http://{}/", server.address));
    let light = browser.eval(background);
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    browser.command("Emulation.setEmulatedMedia", &dark);
    assert_ne!(browser.eval(background), light);
    let size = json!({"width": NARROW, "height": 740, "deviceScaleFactor": 1, "mobile": true});
    browser.command("Emulation.setDeviceMetricsOverride", &size);
    for path in ["/", TRIAL] {
        browser.open(&format!("http://{}{path}", server.address));
        browser.wait_until("document.readyState === 'complete'");
        assert_eq!(browser.eval("document.documentElement.scrollWidth"), json!(NARROW), "{path}");
    }
}

#[test]
fn without_script_the_page_is_read_and_its_form_makes_calls() {
    let server = Serving::start(&["page/trial", "grants/asks"], &[]);
    let post = |headers: &[&str], body: &str| server.send("POST", TRIAL, &[&[FORM], headers].concat(), body);
    let done = post(&["Origin: http://localhost"], "f0=a%0D%0Ab&f1=2&f2=1");
    assert_eq!(done.status, 200, "{done:?}");
    for part in ["returned", "a\\nb", "&quot;count&quot;: 2", "&lt;/select&gt;&lt;b&gt;loud"] {
        assert!(done.body.contains(part), "{part}: {}", done.body);
    }
    let wrong = post(&[], "f0=a&f1=many");
    assert_eq!(wrong.status, 422);
    assert!(
        wrong.body.contains("aria-invalid=\"true\"") && wrong.body.contains("this is not a number"),
        "{}",
        wrong.body
    );
    assert!(post(&[], "json=%7B%22text%22%3A+1.50%7D").body.contains("raised"), "the skill's schema is what decides");
    assert_eq!(post(&[], "json=%5B%5D").status, 422);
    let list = server.get("/", &[]);
    for part in ["page/trial", "grants/asks", "calls are refused", "data-call=\"2\"", "&lt;img src=x onerror"] {
        assert!(list.body.contains(part), "{part}: {}", list.body);
    }
    assert!(!list.body.contains("<img") && list.body.matches("<script").count() == 1, "{}", list.body);
    let policy = list.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
}

#[test]
fn pages_of_other_sites_make_no_calls_with_the_form() {
    let server = Serving::start(&["page/trial"], &["--allow-origin", "https://a.example"]);
    for headers in [
        &["Origin: http://evil.example"][..],
        // It may use the API; the page is only for itself.
        &["Origin: https://a.example"],
        &["Origin: null"],
        &["Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: navigate"],
    ] {
        server.send("POST", TRIAL, &[&[FORM], headers].concat(), "f0=a").is(403, "cross_site");
    }
    assert_eq!(server.send("POST", TRIAL, &["Content-Type: text/plain"], "f0=a").status, 415);
    assert!(server.get("/", &[]).body.contains("There was no call yet."));
}

#[test]
fn with_tokens_the_page_is_for_an_operator_who_gives_one_as_the_password() {
    let settings = format!(
        "[token.alice]\nsha256 = '{}'\nskills = ['*']\noperator = true\n[token.bob]\nsha256 = '{}'\nskills = ['*']\n",
        ALICE.1, BOB.1
    );
    let server = Serving::with_settings(&settings, &["page/trial"], &[]);
    let basic = |token: &str| format!("Authorization: Basic {token}");
    for (method, path) in [("GET", "/"), ("GET", TRIAL), ("POST", TRIAL), ("GET", "/events"), ("GET", "/skills/none")] {
        let send = |headers: &[&str]| {
            server.send(method, path, &[&[FORM], headers].concat(), if method == "POST" { "f0=a" } else { "" })
        };
        for headers in [vec![], vec![basic("eDptYWxsb3J5")], vec![basic("!")]] {
            let refused = send(&headers.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(refused.status, 401, "{refused:?}");
            assert!(
                refused.header("www-authenticate").is_some_and(|asked| asked.starts_with("basic realm")),
                "{refused:?}"
            );
            assert!(!refused.body.contains("trial"), "{refused:?}");
        }
        let bob = send(&[&basic(BOB.0)]);
        assert!(bob.status == 403 && !bob.body.contains("trial"), "{bob:?}");
        if path != "/events" {
            assert_eq!(send(&[&basic(ALICE.0)]).status, if path.ends_with("none") { 404 } else { 200 });
        }
    }
    // What a browser sends by itself is of no use for the API.
    server.get("/v1/skills", &[&basic(ALICE.0)]).is(401, "unauthorized");
}

#[test]
fn who_watches_is_one_of_few_and_holds_up_no_shutdown() {
    let mut server = Serving::start(&["contract/echo"], &[]);
    let watch = || {
        let mut stream = server.connect();
        write_request(&mut stream, "GET", "/events", &[], "");
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).expect("an answer");
        (line, reader)
    };
    let mut watchers: Vec<_> = (0..32).map(|_| watch()).collect();
    assert!(watchers.iter().all(|(line, _)| line.contains("200")));
    assert!(watch().0.contains("503"));
    let echoed = server.call("contract%2Fecho", "{}");
    assert_eq!(echoed.status, 200);
    server.terminate();
    let mut told = String::new();
    // The stream ends, though nobody closed it here.
    watchers[0].1.read_to_string(&mut told).expect("its end");
    assert!(told.contains("event: figures"), "{told}");
    drop(watchers);
    assert!(server.child.wait().expect("it ends").success());
}
