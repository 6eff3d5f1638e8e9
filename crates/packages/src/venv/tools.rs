//! What is done by the Python that an environment is made with. It is started without the environment, in a folder of ours,
//! isolated and without `site`: nothing in a package can make it run something.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{BasePython, Result, VenvError};
use crate::provision;
use skillcell_cache::progress::Progress;
use skillcell_cache::tree_size;
use skillcell_child::{Program, python};

const TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Between progress updates, each of which walks the tree.
const POLL: Duration = Duration::from_secs(1);
/// Compiles all that is in a folder. The sources are untrusted, hence the limits.
const COMPILE: &str = "\
import compileall, py_compile, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (500, 500))
sys.dont_write_bytecode = False
compileall.compile_dir(sys.argv[1], quiet=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
";

pub struct Tools<'a> {
    pub base: &'a BasePython,
    /// A private folder for what comes and goes.
    pub work: &'a Path,
    pub root: &'a Path,
}

impl Tools<'_> {
    /// An environment with nothing in it, not even pip.
    pub fn make_environment(&self, progress: &dyn Progress) -> Result<()> {
        let mut python = self.isolated_python();
        python.args(["-m", "venv", "--without-pip"]).arg(self.root);
        self.run_python(python, "make a virtual environment", progress)
    }

    /// Compiles what is there, once for all calls: they can't write to it. What can't be compiled costs time and no more.
    pub fn compile_packages(&self, folder: &Path, progress: &dyn Progress) {
        let mut python = self.isolated_python();
        python.args(["-S", "-c", COMPILE]).arg(folder);
        let _ = self.run_python(python, "compile the packages", progress);
    }

    fn isolated_python(&self) -> Program {
        let mut python = python::isolated_python(&self.base.executable, self.work);
        python.env("TMPDIR", self.work);
        python
    }

    fn run_python(&self, mut python: Program, what: &str, progress: &dyn Progress) -> Result<()> {
        let path = self.work.join("log");
        let log = File::create(&path).map_err(VenvError::io("create", &path))?;
        let failed = |what| VenvError::io(what, &self.base.executable);
        let mut running = python.log_to(log).start().map_err(failed("run"))?;
        let deadline = Instant::now() + TIMEOUT;
        // Dropping `running` kills the process.
        while Instant::now() < deadline {
            match running.wait(Instant::now() + POLL).map_err(failed("wait for"))? {
                Some(status) if status.success() => return Ok(()),
                Some(_) => return Err(VenvError::Failed { what: what.to_owned(), output: provision::log_tail(&path) }),
                None => progress.fraction(tree_size(self.work) + tree_size(self.root), 0),
            }
        }
        Err(VenvError::Timeout { what: what.to_owned(), after: TIMEOUT })
    }
}
