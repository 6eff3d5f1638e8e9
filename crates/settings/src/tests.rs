//! Promise: flag before variable before file before default, for every setting; what makes no sense is an error that says
//! where it stands.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::*;
use skillcell_policy::{GrantKind, Written};

/// Every key, with a value of its own.
const FILE: &str = r#"
[settings]
cache_dir = "/file/cache"
approvals_dir = "/file/approvals"
max_images = "1G"
runtime = "pyodide"
offline = true
from_wheel = ["/file/wheel"]
ca_file = ["/file/ca"]
python = "/file/python"
container_base = "file:base"
sandbox = "bubblewrap"
container_build_network = true
audit = "/file/audit"

[limits]
timeout = 1.5
memory = "64M"
max_stdout = 1
max_stderr = "2"
max_result = "3K"
max_open_files = 4
max_scratch = 5
max_scratch_files = 6
max_host_calls = 7
max_inflated = 8
fuel = 9

[http]
proxy = "http://file.test:2"

[tiers]
unknown = ["wasm"]

[grants]
env = ["REGION"]
"#;

const VARIABLES: [(&str, &str); 11] = [
    ("SKILLCELL_POLICY", "in the test"),
    ("SKILLCELL_CACHE_DIR", "/env/cache"),
    ("SKILLCELL_APPROVALS_DIR", "/env/approvals"),
    ("SKILLCELL_MAX_IMAGES", "2G"),
    ("SKILLCELL_RUNTIME", "wasi-python"),
    ("SKILLCELL_OFFLINE", "0"),
    ("SKILLCELL_PYTHON", "/env/python"),
    ("SKILLCELL_CONTAINER_BASE", "env:base"),
    ("SKILLCELL_SANDBOX", "landlock"),
    ("SKILLCELL_CONTAINER_BUILD_NETWORK", "0"),
    ("SKILLCELL_AUDIT", "/env/audit"),
];

fn written(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    file
}

fn named(path: &Path) -> Overrides {
    Overrides { policy: Some(path.to_owned()), ..Overrides::default() }
}

fn nothing(_: &str) -> Option<OsString> {
    None
}

fn by_caller() -> Overrides {
    Overrides {
        policy: None,
        cache_dir: Some("/flag/cache".into()),
        approvals_dir: Some("/flag/approvals".into()),
        max_images: Some(3),
        runtime: Some(RuntimeKind::Pyodide),
        offline: Some(true),
        from_wheel: vec!["/flag/wheel".into()],
        ca_file: vec!["/flag/ca".into()],
        proxy: Some("http://flag.test:1".parse().unwrap()),
        python: Some("/flag/python".into()),
        container_base: Some("flag:base".into()),
        sandbox: Some(SandboxChoice::Bubblewrap),
        container_build_network: Some(true),
        audit: Some("/flag/audit".into()),
        limits: LimitOverrides { timeout: Some(Duration::from_secs(2)), ..LimitOverrides::default() },
        grants: Grants::default(),
    }
}

/// What can be told apart, as text.
fn shown(settings: &Settings) -> String {
    format!("{:?}", Settings { policy: PolicyFile::default(), grants: Grants::default(), ..settings.clone() })
}

#[test]
fn a_flag_beats_a_variable_which_beats_the_file_which_beats_the_default() {
    let file = written(FILE);
    let variable = |name: &str| {
        let (_, value) = VARIABLES.iter().find(|(known, _)| *known == name)?;
        Some(if name == "SKILLCELL_POLICY" { file.path().into() } else { (*value).into() })
    };
    let default = Settings::load_with(Overrides::default(), &nothing).unwrap();
    assert_eq!(shown(&default), shown(&Settings::default()));

    let of_file = Settings::load_with(named(file.path()), &nothing).unwrap();
    assert_eq!(of_file.cache_dir.as_deref(), Some(Path::new("/file/cache")));
    assert_eq!(of_file.approvals_dir.as_deref(), Some(Path::new("/file/approvals")));
    assert_eq!((of_file.max_image_bytes, of_file.runtime), (Some(1 << 30), Some(RuntimeKind::Pyodide)));
    assert_eq!((of_file.offline, of_file.allow_build_network), (true, true));
    assert_eq!((&*of_file.wheels, &*of_file.ca_files), (&["/file/wheel".into()][..], &["/file/ca".into()][..]));
    assert_eq!(of_file.forward_proxy, Some("http://file.test:2".parse().unwrap()));
    assert_eq!(of_file.python.as_deref(), Some(Path::new("/file/python")));
    assert_eq!(of_file.container_base.as_deref(), Some("file:base"));
    assert_eq!(of_file.sandbox, SandboxChoice::Bubblewrap);
    assert_eq!(of_file.audit_file.as_deref(), Some(Path::new("/file/audit")));
    let limits: Vec<u64> = of_file.limits.amounts().into_iter().map(|(_, amount)| amount).collect();
    assert_eq!(limits, [1500, 64 << 20, 1, 2, 3 << 10, 4, 5, 6, 7, 8, 9]);

    let of_variables = Settings::load_with(Overrides::default(), &variable).unwrap();
    assert_eq!(of_variables.cache_dir.as_deref(), Some(Path::new("/env/cache")));
    assert_eq!(of_variables.approvals_dir.as_deref(), Some(Path::new("/env/approvals")));
    assert_eq!(of_variables.max_image_bytes, Some(2 << 30));
    assert_eq!((of_variables.offline, of_variables.allow_build_network), (false, false));
    assert_eq!(of_variables.python.as_deref(), Some(Path::new("/env/python")));
    assert_eq!(of_variables.container_base.as_deref(), Some("env:base"));
    assert_eq!(of_variables.sandbox, SandboxChoice::Landlock);
    assert_eq!(of_variables.audit_file.as_deref(), Some(Path::new("/env/audit")));
    assert_eq!(of_variables.limits, of_file.limits, "they have no variables");

    let of_flags = Settings::load_with(by_caller(), &variable).unwrap();
    assert_eq!(of_flags.cache_dir.as_deref(), Some(Path::new("/flag/cache")));
    assert_eq!(of_flags.approvals_dir.as_deref(), Some(Path::new("/flag/approvals")));
    assert_eq!(of_flags.max_image_bytes, Some(3));
    assert_eq!((of_flags.offline, of_flags.allow_build_network), (true, true));
    assert_eq!((&*of_flags.wheels, &*of_flags.ca_files), (&["/flag/wheel".into()][..], &["/flag/ca".into()][..]));
    assert_eq!(of_flags.forward_proxy, by_caller().proxy);
    assert_eq!(of_flags.python.as_deref(), Some(Path::new("/flag/python")));
    assert_eq!(of_flags.container_base.as_deref(), Some("flag:base"));
    assert_eq!(of_flags.sandbox, SandboxChoice::Bubblewrap);
    assert_eq!(of_flags.audit_file.as_deref(), Some(Path::new("/flag/audit")));
    assert_eq!(of_flags.limits.deadline, Duration::from_secs(2));
    assert_eq!(of_flags.limits.memory_bytes, 64 << 20);
}

#[test]
fn what_makes_no_sense_is_an_error_with_its_line() {
    for (text, line, words) in [
        ("[settings]\n\ncache = \"x\"\n", 3, "unknown field `cache`"),
        ("[settings]\npolicy = \"x\"\n", 2, "unknown field `policy`"),
        ("[settings]\nlimits = 1\n", 2, "unknown field `limits`"),
        ("[limits]\ntimeout = 1\nmemories = 1\n", 3, "unknown field `memories`"),
        ("[limits]\n\n\nmemory = \"1T\"\n", 4, "expected a size"),
        ("[limits]\ntimeout = -1\n", 2, "expected a time"),
        ("[limits]\nmax_open_files = 4294967296\n", 2, "u32"),
        ("[settings]\noffline = \"yes\"\n", 2, "boolean"),
        ("[grants]\n\nenv = [\"A=B=C\", 7]\n", 3, "string"),
        ("\n[setting]\n", 2, "unknown field `setting`"),
        ("\nsettings = 1\n", 2, "invalid type"),
    ] {
        let file = written(text);
        let error = Settings::load_with(named(file.path()), &nothing).unwrap_err();
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(error.to_string().contains(file.path().to_str().unwrap()), "{error}");
        assert!(source.starts_with(&format!("line {line}: ")) && source.contains(words), "{text}: {source}");
    }
    let gone = Settings::load_with(named(Path::new("/no/such/file")), &nothing).unwrap_err();
    assert_eq!(gone.to_string(), "the policy file `/no/such/file` can't be read");
}

#[test]
fn a_variable_that_makes_no_sense_is_an_error_and_an_empty_one_is_none() {
    for name in ["SKILLCELL_MAX_IMAGES", "SKILLCELL_OFFLINE", "SKILLCELL_CONTAINER_BUILD_NETWORK"] {
        let with = |value: &'static str| {
            Settings::load_with(Overrides::default(), &move |asked| (asked == name).then(|| value.into()))
        };
        let error = with("per\u{1b}haps").unwrap_err().to_string();
        assert!(error.starts_with(&format!("the variable `{name}` is `perhaps`: expected ")), "{error}");
        assert_eq!(shown(&with("").unwrap()), shown(&Settings::default()));
    }
}

#[test]
fn a_call_begins_with_the_limits_tiers_audit_and_grants_of_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    let file = written("[skill.a]\nallow_http = ['https://a.test']\n[tiers]\nunknown = []\n[limits]\ntimeout = 3\n");
    let mut caller = named(file.path());
    caller.audit = Some(folder.path().join("audit.jsonl"));
    caller.grants.add_written(GrantKind::Env, "REGION", &Written::Flag).unwrap();
    let defaults = Settings::load_with(caller, &nothing).unwrap().call_defaults().unwrap();
    let call = defaults.call("a");
    assert_eq!((call.grants.http.allow.len(), call.grants.env.len()), (1, 1));
    assert_eq!(defaults.call("b").grants.http.allow.len(), 0);
    assert_eq!(call.limits.deadline, Duration::from_secs(3));
    assert_eq!(call.tiers.unknown, Some(Vec::new()));
    assert_eq!(call.audit.path(), Some(&*folder.path().join("audit.jsonl")));
    assert!(folder.path().join("audit.jsonl").exists());
    assert!(call.grants.policy_files().any(|named| Path::new(named) == file.path()), "it is kept from the skill");
}

/// The reference has every key, and no other.
#[test]
fn the_reference_lists_every_key_and_variable() {
    let page = include_str!("../../../docs/reference/settings.md");
    let keys = FILE
        .lines()
        .take_while(|line| *line != "[tiers]")
        .filter_map(|line| line.split_once(" = "))
        .map(|(key, _)| key);
    for name in keys.chain(VARIABLES.map(|(name, _)| name)) {
        assert!(page.contains(&format!("`{name}`")), "docs/reference/settings.md has no `{name}`");
    }
}
