//! What a skill must not be able to replace: everything that this program, or its operator's next command, finds again by
//! its path and goes by.
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

/// As many as Linux follows.
const MOST_LINKS: usize = 40;

/// Device and inode.
type Identity = (u64, u64);

/// A path that is gone by, and what a message calls it.
struct Kept {
    what: String,
    path: PathBuf,
    /// Whether all that is below it matters too.
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
struct Way {
    /// Every folder in which one of its names is looked up.
    folders: BTreeSet<PathBuf>,
    /// Where it leads, without symbolic links as far as it is there.
    end: PathBuf,
}

impl Host {
    /// Refuses mounts by which a skill could replace what this program goes by, or read a secret's file.
    pub(super) fn check_mounts(&self, skill: &Skill, call: &Call, grants: &Grants) -> Result<(), HostError> {
        let mounts: Vec<Mounted<'_>> = grants.mounts.iter().filter_map(Mounted::new).collect();
        check_secrets_are_hidden(&mounts, grants)?;
        let writable = |mount: &&Mounted<'_>| mount.grant.mode == Mode::ReadWrite;
        let writable: Vec<&Mounted<'_>> = mounts.iter().filter(writable).collect();
        if writable.is_empty() {
            return Ok(());
        }
        if let Some(path) = call.audit.path()
            && let Some(mount) = exposing(&writable, path, false)
        {
            return Err(AuditError::Exposed { path: path.to_owned(), folder: mount.host.clone() }.into());
        }
        for Kept { what, path, is_folder } in self.kept(skill, call, grants) {
            if let Some(mount) = exposing(&writable, &path, is_folder) {
                let (folder, kept) = (mount.host.clone(), path.display().to_string());
                return Err(GrantError::Kept { folder, what, kept }.into());
            }
        }
        Ok(())
    }

    fn kept(&self, skill: &Skill, call: &Call, grants: &Grants) -> Vec<Kept> {
        let folder = |what: &str, path: &Path| Kept { what: what.into(), path: path.to_owned(), is_folder: true };
        let file = |what: String, path: &Path| Kept { what, path: path.to_owned(), is_folder: false };
        let mut kept = vec![folder("the cache", self.cache().named()), folder("the cache", self.cache().root())];
        if let Some(approvals) = self.approvals() {
            kept.push(folder("the approvals in", approvals.folder()));
            kept.push(file("the approvals in".into(), &approvals.file()));
        }
        if let Origin::Folder(path) = skill.origin() {
            kept.push(folder("the skill's own folder", path));
        }
        // Where there are none yet, there is nobody to be replaced.
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
        // Another folder in its place would be the next call's.
        kept.extend(grants.mounts.iter().map(|mount| file("the mounted folder".into(), Path::new(&mount.host))));
        kept
    }
}

/// A skill is to use a secret without seeing it.
fn check_secrets_are_hidden(mounts: &[Mounted<'_>], grants: &Grants) -> Result<(), GrantError> {
    for secret in &grants.secrets {
        let SecretSource::File(path) = &secret.source else { continue };
        let Ok(real) = Path::new(path).canonicalize() else { continue };
        let above = lineage(&real);
        if let Some(mount) = mounts.iter().find(|mount| above.contains(&mount.identity)) {
            let (folder, name) = (mount.grant.host.clone(), secret.name.clone());
            return Err(GrantError::Shown { folder, name, file: path.clone() });
        }
    }
    Ok(())
}

/// The first of these folders from which what is at `path` could be replaced.
fn exposing<'a>(mounts: &[&Mounted<'a>], path: &Path, is_folder: bool) -> Option<&'a MountGrant> {
    let way = Way::to(path);
    let looked_in: BTreeSet<Identity> = way.folders.iter().flat_map(|folder| lineage(folder)).collect();
    let end = identity(&way.end).filter(|_| is_folder);
    let exposes = |mount: &&&Mounted<'a>| {
        looked_in.contains(&mount.identity) || end.is_some_and(|end| mount.lineage.contains(&end))
    };
    mounts.iter().find(exposes).map(|mount| mount.grant)
}

impl<'a> Mounted<'a> {
    fn new(grant: &'a MountGrant) -> Option<Mounted<'a>> {
        let real = Path::new(&grant.host).canonicalize().ok()?;
        Some(Mounted { grant, identity: identity(&real)?, lineage: lineage(&real) })
    }
}

impl Way {
    fn to(path: &Path) -> Way {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (mut folders, mut at, mut links) = (BTreeSet::new(), PathBuf::from("/"), 0);
        let mut rest: VecDeque<OsString> = names(&path).collect();
        while let Some(name) = rest.pop_front() {
            if name == ".." {
                at.pop();
                continue;
            }
            let entry = at.join(&name);
            folders.insert(at.clone());
            match std::fs::read_link(&entry) {
                Ok(target) if links < MOST_LINKS => {
                    links += 1;
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    names(&target).rev().for_each(|name| rest.push_front(name));
                }
                // A folder, a file, or nothing yet.
                _ => at = entry,
            }
        }
        Way { folders, end: at }
    }
}

/// The names in a path, and `..` where it says so.
fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    let named = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    path.components().filter(named).map(|part| part.as_os_str().to_owned())
}

fn lineage(path: &Path) -> Vec<Identity> {
    path.ancestors().filter_map(identity).collect()
}

fn identity(path: &Path) -> Option<Identity> {
    std::fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests;
