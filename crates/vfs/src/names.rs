//! Operations on paths: which mount a path is on, and what can be done to it there. Second half of [`Vfs`].
//!
//! A path that leads to a mount point is *pinned*: it exists as a read-only directory even if no backend has it,
//! lists the mounts below it, and can't be removed or renamed.
//!
//! Directory cookies: 0 is `.`, 1 is `..`, then the backend's entries, then the mount points from `MOUNTS` on.

use super::errno::Errno;
use super::file::{Access, Object};
use super::path::{CellPath, path_names, relative_to, split_parent};
use super::stat::{Entry, Kind, NewTimes, Stat, Times};
use super::{Backend, Open, Sink, Vfs};

const MOUNTS: u64 = 1 << 62;
/// The most names held by all listings of host folders together, so that a cell can't exhaust the host's memory.
const MOST_NAMES: usize = 100_000;

impl Vfs {
    /// Normalizes a path relative to an open directory.
    fn resolve_path(&self, dir: u32, raw: &[u8]) -> Result<CellPath, Errno> {
        match &self.table.get(dir)?.object {
            Object::Directory(base) => CellPath::parse(base, raw),
            _ => Err(Errno::Notdir),
        }
    }

    /// The innermost mount that covers a clean path, and the rest of the path below it.
    pub(super) fn covering_mount<'p>(&self, path: &'p str) -> Option<(usize, &'p str)> {
        self.mounts.iter().enumerate().find_map(|(index, mount)| Some((index, relative_to(&mount.point, path)?)))
    }

    /// The mount in which `path` is to be changed, or the error if nothing is mounted there.
    fn mount_to_change<'p>(&self, path: &'p str) -> Result<(usize, &'p str), Errno> {
        let nowhere = || if self.is_pinned(split_parent(path).0) { Errno::Rofs } else { Errno::Noent };
        self.covering_mount(path).ok_or_else(nowhere)
    }

    fn is_pinned(&self, path: &str) -> bool {
        path.is_empty() || self.mounts.iter().any(|mount| relative_to(path, &mount.point).is_some())
    }

    pub(super) fn stat_clean(&self, path: &str) -> Result<Stat, Errno> {
        let found = match self.covering_mount(path) {
            Some((index, rest)) => self.mounts[index].backend.stat(&self.scratch, rest, device_number(index)),
            None => Err(Errno::Noent),
        };
        match found {
            Err(_) if self.is_pinned(path) => Ok(self.stat_pinned(path)),
            other => other,
        }
    }

    fn stat_pinned(&self, path: &str) -> Stat {
        // Distinct for distinct paths and the same for the same mounts: the first mount below it, and how deep it is.
        let first = self.mounts.iter().position(|mount| relative_to(path, &mount.point).is_some()).unwrap_or_default();
        let ino = ((first as u64) << 16 | path_names(path).count() as u64) + 1;
        Stat {
            dev: device_number(self.mounts.len()),
            ino,
            kind: Kind::Directory,
            nlink: 1,
            size: 0,
            times: Times::FIXED,
        }
    }

    /// Counts a look at what a grant may show, or a call before this one left. Folders that only lead to mounts are none of it.
    fn count_look(&mut self, path: &str) {
        let fixed = self.covering_mount(path).is_some_and(|(index, _)| self.mounts[index].backend.is_fixed());
        self.grantable_looks += u64::from(!fixed && !self.is_pinned(path));
    }

    fn stat_path(&self, path: &CellPath) -> Result<Stat, Errno> {
        let stat = self.stat_clean(&path.text)?;
        if path.wants_directory && stat.kind != Kind::Directory { Err(Errno::Notdir) } else { Ok(stat) }
    }

    pub fn stat_at(&mut self, dir: u32, raw: &[u8]) -> Result<Stat, Errno> {
        let path = self.resolve_path(dir, raw)?;
        self.count_look(&path.text);
        self.stat_path(&path)
    }

    /// Opens a path as a new descriptor.
    pub fn open(&mut self, dir: u32, raw: &[u8], how: Open) -> Result<u32, Errno> {
        let path = self.resolve_path(dir, raw)?;
        self.count_look(&path.text);
        let changing = how.write || how.create || how.truncate;
        let doing = if changing { "open to change" } else { "open" };
        self.with_watch(doing, &path.text, changing, |vfs| vfs.open_path(&path, how))
    }

    fn open_path(&mut self, path: &CellPath, how: Open) -> Result<u32, Errno> {
        // Charged before anything is opened or created; refunded below on an error.
        self.scratch.allowance.charge_open()?;
        let opened = match self.stat_path(path) {
            Ok(stat) if stat.kind == Kind::Directory => open_directory(path, how),
            Ok(_) if how.directory => Err(Errno::Notdir),
            Ok(_) => self.open_file(path, how),
            Err(Errno::Noent) if how.create && path.wants_directory => Err(Errno::Isdir),
            Err(Errno::Noent) if how.create && how.directory => Err(Errno::Inval),
            Err(Errno::Noent) if how.create => self.open_file(path, how),
            Err(errno) => Err(errno),
        };
        match opened {
            Ok(object) => {
                let access = Access { read: how.read, write: how.write, append: how.append };
                Ok(self.add_descriptor(object, access))
            }
            Err(errno) => {
                self.scratch.allowance.open_files -= 1;
                Err(errno)
            }
        }
    }

    fn open_file(&mut self, path: &CellPath, how: Open) -> Result<Object, Errno> {
        let (index, rest) = self.mount_to_change(&path.text)?;
        let opened = self.mounts[index].backend.open(&mut self.scratch, &path.text, rest, how, device_number(index));
        opened.map_err(|errno| self.read_only_if_pinned(&path.text, errno))
    }

    /// Backends don't know the directories that only lead to another mount. Nothing can be created in those, so `Noent`
    /// becomes `Rofs`.
    fn read_only_if_pinned(&self, path: &str, errno: Errno) -> Errno {
        if errno == Errno::Noent && self.is_pinned(split_parent(path).0) { Errno::Rofs } else { errno }
    }

    pub fn make_directory(&mut self, dir: u32, raw: &[u8]) -> Result<(), Errno> {
        let path = self.resolve_path(dir, raw)?.text;
        self.with_watch("make a folder", &path, true, |vfs| vfs.make_directory_clean(&path))
    }

    fn make_directory_clean(&mut self, path: &str) -> Result<(), Errno> {
        if self.is_pinned(path) {
            return Err(Errno::Exist);
        }
        let (index, rest) = self.mount_to_change(path)?;
        let made = self.mounts[index].backend.make_directory(&mut self.scratch, rest);
        made.map_err(|errno| self.read_only_if_pinned(path, errno))
    }

    pub fn unlink(&mut self, dir: u32, raw: &[u8]) -> Result<(), Errno> {
        let path = self.resolve_path(dir, raw)?;
        self.with_watch("delete", &path.text, true, |vfs| vfs.unlink_path(&path))
    }

    fn unlink_path(&mut self, path: &CellPath) -> Result<(), Errno> {
        if self.stat_path(path)?.kind == Kind::Directory {
            return Err(Errno::Isdir);
        }
        let (index, rest) = self.mount_to_change(&path.text)?;
        self.mounts[index].backend.unlink(&mut self.scratch, rest)
    }

    pub fn remove_directory(&mut self, dir: u32, raw: &[u8]) -> Result<(), Errno> {
        let path = self.resolve_path(dir, raw)?;
        self.with_watch("delete", &path.text, true, |vfs| vfs.remove_directory_path(&path))
    }

    fn remove_directory_path(&mut self, path: &CellPath) -> Result<(), Errno> {
        if self.stat_path(path)?.kind != Kind::Directory {
            return Err(Errno::Notdir);
        }
        if self.is_pinned(&path.text) {
            return Err(Errno::Busy);
        }
        let (index, rest) = self.mount_to_change(&path.text)?;
        self.mounts[index].backend.remove_directory(&mut self.scratch, rest)
    }

    pub fn rename(&mut self, dir: u32, raw: &[u8], new_dir: u32, new_raw: &[u8]) -> Result<(), Errno> {
        let (from, to) = (self.resolve_path(dir, raw)?, self.resolve_path(new_dir, new_raw)?);
        self.with_watch("rename", &from.text, true, |vfs| {
            vfs.report_first_use(&to.text, true)?;
            vfs.rename_path(&from, &to)
        })
    }

    fn rename_path(&mut self, from: &CellPath, to: &CellPath) -> Result<(), Errno> {
        let moved = self.stat_path(from)?;
        if to.wants_directory && moved.kind != Kind::Directory {
            return Err(Errno::Notdir);
        }
        if self.is_pinned(&from.text) || self.is_pinned(&to.text) {
            return Err(Errno::Busy);
        }
        let (index, rest) = self.mount_to_change(&from.text)?;
        let (new_index, new_rest) = self.mount_to_change(&to.text)?;
        if index != new_index {
            return Err(Errno::Xdev);
        }
        let renamed = self.mounts[index].backend.rename(&mut self.scratch, rest, new_rest);
        renamed.map_err(|errno| self.read_only_if_pinned(&to.text, errno))
    }

    pub fn set_times_at(&mut self, dir: u32, raw: &[u8], times: NewTimes) -> Result<(), Errno> {
        let path = self.resolve_path(dir, raw)?;
        self.stat_path(&path)?;
        self.set_times_clean(&path.text, times)
    }

    pub(super) fn set_times_clean(&mut self, path: &str, times: NewTimes) -> Result<(), Errno> {
        self.with_watch("set the times of", path, true, |vfs| vfs.try_set_times(path, times))
    }

    fn try_set_times(&mut self, path: &str, times: NewTimes) -> Result<(), Errno> {
        let Some((index, rest)) = self.covering_mount(path) else { return Err(Errno::Rofs) };
        let set = self.mounts[index].backend.set_times(&mut self.scratch, rest, times);
        set.map_err(|errno| if errno == Errno::Noent && self.is_pinned(path) { Errno::Rofs } else { errno })
    }

    /// Passes the entries of an open directory from `cookie` on to `sink`, until it returns `false`.
    pub fn read_dir(&mut self, fd: u32, cookie: u64, sink: &mut Sink<'_>) -> Result<(), Errno> {
        self.list_names(fd, cookie)?;
        let descriptor = self.table.get(fd)?;
        let Object::Directory(path) = &descriptor.object else { return Err(Errno::Notdir) };
        let own = self.stat_clean(path)?;
        let above = self.stat_clean(split_parent(path).0)?;
        let dots = [(".", own, 0), ("..", above, 1)];
        let mut dots = dots.iter().filter(|(.., at)| *at >= cookie);
        let more = dots.all(|(name, stat, at)| sink(Entry { name, ino: stat.ino, kind: stat.kind, next: at + 1 }));
        let names = descriptor.listing.as_deref().unwrap_or_default();
        if more && self.read_backend(path, names, cookie, sink)? {
            self.read_mounts(path, cookie, sink);
        }
        Ok(())
    }

    /// Another descriptor of an open directory, with a place of its own. A file has one descriptor for each time that it was opened.
    pub fn reopen_directory(&mut self, fd: u32) -> Result<u32, Errno> {
        let descriptor = self.table.get(fd)?;
        let Object::Directory(path) = &descriptor.object else { return Err(Errno::Notsup) };
        let (object, access) = (Object::Directory(path.clone()), descriptor.access);
        self.scratch.allowance.charge_open()?;
        Ok(self.add_descriptor(object, access))
    }

    /// The cookie at which listing an open directory goes on, for guests whose libraries leave that to the host.
    pub fn listing_place(&self, fd: u32) -> Result<u64, Errno> {
        let descriptor = self.table.get(fd)?;
        if matches!(descriptor.object, Object::Directory(_)) { Ok(descriptor.offset) } else { Err(Errno::Notdir) }
    }

    pub fn set_listing_place(&mut self, fd: u32, cookie: u64) -> Result<(), Errno> {
        self.listing_place(fd)?;
        self.table.get_mut(fd)?.offset = cookie;
        Ok(())
    }

    /// Takes a snapshot of the names in a host folder when a listing begins or restarts.
    fn list_names(&mut self, fd: u32, cookie: u64) -> Result<(), Errno> {
        let descriptor = self.table.get(fd)?;
        let Object::Directory(path) = &descriptor.object else { return Err(Errno::Notdir) };
        let Some((index, rest)) = self.covering_mount(path) else { return Ok(()) };
        let Backend::Host(folder) = &self.mounts[index].backend else { return Ok(()) };
        let held = descriptor.listing.as_ref().map_or(0, |names| names.len());
        if cookie > 0 && descriptor.listing.is_some() {
            return Ok(());
        }
        let names = match folder.sorted_names(rest, (MOST_NAMES + held).saturating_sub(self.table.listed_names())) {
            Err(Errno::Noent | Errno::Notdir) if self.is_pinned(path) => Box::default(),
            names => names?,
        };
        self.table.get_mut(fd)?.listing = Some(names);
        Ok(())
    }

    fn read_backend(&self, path: &str, names: &[Box<str>], cookie: u64, sink: &mut Sink<'_>) -> Result<bool, Errno> {
        let Some((index, rest)) = self.covering_mount(path).filter(|_| cookie < MOUNTS) else { return Ok(true) };
        let (backend, cookie) = (&self.mounts[index].backend, cookie.saturating_sub(2));
        let listed = backend.read_dir(&self.scratch, rest, names, cookie, &mut |entry| {
            // An entry that a mount covers is listed as the mount instead.
            self.mount_names(path).any(|(_, name)| name == entry.name) || sink(Entry { next: entry.next + 2, ..entry })
        });
        match listed {
            Err(Errno::Noent | Errno::Notdir) if self.is_pinned(path) => Ok(true),
            other => other,
        }
    }

    fn read_mounts(&self, path: &str, cookie: u64, sink: &mut Sink<'_>) {
        let start = cookie.saturating_sub(MOUNTS);
        for (index, name) in self.mount_names(path).filter(|(index, _)| *index as u64 >= start) {
            let first =
                self.mount_names(path).find(|(_, other)| *other == name).is_some_and(|(first, _)| first == index);
            let child = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            let Ok(stat) = self.stat_clean(&child) else { continue };
            let entry = Entry { name, ino: stat.ino, kind: stat.kind, next: MOUNTS + index as u64 + 1 };
            if first && !sink(entry) {
                return;
            }
        }
    }

    /// The first name of every mount point that lies below `path`; the same name may come more than once.
    fn mount_names<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
        let rest = move |(index, mount): (usize, &'a super::Mount)| Some((index, relative_to(path, &mount.point)?));
        self.mounts
            .iter()
            .enumerate()
            .filter_map(rest)
            .filter_map(|(index, rest)| Some((index, path_names(rest).next()?)))
    }
}

fn open_directory(path: &CellPath, how: Open) -> Result<Object, Errno> {
    match how {
        Open { create: true, exclusive: true, .. } => Err(Errno::Exist),
        Open { write: true, .. } | Open { truncate: true, .. } => Err(Errno::Isdir),
        Open { create: true, directory: false, .. } => Err(Errno::Isdir),
        _ => Ok(Object::Directory(path.text.as_str().into())),
    }
}

/// Each mount is a device of its own, as `os.path.ismount` and `shutil.move` expect; 0 is the standard streams.
fn device_number(mount: usize) -> u64 {
    mount as u64 + 1
}
