//! Finds the skill that a name refers to. Like Skillware, this looks in folders before the registry. One of them is the
//! working directory, which may be untrusted, so it is reported when a name resolves to a folder that it doesn't spell
//! out.

use std::path::Path;

use super::printer::{Printer, escape_unprintable};
use skillcell_host::{Host, HostError};
use skillcell_packages::skill::{Origin, Skill};

/// Finds a skill, and reports its folder unless the name is that path.
pub fn find_skill(host: &Host, name: &str, quiet: bool, printer: &Printer) -> Result<Skill, HostError> {
    let skill = host.skill(name)?;
    let Origin::Folder(folder) = skill.origin() else { return Ok(skill) };
    let place =
        escape_unprintable(&std::path::absolute(folder).unwrap_or_else(|_| folder.clone()).display().to_string());
    if host.registry_ids()?.contains(name.trim_matches('/')) {
        let name = escape_unprintable(name);
        printer.print_warning(&format!("`{name}` is the folder `{place}` here, not the skill of the pinned registry"));
    } else if folder != Path::new(name) && !quiet {
        printer.print_note(&format!("`{}` is the folder `{place}`", escape_unprintable(name)));
    }
    Ok(skill)
}
