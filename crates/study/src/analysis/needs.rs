//! What a skill needs, statement by statement, and whether a cell has it.

mod calls;
mod fallbacks;

use self::calls::of_call;
pub use self::calls::{LOOKUPS, builds, effect};
use self::fallbacks::{of_fallbacks, of_helpers, of_insistence};
use super::effects::{self, Effect};
use super::facts::{Condition, Facts, Import, Spot};
use super::modules::{Module, Modules, Required};
use super::skills;

/// What a need that is not met raises, as far as handlers care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raises {
    Import,
    Os,
    Other,
}

impl Raises {
    pub fn is_caught_by(self, caught: &[String]) -> bool {
        caught.iter().any(|name| match name.as_str() {
            "Exception" | "BaseException" => true,
            "ImportError" | "ModuleNotFoundError" => self == Raises::Import,
            "OSError"
            | "IOError"
            | "EnvironmentError"
            | "FileNotFoundError"
            | "PermissionError"
            | "ConnectionError"
            | "ConnectionRefusedError"
            | "gaierror"
            | "error"
            | "RequestException"
            | "URLError"
            | "HTTPError"
            | "SubprocessError" => self == Raises::Os,
            "AttributeError" | "NameError" | "TypeError" => self == Raises::Other,
            _ => false,
        })
    }
}

/// What is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Module(Module),
    Effect(Effect),
    /// A file of the skill that is native code, or the source of some.
    Bundled(String),
    /// A file of the skill that Python can't read.
    Unreadable(String),
    /// Writes where a cell can't: into the skill's own folder, or the working folder.
    ReadOnly(&'static str),
    /// Reads a file of this name where a cell has none: in the working folder.
    Nowhere(String),
    /// Python can read `skill.py`, but Skillware can't use it.
    NotASkill(String),
    /// Gives up here, and would go on elsewhere.
    OtherPlatform,
    /// Needs something at import that is only granted to calls.
    TooEarly(Effect),
    /// Gives up, or breaks, without a module that an earlier import did without.
    Without(Module),
    /// A package that is there, but for something that it asks for: the chain to that.
    Incomplete(Vec<String>),
}

#[derive(Debug, Clone)]
pub struct Need {
    pub file: String,
    pub spot: Spot,
    pub what: What,
    /// As the file has it: a module, or the call.
    pub name: String,
    /// The call of a library that imports it.
    pub by: String,
    /// The programs that it starts, as far as they are known.
    pub programs: Vec<String>,
    pub raises: Raises,
    met: bool,
    /// It is looked for before it is used, so the skill copes without.
    excused: bool,
    /// It is about a path that leads somewhere only where a folder is mounted.
    mounted: bool,
}

impl Need {
    /// Whether it is no hindrance.
    pub fn is_met(&self) -> bool {
        self.met || self.excused
    }

    /// Whether it is not there, and is not missed.
    pub fn is_excused(&self) -> bool {
        self.excused && !self.met
    }

    pub fn place(&self) -> String {
        if self.spot.line == 0 { self.file.clone() } else { format!("{}:{}", self.file, self.spot.line) }
    }

    /// Whether it surely is what it seems: a file may only be looked into if it is there.
    pub fn is_sure(&self) -> bool {
        !matches!(self.what, What::Effect(Effect::ReadFile | Effect::WriteFile)) || self.spot.conditions.is_empty()
    }

    /// It turned out that this happens while the skill is imported.
    pub fn at_import(&mut self) {
        let early = match self.what {
            What::Effect(Effect::Http | Effect::Download) => true,
            What::Effect(Effect::ReadFile | Effect::WriteFile) => self.mounted,
            _ => false,
        };
        if let (What::Effect(effect), true) = (&self.what, early) {
            self.what = What::TooEarly(*effect);
            self.met = false;
        }
    }
}

pub fn of(facts: &Facts, modules: &Modules<'_>) -> Vec<Need> {
    let mut needs = Vec::new();
    for (path, line, why) in &facts.unread {
        let spot = Spot { line: *line, ..Spot::default() };
        needs.push(need(path, spot, What::Unreadable(why.clone()), path, Raises::Other, false));
    }
    if let Some(why) = skills::objection(facts) {
        needs.push(need("skill.py", Spot::default(), What::NotASkill(why), "skill.py", Raises::Import, false));
    }
    for (path, file) in &facts.files {
        needs.extend(file.imports.iter().flat_map(|import| of_import(path, import, facts, modules)));
        needs.extend(file.refs.iter().filter_map(|used| {
            let what = What::Module(modules.lacks(&used.module, &used.name)?);
            let name = format!("{}.{}", used.module, used.name);
            // What a call of it would do is the better reason.
            let known = effects::of(&name).is_some_and(Effect::is_lacking);
            (!known).then(|| need(path, used.spot.clone(), what, &name, Raises::Other, false))
        }));
        needs.extend(
            file.calls.iter().filter(|call| modules.has(&call.name)).flat_map(|call| of_call(path, file, call)),
        );
    }
    // Of several on one line, the plainest name is the one to show.
    needs.sort_by(|one, other| {
        (&one.file, one.spot.line, one.name.len()).cmp(&(&other.file, other.spot.line, other.name.len()))
    });
    let later: Vec<Need> = facts.files.keys().flat_map(|path| of_fallbacks(path, facts, &needs)).collect();
    let helped: Vec<Need> = facts.files.iter().flat_map(|(path, file)| of_helpers(path, file, &needs)).collect();
    let insisted: Vec<Need> = facts.files.iter().flat_map(|(path, file)| of_insistence(path, file, &needs)).collect();
    needs.extend(later.into_iter().chain(helped).chain(insisted));
    needs
}

fn need(file: &str, spot: Spot, what: What, name: &str, raises: Raises, met: bool) -> Need {
    let (by, programs, excused, mounted) = (String::new(), Vec::new(), false, false);
    Need { file: file.to_owned(), spot, what, name: name.to_owned(), by, programs, raises, met, excused, mounted }
}

fn of_import(path: &str, import: &Import, facts: &Facts, modules: &Modules<'_>) -> Vec<Need> {
    if matches!(import.kind.as_str(), "types" | "unknown") {
        return Vec::new();
    }
    if let Some(ran) = &import.to {
        let built = ran.iter().filter(|file| !file.ends_with(".py") && !file.ends_with('/'));
        let bundled = |file: &String| {
            let what = What::Bundled(file.clone());
            need(path, import.spot.clone(), what, &import.module, Raises::Import, false)
        };
        return built.map(bundled).collect();
    }
    let probed = |module: &str| {
        let file = facts.files.get(path);
        let top = module.split('.').next().unwrap_or(module);
        let mut named = file.into_iter().flat_map(|file| [file.probed.get(module), file.probed.get(top)]).flatten();
        named.any(|functions| functions.iter().any(|function| function.is_empty() || *function == import.spot.function))
    };
    let found = modules.imported(import);
    let mut made = Vec::new();
    for (name, module) in found {
        made.extend(modules.does_without(&module).map(|lost| incomplete(path, import, &name, lost)));
        let asks = |_| need(path, import.spot.clone(), What::Effect(Effect::Http), &name, Raises::Os, true);
        made.extend(modules.asks(&name).map(asks));
        let met = module.is_there();
        let what =
            if let Module::Archive { file } = &module { What::Bundled(file.clone()) } else { What::Module(module) };
        let raises = modules.raises(&name);
        let (excused, by) = (probed(&name), import.by.clone());
        made.push(Need { excused, by, ..need(path, import.spot.clone(), what, &name, raises, met) });
    }
    let lacking = import.names.iter().filter_map(|name| Some((name, modules.lacks(&import.module, name)?)));
    made.extend(lacking.map(|(name, module)| {
        let dotted = format!("{}.{name}", import.module);
        need(path, import.spot.clone(), What::Module(module), &dotted, Raises::Import, false)
    }));
    made
}

/// What a package lacks for an extra is not missed by those who import it; what it lacks otherwise, some calls may run into.
fn incomplete(path: &str, import: &Import, name: &str, lost: &Required) -> Need {
    let mut spot = import.spot.clone();
    spot.conditions.push(Condition::Maybe);
    let what = What::Incomplete(lost.chain.clone());
    Need { excused: lost.of_extra, ..need(path, spot, what, name, Raises::Import, false) }
}
