//! A base image with Python for container tests, made of Debian's packages: no image registry is asked.

use std::path::Path;
use std::process::{Command, Stdio};

pub const IMAGE: &str = "localhost/skillcell-debian-python";

/// Makes the image unless it is there, or says why there is none.
pub fn base(engine: &str) -> Result<(), String> {
    if run(Command::new(engine).args(["image", "inspect", IMAGE])).is_ok() {
        return Ok(());
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (debs, root) = (folder.path().join("debs"), folder.path().join("root"));
    for path in [&debs, &root] {
        std::fs::create_dir(path).map_err(|error| error.to_string())?;
    }
    run(Command::new("apt-get").args(["download", "-qq"]).args(packages()?).current_dir(&debs))?;
    for deb in std::fs::read_dir(&debs).map_err(|error| error.to_string())?.flatten() {
        run(Command::new("dpkg-deb").arg("-x").arg(deb.path()).arg(&root))?;
    }
    import(engine, &root)
}

/// `python3`, the C++ library that wheels count on, and all that these need.
fn packages() -> Result<Vec<String>, String> {
    let mut ask = Command::new("apt-cache");
    ask.args(["depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts", "--no-breaks"]);
    ask.args(["--no-replaces", "--no-enhances", "python3", "libstdc++6"]);
    let text = run(&mut ask)?;
    let names = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_alphanumeric()));
    Ok(names.map(str::to_owned).collect())
}

fn import(engine: &str, root: &Path) -> Result<(), String> {
    let mut tar = Command::new("tar").arg("-C").arg(root).args(["-c", "."]).stdout(Stdio::piped()).spawn();
    let archive = tar.as_mut().ok().and_then(|tar| tar.stdout.take()).ok_or("can't run tar")?;
    let done = run(Command::new(engine).args(["import", "-", IMAGE]).stdin(archive));
    let _ = tar.map(|mut tar| tar.wait());
    done.map(drop)
}

fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name}: {}", said.lines().last().unwrap_or("it failed")))
}
