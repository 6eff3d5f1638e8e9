//! What calls do, looking at more than their names, and which of it a cell does not have.

use super::super::effects::{self, Effect};
use super::super::facts::{Call, File};
use super::super::programs;
use super::{Need, Raises, What, need};

pub fn of_call(path: &str, file: &File, call: &Call) -> Vec<Need> {
    let Some(effect) = effect(file, call) else { return Vec::new() };
    let made = |what, met| need(path, call.spot.clone(), what, &call.name, Raises::Os, met);
    let excused = is_probed_program(file, call, effect);
    let mounted = is_mounted(&call.place);
    let programs = if effect == Effect::Process { programs::of_call(call) } else { Vec::new() };
    let mut needs = vec![Need { excused, mounted, programs, ..made(What::Effect(effect), !effect.is_lacking()) }];
    if effect == Effect::ReadFile && call.spot.conditions.is_empty() && raises_without(&call.name) {
        needs.extend(bare(&call.place).map(|file| made(What::Nowhere(file.to_owned()), false)));
    }
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
        [one] if one == "text:." => Some("the working folder"),
        _ => bare(places).map(|_| "the working folder"),
    }
}

/// A name without a folder, if that is what a path is for sure.
fn bare(places: &[String]) -> Option<&str> {
    let [one] = places else { return None };
    let text = one.strip_prefix("text:")?;
    (!text.is_empty() && text != "." && !text.contains(['/', ':'])).then_some(text)
}

/// Whether a path leads out of what every cell has.
fn is_mounted(places: &[String]) -> bool {
    let given = ["/usr/local/lib", "/dev/", "/home/skill", "/skills"];
    let text = if let [one] = places { one.strip_prefix("text:") } else { None };
    text.is_some_and(|text| text.starts_with('/') && !given.iter().any(|start| text.starts_with(start)))
}

/// Whether a call that reads a file raises where there is none, rather than finding nothing.
fn raises_without(name: &str) -> bool {
    const FINDS: [&str; 10] =
        ["listdir", "scandir", "walk", "glob", "iglob", "iterdir", "rglob", "load_dotenv", "read", "input"];
    !FINDS.contains(&name.rsplit('.').next().unwrap_or(name))
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
            | "zipfile.ZipFile"
            | "tarfile.open"
            | "wave.open"
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
    if name == "logging.basicConfig" && call.place.is_empty() {
        return None;
    }
    if LOOKUPS.contains(&name) {
        return Some(Effect::Http);
    }
    if name == "sqlite3.connect" {
        // A database in the skill's folder is opened for reading where it can't be written.
        let effect = if call.place == ["own"] { Effect::ReadFile } else { Effect::WriteFile };
        return (!texts().any(|text| text == ":memory:")).then_some(effect);
    }
    if reads_any(name) {
        return Some(if texts().any(is_url) { Effect::Http } else { Effect::ReadFile });
    }
    let leaf = name.rsplit('.').next().unwrap_or(name);
    if is_writer(name, leaf) && !call.place.is_empty() {
        return Some(Effect::WriteFile);
    }
    let found = effects::of(name).or_else(|| {
        // Whatever it is a client of: it is told to fetch an address.
        let asks = ["get", "post", "put", "patch", "delete", "head", "request", "fetch", "download", "stream"];
        (asks.contains(&leaf) && texts().any(is_url)).then_some(Effect::Http)
    });
    match found? {
        Effect::Socket if name.starts_with("socket.") || name.starts_with("asyncio.open") => {
            Some(if speaks_http(file) { Effect::Http } else { Effect::Socket })
        }
        Effect::Http if effects::of(name).is_none() => Some(Effect::Http),
        Effect::Http => (is_request(name) && !builds(name)).then_some(Effect::Http),
        found => Some(found),
    }
}

/// Methods of a table that write the file that is their first argument. The others that begin with `to_` convert.
const WRITERS: [&str; 13] = [
    "to_csv",
    "to_excel",
    "to_feather",
    "to_hdf",
    "to_html",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_orc",
    "to_parquet",
    "to_pickle",
    "to_stata",
    "to_xml",
];

/// Whether a method of a library's object writes the file that is its first argument: of a table, a picture, a document.
fn is_writer(name: &str, leaf: &str) -> bool {
    let of = |tops: &[&str]| tops.contains(&name.split('.').next().unwrap_or(name));
    match leaf {
        "save" => of(&["PIL", "docx", "pptx", "openpyxl"]),
        "write" => of(&["pypdf", "PyPDF2"]) || name.starts_with("xml.etree."),
        "savefig" => of(&["matplotlib", "seaborn"]),
        _ => of(&["pandas"]) && WRITERS.contains(&leaf) || of(&["polars"]) && leaf.starts_with("write_"),
    }
}

/// Functions that read a file or an address. A method of what they give (`read_csv(…).set_index("date")`) is none of them.
fn reads_any(name: &str) -> bool {
    let tables = ["pandas.read_", "polars.read_", "polars.scan_", "geopandas.read_"];
    let is_function = |start: &&str| name.strip_prefix(*start).is_some_and(|rest| !rest.contains('.'));
    let of_memory = matches!(name, "pandas.read_clipboard" | "pandas.read_sql" | "pandas.read_sql_query");
    let others = ["lxml.etree.parse", "lxml.html.parse", "numpy.lib.npyio.DataSource"];
    (tables.iter().any(is_function) && !of_memory) || others.contains(&name)
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
    const NOT: [&str; 15] = [
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
        // It takes the beginning of addresses, and asks none.
        "mount",
    ];
    let is_answer = |name: &str| {
        ["raise_for_status", "json", "read", "items", "iter_content", "decode", "getresponse"].contains(&name)
    };
    let mut parts = name.split('.').skip(1);
    name == "feedparser.parse" || !(is_of_answer(name) || parts.any(|part| NOT.contains(&part) || is_answer(part)))
}

/// Whether this is a method of what a request gave: `requests.get(…).text.replace(…)`.
fn is_of_answer(name: &str) -> bool {
    const SENDS: [&str; 11] =
        ["get", "post", "put", "patch", "delete", "head", "options", "request", "send", "urlopen", "fetch"];
    let rest = name.strip_prefix("urllib.request.").unwrap_or(name);
    rest.rsplit_once('.').is_some_and(|(before, _)| before.split('.').any(|part| SENDS.contains(&part)))
}

/// Making a session, or an object that describes a request, sends nothing.
pub fn builds(name: &str) -> bool {
    const BUILDS: [&str; 29] = [
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
