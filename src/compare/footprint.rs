//! What a tier keeps on disk for a skill, and what had to be downloaded for that.

/// Both kinds of disk space, and the downloads in words.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Footprint {
    /// For this skill alone.
    pub own_bytes: u64,
    /// Once, for all skills.
    pub shared_bytes: u64,
    pub downloads: Vec<String>,
}
