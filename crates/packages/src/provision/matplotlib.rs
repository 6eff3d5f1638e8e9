//! matplotlib's data files: fonts, styles, its settings. The runtime carries them as a zip inside the zip of its standard
//! library; matplotlib opens them as files. They are unpacked once, into a pack that is opened when one of them is read.

use std::io::{Cursor, Read};

use serde::{Deserialize, Serialize};
use zip::ZipArchive;

use super::runtime::{open_stdlib, runtime_files, runtime_pin};
use super::{Error, Fetch, Result};
use skillcell_cache::progress::Progress;
use skillcell_cache::{Artefact, Bucket, Cache, Pack};

/// The zip in the standard library's.
const MEMBER: &str = "matplotlib/mpl-data.zip";
/// The most bytes and files that it may unpack to.
const MAX_BYTES: u64 = 64 << 20;
const MAX_FILES: usize = 2_000;

/// What the pack's seal says of it, so that its files can be listed without opening it.
#[derive(Serialize, Deserialize)]
struct Contents {
    sizes: Vec<(String, u64)>,
}

/// The files with their sizes, from the pack's seal. The pack is made if it is not there.
pub fn matplotlib_data(cache: &Cache, how: &Fetch, progress: &dyn Progress) -> Result<Vec<(String, u64)>> {
    let listed = cache.meta(Bucket::Pack, &pack_name())?.and_then(|meta| serde_json::from_value::<Contents>(meta).ok());
    if let Some(contents) = listed {
        return Ok(contents.sizes);
    }
    let library = match open_stdlib(cache, progress)? {
        Some(library) => library,
        None => runtime_files(cache, how, progress, |files| Ok::<_, Error>(files.stdlib))?,
    };
    let pack = make_pack(cache, &library, progress)?;
    Ok(pack.files().map(|(path, bytes)| (path.to_owned(), bytes)).collect())
}

/// The pack. One that is damaged or gone is made again from the standard library, if that is in the cache: nothing is
/// fetched here, since a call may be waiting.
pub fn open_matplotlib_data(cache: &Cache, progress: &dyn Progress) -> Result<Pack> {
    if let Some(artefact) = cache.open(Bucket::Pack, &pack_name(), progress)? {
        return Ok(Pack::open(artefact)?);
    }
    let absent = || std::io::Error::other("the standard library is no longer in the cache");
    make_pack(cache, &open_stdlib(cache, progress)?.ok_or_else(absent)?, progress)
}

fn make_pack(cache: &Cache, library: &Artefact, progress: &dyn Progress) -> Result<Pack> {
    let purpose = "unpacking matplotlib's data";
    let artefact = cache.make(Bucket::Pack, &pack_name(), purpose, progress, |writer| {
        let files = unpack_data(library)?;
        let sizes = files.iter().map(|(path, bytes)| (path.clone(), bytes.len() as u64)).collect();
        Pack::build::<Error>(writer, files.into_iter().map(Ok))?;
        Ok::<_, Error>(serde_json::to_value(Contents { sizes }).unwrap_or_default())
    })?;
    Ok(Pack::open(artefact)?)
}

fn unpack_data(library: &Artefact) -> Result<Vec<(String, Vec<u8>)>> {
    let refused = |what: String| Error::Wheel { path: library.path.clone(), what: format!("`{MEMBER}`: {what}") };
    let mut outer = ZipArchive::new(&library.file).map_err(|error| refused(error.to_string()))?;
    let mut inner = Vec::new();
    let member = outer.by_name(MEMBER).map_err(|error| refused(error.to_string()))?;
    member.take(MAX_BYTES).read_to_end(&mut inner)?;
    let mut archive = ZipArchive::new(Cursor::new(inner)).map_err(|error| refused(error.to_string()))?;
    if archive.len() > MAX_FILES {
        return Err(refused(format!("it has {} entries", archive.len())));
    }
    // `left` bounds what is actually unpacked: the sizes that a zip declares can be wrong.
    let (mut files, mut left) = (Vec::new(), MAX_BYTES);
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| refused(error.to_string()))?;
        if entry.is_dir() {
            continue;
        }
        let mut bytes = Vec::new();
        entry.by_ref().take(left).read_to_end(&mut bytes)?;
        left -= bytes.len() as u64;
        let path = entry.name().map_err(|error| refused(error.to_string()))?.into_owned();
        files.push((path, bytes));
    }
    if left == 0 {
        return Err(refused(format!("it unpacks to more than {MAX_BYTES} bytes")));
    }
    Ok(files)
}

fn pack_name() -> String {
    format!("matplotlib-data-{}", &runtime_pin().wheel.sha256[..16])
}
