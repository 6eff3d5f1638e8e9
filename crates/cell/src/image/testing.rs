//! The image of cells that run tests: the framework's, with pytest imported and used once. It holds nothing of a skill,
//! whose tests import it themselves.

use super::bake::report_of;
use super::{BakeError, Baker, Image, Meta};
use crate::runtime::files::TEST_PACKAGES_FOLDER;
use crate::runtime_kind::run_source;
use skillcell_limits::Limits;
use skillcell_vfs::Mount;

impl Baker<'_> {
    /// The image for tests, from the cache or baked. `packages` is what cells see in [`TEST_PACKAGES_FOLDER`], and
    /// `digest` its digest.
    pub fn testing_image(&self, packages: Option<Mount>, digest: &str) -> Result<Image, BakeError> {
        let key = self.testing_key(digest);
        if let Some(image) = self.open_image(&key)? {
            return Ok(image);
        }
        let framework = self.framework_image()?;
        let _guard = self.lock_bake(&key)?;
        if let Some(image) = self.open_image(&key)? {
            return Ok(image);
        }
        self.runtime.progress.step("baking the image for tests");
        let mut cell = self.cell_from(&framework, packages, &Limits::default())?;
        let source = format!("from skillcell_guest.testing import prepare; prepare.image({TEST_PACKAGES_FOLDER:?})");
        let ran = run_source(&mut cell, &source);
        let report = report_of(&mut cell, ran)?;
        let snapshot = self.take_snapshot(&mut cell, report.entry)?;
        drop(cell);
        let compiled = snapshot.precompile(&self.machine)?;
        self.store_image(&key, compiled, Meta::new(snapshot.state, report, None), |_, _| Ok(()))
    }

    fn testing_key(&self, digest: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [&self.framework_key(), "testing", digest] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }
}
