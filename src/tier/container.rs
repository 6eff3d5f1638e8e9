//! The container tier.

mod arguments;
mod contract;
mod engine;
mod image;
mod process;
mod run;

pub use engine::{Engine, Kind, NoEngine};

#[cfg(test)]
mod tests {
    use super::arguments::*;
    use super::*;
    use std::time::*;
    #[test]
    fn probe() {
        let engine = Engine::find().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let env_file = dir.path().join("env");
        std::fs::write(&env_file, "A=b\n").unwrap();
        let go = |name: &str, program: &str, seconds| {
            let limits = crate::limits::Limits { deadline: Duration::from_secs(seconds), ..Default::default() };
            let command: Vec<String> = ["python3", "-c", program].iter().map(|s| s.to_string()).collect();
            let container = Container {
                engine: &engine,
                name,
                image: "localhost/skillcell-debian-python",
                command: &command,
                bound: &[],
                env_file: &env_file,
                limits: &limits,
            };
            let started = Instant::now();
            let ended = container.run(b"{\"x\": 1}", [1 << 20, 1 << 20], started + limits.deadline).unwrap();
            println!(
                "{:?} {:?} out {:?} err {:?}",
                started.elapsed(),
                ended.end,
                String::from_utf8_lossy(&ended.stdout.bytes[..ended.stdout.bytes.len().min(200)]),
                String::from_utf8_lossy(&ended.stderr.bytes)
            );
        };
        go(
            "skillcell-t1",
            "import sys,os; print(sys.stdin.read(), os.environ, os.getuid()); os.system('cat /proc/self/limits')",
            5,
        );
        go(
            "skillcell-t2",
            "import os,time,signal\nsignal.signal(15, signal.SIG_IGN)\nos.fork();os.setsid() if os.fork() else 0\nwhile 1: time.sleep(1)",
            2,
        );
        go("skillcell-t3", "while 1: print('x'*1000)", 5);
        go("skillcell-t4", "x=bytearray(1<<30)", 5);
        go("skillcell-t5", "import os\nwhile 1:\n  try: os.fork()\n  except OSError: pass", 2);
    }
}
