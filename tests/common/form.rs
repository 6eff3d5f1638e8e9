//! A PDF form that is filled through a mount: the registry's own skill, with a native package that the first runtime has not. What a
//! tier gives is held against the same calls without isolation, and against what was recorded outside of any sandbox.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillcell::{Call, Choice, Host, Tier};
use skillcell_policy::GrantKind;

use super::{returned, tests};

/// Recorded calls and their files.
fn parity() -> PathBuf {
    tests().join("../skills-compat/parity")
}

/// Fills a form, reads it back, and makes the recorded calls. `seen` is where a skill sees a folder of the host.
pub fn is_filled_as_natively(host: &Host, choice: Choice, seen: fn(&Path) -> String) {
    let own = |folder: &Path| folder.to_str().unwrap().to_owned();
    let (there, native) = (Folder::new(seen), Folder::new(own));
    let [filled, read] = fill(|params| there.run(host, choice, params));
    assert_eq!(filled["status"], "success", "{filled}");
    assert!(there.folder.path().join("done.pdf").is_file());
    let value = |name: &str| {
        let field = read["fields"].as_array().unwrap().iter().find(|field| field["native_name"] == name).unwrap();
        field["current_value"].clone()
    };
    assert_eq!((value("full_name"), value("country")), (json!("Ada"), json!("GR")), "{read}");
    let natively = fill(|params| native.run(host, Choice::Tier(Tier::InProcess), params));
    assert_eq!([filled, read], natively, "as without isolation");
    for case in recorded() {
        assert_eq!(there.run(host, choice, case["params"].clone()), case["expected"], "{}", case["id"]);
    }
}

fn fill(run: impl Fn(Value) -> Value) -> [Value; 2] {
    let edits = json!({"full_name": "Ada", "country": "GR", "agree_terms": true});
    let output = "{{WORK}}/done.pdf";
    [
        run(
            json!({"action": "fill", "pdf_path": "{{WORK}}/form.pdf", "edits": edits, "output_path": output, "confirmed": true}),
        ),
        run(json!({"action": "inspect", "pdf_path": output})),
    ]
}

fn recorded() -> Vec<Value> {
    let text = fs::read_to_string(parity().join("cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let of_forms: Vec<Value> = cases.into_iter().filter(|case| case["skill"] == "office/pdf_form_filler").collect();
    assert!(!of_forms.is_empty());
    of_forms
}

/// A folder of the host with the form in it.
struct Folder {
    folder: tempfile::TempDir,
    seen: String,
}

impl Folder {
    fn new(seen: fn(&Path) -> String) -> Folder {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(parity().join("files/form.pdf"), folder.path().join("form.pdf")).unwrap();
        // Whoever a tier runs a skill as may write here.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        Folder { seen: seen(folder.path()), folder }
    }

    /// The result, with `{{WORK}}` where paths of the folder are.
    fn run(&self, host: &Host, choice: Choice, params: Value) -> Value {
        let skill = host.skill("office/pdf_form_filler").unwrap();
        let seen = self.seen.as_str();
        let mut call = Call::new(serde_json::from_str(&params.to_string().replace("{{WORK}}", seen)).unwrap());
        call.tier = choice;
        call.limits.memory_bytes = 1 << 30;
        if choice != Choice::Tier(Tier::InProcess) {
            let mount = format!("{}:{seen}:rw", self.folder.path().display());
            call.grants.add(GrantKind::Mount, &mount).expect("a mount");
        }
        let report = host.call(&skill, &call).unwrap();
        // Where the operator names no tier: this skill can't run in a cell of the first runtime.
        let outside = report.tier > Tier::Wasm && (choice != Choice::Auto || report.tier_reason.is_some());
        assert!(outside || choice == Choice::Tier(Tier::Wasm), "{report:?}");
        let result = returned(report).unwrap();
        serde_json::from_str(&result.to_string().replace(seen, "{{WORK}}")).unwrap()
    }
}
