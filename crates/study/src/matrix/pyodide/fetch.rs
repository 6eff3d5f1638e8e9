//! Getting the npm package with the user's own npm, so that their registry and proxy settings hold. What it delivers is
//! proven by the pinned hash before anything reads it.

use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use flate2::read::GzDecoder;
use serde_json::json;
use sha2::{Digest, Sha512};

use super::pin;
use skillcell_cache::progress::Progress;
use skillcell_cache::{self as cache, Bucket, Cache, Pack, check_path};
use skillcell_child::{Finished, Inherited, Program, is_locale_or_home, is_proxy_or_certificate};
use skillcell_http::base64;

/// The package is a quarter of this.
const MAX_ARCHIVE: u64 = 64 << 20;
const MAX_UNPACKED: u64 = 256 << 20;
const BLOCK: usize = 512;
/// How long npm may take.
const PATIENCE: Duration = Duration::from_secs(20 * 60);

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
pub fn obtain(cache: &Cache, offline: bool, progress: &dyn Progress) -> Result<Pack, PyodideError> {
    let name = format!("pyodide-{}", pin().version);
    let artefact = cache.make(Bucket::Pack, &name, "fetching Pyodide for comparison", progress, |writer| {
        if offline {
            return Err(PyodideError::Offline);
        }
        let scratch = cache.scratch()?;
        progress.step(&format!("fetching {} {} with npm", pin().name, pin().version));
        let archive = download(scratch.path())?;
        let files = unpack(&archive)?.into_iter().map(Ok::<_, io::Error>);
        Pack::build(writer, files)?;
        Ok(json!({"package": pin().name, "version": pin().version, "integrity": pin().integrity}))
    })?;
    Ok(Pack::open(artefact)?)
}

fn download(folder: &Path) -> Result<Vec<u8>, PyodideError> {
    // npm looks for a project, and its settings, in the folders above; here is one.
    std::fs::write(folder.join("package.json"), "{}")?;
    let mut npm = Program::new("npm", folder);
    npm.args(["pack", "--silent", "--ignore-scripts"]).arg(format!("{}@{}", pin().name, pin().version));
    npm.inherit_env(Inherited::Matching(is_for_npm));
    let output = match npm.finish(PATIENCE) {
        Ok(Finished::Ended(output)) => output,
        Ok(Finished::TookTooLong) => return Err(PyodideError::Npm(format!("it took longer than {PATIENCE:?}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(PyodideError::NoNpm),
        Err(error) => return Err(error.into()),
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
        return Err(PyodideError::Npm(line.trim().to_owned()));
    }
    let mut archive = Vec::new();
    let file = std::fs::File::open(folder.join(format!("{}-{}.tgz", pin().name, pin().version)))?;
    file.take(MAX_ARCHIVE).read_to_end(&mut archive)?;
    let hash = base64::encode(&Sha512::digest(&archive));
    let expected = pin().integrity.strip_prefix("sha512-").unwrap_or_default();
    if hash == expected.as_bytes() { Ok(archive) } else { Err(PyodideError::Hash) }
}

/// The user's registry, proxy, certificates and keys for them.
fn is_for_npm(name: &str) -> bool {
    let prefixes = ["npm_config_", "NPM_", "NVM_", "VOLTA_", "FNM_", "ASDF_", "MISE_"];
    let is_npms = prefixes.iter().any(|prefix| name.starts_with(prefix)) || name == "NODE_EXTRA_CA_CERTS";
    is_npms || is_locale_or_home(name) || is_proxy_or_certificate(name)
}

/// The plain files of an npm archive, a gzipped tar whose entries are below `package/`.
fn unpack(archive: &[u8]) -> Result<Vec<(String, Vec<u8>)>, PyodideError> {
    let broken = |what: &str| PyodideError::Archive(what.to_owned());
    let mut tar = Vec::new();
    GzDecoder::new(archive).take(MAX_UNPACKED).read_to_end(&mut tar)?;
    let (mut files, mut at) = (Vec::new(), 0);
    while let Some(header) = tar.get(at..at + BLOCK).filter(|header| header.iter().any(|byte| *byte != 0)) {
        let text = |range: std::ops::Range<usize>| {
            String::from_utf8_lossy(&header[range]).trim_end_matches('\0').trim().to_owned()
        };
        let size = usize::from_str_radix(&text(124..136), 8).map_err(|_| broken("a size is no number"))?;
        let start = at + BLOCK;
        let bytes = tar.get(start..start.saturating_add(size)).ok_or_else(|| broken("it ends too early"))?;
        if matches!(header[156], b'0' | 0) {
            let path = text(0..100);
            let path = path.strip_prefix("package/").ok_or_else(|| broken("a file is outside of `package`"))?;
            check_path(path).map_err(|why| PyodideError::Archive(format!("`{path}`: {why}")))?;
            files.push((path.to_owned(), bytes.to_vec()));
        }
        at = start + size.div_ceil(BLOCK) * BLOCK;
    }
    if files.is_empty() { Err(broken("it is empty")) } else { Ok(files) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn archive(path: &str, size: &str, content: &[u8]) -> Vec<u8> {
        let mut header = [0u8; BLOCK];
        header[..path.len()].copy_from_slice(path.as_bytes());
        header[124..124 + size.len()].copy_from_slice(size.as_bytes());
        header[156] = b'0';
        let mut tar = header.to_vec();
        tar.extend(content);
        tar.resize(tar.len().div_ceil(BLOCK) * BLOCK + 2 * BLOCK, 0);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&tar).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn files_of_an_archive_are_taken_and_odd_ones_refused() {
        let files = unpack(&archive("package/a/b.txt", "00000000005", b"hello")).unwrap();
        assert_eq!(files, [("a/b.txt".to_owned(), b"hello".to_vec())]);
        for (path, size) in
            [("package/../x", "5"), ("elsewhere", "5"), ("package/x", "77777777777"), ("package/x", "nine")]
        {
            assert!(unpack(&archive(path, size, b"hello")).is_err(), "{path} {size}");
        }
    }
}
