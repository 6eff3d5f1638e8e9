//! From requirements to a lock, by way of pip's report of what it would install.

use std::path::Path;

use serde::Deserialize;

use super::lock::{Lock, Locked};
use super::pip::Pip;
use super::requirement::Wanted;
use super::{Result, VenvError};
use crate::progress::Progress;
use crate::provision::{Pin, pins};

/// The package that every environment has.
const FRAMEWORK: &str = "skillware";
const MAX_REPORT_BYTES: u64 = 64 << 20;

#[derive(Deserialize)]
struct Report {
    install: Vec<Install>,
}

#[derive(Deserialize)]
struct Install {
    download_info: Download,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Download {
    url: String,
    archive_info: Option<Archive>,
}

#[derive(Deserialize)]
struct Archive {
    hash: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    version: String,
}

/// What the framework needs comes in the versions that cells have, so that tiers differ as little as can be; unless the
/// skill's own requirements exclude that.
pub fn resolve(pip: &Pip<'_>, wanted: &Wanted, progress: &dyn Progress) -> Result<Lock> {
    let version = |pin: &Pin| format!("{}=={}\n", pin.name, pin.version);
    let framework = pins().package(FRAMEWORK).map(version).unwrap_or_default();
    // What every cell has, skills may rely on.
    let mut lines = wanted.lines().join("\n");
    pins().packages().iter().for_each(|pin| lines.push_str(&format!("\n{}", pin.name)));
    let all: String = pins().packages().iter().map(version).collect();
    let report = match pip.report(&lines, &all, progress) {
        Err(VenvError::Failed { output, .. }) if output.contains("ResolutionImpossible") => {
            pip.report(&lines, &framework, progress)?
        }
        other => other?,
    };
    read(&report)
}

fn read(path: &Path) -> Result<Lock> {
    let length = path.metadata().map_err(VenvError::io("read", path))?.len();
    if length > MAX_REPORT_BYTES {
        return Err(VenvError::Report(format!("it has {length} bytes")));
    }
    let bytes = std::fs::read(path).map_err(VenvError::io("read", path))?;
    let report: Report = serde_json::from_slice(&bytes).map_err(|error| VenvError::Report(error.to_string()))?;
    let mut packages = report.install.into_iter().map(locked).collect::<Result<Vec<_>>>()?;
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Lock { packages })
}

fn locked(install: Install) -> Result<Locked> {
    let Install { download_info, metadata: Metadata { name, version } } = install;
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "._-+!".contains(c));
    if !plain(&name) || !plain(&version) {
        return Err(VenvError::Report(format!("`{name}` {version} is no package's name and version")));
    }
    let hash = download_info.archive_info.and_then(|archive| archive.hash).unwrap_or_default();
    let sha256 = hash.strip_prefix("sha256=").unwrap_or_default();
    if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(VenvError::Report(format!("it has no sha256 for `{name}` {version}")));
    }
    let file = download_info.url.rsplit('/').next().unwrap_or_default().to_owned();
    // A mirror may hold what it likes under the framework's name.
    match pins().package(FRAMEWORK).filter(|pin| pin.name == name && pin.sha256 != sha256) {
        Some(Pin { sha256: expected, .. }) => {
            Err(VenvError::Pinned { name, version, found: sha256.to_owned(), expected: expected.clone() })
        }
        None => Ok(Locked { sha256: sha256.to_ascii_lowercase(), name, version, file }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(install: serde_json::Value) -> Result<Lock> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.json");
        std::fs::write(&path, serde_json::json!({"install": [install]}).to_string()).unwrap();
        read(&path)
    }

    fn install(name: &str, hash: &str) -> serde_json::Value {
        let url = "https://example.org/x/thing-1-py3-none-any.whl";
        serde_json::json!({"metadata": {"name": name, "version": "1"}, "download_info": {"url": url, "archive_info": {"hash": hash}}})
    }

    #[test]
    fn a_package_is_locked_by_version_and_sha256() {
        let lock = lock(install("thing", &format!("sha256={}", "a".repeat(64)))).unwrap();
        assert_eq!(lock.requirements(), format!("thing==1 --hash=sha256:{}\n", "a".repeat(64)));
        assert!(!lock.packages[0].is_native());
    }

    #[test]
    fn a_package_without_sha256_or_with_an_odd_name_is_refused() {
        for (name, hash) in [("thing", "md5=00"), ("thing", ""), ("a --pre", "sha256=aa"), ("a\nb", "sha256=aa")] {
            assert!(matches!(lock(install(name, hash)), Err(VenvError::Report(_))), "{name} {hash}");
        }
    }

    #[test]
    fn another_skillware_than_the_pinned_one_is_refused() {
        let error = lock(install("skillware", &format!("sha256={}", "b".repeat(64)))).unwrap_err();
        assert!(matches!(error, VenvError::Pinned { .. }), "{error}");
    }
}
