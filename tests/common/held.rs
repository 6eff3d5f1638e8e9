//! A file in memory with a path that other programs of this user can read while this process lives: nothing is left of it.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

pub struct Held {
    _file: File,
    path: PathBuf,
}

impl Held {
    pub fn new(text: &str) -> Held {
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::memfd_create("held", flags).expect("a file in memory"));
        file.write_all(text.as_bytes()).expect("written");
        let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
        Held { _file: file, path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}
