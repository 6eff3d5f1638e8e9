//! Reading a wheel as if it were hostile. Although wheels are pinned by hash, a pin can be updated by
//! someone in a hurry; a zip must never cost more than its caps, nor name a file outside of it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::{Error, FetchedWheel, Result};
use skillcell_cache::check_path;

/// The most entries that a wheel may have.
const MAX_ENTRIES: usize = 20_000;
/// The most bytes that a wheel may unpack to.
const MAX_BYTES: u64 = 1 << 30;
/// The same for native code, which is written to disk piece by piece: some have every graphics card in them.
const MAX_NATIVE_ENTRIES: usize = 100_000;
const MAX_NATIVE_BYTES: u64 = 8 << 30;
/// The longest METADATA that is read.
const MAX_METADATA_BYTES: u64 = 4 << 20;
/// The file type bits of a Unix mode, and the two types that a wheel may hold.
const TYPE: u32 = 0o170000;
const REGULAR: u32 = 0o100000;
const FOLDER: u32 = 0o040000;

/// A wheel whose list of contents was checked.
#[derive(Debug)]
pub struct Wheel {
    archive: ZipArchive<File>,
    path: PathBuf,
    members: Vec<Member>,
}

/// A file in a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Relative, normal, with `/`.
    pub path: String,
    /// As declared; reading more or less is an error.
    pub bytes: u64,
    /// Whether it is a program, by its mode.
    pub executable: bool,
    index: usize,
}

impl Wheel {
    /// Reads and checks the list of contents.
    pub fn open(fetched: FetchedWheel) -> Result<Wheel> {
        Wheel::open_within(fetched, MAX_ENTRIES, MAX_BYTES)
    }

    /// The same for a wheel that is unpacked to disk.
    pub fn open_native(fetched: FetchedWheel) -> Result<Wheel> {
        Wheel::open_within(fetched, MAX_NATIVE_ENTRIES, MAX_NATIVE_BYTES)
    }

    fn open_within(fetched: FetchedWheel, max_entries: usize, max_bytes: u64) -> Result<Wheel> {
        let FetchedWheel { file, path } = fetched;
        let refused = |what: String| Error::Wheel { path: path.clone(), what };
        let mut archive = ZipArchive::new(file).map_err(|e| refused(e.to_string()))?;
        let members = list_members(&mut archive, max_entries).map_err(refused)?;
        check_whole(&members, max_bytes).map_err(refused)?;
        Ok(Wheel { archive, path, members })
    }

    /// The files in it, in the archive's order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Where the wheel is, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of a member.
    pub fn read(&mut self, member: &Member) -> Result<Vec<u8>> {
        let what = |what: String| Error::Wheel { path: self.path.clone(), what: format!("`{}`: {what}", member.path) };
        if member.bytes > MAX_BYTES {
            return Err(what(format!("it is longer than {MAX_BYTES} bytes")));
        }
        let mut bytes = Vec::with_capacity(member.bytes as usize);
        self.copy_member(member, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes a member's bytes, a piece at a time.
    pub fn copy_member(&mut self, member: &Member, out: &mut dyn Write) -> Result<()> {
        let what = |what: String| Error::Wheel { path: self.path.clone(), what: format!("`{}`: {what}", member.path) };
        let entry = self.archive.by_index(member.index).map_err(|e| what(e.to_string()))?;
        let copied = io::copy(&mut entry.take(member.bytes + 1), out).map_err(|e| what(e.to_string()))?;
        if copied != member.bytes {
            return Err(what("it does not have the size that it declares".into()));
        }
        Ok(())
    }

    /// What it says of itself: the `METADATA` of its one `.dist-info` folder.
    pub fn read_metadata(&mut self) -> Result<String> {
        let tops = self.members.iter().filter_map(|member| member.path.split_once('/').map(|(top, _)| top));
        let folders: BTreeSet<&str> = tops.filter(|top| top.ends_with(".dist-info")).collect();
        if folders.len() > 1 {
            let what = "it has more than one `.dist-info` folder".to_owned();
            return Err(Error::Wheel { path: self.path.clone(), what });
        }
        let metadata = folders.first().map(|folder| format!("{folder}/METADATA"));
        let found = self.members.iter().find(|member| Some(&member.path) == metadata.as_ref()).cloned();
        let absent = || Error::Member { path: self.path.clone(), member: "METADATA".to_owned() };
        let member = found.ok_or_else(absent)?;
        if member.bytes > MAX_METADATA_BYTES {
            let what = format!("its METADATA is longer than {MAX_METADATA_BYTES} bytes");
            return Err(Error::Wheel { path: self.path.clone(), what });
        }
        Ok(String::from_utf8_lossy(&self.read(&member)?).into_owned())
    }

    /// The bytes of the member at `path`.
    pub fn read_path(&mut self, path: &str) -> Result<Vec<u8>> {
        let found = self.members.iter().find(|member| member.path == path).cloned();
        let absent = || Error::Member { path: self.path.clone(), member: path.to_owned() };
        let member = found.ok_or_else(absent)?;
        self.read(&member)
    }
}

fn list_members(archive: &mut ZipArchive<File>, max_entries: usize) -> Result<Vec<Member>, String> {
    if archive.len() > max_entries {
        return Err(format!("it has {} entries, more than {max_entries}", archive.len()));
    }
    if archive.has_duplicate_names() {
        return Err("it names an entry twice".into());
    }
    // Entries that share bytes are how a small zip unpacks to a huge one.
    if archive.has_overlapping_entries().map_err(|e| e.to_string())? {
        return Err("its entries overlap".into());
    }
    let members = (0..archive.len()).map(|index| read_entry(archive, index));
    members.filter_map(Result::transpose).collect()
}

/// One entry; `None` for a folder, since paths imply folders.
fn read_entry(archive: &mut ZipArchive<File>, index: usize) -> Result<Option<Member>, String> {
    let entry = archive.by_index_raw(index).map_err(|e| e.to_string())?;
    let path = std::str::from_utf8(entry.name_raw()).map_err(|_| "it has a name that is not UTF-8")?.to_owned();
    let folder = path.ends_with('/');
    check_path(path.strip_suffix('/').unwrap_or(&path)).map_err(|why| format!("{path:?}: {why}"))?;
    let kind = entry.unix_mode().unwrap_or(0) & TYPE;
    if entry.is_symlink() || ![0, if folder { FOLDER } else { REGULAR }].contains(&kind) {
        return Err(format!("{path:?} is neither a file nor a folder"));
    }
    if entry.encrypted() {
        return Err(format!("{path:?} is encrypted"));
    }
    let executable = entry.unix_mode().unwrap_or(0) & 0o111 != 0;
    let member = Member { path, bytes: entry.size(), executable, index };
    Ok((!folder).then_some(member))
}

fn check_whole(members: &[Member], max_bytes: u64) -> Result<(), String> {
    let total = members.iter().try_fold(0u64, |sum, member| sum.checked_add(member.bytes));
    if total.is_none_or(|total| total > max_bytes) {
        return Err(format!("it unpacks to more than {max_bytes} bytes"));
    }
    let paths: BTreeSet<&str> = members.iter().map(|member| member.path.as_str()).collect();
    let is_folder_too = |path: &str| path.match_indices('/').any(|(at, _)| paths.contains(&path[..at]));
    match paths.iter().find(|path| is_folder_too(path)) {
        Some(path) => Err(format!("`{path}` is below a file")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
