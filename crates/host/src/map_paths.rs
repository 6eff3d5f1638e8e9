//! `--map-paths`: a string that is a path in a mounted folder of the host means that file in the cell, and back.
//!
//! ```text
//!   params   "/home/me/in/a.txt"  ──▶  "/data/a.txt"          with the mount /home/me/in:/data
//!   result   "/home/me/in/b.txt"  ◀──  "/data/b.txt"
//! ```
//!
//! The rule, in both directions. A string is a path if it starts with `/`, has at most 4096 bytes and no control
//! character; it counts whole or not at all. Empty and `.` components are dropped and `..` takes the one before it away,
//! by the text alone: no file is looked at. If it is then the folder of a mount or below it, compared component by
//! component, the folder is exchanged; a slash at the end stays. Of several folders the deepest counts. A path that leads
//! to another mount in the cell than the one it came by, because that one covers it, is left as it is.
//!
//! Text only: nothing is granted by this, and what is in no mount stays what it was.

use super::json_strings::{self, TooLong};

/// The longest string that is taken for a path.
const MAX_PATH_BYTES: usize = 4096;

/// The mounts of one call.
#[derive(Debug, Default)]
pub struct PathMap {
    mounts: Vec<Mounted>,
}

#[derive(Debug)]
struct Mounted {
    /// What paths on the host may call the folder; the first is used on the way back.
    hosts: Vec<Vec<String>>,
    guest: Vec<String>,
}

impl PathMap {
    pub fn is_empty(&self) -> bool {
        self.mounts.is_empty()
    }

    /// Adds a mount. `hosts` are the absolute spellings of its folder, the one for results first; what isn't a path is
    /// left out.
    pub fn add_mount<'a>(&mut self, hosts: impl IntoIterator<Item = &'a str>, guest: &str) {
        let hosts: Vec<Vec<String>> =
            hosts.into_iter().filter_map(|host| Some(to_owned_names(&path_components(host)?))).collect();
        if let (false, Some(guest)) = (hosts.is_empty(), path_components(guest)) {
            self.mounts.push(Mounted { hosts, guest: to_owned_names(&guest) });
        }
    }

    /// JSON with its paths of the host as paths of the cell; None if there are none. Keys are left alone.
    pub fn to_guest(&self, json: &str, cap: u64) -> Result<Option<String>, TooLong> {
        json_strings::map_strings(json, cap, |text| self.guest_path(text))
    }

    /// JSON with its paths of the cell as paths of the host; None if there are none.
    pub fn to_host(&self, json: &str, cap: u64) -> Result<Option<String>, TooLong> {
        json_strings::map_strings(json, cap, |text| self.host_path(text))
    }

    fn guest_path(&self, text: &str) -> Option<String> {
        let path = path_components(text)?;
        let spellings =
            self.mounts.iter().enumerate().flat_map(|(at, mount)| mount.hosts.iter().map(move |host| (at, host)));
        let found = spellings.filter_map(|(at, host)| Some((at, strip_folder(&path, host)?)));
        let (at, rest) = deepest_match(found)?;
        let guest = &self.mounts.get(at)?.guest;
        let names: Vec<&str> = guest.iter().map(String::as_str).chain(rest.iter().copied()).collect();
        (self.innermost_mount(&names)?.0 == at).then(|| join_path(&names, text, &path))
    }

    fn host_path(&self, text: &str) -> Option<String> {
        let path = path_components(text)?;
        let (at, rest) = self.innermost_mount(&path)?;
        let host = self.mounts.get(at)?.hosts.first()?;
        let names: Vec<&str> = host.iter().map(String::as_str).chain(rest.iter().copied()).collect();
        Some(join_path(&names, text, &path))
    }

    /// The mount that serves a path of the cell, and the path below it.
    fn innermost_mount<'p, 't>(&self, path: &'p [&'t str]) -> Option<(usize, &'p [&'t str])> {
        deepest_match(
            self.mounts.iter().enumerate().filter_map(|(at, mount)| Some((at, strip_folder(path, &mount.guest)?))),
        )
    }
}

/// Of the folders that a path lies in, the one that leaves least of it; of equals the first.
fn deepest_match<'p, 't>(found: impl Iterator<Item = (usize, &'p [&'t str])>) -> Option<(usize, &'p [&'t str])> {
    found.reduce(|best, next| if next.1.len() < best.1.len() { next } else { best })
}

/// The components of a path after normalising, or None if the text is no path.
fn path_components(text: &str) -> Option<Vec<&str>> {
    if !text.starts_with('/') || text.len() > MAX_PATH_BYTES || text.contains(char::is_control) {
        return None;
    }
    let mut names = Vec::new();
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    Some(names)
}

/// What of a path lies below a folder; empty for the folder itself.
fn strip_folder<'p, 't>(path: &'p [&'t str], folder: &[String]) -> Option<&'p [&'t str]> {
    let (start, rest) = path.split_at_checked(folder.len())?;
    start.iter().zip(folder).all(|(name, known)| name == known).then_some(rest)
}

/// A path as text, with the trailing slash that it was written with; `/` alone has none.
fn join_path(names: &[&str], text: &str, path: &[&str]) -> String {
    let trailing = if text.ends_with('/') && !path.is_empty() && !names.is_empty() { "/" } else { "" };
    format!("/{}{trailing}", names.join("/"))
}

fn to_owned_names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests;
