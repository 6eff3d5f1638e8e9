//! Which wheels the second runtime takes, from `runtime-assets/pyodide-wheels.toml`, which is part of this program; and which
//! wheels are placeholders, that have a package's name and nothing of it.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::provision::{Pin, Wheel, normalize_name};

/// What the file name of a wheel ends with that is pure Python.
pub const PURE: &str = "-none-any.whl";

pub const TEXT: &str = skillcell_assets::PYODIDE_WHEELS;

static RULES: LazyLock<WheelRules> = LazyLock::new(|| toml::from_str(TEXT).expect("tested: the rules are valid"));

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WheelRules {
    /// The platform that its wheels are for.
    pub platform: String,
    pub python: String,
    older: Vec<OlderPlatform>,
    #[serde(rename = "stand-in")]
    stand_in: Vec<KnownPackage>,
    #[serde(rename = "as-on-linux")]
    as_on_linux: Vec<KnownPackage>,
    spared: Vec<Spared>,
    /// Wheels with native code that many skills use.
    pub curated: Vec<Pin>,
}

/// A package whose wheel for an older platform is taken.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OlderPlatform {
    name: String,
    pub platform: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownPackage {
    name: String,
    #[allow(dead_code, reason = "for people, and it has to be there")]
    reason: String,
}

/// A native package that the one which requires it does without, but for a part that hardly any skill uses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spared {
    name: String,
    of: String,
    #[allow(dead_code, reason = "for people, and it has to be there")]
    reason: String,
}

/// The rules of this version of the program.
pub fn wheel_rules() -> &'static WheelRules {
    &RULES
}

impl WheelRules {
    /// The rule for a package, by its normalized name, if an older wheel of it is taken.
    pub fn older_platform(&self, name: &str) -> Option<&OlderPlatform> {
        self.older.iter().find(|older| normalize_name(&older.name) == name)
    }

    /// Whether a stand-in for this package is used here too.
    pub fn keeps_stand_in(&self, name: &str) -> bool {
        self.stand_in.iter().any(|kept| normalize_name(&kept.name) == name)
    }

    /// Whether this package's requirements are those that it has on Linux.
    pub fn is_as_on_linux(&self, name: &str) -> bool {
        self.as_on_linux.iter().any(|known| normalize_name(&known.name) == name)
    }

    /// Whether a package at the end of this chain is one that the package before it does without.
    pub fn is_spared(&self, chain: &[String]) -> bool {
        let [.., of, name] = chain else { return false };
        self.spared.iter().any(|one| normalize_name(&one.of) == *of && normalize_name(&one.name) == *name)
    }

    /// Whether a wheel of this package runs here, by its tags.
    pub fn takes(&self, name: &str, file: &str) -> bool {
        if file.ends_with(PURE) {
            return true;
        }
        let Some((pythons, abi, platforms)) = tags_of(file) else { return false };
        let mut platforms = platforms.split('.');
        let fits =
            platforms.any(|it| it == self.platform || self.older_platform(name).is_some_and(|o| it == o.platform));
        let version = format!("cp{}", self.python.replace('.', ""));
        fits && match abi {
            "abi3" => pythons.starts_with("cp3"),
            "none" => true,
            _ => abi == version && pythons == version,
        }
    }

    /// Why a wheel that was taken is not of this platform, if it is not.
    pub fn why_older(&self, name: &str, file: &str) -> Option<&str> {
        let (_, _, platforms) = tags_of(file).filter(|_| !file.ends_with(PURE))?;
        if platforms.split('.').any(|platform| platform == self.platform) {
            return None;
        }
        self.older_platform(name).map(|older| &*older.reason)
    }
}

/// The three tags of a wheel's file name: Pythons, ABI, platforms.
fn tags_of(file: &str) -> Option<(&str, &str, &str)> {
    let mut parts = file.strip_suffix(".whl")?.rsplitn(4, '-');
    let (platforms, abi, pythons) = (parts.next()?, parts.next()?, parts.next()?);
    Some((pythons, abi, platforms))
}

/// Whether a wheel has modules and all of them are empty. If it requires nothing either, it is a placeholder: a name that was
/// taken on an index before there was anything. One that requires others is there to bring them.
pub fn has_only_empty_modules(wheel: &Wheel) -> bool {
    let is_code = |path: &str| path.ends_with(".py") || path.ends_with(".so");
    let mut code = wheel.members().iter().filter(|member| is_code(&member.path)).peekable();
    code.peek().is_some() && code.all(|member| member.bytes == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_rules_are_valid_and_each_has_a_reason() {
        let rules = wheel_rules();
        for pin in &rules.curated {
            assert!(rules.takes(&pin.name, &pin.file) && !pin.file.ends_with(PURE), "{}", pin.file);
            assert!(pin.file.contains(&format!("-{}-", pin.version)) && pin.sha256.len() == 64 && pin.bytes > 0);
        }
        assert!(rules.platform.starts_with("pyemscripten_") && rules.python == crate::provision::pyodide_pin().python);
        assert!(rules.older.iter().all(|older| older.platform != rules.platform && !older.reason.trim().is_empty()));
        assert!(rules.stand_in.iter().chain(&rules.as_on_linux).all(|known| !known.reason.trim().is_empty()));
        assert!(rules.spared.iter().all(|one| !one.reason.trim().is_empty()));
        for kept in &rules.stand_in {
            assert!(crate::standins::stand_in_for(&kept.name).is_some(), "{}", kept.name);
        }
    }

    #[test]
    fn a_wheel_is_taken_for_its_own_platform_and_an_older_one_only_by_a_rule() {
        let takes = |name: &str, file: &str| wheel_rules().takes(name, file);
        for (name, file) in [
            ("a", "a-1-py3-none-any.whl"),
            ("jiter", "jiter-0.19.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl"),
            ("b", "b-1-cp313-abi3-pyemscripten_2026_0_wasm32.whl"),
            ("pymupdf", "pymupdf-1.28.2-cp313-abi3-pyemscripten_2025_0_wasm32.whl"),
        ] {
            assert!(takes(name, file), "{file}");
        }
        for (name, file) in [
            ("statsmodels", "statsmodels-1-cp313-cp313-pyemscripten_2025_0_wasm32.whl"),
            ("other", "other-1.28.2-cp313-abi3-pyemscripten_2025_0_wasm32.whl"),
            ("a", "a-1-cp313-cp313-pyemscripten_2026_0_wasm32.whl"),
            ("a", "a-1-cp315-cp315-pyemscripten_2026_5_wasm32.whl"),
            ("a", "a-1-cp314-cp314-manylinux_2_28_x86_64.whl"),
            ("a", "a-1.whl"),
        ] {
            assert!(!takes(name, file), "{file}");
        }
    }

    #[test]
    fn only_what_an_older_platform_is_for_is_told_so() {
        let rules = wheel_rules();
        assert!(rules.why_older("pymupdf", "pymupdf-1.28.2-cp313-abi3-pyemscripten_2025_0_wasm32.whl").is_some());
        assert_eq!(rules.why_older("pymupdf", "pymupdf-2-cp314-abi3-pyemscripten_2026_0_wasm32.whl"), None);
        assert_eq!(rules.why_older("pymupdf", "pymupdf-2-py3-none-any.whl"), None);
    }
}
