//! Which files of a wheel are used, and where they go: what can be imported, and the metadata of it. Scripts, headers and
//! data for other folders are not installed anywhere.

use skillcell_limits::RuntimeKind;

/// The files of a `.dist-info` folder that cells get.
const DIST_INFO: [&str; 5] = ["METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt"];

/// Where a wheel's file goes in a site-packages folder; `None` if it is not installed. No runtime is the Python of another
/// tier. The path must have been checked.
pub fn site_path(path: &str, runtime: Option<RuntimeKind>) -> Option<&str> {
    let (top, rest) = path.split_once('/').unwrap_or((path, ""));
    if top.ends_with(".data") {
        let (kind, inner) = rest.split_once('/')?;
        return matches!(kind, "purelib" | "platlib").then(|| site_path(inner, runtime)).flatten();
    }
    runtime.is_none_or(|kind| is_for_cells(path, top, rest, kind)).then_some(path)
}

fn is_for_cells(path: &str, top: &str, rest: &str, runtime: RuntimeKind) -> bool {
    if top.ends_with(".dist-info") {
        return DIST_INFO.contains(&rest);
    }
    let useless = [".pyd", ".dll", ".dylib", ".pyc"].iter().any(|ending| path.ends_with(ending))
        || (runtime == RuntimeKind::WasiPython && path.ends_with(".so"));
    let startup = rest.is_empty() && path.ends_with(".pth");
    !useless && !startup
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_has_what_can_be_imported_and_the_metadata_of_it() {
        for (path, in_cells, native) in [
            ("pptx/__init__.py", Some("pptx/__init__.py"), Some("pptx/__init__.py")),
            ("pptx/templates/default.pptx", Some("pptx/templates/default.pptx"), Some("pptx/templates/default.pptx")),
            ("x-1.dist-info/METADATA", Some("x-1.dist-info/METADATA"), Some("x-1.dist-info/METADATA")),
            ("x-1.data/purelib/y.py", Some("y.py"), Some("y.py")),
            ("x-1.dist-info/licenses/LICENSE", None, Some("x-1.dist-info/licenses/LICENSE")),
            ("x-1.data/scripts/python", None, None),
            ("x-1.data/data/bin/python", None, None),
            ("x-1.data/data/pyvenv.cfg", None, None),
            ("x-1.data/purelib/y-1.data/data/z", None, None),
            ("start.pth", None, Some("start.pth")),
            ("a/b.so", None, Some("a/b.so")),
        ] {
            assert_eq!(site_path(path, Some(RuntimeKind::WasiPython)), in_cells, "{path}");
            assert_eq!(site_path(path, None), native, "{path}");
            let in_pyodide = if path.ends_with(".so") { native } else { in_cells };
            assert_eq!(site_path(path, Some(RuntimeKind::Pyodide)), in_pyodide, "{path}");
        }
    }
}
