//! Which classes a host would make a skill of. Skillware's loader wants exactly one of them in `skill.py`.

use super::facts::Facts;
use super::graph::{Node, is_test};

/// How many classes deep a skill may be derived.
const DEEPEST: u8 = 8;

/// The skill classes of `skill.py`, or of any file where it has none.
pub fn of(facts: &Facts) -> Vec<Node> {
    let all = |is_one: &dyn Fn(&str, &str) -> bool| -> Vec<Node> {
        let files = facts.files.iter().filter(|(path, _)| !is_test(path));
        let classes = files.flat_map(|(path, file)| file.classes.keys().map(move |name| (path, name)));
        classes.filter(|(path, name)| is_one(path, name)).map(|(path, name)| (path.clone(), name.clone())).collect()
    };
    let own = all(&|path, name| path == "skill.py" && derives(facts, path, name, 0));
    let derived = if own.is_empty() { all(&|path, name| derives(facts, path, name, 0)) } else { own };
    if derived.is_empty() { all(&|_, _| true) } else { derived }
}

/// What the loader would say against `skill.py`, as far as its classes tell.
pub fn objection(facts: &Facts) -> Option<String> {
    let file = facts.files.get("skill.py")?;
    let outermost = || file.classes.iter().filter(|(name, _)| !name.contains('.'));
    let found: Vec<&str> =
        outermost().filter(|(name, _)| derives(facts, "skill.py", name, 0)).map(|(name, _)| name.as_str()).collect();
    match found[..] {
        [_] => None,
        [] => {
            let plain = outermost().flat_map(|(_, bases)| bases).all(|base| is_no_skill(facts, base));
            let starred = file.imports.iter().any(|import| import.names.iter().any(|name| name == "*"));
            let made = file.calls.iter().any(|call| matches!(call.name.as_str(), "exec" | "eval"));
            (plain && !starred && !made).then(|| "no class in it derives from `BaseSkill`".to_owned())
        }
        _ => Some(format!("more than one class in it derives from `BaseSkill`: {}", found.join(", "))),
    }
}

/// Whether a base is known to have nothing to do with Skillware: a class of this file, of Python, or of its library.
fn is_no_skill(facts: &Facts, base: &str) -> bool {
    let Some((module, _)) = base.rsplit_once('.') else { return true };
    facts.modules.get(module).is_some_and(|(kind, _)| kind == "stdlib")
}

/// Whether a class derives from Skillware's, through others of the skill.
fn derives(facts: &Facts, path: &str, class: &str, depth: u8) -> bool {
    let bases = facts.files.get(path).and_then(|file| file.classes.get(class));
    depth < DEEPEST
        && bases.into_iter().flatten().any(|base| {
            let base = base.rsplit('.').next().unwrap_or(base);
            let mut places = facts.files.iter().filter(|(_, file)| file.classes.contains_key(base));
            base.ends_with("Skill") || places.any(|(place, _)| derives(facts, place, base, depth + 1))
        })
}
