//! The calls that a skill's own tests make: recorded in cells to which nothing is granted, as examples to warm its image by.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::Host;
use crate::testing::TestCall;
use skillcell_packages::provision;
use skillcell_packages::skill::Skill;

/// How long one file of tests may take, and after which time no other is begun.
const FILE_TIME: Duration = Duration::from_secs(3);
const ENOUGH: Duration = Duration::from_secs(2);
/// Params that are taken; each is bounded by the cell that records it.
const MAX_CALLS: usize = 200;

impl Host {
    /// Params that the skill's tests call it with. None where its tests can't be run: nothing is fetched for this.
    pub(super) fn recorded_calls(&self, skill: &Skill) -> Vec<Value> {
        if skill.script().is_some() || !provision::has_test_packages(self.cache()) {
            return Vec::new();
        }
        let mut call = TestCall { record: true, ..TestCall::default() };
        call.limits.deadline = FILE_TIME;
        let started = Instant::now();
        let mut calls = Vec::new();
        for file in self.recorded_files(skill, &call) {
            calls.extend(file);
            if started.elapsed() > ENOUGH || calls.len() >= MAX_CALLS {
                break;
            }
        }
        calls.truncate(MAX_CALLS);
        calls
    }
}
