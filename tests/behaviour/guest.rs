//! The guest's promises: unchanged skills find what they expect of Python, and what a cell does not have says so.

use crate::common::{call, fixture, raised, returned, tests};
use serde_json::{Value, json};
use skillcell::{Call, NoteKind, Raised};

const WORDING: &str = "not available in a skillcell cell: ";

/// What a cell says of modules that are of no use in it is tested here, so importing them is not refused.
fn any_import(params: Value) -> Call {
    let mut call = Call::new(params);
    call.allow_any_import = true;
    call
}

fn run(name: &str, params: Value) -> Value {
    returned(call(&guest(name), &any_import(params))).unwrap_or_else(|what| panic!("{name} {what}"))
}

fn fail(name: &str, params: Value) -> Raised {
    raised(call(&guest(name), &any_import(params))).unwrap_or_else(|what| panic!("{name} {what}"))
}

fn guest(name: &str) -> skillcell::Skill {
    fixture(&format!("guest/{name}"))
}

#[test]
fn a_skill_with_only_aexecute_runs() {
    let result = run("async_only", json!({}));
    assert_eq!(result, json!({"together": [0, 1, 2], "task": "task", "timed_out": true}));
}

#[test]
fn event_loops_work_without_sockets_and_really_wait() {
    let expected = json!({
        "really_waits": true, "runner": [0, 1], "own": "own", "current": "current", "to_thread": "thread",
        "nested": ["inner", "outer"], "call_later": "called",
    });
    assert_eq!(run("event_loops", json!({})), expected);
}

#[test]
fn a_wait_that_could_never_end_is_an_error() {
    for wait in ["future", "lock", "event", "queue", "simple_queue", "semaphore", "starter"] {
        let error = fail("endless_waits", json!({"wait": wait}));
        assert!(error.message.starts_with(WORDING) && error.message.contains("would never end"), "{wait}: {error:?}");
        assert!(error.kind.ends_with("Deadlock"), "{wait}: {error:?}");
    }
}

#[test]
fn a_wait_with_a_timeout_ends_at_it() {
    assert_eq!(run("endless_waits", json!({"wait": "with timeouts"})), json!([false, false, false]));
}

#[test]
fn threads_and_pools_get_their_work_done() {
    let expected = json!({
        "fed": [[2, 4], false], "daemons": [0, 1, 2], "polled": ["polled"], "timer": ["rang"], "heartbeat": "alive",
        "pool": {"completed": [1, 2, 4], "mapped": [1, 2], "failed": "ZeroDivisionError"}, "thread_pool": [1, 2],
    });
    assert_eq!(run("threads", json!({})), expected);
}

#[test]
fn ssl_can_be_imported_and_configured_but_wraps_nothing() {
    let error = fail("tls", json!({}));
    assert_eq!(error.kind, "ssl.SSLError");
    assert!(error.message.contains(&format!("{WORDING}TLS")), "{error:?}");
}

#[test]
fn there_is_a_user_who_owns_the_files() {
    let expected = json!({
        "owns_files": true, "user": "skill", "group": "skill", "getuser": "skill", "home": "/home/skill", "cpus": 1,
        "null": "",
    });
    assert_eq!(run("identity", json!({})), expected);
}

#[test]
fn every_way_to_another_process_says_that_there_is_none() {
    let said = run("no_processes", json!({}));
    for (way, text) in said.as_object().expect("an object") {
        assert!(text.as_str().is_some_and(|text| text.contains(WORDING)), "{way}: {text}");
    }
    for way in ["subprocess.run", "subprocess.check_output", "subprocess.Popen", "os.popen"] {
        assert!(said[way].as_str().is_some_and(|text| text.starts_with("FileNotFoundError: ")), "{way}: {}", said[way]);
    }
}

#[test]
fn every_way_to_the_network_fails_as_where_nobody_answers() {
    let result = run("no_network", json!({}));
    let expected = [
        ("requests", "requests.exceptions.ConnectionError"),
        ("requests to an address", "requests.exceptions.ConnectionError"),
        ("urllib", "urllib.error.URLError"),
        ("http.client", "builtins.ConnectionRefusedError"),
        ("smtplib", "builtins.ConnectionRefusedError"),
        ("getaddrinfo", "socket.gaierror"),
        ("gethostbyname", "socket.gaierror"),
        ("connect", "builtins.ConnectionRefusedError"),
        ("asyncio", "socket.gaierror"),
        ("bind", "builtins.OSError"),
        ("raw", "builtins.PermissionError"),
        ("datagram", "builtins.OSError"),
    ];
    for (way, kind) in expected {
        let text = result["said"][way].as_str().unwrap_or_default();
        assert!(text.starts_with(&format!("{kind}: ")) && text.contains(WORDING), "{way}: {text}");
    }
}

#[test]
fn addresses_in_figures_resolve_to_themselves() {
    let result = run("no_network", json!({}));
    assert_eq!(result["literals"], json!([["10.0.0.1"], ["::1"], ["127.0.0.1"], ["127.0.0.1", "::1"]]));
}

#[test]
fn relative_and_full_imports_find_the_same_modules() {
    assert_eq!(run("relative_imports", json!({})), json!({"answer": 42, "same": true, "depth": 43}));
}

#[test]
fn siblings_can_be_imported_by_bare_name() {
    assert_eq!(run("sibling_imports", json!({})), json!({"answer": 42, "data": "beside the code"}));
}

#[test]
fn names_from_the_packages_init_are_there_when_asked_for() {
    assert_eq!(run("package_init", json!({})), json!({"greeting": "hello"}));
}

#[test]
fn neither_init_nor_main_guard_is_run() {
    assert_eq!(run("init_not_run", json!({})), json!({"ok": true}));
}

#[test]
fn a_skill_file_must_have_exactly_one_skill_class() {
    let expected = [
        ("no_class", "Expected exactly one BaseSkill subclass in /skills/guest/no_class/skill.py, found none."),
        (
            "two_classes",
            "Expected exactly one BaseSkill subclass in /skills/guest/two_classes/skill.py, found: ['One', 'Two']",
        ),
    ];
    for (name, message) in expected {
        let error = fail(name, json!({}));
        assert_eq!((error.kind.as_str(), error.message.as_str()), ("ImportError", message));
    }
}

#[test]
fn a_missing_package_is_named() {
    let error = fail("missing_package", json!({}));
    assert_eq!(error.kind, "ImportError");
    assert!(error.message.contains("Missing module: nobody_has_this (not among the packages"), "{error:?}");
    assert!(error.traceback.contains("/skills/guest/missing_package/skill.py\", line 1"), "{error:?}");
}

#[test]
fn a_requirement_that_is_only_used_if_present_may_be_absent() {
    assert_eq!(run("optional_package", json!({})), json!({"has_onnxruntime": false}));
}

#[test]
fn a_result_that_is_not_json_is_named_by_its_path() {
    let expected = [
        ("set", "result['rows'][0]['tags'] is of type set"),
        ("date", "result[0] is of type datetime.date"),
        ("nan", "result['score'] is the number nan, which JSON does not have"),
        ("key", "result['a'] key (1, 2) is of type tuple"),
        ("surrogate", "result['text'] is text with half of a surrogate pair"),
        ("loop", "result['items'][0] is a value that contains itself"),
    ];
    for (which, end) in expected {
        let error = fail("not_json", json!({"result": which}));
        assert_eq!(error.message, format!("the skill's result is not JSON: {end}"));
    }
}

#[test]
fn ordinary_python_works_without_a_manifest_and_nothing_heavy_is_imported() {
    let expected = json!({
        "copy": {"x": 1, "near": {"x": 2, "near": null}}, "colour": "red", "hints": ["near", "x"], "heavy": [],
    });
    assert_eq!(run("plain_python", json!({})), expected);
}

#[test]
fn keys_are_derived_from_passwords_without_openssl() {
    let expected = json!({
        "sha256": "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56\
                   a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d",
        "sha1": "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038",
        "type": true,
        "hmac": "6afa9046a9579cad143a384c1b564b9a250d27d6f6a63f9f20bf3a7594c9e2c6",
    });
    assert_eq!(run("hashes", json!({})), expected);
}

#[test]
fn digests_are_those_of_native_python() {
    let mut python =
        std::process::Command::new(std::env::var_os("SKILLCELL_PYTHON").unwrap_or_else(|| "python3".into()));
    let native = python.arg("-I").arg(tests().join("skills/guest/digests/hashing.py")).output().expect("Python starts");
    let native: Value = serde_json::from_slice(&native.stdout).expect("JSON");
    let inside = run("digests", json!({}));
    assert_eq!(native.as_object().expect("digests").len(), 9 * 4 + 6 * 2);
    assert_eq!(inside["digests"], native);
    let refused = json!({
        "password": "TypeError", "text": "TypeError", "salt": "TypeError", "rounds": "ValueError", "length": "ValueError",
        "name": "ValueError",
    });
    assert_eq!(inside["refused"], refused);
}

#[test]
fn what_a_skill_prints_is_kept_however_it_ends() {
    for (params, outcome) in [(json!({}), "returned"), (json!({"fail": true}), "raised")] {
        let report = call(&guest("prints"), &Call::new(params));
        assert_eq!(report.outcome.name(), outcome);
        assert_eq!(report.stdout, b"a line\nand no end of line");
        assert_eq!(report.stderr, b"to stderr\n");
    }
}

#[test]
fn every_fixture_is_used() {
    let source = include_str!("guest.rs");
    for folder in std::fs::read_dir(tests().join("skills/guest")).expect("there are fixtures") {
        let name = folder.expect("readable").file_name().into_string().expect("plain names");
        assert!(source.contains(&format!("\"{name}\"")), "no test runs `{name}`");
    }
}

#[test]
fn an_environment_value_is_seen_where_a_module_reads_it_at_import() {
    let mut call_with = Call::new(json!({}));
    call_with.env = [("REGION".to_owned(), "eu".to_owned())].into();
    let result = returned(call(&guest("env_at_import"), &call_with)).unwrap();
    assert_eq!(result, json!({"at_import": "eu", "in_call": "eu", "other": null}));
    let result = run("env_at_import", json!({}));
    assert_eq!(result, json!({"at_import": "nowhere", "in_call": null, "other": null}));
}

#[test]
fn what_the_standard_library_lacks_in_a_cell_says_so() {
    let said = run("lacking", json!({}));
    for part in ["ways", "writes", "absent"] {
        for (way, text) in said[part].as_object().expect("an object") {
            let (kind, message) = (text[0].as_str().unwrap_or_default(), text[1].as_str().unwrap_or_default());
            // An `OSError` shows its number first.
            let words = message.split_once("] ").map_or(message, |(_, words)| words);
            assert!(words.starts_with(WORDING), "{way}: {text}");
            assert_eq!(kind, if part == "absent" { "AttributeError" } else { "OSError" }, "{way}: {text}");
            assert!(part != "writes" || message.contains("`/tmp`") && text[2] == 69, "{way}: {text}");
        }
    }
    for (module, text) in said["modules"].as_object().expect("an object") {
        assert_eq!(text[0], "ModuleNotFoundError", "{module}: {text}");
    }
    let own = "[Errno 69] Read-only file system: '/skills/guest/lacking/skill.py'";
    assert_eq!(said["own file"], json!(["OSError", own, 69]), "as on any computer");
    assert_eq!(said["works"], json!([false, true, [true], true]));
}

#[test]
fn every_package_of_the_runtime_works_and_the_documentation_lists_it() {
    let about = run("packages", json!({}));
    assert_eq!(about["runtime"], about["tried"], "each is tried");
    let page = include_str!("../../docs/reference/guest.md");
    let listed =
        page.split_once("With the runtime: ").and_then(|(_, rest)| rest.split_once(".\n\n")).expect("a list").0;
    let mut listed: Vec<&str> = listed.split(',').map(str::trim).collect();
    listed.sort_unstable();
    assert_eq!(about["tried"], json!(listed));
    for package in listed {
        let mut call_with = Call::new(json!({"package": package}));
        call_with.limits.deadline = std::time::Duration::from_secs(300);
        let worked = returned(call(&guest("packages"), &call_with)).unwrap_or_else(|what| panic!("{package} {what}"));
        assert_eq!(worked, json!(true), "{package}");
    }
}

fn notes(name: &str, call_with: &Call) -> Vec<(NoteKind, String)> {
    crate::common::notes(&call(&guest(name), call_with))
}

#[test]
fn a_call_that_has_numpy_is_told_how_wide_its_integers_are() {
    let numpy = vec![(NoteKind::IntegerWidth, "numpy".to_owned())];
    // Imported in the call, or by something else.
    for with in ["numpy", "pandas", "scipy.linalg"] {
        assert_eq!(notes("numbers", &Call::new(json!({"with": with}))), numpy, "{with}");
    }
    assert_eq!(run("numbers", json!({"with": "numpy"})), json!(-1_894_967_296), "which is why");
    let mut without_image = Call::new(json!({"with": "numpy"}));
    without_image.use_image = false;
    assert_eq!(notes("numbers", &without_image), numpy);
    for params in [json!({}), json!({"with": "json"}), json!({"fail": true}), json!({"with": "jpeg"})] {
        assert_eq!(notes("numbers", &Call::new(params.clone())), [], "{params}");
    }
    assert_eq!(run("numbers", json!({"with": "jpeg and numpy"})), json!([true, 5.0, "numpy"]));
    assert_eq!(notes("numbers", &Call::new(json!({"with": "jpeg and numpy"}))), numpy);
}

#[test]
fn what_is_acknowledged_is_not_told_again() {
    assert_eq!(notes("numbers_known", &Call::new(json!({}))), [], "by the manifest");
    assert_eq!(run("numbers_known", json!({})), json!(2_400_000_000_u64));
    let mut known = Call::new(json!({"with": "numpy"}));
    known.acknowledge = vec![NoteKind::IntegerWidth];
    assert_eq!(notes("numbers", &known), [], "by the caller");
}
