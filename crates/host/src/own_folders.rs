//! What a skill must not be able to replace: everything that this program, or its operator's next command, finds by its path
//! and relies on.
//!
//! ```text
//!   ~/.local/share/skillcell, where ~/.local/share is a symbolic link to /data/share, is looked up
//!   in /, /home, /home/me, /home/me/.local, then in /, /data, /data/share
//! ```
//!
//! Whoever may write to one of these folders can put something else where the name leads: remove the link and make a folder
//! of that name, say. So none of them is mounted for writing, nor is anything below a folder of ours. Folders are compared
//! by device and inode: however they are spelled, and also where one is bound to another place, they are the same.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::{GrantError, Host, HostError};
use crate::call::Call;
use skillcell_door::audit::AuditError;
use skillcell_packages::skill::{Origin, Skill};
use skillcell_policy::{Grants, Mode, MountGrant, SecretSource};

/// The number of symbolic links that Linux follows.
const MAX_LINKS: usize = 40;

/// Device and inode.
type Identity = (u64, u64);

/// A path that this program relies on, and what messages call it.
struct ProtectedPath {
    what: String,
    path: PathBuf,
    /// Whether everything below it is protected, too.
    is_folder: bool,
}

/// A granted folder that is there.
struct Mounted<'a> {
    grant: &'a MountGrant,
    identity: Identity,
    /// The folder and all above it.
    lineage: Vec<Identity>,
}

/// How a path is looked up.
struct PathLookup {
    /// Every folder in which one of its names is looked up.
    folders: BTreeSet<PathBuf>,
    /// Where it leads: symbolic links are resolved as far as it exists.
    end: PathBuf,
}

impl Host {
    /// Refuses mounts by which a skill could replace what this program relies on, or read a secret's file.
    pub(super) fn check_mounts(&self, skill: &Skill, call: &Call, grants: &Grants) -> Result<(), HostError> {
        let mounts: Vec<Mounted<'_>> = grants.mounts.iter().filter_map(Mounted::new).collect();
        check_secrets_are_hidden(&mounts, grants)?;
        let writable = |mount: &&Mounted<'_>| mount.grant.mode == Mode::ReadWrite;
        let writable: Vec<&Mounted<'_>> = mounts.iter().filter(writable).collect();
        if writable.is_empty() {
            return Ok(());
        }
        if let Some(path) = call.audit.path()
            && let Some(mount) = exposing_mount(&writable, path, false)
        {
            return Err(AuditError::Exposed { path: path.to_owned(), folder: mount.host.clone() }.into());
        }
        for ProtectedPath { what, path, is_folder } in self.protected_paths(skill, call, grants) {
            if let Some(mount) = exposing_mount(&writable, &path, is_folder) {
                let (folder, kept) = (mount.host.clone(), path.display().to_string());
                return Err(GrantError::ReplaceableFiles { folder, what, kept }.into());
            }
        }
        Ok(())
    }

    fn protected_paths(&self, skill: &Skill, call: &Call, grants: &Grants) -> Vec<ProtectedPath> {
        let folder =
            |what: &str, path: &Path| ProtectedPath { what: what.into(), path: path.to_owned(), is_folder: true };
        let file = |what: String, path: &Path| ProtectedPath { what, path: path.to_owned(), is_folder: false };
        let mut kept = vec![folder("the cache", self.cache().named()), folder("the cache", self.cache().root())];
        if let Some(approvals) = self.approvals() {
            kept.push(folder("the approvals in", approvals.folder()));
            kept.push(file("the approvals in".into(), &approvals.file()));
        }
        if let Origin::Folder(path) = skill.origin() {
            kept.push(folder("the skill's own folder", path));
        }
        // A root that does not exist has no skills to protect.
        let roots = self.shared.roots.folders().iter().filter(|root| root.is_dir());
        kept.extend(roots.map(|root| folder("the skills in", root)));
        kept.extend(call.grants.policy_files().map(|path| file("the policy file".into(), Path::new(path))));
        kept.extend(self.shared.ca_files.iter().map(|path| file("the authorities in".into(), path)));
        kept.extend(self.shared.fetch.wheels.iter().map(|path| folder("the wheels in", path)));
        for secret in &grants.secrets {
            let path = match &secret.source {
                SecretSource::File(path) => Some(path.clone()),
                source => source.command_words().into_iter().next().filter(|program| program.contains('/')),
            };
            let what = format!("what the secret `{}` is read from,", secret.name);
            kept.extend(path.map(|path| file(what, Path::new(&path))));
        }
        // Whoever replaces a mounted folder decides what the next call sees.
        kept.extend(grants.mounts.iter().map(|mount| file("the mounted folder".into(), Path::new(&mount.host))));
        kept
    }
}

/// A skill may use a secret, but not read the file that holds it.
fn check_secrets_are_hidden(mounts: &[Mounted<'_>], grants: &Grants) -> Result<(), GrantError> {
    for secret in &grants.secrets {
        let SecretSource::File(path) = &secret.source else { continue };
        let Ok(real) = Path::new(path).canonicalize() else { continue };
        let above = ancestor_identities(&real);
        if let Some(mount) = mounts.iter().find(|mount| above.contains(&mount.identity)) {
            let (folder, name) = (mount.grant.host.clone(), secret.name.clone());
            return Err(GrantError::ReadableSecret { folder, name, file: path.clone() });
        }
    }
    Ok(())
}

/// The first of these folders from which what is at `path` could be replaced.
fn exposing_mount<'a>(mounts: &[&Mounted<'a>], path: &Path, is_folder: bool) -> Option<&'a MountGrant> {
    let lookup = PathLookup::trace(path);
    let looked_in: BTreeSet<Identity> = lookup.folders.iter().flat_map(|folder| ancestor_identities(folder)).collect();
    let end = file_identity(&lookup.end).filter(|_| is_folder);
    let exposes = |mount: &&&Mounted<'a>| {
        looked_in.contains(&mount.identity) || end.is_some_and(|end| mount.lineage.contains(&end))
    };
    mounts.iter().find(exposes).map(|mount| mount.grant)
}

impl<'a> Mounted<'a> {
    fn new(grant: &'a MountGrant) -> Option<Mounted<'a>> {
        let real = Path::new(&grant.host).canonicalize().ok()?;
        Some(Mounted { grant, identity: file_identity(&real)?, lineage: ancestor_identities(&real) })
    }
}

impl PathLookup {
    fn trace(path: &Path) -> PathLookup {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (mut folders, mut at, mut links) = (BTreeSet::new(), PathBuf::from("/"), 0);
        let mut rest: VecDeque<OsString> = path_names(&path).collect();
        while let Some(name) = rest.pop_front() {
            if name == ".." {
                at.pop();
                continue;
            }
            let entry = at.join(&name);
            folders.insert(at.clone());
            match std::fs::read_link(&entry) {
                Ok(target) if links < MAX_LINKS => {
                    links += 1;
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    path_names(&target).rev().for_each(|name| rest.push_front(name));
                }
                // A folder, a file, or nothing yet.
                _ => at = entry,
            }
        }
        PathLookup { folders, end: at }
    }
}

/// The names in a path, and `..` where it says so.
fn path_names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    let named = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    path.components().filter(named).map(|part| part.as_os_str().to_owned())
}

fn ancestor_identities(path: &Path) -> Vec<Identity> {
    path.ancestors().filter_map(file_identity).collect()
}

fn file_identity(path: &Path) -> Option<Identity> {
    std::fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests;
