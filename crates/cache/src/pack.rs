//! A pack: a file tree in one sealed artefact, read without unpacking it.
//!
//! ```text
//! file bytes, one after the other
//! index       JSON: [[path, offset, len], …], sorted by path
//! trailer     16 bytes: length of the index (u64, little endian), "skpack1\n"
//! ```
//!
//! Folders are implied by paths; there are no modes, times or links.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{Artefact, Error, Result};

const MAGIC: &[u8; 8] = b"skpack1\n";
const TRAILER_BYTES: u64 = 16;
const MAX_INDEX_BYTES: u64 = 32 << 20;

/// An open pack; may be shared between threads.
#[derive(Debug)]
pub struct Pack {
    file: File,
    path: PathBuf,
    digest: blake3::Hash,
    files: BTreeMap<String, PackEntry>,
}

/// Where a file's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackEntry {
    offset: u64,
    len: u64,
}

impl PackEntry {
    /// The file's size.
    pub fn len(self) -> u64 {
        self.len
    }

    /// Whether the file is empty.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl Pack {
    /// Writes a pack of these files, in any order; each is taken, written and dropped in turn.
    pub fn build<E: From<io::Error>>(
        out: &mut dyn Write,
        files: impl IntoIterator<Item = Result<(String, Vec<u8>), E>>,
    ) -> Result<usize, E> {
        let mut index = BTreeMap::new();
        let mut offset = 0;
        for file in files {
            let (path, bytes) = file?;
            check_path(&path).map_err(|why| invalid_path(&path, why))?;
            out.write_all(&bytes)?;
            let entry = PackEntry { offset, len: bytes.len() as u64 };
            offset += entry.len;
            if index.insert(path.clone(), entry).is_some() {
                return Err(invalid_path(&path, "it is there twice").into());
            }
        }
        check_tree(&index).map_err(|path| invalid_path(path, "it is a file and a folder"))?;
        write_index(out, &index)?;
        Ok(index.len())
    }

    /// Reads the index of a pack.
    pub fn open(artefact: Artefact) -> Result<Pack> {
        let Artefact { file, path, bytes, digest, .. } = artefact;
        match read_index(&file, bytes) {
            Ok(files) => Ok(Pack { file, path, digest, files }),
            Err(what) => Err(Error::Pack { path, what }),
        }
    }

    /// Every file and its size, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, u64)> {
        self.files.iter().map(|(path, entry)| (path.as_str(), entry.len))
    }

    /// The file at `path`, which has no leading `/`.
    pub fn entry(&self, path: &str) -> Option<PackEntry> {
        self.files.get(path).copied()
    }

    /// A whole file.
    pub fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let entry = self.entry(path).ok_or(io::ErrorKind::NotFound)?;
        let mut bytes = vec![0; entry.len as usize];
        self.file.read_exact_at(&mut bytes, entry.offset)?;
        Ok(bytes)
    }

    /// Part of a file, as `pread` does: fewer bytes than asked for at its end, none beyond it.
    pub fn read_at(&self, entry: PackEntry, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = entry.len.saturating_sub(offset).min(buf.len() as u64) as usize;
        if rest == 0 {
            return Ok(0);
        }
        self.file.read_at(&mut buf[..rest], entry.offset + offset)
    }

    /// blake3 of the pack, which names its content.
    pub fn digest(&self) -> blake3::Hash {
        self.digest
    }

    /// Where it is, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether `path` is one that a file tree can hold: relative, normal, plain; else why not.
pub fn check_path(path: &str) -> Result<(), &'static str> {
    if path.is_empty() || path.len() > 1024 {
        Err("its length is not between 1 and 1024")
    } else if path.chars().any(|c| c == '\\' || c.is_control()) {
        Err("it has a backslash or a control character")
    } else if path.starts_with('/') {
        Err("it is absolute")
    } else if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        Err("it has an empty, `.` or `..` part")
    } else {
        Ok(())
    }
}

/// No file may also be the folder of another. Gives the offending path.
fn check_tree(index: &BTreeMap<String, PackEntry>) -> Result<(), &str> {
    let clash = |path: &str| path.match_indices('/').any(|(at, _)| index.contains_key(&path[..at]));
    index.keys().find(|path| clash(path)).map_or(Ok(()), |path| Err(path))
}

fn invalid_path(path: &str, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("`{path}` can't be packed: {why}"))
}

fn write_index(out: &mut dyn Write, index: &BTreeMap<String, PackEntry>) -> io::Result<()> {
    let rows: Vec<_> = index.iter().map(|(path, entry)| (path, entry.offset, entry.len)).collect();
    let text = serde_json::to_vec(&rows)?;
    out.write_all(&text)?;
    out.write_all(&(text.len() as u64).to_le_bytes())?;
    out.write_all(MAGIC)
}

fn read_index(file: &File, bytes: u64) -> Result<BTreeMap<String, PackEntry>, String> {
    let (text, data) = read_tail(file, bytes)?;
    let rows: Vec<(String, u64, u64)> = serde_json::from_slice(&text).map_err(|e| e.to_string())?;
    let mut files = BTreeMap::new();
    for (path, offset, len) in rows {
        check_path(&path).map_err(|why| format!("`{path}`: {why}"))?;
        if offset.checked_add(len).is_none_or(|end| end > data) {
            return Err(format!("`{path}` is out of range"));
        }
        if files.insert(path.clone(), PackEntry { offset, len }).is_some() {
            return Err(format!("`{path}` is there twice"));
        }
    }
    check_tree(&files).map_err(|path| format!("`{path}` is a file and a folder"))?;
    Ok(files)
}

/// The text of the index, and where it begins: there the files' bytes end.
fn read_tail(file: &File, bytes: u64) -> Result<(Vec<u8>, u64), String> {
    let body = bytes.checked_sub(TRAILER_BYTES).ok_or("it is too short")?;
    let mut trailer = [0; TRAILER_BYTES as usize];
    file.read_exact_at(&mut trailer, body).map_err(|e| e.to_string())?;
    let (len, magic) = trailer.split_at(8);
    if magic != MAGIC {
        return Err("it has another format".into());
    }
    let len = u64::from_le_bytes(len.try_into().expect("half of 16 bytes is 8"));
    let data = body.checked_sub(len).filter(|_| len <= MAX_INDEX_BYTES);
    let data = data.ok_or("its index is too large")?;
    let mut text = vec![0; len as usize];
    file.read_exact_at(&mut text, data).map_err(|e| e.to_string())?;
    Ok((text, data))
}
