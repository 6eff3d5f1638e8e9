//! What a skill needs, statement by statement, and whether a cell has it.

use std::collections::BTreeSet;

use super::effects::{self, Effect};
use super::facts::{Call, Facts, File, Import, Spot};
use super::modules::{Module, Modules};

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
    /// Needs something at import that is only granted to calls.
    TooEarly(Effect),
    /// Gives up, or breaks, without a module that an earlier import did without.
    Without(Module),
}

#[derive(Debug, Clone)]
pub struct Need {
    pub file: String,
    pub spot: Spot,
    pub what: What,
    /// As the file has it: a module, or the call.
    pub name: String,
    pub raises: Raises,
    met: bool,
    /// It is looked for before it is used, so the skill copes without.
    excused: bool,
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

    /// It turned out that this happens while the skill is imported.
    pub fn at_import(&mut self) {
        if let What::Effect(effect @ (Effect::Http | Effect::Download)) = self.what {
            self.what = What::TooEarly(effect);
            self.met = false;
        }
    }
}

pub fn of(facts: &Facts, modules: &Modules) -> Vec<Need> {
    let mut needs = Vec::new();
    for (path, line, why) in &facts.unread {
        let spot = Spot { line: *line, ..Spot::default() };
        needs.push(need(path, spot, What::Unreadable(why.clone()), path, Raises::Other, false));
    }
    for (path, file) in &facts.files {
        needs.extend(file.imports.iter().flat_map(|import| of_import(path, import, facts, modules)));
        needs.extend(
            file.calls.iter().filter(|call| modules.has(&call.name)).flat_map(|call| of_call(path, file, call)),
        );
    }
    // Of several on one line, the plainest name is the one to show.
    needs.sort_by(|one, other| {
        (&one.file, one.spot.line, one.name.len()).cmp(&(&other.file, other.spot.line, other.name.len()))
    });
    let later: Vec<Need> = facts.files.keys().flat_map(|path| of_fallbacks(path, facts, &needs)).collect();
    needs.extend(later);
    needs
}

fn need(file: &str, spot: Spot, what: What, name: &str, raises: Raises, met: bool) -> Need {
    Need { file: file.to_owned(), spot, what, name: name.to_owned(), raises, met, excused: false }
}

fn of_import(path: &str, import: &Import, facts: &Facts, modules: &Modules) -> Vec<Need> {
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
    let made = found.into_iter().map(|(name, module)| {
        let met = module.is_there();
        let what =
            if let Module::Archive { file } = &module { What::Bundled(file.clone()) } else { What::Module(module) };
        Need { excused: probed(&name), ..need(path, import.spot.clone(), what, &name, Raises::Import, met) }
    });
    made.collect()
}

fn of_call(path: &str, file: &File, call: &Call) -> Vec<Need> {
    let Some(effect) = effect(file, call) else { return Vec::new() };
    let made = |what, met| need(path, call.spot.clone(), what, &call.name, Raises::Os, met);
    let excused = is_probed_program(file, call, effect);
    let mut needs = vec![Need { excused, ..made(What::Effect(effect), !effect.is_lacking()) }];
    if effect == Effect::WriteFile {
        let target = if call.second_place.is_empty() { &call.place } else { &call.second_place };
        needs.extend(read_only(target).map(|place| made(What::ReadOnly(place), false)));
    }
    needs
}

/// `shutil.which("ffmpeg")` in the same function: it copes without.
fn is_probed_program(file: &File, call: &Call, effect: Effect) -> bool {
    effect == Effect::Process && file.probed.values().any(|functions| functions.contains(&call.spot.function))
}

/// Where a cell can't write, if that is where a path leads for sure.
fn read_only(places: &[String]) -> Option<&'static str> {
    match places {
        [one] if one == "own" => Some("its own folder"),
        [one] => {
            let text = one.strip_prefix("text:")?;
            let bare = !text.contains('/') && !text.is_empty() && text != "." && !text.contains(':');
            bare.then_some("the working folder")
        }
        _ => None,
    }
}

/// A cell looks names up that a rule for requests is for, and no others.
pub const LOOKUPS: [&str; 3] = ["socket.gethostbyname", "socket.gethostbyname_ex", "socket.getaddrinfo"];

/// What a call does, looking at more than its name.
pub fn effect(file: &File, call: &Call) -> Option<Effect> {
    let name = call.name.as_str();
    let texts = || call.texts.iter().flatten();
    let is_url = |text: &String| text.starts_with("http://") || text.starts_with("https://");
    if matches!(
        name,
        "open"
            | "io.open"
            | "codecs.open"
            | "pathlib.Path.open"
            | "gzip.open"
            | "bz2.open"
            | "lzma.open"
            | "aiofiles.open"
    ) {
        let at = usize::from(name != "pathlib.Path.open");
        let mode = if call.word.is_empty() {
            call.texts.get(at).and_then(|texts| texts.first()).map(String::as_str)
        } else {
            Some(call.word.as_str())
        };
        let writes = mode.is_some_and(|mode| mode.len() < 5 && mode.contains(['w', 'a', 'x', '+']));
        return Some(if writes { Effect::WriteFile } else { Effect::ReadFile });
    }
    if matches!(name, "shutil.copy" | "shutil.copy2" | "shutil.copyfile" | "shutil.copytree" | "shutil.move") {
        return Some(Effect::WriteFile);
    }
    if LOOKUPS.contains(&name) {
        return Some(Effect::Http);
    }
    if name == "sqlite3.connect" {
        // A database in the skill's folder is opened for reading where it can't be written.
        let effect = if call.place == ["own"] { Effect::ReadFile } else { Effect::WriteFile };
        return (!texts().any(|text| text == ":memory:")).then_some(effect);
    }
    let reads_any = ["pandas.read_", "polars.read_", "lxml.etree.parse", "lxml.html.parse", "geopandas.read_"];
    if reads_any.iter().any(|start| name.starts_with(start)) || name.starts_with("numpy.lib.npyio.DataSource") {
        return Some(if texts().any(is_url) { Effect::Http } else { Effect::ReadFile });
    }
    let leaf = name.rsplit('.').next().unwrap_or(name);
    if (name.starts_with("pandas.") && leaf.starts_with("to_") && !call.place.is_empty() && leaf != "to_dict")
        || name == "PIL.Image.Image.save"
    {
        return Some(Effect::WriteFile);
    }
    match effects::of(name)? {
        Effect::Socket if name.starts_with("socket.") || name.starts_with("asyncio.open") => {
            Some(if speaks_http(file) { Effect::Http } else { Effect::Socket })
        }
        Effect::Http => (is_request(name) && !builds(name)).then_some(Effect::Http),
        found => Some(found),
    }
}

/// HTTP written by hand goes through like any other.
fn speaks_http(file: &File) -> bool {
    let starts = ["GET ", "POST ", "HEAD ", "PUT "];
    file.calls
        .iter()
        .filter(|call| call.name.contains(".send") || call.name.contains(".write"))
        .flat_map(|call| call.texts.iter().flatten())
        .any(|text| starts.iter().any(|start| text.starts_with(start)))
}

/// Whether a call of an HTTP library can make a request, rather than build something or handle an answer.
fn is_request(name: &str) -> bool {
    const NOT: [&str; 14] = [
        "exceptions",
        "utils",
        "adapters",
        "auth",
        "models",
        "structures",
        "parse",
        "json",
        "raise_for_status",
        "quote",
        "HTTPError",
        "Timeout",
        "to_checksum_address",
        "compat",
    ];
    let is_answer = |name: &str| {
        ["raise_for_status", "json", "read", "items", "iter_content", "decode", "getresponse"].contains(&name)
    };
    let mut parts = name.split('.').skip(1);
    name == "feedparser.parse" || !parts.any(|part| NOT.contains(&part) || is_answer(part))
}

/// Making a session, or an object that describes a request, sends nothing.
pub fn builds(name: &str) -> bool {
    const BUILDS: [&str; 30] = [
        "Session",
        "session",
        "Client",
        "AsyncClient",
        "PoolManager",
        "ProxyManager",
        "build_opener",
        "install_opener",
        "HTTPAdapter",
        "ClientSession",
        "mount",
        "update",
        "Timeout",
        "ClientTimeout",
        "Web3",
        "close",
        "Headers",
        "HTTPSConnection",
        "HTTPConnection",
        "ServerProxy",
        "Request",
        "HTTPProvider",
        "Retry",
        "RobotFileParser",
        "set_url",
        "Limits",
        "TCPConnector",
        "add_header",
        "Curl",
        "setopt",
    ];
    BUILDS.contains(&name.rsplit('.').next().unwrap_or(name))
}

/// An import that fails and is survived leaves a name behind that is nothing: who gives up over it, or uses it as if it
/// were there, needs the module after all.
fn of_fallbacks(path: &str, facts: &Facts, needs: &[Need]) -> Vec<Need> {
    let Some(file) = facts.files.get(path) else { return Vec::new() };
    let mut made = Vec::new();
    for (id, found) in &file.tries {
        let inside = |need: &&Need| need.file == path && need.spot.tries.contains(id) && !need.is_met();
        let lost: Vec<&Need> = needs
            .iter()
            .filter(inside)
            .filter(|need| matches!(need.what, What::Module(_) | What::Bundled(_)))
            .collect();
        let Some(first) = lost.first() else { continue };
        let catching = found.handlers.iter().find(|(caught, _)| first.raises.is_caught_by(caught));
        if catching.is_none_or(|(_, ends)| ends != "goes on") {
            continue;
        }
        let module = match &first.what {
            What::Module(module) => module.clone(),
            _ => Module::Bundled,
        };
        let names: BTreeSet<&String> =
            found.binds.iter().chain(&found.flags).filter(|name| !found.mends.contains(name)).collect();
        let without = |file: &str, spot: &Spot| {
            need(file, spot.clone(), What::Without(module.clone()), &first.name, Raises::Other, false)
        };
        for (other, each) in &facts.files {
            let here = other == path;
            let imported =
                |name: &String| each.imports.iter().any(|import| import.to.is_some() && import.names.contains(name));
            let gives_up =
                each.checks.iter().filter(|check| names.contains(&check.name) && (here || imported(&check.name)));
            made.extend(gives_up.map(|check| without(other, &check.spot)));
        }
        if found.binds.iter().chain(&found.flags).any(|name| file.checked.contains(name)) {
            continue;
        }
        let is_lost = |name: &String| found.binds.contains(name) && names.contains(name);
        let scope = &first.spot.function;
        let uses = file.uses.iter().filter(|used| is_lost(&used.name) && !used.spot.tries.contains(id));
        let uses = uses.filter(|used| scope.is_empty() || used.spot.function == *scope);
        // In a function, a handler that goes on and leaves the rest to run is one that returned.
        if scope.is_empty() {
            made.extend(uses.map(|used| without(path, &used.spot)));
        }
    }
    made
}
