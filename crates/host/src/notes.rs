//! Notes on a call in a cell besides its result: differences from native Python that a result does not show.

use std::time::Duration;

use skillcell_limits::outcome::{Note, NoteKind};
use skillcell_packages::skill::Skill;
use skillcell_packages::{Package, SitePackages};

pub const INTEGER_WIDTH: &str = "numpy's default integer has 32 bits in a cell, 64 elsewhere: beyond 2147483647 sums and products \
    wrap, without an error. `dtype=np.int64` avoids it";

/// Notes on the modules that a cell says it has loaded. The list is untrusted: unknown names are ignored.
pub(super) fn on_modules(loaded: &[String], skill: &Skill) -> Vec<Note> {
    if loaded.is_empty() {
        return Vec::new();
    }
    let mut notes = Vec::new();
    if loaded.iter().any(|module| module == "numpy") {
        let message = format!("{INTEGER_WIDTH}; `acknowledge: [integer_width]` in the manifest ends this note");
        notes.push(Note::new(NoteKind::IntegerWidth, "numpy", message));
    }
    let stand_ins = skill.site().map(|site| site.packages.stand_in_modules()).unwrap_or_default();
    for (module, package) in stand_ins {
        if loaded.contains(&module) && !notes.iter().any(|note: &Note| note.subject == package) {
            let message = format!(
                "`{package}` is a stand-in in Python for native code: results may differ where docs/reference/packages.md says \
                 so, and `skillcell lock --print` lists its limits"
            );
            notes.push(Note::new(NoteKind::StandIn, package, message));
        }
    }
    notes
}

/// A note on what a call waited for code that no call had used before.
pub(super) fn on_parts(waited: Duration) -> Option<Note> {
    let message = format!(
        "{:.1} s went by while parts of the runtime were compiled that no call had used before; its deadline does not count \
         them, and they are kept",
        waited.as_secs_f64()
    );
    (!waited.is_zero()).then(|| Note::new(NoteKind::Parts, "runtime", message))
}

/// Notes on wheels that are for an older platform than the runtime's.
pub(super) fn on_wheels(site: Option<&SitePackages>) -> Vec<Note> {
    let older = site.iter().flat_map(|site| site.packages.older_wheels());
    let note = |(package, why): (&Package, &str)| {
        let message = format!("the wheel of `{}` is for an older platform than `pyodide`: {why}", package.name);
        Note::new(NoteKind::OlderWheel, &package.name, message)
    };
    older.map(note).collect()
}
