//! Who is told what a cell does to the host's folders, and what it was denied. Nobody, unless a call is audited.

use std::sync::Arc;

use super::Vfs;
use super::errno::Errno;
use super::mount::Backend;

/// Who watches a cell's file system. Paths are those that the cell sees.
pub trait Watch: Send + Sync {
    /// A folder of the host is about to be used for the first time in this call; `changing`: to be changed for the first
    /// time. An error keeps the cell from it.
    fn entering(&self, folder: &str, path: &str, changing: bool) -> Result<(), Errno>;

    /// Something was denied: there is nothing mounted, it can't be changed, or it would have led out.
    fn denied(&self, doing: &'static str, path: &str, why: Errno);
}

/// A watcher, and the folders whose first use it was told of, by mount.
pub(super) struct Watching {
    watch: Arc<dyn Watch>,
    entered: Vec<(usize, bool)>,
}

impl Vfs {
    /// From now on `watch` is told. Comes after the mounts.
    pub fn watch(&mut self, watch: Arc<dyn Watch>) {
        self.watching = Some(Box::new(Watching { watch, entered: Vec::new() }));
    }

    /// Does something to a path, watched.
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

    /// Tells of the first use of a folder of the host.
    pub(super) fn report_first_use(&mut self, path: &str, changing: bool) -> Result<(), Errno> {
        if self.watching.is_none() {
            return Ok(());
        }
        let Some((index, _)) = self.covering_mount(path) else { return Ok(()) };
        let (Backend::Host(folder), Some(watching)) = (&self.mounts[index].backend, &mut self.watching) else {
            return Ok(());
        };
        // A change that will be denied is told as that.
        if (changing && !folder.is_writable()) || watching.entered.contains(&(index, changing)) {
            return Ok(());
        }
        watching.watch.entering(&absolute_path(&self.mounts[index].point), &absolute_path(path), changing)?;
        watching.entered.push((index, changing));
        Ok(())
    }
}

/// A clean path as the cell writes it.
fn absolute_path(path: &str) -> String {
    format!("/{path}")
}
