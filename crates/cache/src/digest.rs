//! The digest of an open file, computed in parallel. It takes the open file rather than a path, since the path may name
//! another file by now.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use super::forked::has_rayon_threads;

/// Where the kernel lists this process's open files by number.
const OPEN_FILES: &str = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
/// Enough that every thread gets a share of each read.
const READ_BYTES: usize = 8 << 20;

/// blake3 of the file's whole content.
///
/// Mapping beats reading by the cost of a copy, and blake3 maps by path; the entry that the kernel keeps
/// for an open file is such a path, and leads to the same file even if its name was taken by another.
pub(super) fn hash_file(file: &File) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    let entry = format!("{OPEN_FILES}/{}", file.as_raw_fd());
    let mapped = match has_rayon_threads() {
        true => hasher.update_mmap_rayon(entry),
        false => hasher.update_mmap(entry),
    };
    match mapped {
        Ok(_) => Ok(hasher.finalize()),
        Err(_) => hash_by_reading(file),
    }
}

/// Fallback for systems without `OPEN_FILES`, such as a container without `/proc`.
fn hash_by_reading(file: &File) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; READ_BYTES.min(file.metadata()?.len() as usize + 1)];
    let mut offset = 0;
    loop {
        match file.read_at(&mut buffer, offset) {
            Ok(0) => return Ok(hasher.finalize()),
            Ok(n) => {
                update_hasher(&mut hasher, &buffer[..n]);
                offset += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Adds many bytes, in parallel where that can be done.
pub(super) fn update_hasher(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    if has_rayon_threads() {
        hasher.update_rayon(bytes);
    } else {
        hasher.update(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn mapping_and_reading_give_the_digest_of_the_bytes() {
        for len in [0, 1, 1023, 70_000, READ_BYTES + 5] {
            let bytes: Vec<u8> = (0..len).map(|i| (i * 7 + i / 256) as u8).collect();
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            assert_eq!(hash_file(&file).unwrap(), blake3::hash(&bytes), "mapped, {len} bytes");
            assert_eq!(hash_by_reading(&file).unwrap(), blake3::hash(&bytes), "read, {len} bytes");
        }
    }

    #[test]
    fn the_open_file_is_hashed_though_its_name_was_taken() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, "first").unwrap();
        let file = File::open(&path).unwrap();
        std::fs::write(dir.path().join("y"), "second").unwrap();
        std::fs::rename(dir.path().join("y"), &path).unwrap();
        assert_eq!(hash_file(&file).unwrap(), blake3::hash(b"first"));
    }
}
