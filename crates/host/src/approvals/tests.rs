//! Approvals hold for what was approved and nothing else; their file is closed to others and read with suspicion.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use super::{ApprovalError, ApprovalState, Approvals, Difference, FileChange, place};
use skillcell_packages::skill::Skill;
use skillcell_policy::Permissions;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    fn approvals(&self) -> Approvals {
        Approvals::locate(Some(&self.folder.path().join("a/b"))).unwrap()
    }

    fn skill(&self, name: &str, files: &[(&str, &str)]) -> Skill {
        let folder = self.folder.path().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        files.iter().for_each(|(path, text)| fs::write(folder.join(path), text).unwrap());
        Skill::from_folder(name, &folder).unwrap()
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("a/b/approvals.json")
    }

    /// What reading makes of a file with this text.
    fn reads(&self, text: &str) -> Result<usize, String> {
        fs::create_dir_all(self.folder.path().join("a/b")).unwrap();
        fs::write(self.file(), text).unwrap();
        mode(&self.file(), 0o600);
        self.approvals().all().map(|all| all.len()).map_err(|error| error.to_string())
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn asks(name: &str) -> Permissions {
    Permissions::parse(&json!({"env": [name]})).unwrap()
}

#[test]
fn an_approval_holds_for_the_content_and_for_no_other() {
    let (place, asked) = (Place::new(), asks("A"));
    let (approvals, skill) = (place.approvals(), place.skill("s", &[("skill.py", "1"), ("x", "")]));
    assert_eq!(approvals.standing(&skill).unwrap(), ApprovalState::Unknown);
    let approval = approvals.approve(&skill, &asked, &[]).unwrap();
    assert_eq!(approvals.standing(&skill).unwrap(), ApprovalState::Approved(approval.clone()));
    let copy = place.skill("copy", &[("skill.py", "1"), ("x", "")]);
    assert_eq!(approvals.standing(&copy).unwrap(), ApprovalState::Approved(approval.clone()), "the same content");
    let changed = place.skill("s", &[("skill.py", "2"), ("y", "")]);
    assert_eq!(approvals.standing(&changed).unwrap(), ApprovalState::Changed(approval.clone()));
    let difference = Difference::between(&approval, &changed, &asked);
    let expected =
        [FileChange::Changed("skill.py".into()), FileChange::Added("y".into()), FileChange::Removed("x".into())];
    assert_eq!((difference.permissions.len(), &difference.files[..]), (0, &expected[..]));
    approvals.approve(&changed, &asked, &[]).unwrap();
    assert_eq!(approvals.standing(&skill).unwrap(), ApprovalState::Changed(approvals.all().unwrap()[0].clone()));
    assert_eq!(approvals.revoke(&changed).unwrap().len(), 1);
    assert_eq!(approvals.standing(&changed).unwrap(), ApprovalState::Unknown);
}

#[test]
fn a_skill_that_is_gone_is_revoked_by_its_path_or_id() {
    let place = Place::new();
    let approvals = place.approvals();
    assert_eq!(approvals.revoke_named("s").unwrap(), [], "where nothing was ever approved");
    for by_path in [true, false] {
        approvals.approve(&place.skill("s", &[("skill.py", "1")]), &asks("A"), &[]).unwrap();
        let folder = place.folder.path().join("s");
        fs::remove_dir_all(&folder).unwrap();
        let name = if by_path { folder.to_str().unwrap() } else { "s" };
        assert_eq!(approvals.revoke_named(name).unwrap().len(), 1, "{name}");
    }
}

#[test]
fn the_file_and_its_folders_are_for_their_owner() {
    let place = Place::new();
    place.approvals().approve(&place.skill("s", &[("skill.py", "1")]), &asks("A"), &[]).unwrap();
    let bits = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(bits(&place.file()), 0o600);
    assert_eq!((bits(&place.folder.path().join("a/b")), bits(&place.folder.path().join("a"))), (0o700, 0o700));
    for (path, bad) in [(place.file(), 0o620), (place.file(), 0o602), (place.folder.path().join("a/b"), 0o770)] {
        let before = bits(&path);
        mode(&path, bad);
        let error = place.approvals().all().unwrap_err();
        assert!(matches!(&error, ApprovalError::Open { mode, .. } if *mode == bad), "{error}");
        assert!(error.hint().unwrap().contains("chmod go-w"));
        mode(&path, before);
    }
    assert_eq!(place.approvals().all().unwrap().len(), 1);
}

#[test]
fn what_another_process_approves_or_revokes_is_seen() {
    let place = Place::new();
    let (one, other) = (place.approvals(), place.approvals());
    let skill = place.skill("s", &[("skill.py", "1")]);
    one.approve(&skill, &asks("A"), &[]).unwrap();
    assert!(matches!(other.standing(&skill).unwrap(), ApprovalState::Approved(_)));
    one.revoke(&skill).unwrap();
    assert_eq!(other.standing(&skill).unwrap(), ApprovalState::Unknown);
}

#[test]
fn approvals_at_the_same_time_are_all_kept() {
    let place = Place::new();
    let skills: Vec<Skill> = (0..16).map(|n| place.skill(&format!("s{n}"), &[("skill.py", &n.to_string())])).collect();
    std::thread::scope(|scope| {
        for skill in &skills {
            let approvals = place.approvals();
            scope.spawn(move || approvals.approve(skill, &asks("A"), &[]).unwrap());
        }
    });
    assert_eq!(place.approvals().all().unwrap().len(), skills.len());
    let left: Vec<_> = fs::read_dir(place.folder.path().join("a/b")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the file and its lock: {left:?}");
}

#[test]
fn a_file_that_is_wrong_is_an_error_that_says_how() {
    let place = Place::new();
    place.approvals().approve(&place.skill("s", &[("skill.py", "1")]), &asks("A"), &[]).unwrap();
    let good: Value = serde_json::from_str(&fs::read_to_string(place.file()).unwrap()).unwrap();
    assert_eq!(place.reads(&good.to_string()), Ok(1));
    let with = |pointer: &str, key: &str, value: Value| {
        let mut text = good.clone();
        text.pointer_mut(pointer).unwrap()[key] = value;
        place.reads(&text.to_string()).unwrap_err()
    };
    let first = "/approvals/0";
    for (problem, expected) in [
        (with("", "extra", json!(1)), "unknown field `extra`"),
        (with(first, "grants", json!({})), "unknown field `grants`"),
        (with("/approvals/0/permissions", "shell", json!([])), "permissions.shell"),
        (with("", "schema", json!(2)), "its schema is 2"),
        (with("", "approvals", json!({})), "expected a sequence"),
        (with(first, "digest", json!("abc")), "not a digest"),
        (with(first, "digest", json!("Z".repeat(64))), "not a digest"),
        (with("/approvals/0/files", "skill.py", json!("")), "not a digest"),
        (with(first, "place", json!("")), "empty or too long"),
        (with(first, "skill", json!("x".repeat(5000))), "empty or too long"),
        (with(first, "approved", json!(-1)), "invalid value"),
        (place.reads("").unwrap_err(), "EOF"),
        (place.reads(&"[".repeat(1000)).unwrap_err(), "can't be read"),
        (place.reads(&" ".repeat((16 << 20) + 1)).unwrap_err(), "longer than 16 MiB"),
    ] {
        assert!(problem.contains(expected), "{expected}: {problem}");
    }
    let many: Vec<Value> = vec![good["approvals"][0].clone(); 4097];
    assert!(with("", "approvals", many.into()).contains("more than 4096"));
}

#[test]
fn what_is_no_file_does_not_hold_anyone_up() {
    let place = Place::new();
    fs::create_dir_all(place.folder.path().join("a/b")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, place.file(), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert!(place.approvals().all().unwrap_err().to_string().contains("no plain file"));
}

#[test]
fn the_folder_is_where_the_platform_has_such_things() {
    let chosen = |explicit: Option<&str>, vars: &[(&str, &str)]| {
        let var = |name: &str| vars.iter().find(|(k, _)| *k == name).map(|(_, v)| v.into());
        place::choose_folder(explicit.map(Path::new), &var)
            .ok()
            .map(|(path, named)| (path.display().to_string(), named))
    };
    let vars = [("SKILLCELL_APPROVALS_DIR", "/s"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
    let is = |path: &str, named: bool| Some((path.to_owned(), named));
    assert_eq!(chosen(Some("/e"), &vars), is("/e", true));
    assert_eq!(chosen(Some("/s"), &vars), is("/s", false), "a command finds it without being told");
    assert_eq!(chosen(None, &vars), is("/s", false));
    assert_eq!(chosen(Some(""), &vars), is("/s", false), "a variable that is set to nothing is not set");
    assert_eq!(chosen(None, &vars[1..]), is("/x/skillcell", false));
    let home = if cfg!(target_os = "macos") { "/h/Library/Application Support" } else { "/h/.local/share" };
    assert_eq!(chosen(None, &[("XDG_DATA_HOME", "rel"), ("HOME", "/h")]), is(&format!("{home}/skillcell"), false));
    assert_eq!(chosen(None, &[]), None);
}
