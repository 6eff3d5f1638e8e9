//! What is embedded in the program: the files of `runtime-assets`, whose README says what each is for. Only their content;
//! who reads one gives it its meaning.

include!(concat!(env!("OUT_DIR"), "/guest.rs"));
include!(concat!(env!("OUT_DIR"), "/standins.rs"));

/// The wheels that are fetched, by name, version and sha256.
pub const PINS: &str = include_str!("../../../runtime-assets/pins.toml");
/// The packages that the first runtime has and the second is given, as wheels.
pub const PYODIDE_PACKAGES: &str = include_str!("../../../runtime-assets/pyodide-packages.toml");
/// Which wheels the second runtime takes.
pub const PYODIDE_WHEELS: &str = include_str!("../../../runtime-assets/pyodide-wheels.toml");

/// What starts in the process of another tier.
pub const NATIVE_RUN: &str = include_str!("../../../runtime-assets/native/run.py");
/// What starts in a container.
pub const NATIVE_CONTAINER: &str = include_str!("../../../runtime-assets/native/container.py");
