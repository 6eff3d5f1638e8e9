//! What a tier keeps on disk for a skill, and what had to be downloaded for that.

use serde::Serialize;

/// Both kinds of disk space, and the downloads.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Footprint {
    /// For this skill alone.
    pub own_bytes: u64,
    /// Once, for all skills.
    pub shared_bytes: u64,
    pub downloads: Vec<Download>,
}

/// Something that is fetched before the first call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Download {
    pub what: String,
    /// As it is sent, where that is known.
    pub bytes: Option<u64>,
}

impl Footprint {
    pub(crate) fn downloads(&mut self, what: String, bytes: Option<u64>) {
        self.downloads.push(Download { what, bytes });
    }

    /// What is known of them together, and what else there is.
    pub fn downloaded(&self) -> (u64, Vec<&str>) {
        let known = self.downloads.iter().filter_map(|it| it.bytes).fold(0, u64::saturating_add);
        let unknown = self.downloads.iter().filter(|it| it.bytes.is_none()).map(|it| it.what.as_str());
        (known, unknown.collect())
    }
}
