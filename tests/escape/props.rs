//! What the host does while a half runs: things that a skill can try to take advantage of. A case file names them under
//! `during`, with settings of their own, and may say under `saw` what they must have seen.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde::Deserialize;

use crate::stage::Stage;

pub trait Prop {
    /// After the call: what it saw against what the case file says it must have, in words.
    fn check(&mut self, expected: &toml::Value) -> Vec<String>;
}

/// Starts a prop. It may put words of its own into the stage, such as its port; it ends when it is dropped.
pub fn start(name: &str, settings: &toml::Value, stage: &mut Stage) -> Box<dyn Prop> {
    match name {
        "server" => Box::new(crate::servers::Server::start(settings, stage)),
        "wheels" => Box::new(crate::wheels::Wheels::start(settings, stage)),
        "swap" => Box::new(Swap::start(settings, stage)),
        other => panic!("there is no prop `{other}`"),
    }
}

/// A name in the stage that is a link to one target, then to the other, as fast as the host can.
struct Swap {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SwapSettings {
    name: String,
    /// Where the link leads: a path, or a name in the stage as `{stage}/…`.
    targets: [String; 2],
}

impl Swap {
    fn start(settings: &toml::Value, stage: &Stage) -> Swap {
        let settings: SwapSettings = settings.clone().try_into().expect("settings of `swap`");
        let (place, spare) = (stage.path(&settings.name), stage.path(&format!("{}.spare", settings.name)));
        let targets = settings.targets.map(|target| PathBuf::from(stage.words.fill(&target)));
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut swaps = 0;
            while !stopped.load(Ordering::Relaxed) {
                for target in &targets {
                    let _ = std::fs::remove_file(&spare);
                    if std::os::unix::fs::symlink(target, &spare).and_then(|()| std::fs::rename(&spare, &place)).is_ok()
                    {
                        swaps += 1;
                    }
                }
            }
            let _ = std::fs::remove_file(&spare);
            let _ = std::fs::remove_file(&place);
            swaps
        });
        Swap { stop, thread: Some(thread) }
    }

    fn end(&mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map_or(0, |thread| thread.join().expect("it swaps"))
    }
}

impl Prop for Swap {
    /// At least so many swaps, or the race was none.
    fn check(&mut self, expected: &toml::Value) -> Vec<String> {
        let (swaps, least) = (self.end(), expected.as_integer().unwrap_or(i64::MAX));
        if i64::try_from(swaps).is_ok_and(|swaps| swaps >= least) {
            return Vec::new();
        }
        vec![format!("swap: expected {least} swaps, made {swaps}")]
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        self.end();
    }
}
