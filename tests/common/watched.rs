//! A program on a terminal of its own, or measured: by Python, which has both.

use std::process::Command;

use serde_json::Value;

/// How a program ended, what it wrote to its terminal, and the most memory that it had.
pub struct Watched {
    pub code: i64,
    pub said: String,
    pub peak_bytes: u64,
}

const ON_A_TERMINAL: &str = "import json, os, pty, resource, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
said = b''
try:
    while piece := os.read(terminal, 65536):
        said = (said + piece)[:1000000]
except OSError:
    pass
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == 'darwin' else 1024)
print(json.dumps([code, said.decode(errors='replace'), peak]))";

/// `skillcell` with these arguments on a terminal, without colours. Of what it says the first megabyte is kept.
pub fn on_a_terminal(args: &[&str]) -> Watched {
    let mut python = Command::new("python3");
    python.args(["-c", ON_A_TERMINAL, env!("CARGO_BIN_EXE_skillcell")]).args(args);
    python.env("NO_COLOR", "1").env("TERM", "dumb").env("COLUMNS", "200").env_remove("SKILLWARE_SKILL_PATH");
    let output = python.output().expect("python3 starts");
    assert!(output.status.success(), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    Watched {
        code: told[0].as_i64().expect("a number"),
        said: told[1].as_str().expect("text").replace("\r\n", "\n"),
        peak_bytes: told[2].as_u64().expect("a number"),
    }
}
