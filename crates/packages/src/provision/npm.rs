//! Getting a pinned npm package with the user's own npm, so that their registry and proxy settings hold, or from a file. It is
//! proven by its integrity hash before anything reads it. Nothing of it is run.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::json;
use sha2::{Digest, Sha512};
use tar::Archive;

use super::{Error, NpmPin, Result};
use skillcell_cache::progress::Progress;
use skillcell_cache::{Bucket, Cache, Pack, check_path};
use skillcell_child::{Finished, Inherited, Program, is_locale_or_home, is_proxy_or_certificate};

/// The most that is read of an archive, and that it may unpack to.
const MAX_ARCHIVE: u64 = 64 << 20;
const MAX_UNPACKED: u64 = 256 << 20;
/// How long npm may take.
const TIMEOUT: Duration = Duration::from_secs(20 * 60);

/// Where the archive may come from.
#[derive(Debug, Clone, Copy)]
pub enum NpmSource<'a> {
    /// npm fetches it.
    Npm,
    /// It was fetched elsewhere.
    File(&'a Path),
    /// Only the cache, which it is not in yet: this is offline.
    Nowhere,
}

/// The package's files, from the cache or from `source`.
pub fn npm_package(pin: &NpmPin, cache: &Cache, source: NpmSource<'_>, progress: &dyn Progress) -> Result<Pack> {
    let purpose = format!("getting {} {}", pin.name, pin.version);
    let artefact = cache.make(Bucket::Pack, &pack_name(pin), &purpose, progress, |writer| {
        let archive = obtain_archive(pin, cache, source, progress)?;
        progress.step(&format!("unpacking {} {}", pin.name, pin.version));
        let files = unpack_archive(&archive).map_err(|what| Error::NpmArchive { package: pin.archive(), what })?;
        Pack::build::<io::Error>(writer, files.into_iter().map(Ok))?;
        Ok::<_, Error>(json!({"package": pin.name, "version": pin.version, "integrity": pin.integrity}))
    })?;
    Ok(Pack::open(artefact)?)
}

/// Its name in the cache, by its content.
pub fn pack_name(pin: &NpmPin) -> String {
    format!("{}-{}", pin.name, pin.id())
}

fn obtain_archive(pin: &NpmPin, cache: &Cache, source: NpmSource<'_>, progress: &dyn Progress) -> Result<Vec<u8>> {
    match source {
        NpmSource::Nowhere => Err(Error::NpmOffline { package: pin.archive() }),
        NpmSource::File(path) => read_archive(pin, path),
        NpmSource::Npm => {
            let scratch = cache.scratch()?;
            progress.step(&format!("fetching {} {} with npm", pin.name, pin.version));
            run_npm(pin, scratch.path())?;
            read_archive(pin, &scratch.path().join(pin.archive()))
        }
    }
}

fn run_npm(pin: &NpmPin, folder: &Path) -> Result<()> {
    // npm searches parent folders for a project and its settings; an empty project here stops that.
    std::fs::write(folder.join("package.json"), "{}").map_err(Error::io("write to", folder))?;
    let mut npm = Program::new("npm", folder);
    npm.args(["pack", "--silent", "--ignore-scripts"]).arg(format!("{}@{}", pin.name, pin.version));
    npm.inherit_env(Inherited::Matching(is_for_npm));
    let failed = |what: String| Err(Error::Npm { package: pin.archive(), what });
    let output = match npm.finish(TIMEOUT) {
        Ok(Finished::Ended(output)) => output,
        Ok(Finished::TookTooLong) => return failed(format!("it took longer than {TIMEOUT:?}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Error::NoNpm { package: pin.archive() }),
        Err(error) => return Err(Error::io("run", Path::new("npm"))(error)),
    };
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    failed(said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").trim().to_owned())
}

/// An archive that has the pinned hash.
fn read_archive(pin: &NpmPin, path: &Path) -> Result<Vec<u8>> {
    let mut archive = Vec::new();
    // Cut at the limit: what is longer can't have the pinned hash.
    let read = File::open(path).and_then(|file| file.take(MAX_ARCHIVE).read_to_end(&mut archive));
    read.map_err(Error::io("read", path))?;
    let found = format!("sha512-{}", STANDARD.encode(Sha512::digest(&archive)));
    if found != pin.integrity {
        return Err(Error::Integrity { path: path.to_owned(), expected: pin.integrity.clone(), found });
    }
    Ok(archive)
}

/// Variables with the user's registry, proxy, certificates and credentials.
fn is_for_npm(name: &str) -> bool {
    let prefixes = ["npm_config_", "NPM_", "NVM_", "VOLTA_", "FNM_", "ASDF_", "MISE_"];
    let is_npms = prefixes.iter().any(|prefix| name.starts_with(prefix)) || name == "NODE_EXTRA_CA_CERTS";
    is_npms || is_locale_or_home(name) || is_proxy_or_certificate(name)
}

/// The plain files of an npm archive, a gzipped tar whose entries are below `package/`.
fn unpack_archive(archive: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut files = Vec::new();
    let mut archive = Archive::new(GzDecoder::new(archive).take(MAX_UNPACKED));
    for entry in archive.entries().map_err(|error| error.to_string())? {
        let mut entry = entry.map_err(|error| error.to_string())?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let path = path.strip_prefix("package/").ok_or("a file is outside of `package`")?;
        check_path(path).map_err(|why| format!("`{path}`: {why}"))?;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        if bytes.len() as u64 != entry.size() {
            return Err("it ends too early".to_owned());
        }
        files.push((path.to_owned(), bytes));
    }
    if files.is_empty() { Err("it is empty".to_owned()) } else { Ok(files) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use skillcell_cache::progress::Silent;
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

    #[test]
    fn a_given_archive_is_taken_only_with_the_pinned_bytes_and_then_needed_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(&dir.path().join("cache")).unwrap();
        let bytes = archive(EntryType::Regular, "package/core.wasm", 5, b"hello");
        let pin = NpmPin {
            name: "thing".into(),
            version: "1.2".into(),
            integrity: format!("sha512-{}", STANDARD.encode(Sha512::digest(&bytes))),
            python: "3.14".into(),
        };
        let absent = npm_package(&pin, &cache, NpmSource::Nowhere, &Silent).unwrap_err();
        assert!(absent.hint().unwrap().contains("--from-archive thing-1.2.tgz"), "{absent}");
        let given = dir.path().join("renamed.tgz");
        std::fs::write(&given, b"something else").unwrap();
        let other = npm_package(&pin, &cache, NpmSource::File(&given), &Silent).unwrap_err();
        assert!(matches!(&other, Error::Integrity { expected, .. } if *expected == pin.integrity), "{other}");
        std::fs::write(&given, bytes).unwrap();
        npm_package(&pin, &cache, NpmSource::File(&given), &Silent).unwrap();
        let pack = npm_package(&pin, &cache, NpmSource::Nowhere, &Silent).unwrap();
        assert_eq!(pack.read("core.wasm").unwrap(), b"hello");
    }
}
