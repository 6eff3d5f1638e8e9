//! Records the first use of each host folder, and each denied file operation once.

use std::sync::PoisonError;

use super::grants::Decider;
use super::trail::Trail;
use super::{Event, Line};
use skillcell_policy::NO_RULE;
use skillcell_vfs::{Errno, Watch};

/// How many denials are remembered for deduplication; bounded, because a skill can try any number of long paths.
const MAX_TOLD: usize = 1024;

impl Watch for Trail {
    fn entering(&self, folder: &str, path: &str, changing: bool) -> Result<(), Errno> {
        let doing = if changing { "change" } else { "open" };
        let line = Line { asked: Some(format!("{doing} {path}")), ..self.new_line(Event::File) };
        let line = match self.rules.get().and_then(|rules| rules.mount_grant(folder)) {
            Some(decider) => decider.add_to(line),
            None => line,
        };
        self.record_allowed(line).map_err(|_| Errno::Acces)
    }

    fn denied(&self, doing: &'static str, path: &str, why: Errno) {
        let asked = format!("{doing} {path}");
        let mut told = self.denied_paths.lock().unwrap_or_else(PoisonError::into_inner);
        if told.contains(&asked) || (told.len() < MAX_TOLD && !told.insert(asked.clone())) {
            return;
        }
        drop(told);
        let reason = match why {
            Errno::Noent => "nothing is mounted there",
            Errno::Rofs => "it is read-only",
            _ => "it leads out of its folder, is no plain file, or is closed to this user",
        };
        let line = Line { asked: Some(asked), reason: Some(reason.to_owned()), ..self.new_line(Event::File) };
        let mount = self.rules.get().and_then(|rules| rules.mount_grant(path));
        let decider = mount.unwrap_or_else(|| match why {
            Errno::Noent => Decider { rule: NO_RULE.to_owned(), from: "default".to_owned(), place: None },
            _ => Decider { rule: "read-only".to_owned(), from: "check".to_owned(), place: None },
        });
        self.record_denied(decider.add_to(line));
    }
}
