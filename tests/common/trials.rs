//! Tests that may find that they can't be run here: with the reason beside their name, and counted as ignored, which libtest
//! can't.

use libtest_mimic::{Completion, Trial};

/// A test that is run unless something is missing, which is looked for only if the test is to be run.
pub fn trial(
    name: impl Into<String>,
    missing: impl FnOnce() -> Option<String> + Send + 'static,
    test: impl FnOnce() + Send + 'static,
) -> Trial {
    Trial::ignorable_test(name, move || {
        if let Some(why) = missing() {
            return Ok(Completion::ignored_with(why));
        }
        test();
        Ok(Completion::Completed)
    })
}
