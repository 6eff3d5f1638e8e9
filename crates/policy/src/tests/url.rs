//! A URL has one reading or none.

use super::target;
use crate::{Ambiguity, BadHost, BadPath, BadUrl, HostName, Scheme, Target};

fn refusal(text: &str) -> BadUrl {
    match Target::parse(text) {
        Err(error) => error,
        Ok(target) => panic!("{text:?} was read as {target:?}"),
    }
}

fn host(text: &str) -> HostName {
    target(text).host().clone()
}

#[test]
fn the_parts_of_a_plain_url_are_read() {
    let read = target("https://api.example.org:8443/v1/items?q=1&r=a/b?c#top");
    assert_eq!((read.scheme(), read.port(), read.path()), (Scheme::Https, 8443, "/v1/items"));
    assert_eq!(read.query(), Some("q=1&r=a/b?c"));
    assert_eq!(read.to_string(), "https://api.example.org:8443/v1/items?q=1&r=a/b?c");
}

#[test]
fn default_ports_and_an_empty_path_are_filled_in() {
    assert_eq!(target("http://a.org").to_string(), "http://a.org/");
    assert_eq!(target("http://a.org?x").to_string(), "http://a.org/?x");
    assert_eq!(target("https://a.org:443/").to_string(), "https://a.org/");
    assert_eq!(target("https://a.org:80/").to_string(), "https://a.org:80/");
}

#[test]
fn scheme_and_host_are_lower_cased_and_the_path_is_not() {
    assert_eq!(target("HtTpS://API.Example.ORG/V1").to_string(), "https://api.example.org/V1");
}

#[test]
fn other_schemes_and_scheme_relative_urls_are_refused() {
    for text in [
        "ftp://a.org/",
        "file:///etc/passwd",
        "//a.org/",
        "a.org/",
        "https:a.org",
        "https:/a.org",
        " https://a.org",
        "",
    ] {
        assert!(matches!(refusal(text), BadUrl::Scheme(_)), "{text}");
    }
}

#[test]
fn userinfo_is_refused() {
    for text in [
        "https://user@evil.org/",
        "https://api.example.org:443@evil.org/",
        "https://a.org\\@evil.org/",
        "https://@a.org/",
    ] {
        assert_eq!(refusal(text), BadUrl::UserInfo, "{text}");
    }
    assert_eq!(target("https://a.org/@scope/x@1").path(), "/@scope/x@1");
}

#[test]
fn an_empty_host_is_refused() {
    for text in ["https://", "https:///path", "https://:443/", "https://?q", "https://#f"] {
        assert_eq!(refusal(text), BadUrl::Host(BadHost::Empty), "{text}");
    }
}

#[test]
fn controls_spaces_backslashes_and_raw_non_ascii_are_refused() {
    for odd in ["\r\n", "\n", "\0", "\t", " ", "\\", "\u{7f}", "é", "\u{85}", "\u{202e}"] {
        for text in
            [format!("https://a.org/x{odd}y"), format!("https://a.org/?x={odd}"), format!("https://a.org/#{odd}")]
        {
            assert!(matches!(refusal(&text), BadUrl::Character(_)), "{text:?}");
        }
        assert!(Target::parse(&format!("https://a{odd}.org/")).is_err());
    }
    assert_eq!(
        refusal("https://a.org/\r\nHost: b.org").to_string(),
        r"the URL has a character that it may not have as it is: `\r`"
    );
}

#[test]
fn non_ascii_hosts_are_refused_naming_the_punycode_form() {
    for text in [
        "https://bücher.example/",
        "https://аpple.com/",
        "https://a。org/",
        "https://①②⑦.0.0.1/",
        "https://ⓔxample.org/",
    ] {
        let error = refusal(text);
        assert!(matches!(error, BadUrl::Host(BadHost::NotAscii(_))), "{text}: {error}");
        assert!(error.to_string().contains("punycode"), "{error}");
    }
    assert_eq!(host("https://XN--bcher-kva.example/"), HostName::Name("xn--bcher-kva.example".into()));
}

#[test]
fn trailing_dots_empty_labels_and_odd_labels_are_refused() {
    assert!(matches!(refusal("https://a.org./"), BadUrl::Host(BadHost::TrailingDot(_))));
    assert!(matches!(refusal("https://./"), BadUrl::Host(BadHost::TrailingDot(_))));
    for text in ["https://a..org/", "https://.a.org/", "https://-a.org/", "https://a-.org/"] {
        assert!(matches!(refusal(text), BadUrl::Host(BadHost::Label { .. })), "{text}");
    }
    let long_label = format!("https://{}.org/", "a".repeat(64));
    assert!(matches!(refusal(&long_label), BadUrl::Host(BadHost::Label { .. })));
    assert_eq!(refusal(&format!("https://{}/", "a.".repeat(127))), BadUrl::Host(BadHost::TooLong));
    for text in ["https://a!b.org/", "https://a,b/", "https://a|b/", "https://a;b/", "https://<a>/", "https://a'b/"] {
        assert!(matches!(refusal(text), BadUrl::Host(BadHost::Character { .. })), "{text}");
    }
    assert_eq!(host("https://my_service.internal/"), HostName::Name("my_service.internal".into()));
}

#[test]
fn odd_forms_of_ipv4_are_refused_by_name() {
    let odd = [
        "2130706433",
        "0177.0.0.1",
        "0x7f.1",
        "127.1",
        "0x7f000001",
        "017700000001",
        "127.0.1",
        "0",
        "0x",
        "127.0.0.0x1",
    ];
    for host in odd.into_iter().chain([
        "1.2.3.4.5",
        "256.1.1.1",
        "127.00.0.1",
        "0X7F.0.0.1",
        "foo.1",
        "1.2.3.09",
        "99999999999",
    ]) {
        let error = refusal(&format!("http://{host}/"));
        assert!(matches!(error, BadUrl::Host(BadHost::OddIpv4(_))), "{host}: {error}");
        assert!(error.to_string().contains("odd form"), "{error}");
    }
    assert_eq!(host("http://127.0.0.1/").addr(), Some([127, 0, 0, 1].into()));
    assert_eq!(host("http://1.example/"), HostName::Name("1.example".into()));
}

#[test]
fn percent_encoded_hosts_are_refused() {
    for text in ["https://%61.org/", "https://a%2eorg/", "https://127.0.0.1%00/", "https://a.org%2f@b/"] {
        assert!(matches!(refusal(text), BadUrl::Host(BadHost::Percent(_)) | BadUrl::UserInfo), "{text}");
    }
}

#[test]
fn ipv6_is_read_in_brackets_and_mapped_ipv4_becomes_ipv4() {
    assert_eq!(target("http://[::1]:8080/x").to_string(), "http://[::1]:8080/x");
    assert_eq!(target("http://[0:0:0:0:0:0:0:1]/").to_string(), "http://[::1]/");
    assert_eq!(host("http://[::ffff:127.0.0.1]/").addr(), Some([127, 0, 0, 1].into()));
    assert_eq!(host("http://[::FFFF:7f00:1]/").addr(), Some([127, 0, 0, 1].into()));
}

#[test]
fn broken_and_scoped_ipv6_is_refused() {
    for text in ["http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[::1%250]:80/"] {
        assert!(matches!(refusal(text), BadUrl::Host(BadHost::Zone(_))), "{text}");
    }
    for text in [
        "http://[::1/",
        "http://[]/",
        "http://[1.2.3.4]/",
        "http://[::g]/",
        "http://[v1.x]/",
        "http://[::ffff:0177.0.0.1]/",
    ] {
        assert!(matches!(refusal(text), BadUrl::Host(BadHost::Ipv6(_))), "{text}");
    }
    assert!(matches!(refusal("http://::1/"), BadUrl::Host(BadHost::NoBrackets(_))));
    assert!(matches!(refusal("http://[::1]80/"), BadUrl::Port(_)));
    assert!(matches!(refusal("http://[::1]evil.org/"), BadUrl::Port(_)));
}

#[test]
fn ports_are_one_to_65535_in_plain_digits() {
    for port in ["0", "65536", "080", "+80", "-1", "8a", "", "99999999", "１"] {
        assert!(Target::parse(&format!("http://a.org:{port}/")).is_err(), "{port}");
    }
    assert_eq!((target("http://a.org:1/").port(), target("http://a.org:65535/").port()), (1, 65535));
}

#[test]
fn dot_segments_in_any_clothes_are_refused() {
    for path in [
        "/v1/../admin",
        "/..",
        "/.",
        "/./x",
        "/v1/%2e%2e/admin",
        "/v1/.%2E/x",
        "/%2e",
        "/v1/..;/x",
        "/..;a=b/x",
        "/v1/..%3bx/y",
        "/..%20/x",
        "/v1/..",
    ] {
        let error = refusal(&format!("https://a.org{path}"));
        assert!(matches!(error, BadUrl::Path(BadPath::DotSegment(_))), "{path}: {error}");
    }
    for path in ["/...", "/.well-known/x", "/a..b", "/..a", "/a.", "/x;a=..", "/%2ewell-known"] {
        target(&format!("https://a.org{path}"));
    }
}

#[test]
fn what_servers_read_differently_is_marked() {
    let cases = [
        ("/a%2fb", Ambiguity::EncodedSlash),
        ("/v1/..%2F..%2Fadmin", Ambiguity::EncodedSlash),
        ("/a%5Cb", Ambiguity::EncodedBackslash),
        ("/a//b", Ambiguity::EmptySegment),
        ("//evil.org/", Ambiguity::EmptySegment),
        ("/a%00", Ambiguity::EncodedControl),
        ("/a%0d%0aHost:%20b", Ambiguity::EncodedControl),
        ("/%252e%252e/x", Ambiguity::DoubleEncoding),
        ("/%25252e", Ambiguity::DoubleEncoding),
        ("/%c0%ae%c0%ae/x", Ambiguity::NotUtf8),
        ("/%EF%BC%8E%EF%BC%8E/x", Ambiguity::Lookalike),
        ("/%EF%BC%8Fadmin", Ambiguity::Lookalike),
    ];
    for (path, ambiguity) in cases {
        let read = target(&format!("https://a.org{path}"));
        assert_eq!(read.match_path().ambiguity(), Some(ambiguity), "{path}");
        assert_eq!(read.path(), path, "what is sent is what was written");
    }
    for path in ["/100%25", "/a%20b", "/caf%C3%A9", "/a:b@c", "/"] {
        assert_eq!(target(&format!("https://a.org{path}")).match_path().ambiguity(), None, "{path}");
    }
}

#[test]
fn paths_that_mean_the_same_match_the_same() {
    let form = |path: &str| target(&format!("https://a.org{path}")).match_path().as_str().to_owned();
    assert_eq!(form("/%7euser/%41%2Dz"), "/~user/A-z");
    assert_eq!(form("/a*b"), form("/a%2ab"));
    assert_eq!(form("/a'(b)"), form("/a%27%28b%29"));
    assert_eq!(form("/a\"b|c"), form("/a%22b%7cc"));
    assert_ne!(form("/a%3fb"), form("/a"));
    assert_ne!(form("/A"), form("/a"));
}

#[test]
fn malformed_percent_encoding_is_refused() {
    for text in [
        "https://a.org/%",
        "https://a.org/%2",
        "https://a.org/%zz",
        "https://a.org/x?%",
        "https://a.org/x?q=100%",
        "https://a.org/%+1",
    ] {
        assert!(matches!(refusal(text), BadUrl::Path(BadPath::Percent(_))), "{text}");
    }
}

#[test]
fn a_long_url_is_refused() {
    assert_eq!(refusal(&format!("https://a.org/{}", "a".repeat(9000))), BadUrl::TooLong);
}

#[test]
fn an_origin_form_request_stays_with_its_connection() {
    let from = |authority, path| Target::from_parts(Scheme::Https, authority, path);
    assert_eq!(from("a.org:444", "/x?y").unwrap().to_string(), "https://a.org:444/x?y");
    assert!(matches!(from("a.org", "http://b.org/"), Err(BadUrl::NotOriginForm(_))));
    assert!(matches!(from("a.org", "@b.org/"), Err(BadUrl::NotOriginForm(_))));
    assert!(matches!(from("a.org", ".b.org/"), Err(BadUrl::NotOriginForm(_))));
    assert!(matches!(from("a.org", "*"), Err(BadUrl::NotOriginForm(_))));
    for authority in ["b.org/", "b.org?", "b.org#", "x@b.org", ""] {
        assert!(from(authority, "/").is_err(), "{authority}");
    }
    assert_eq!(from("a.org", "//b.org/").unwrap().host(), &HostName::Name("a.org".into()));
}
