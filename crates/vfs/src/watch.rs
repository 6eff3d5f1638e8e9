//! Reports a cell's first use of host folders and its denied file operations, for audited calls.

use std::sync::Arc;

use super::Vfs;
use super::errno::Errno;
use super::mount::Backend;

/// An observer of a cell's file system. Paths are those that the cell sees.
pub trait Watch: Send + Sync {
    /// A host folder is about to be used (if `changing`, modified) for the first time in this call. An error prevents it.
    fn entering(&self, folder: &str, path: &str, changing: bool) -> Result<(), Errno>;

    /// An operation was denied: nothing is mounted there, it is read-only, or the path would have left the folder.
    fn denied(&self, doing: &'static str, path: &str, why: Errno);
}

/// An observer, and the mounts whose first use was reported, with whether that was for changing.
pub(super) struct Watching {
    watch: Arc<dyn Watch>,
    entered: Vec<(usize, bool)>,
}

impl Vfs {
    /// Installs an observer. Must be called after all mounts are added.
    pub fn watch(&mut self, watch: Arc<dyn Watch>) {
        self.watching = Some(Box::new(Watching { watch, entered: Vec::new() }));
    }

    /// Runs an operation on a path, reporting first use and denials to the observer.
    pub(super) fn with_watch<T>(
        &mut self,
        doing: &'static str,
        path: &str,
        changing: bool,
        act: impl FnOnce(&mut Vfs) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        if self.watching.is_none() {
            return act(self);
        }
        self.report_first_use(path, changing)?;
        let done = act(self);
        if let (Err(errno), Some(watching)) = (&done, &self.watching) {
            let nowhere = || *errno == Errno::Noent && self.covering_mount(path).is_none();
            if matches!(errno, Errno::Rofs | Errno::Acces) || nowhere() {
                watching.watch.denied(doing, &absolute_path(path), *errno);
            }
        }
        done
    }

    /// Reports the first use of a host folder.
    pub(super) fn report_first_use(&mut self, path: &str, changing: bool) -> Result<(), Errno> {
        if self.watching.is_none() {
            return Ok(());
        }
        let Some((index, _)) = self.covering_mount(path) else { return Ok(()) };
        let (Backend::Host(folder), Some(watching)) = (&self.mounts[index].backend, &mut self.watching) else {
            return Ok(());
        };
        // A change to a read-only folder is reported as a denial instead.
        if (changing && !folder.is_writable()) || watching.entered.contains(&(index, changing)) {
            return Ok(());
        }
        watching.watch.entering(&absolute_path(&self.mounts[index].point), &absolute_path(path), changing)?;
        watching.entered.push((index, changing));
        Ok(())
    }
}

/// A normalized path as the cell sees it, with a leading slash.
fn absolute_path(path: &str) -> String {
    format!("/{path}")
}
