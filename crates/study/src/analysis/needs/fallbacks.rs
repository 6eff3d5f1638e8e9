//! What a skill needs after all, although it copes at first: an import that failed quietly leaves nothing behind, and who
//! gives up over that, or uses it as if it were there, needs the module.

use std::collections::BTreeSet;

use super::super::effects::Effect;
use super::super::facts::{Facts, File, Spot};
use super::super::modules::Module;
use super::{Need, Raises, What, need};

/// A function that tries an import and gives nothing where it fails: who gives up over that, or uses it as if it were the
/// module, needs it after all.
pub fn of_helpers(path: &str, file: &File, needs: &[Need]) -> Vec<Need> {
    let mut made = Vec::new();
    for helped in &file.helped {
        let lost = needs.iter().find_map(|need| match &need.what {
            What::Module(module) if need.file == path && need.spot.tries.contains(&helped.id) && !need.is_met() => {
                (helped.module.is_empty() || helped.module == need.name).then(|| (need, module.clone()))
            }
            _ => None,
        });
        let Some((lost, module)) = lost else { continue };
        let without =
            |spot: &Spot| need(path, spot.clone(), What::Without(module.clone()), &lost.name, Raises::Other, false);
        let in_scope = |spot: &Spot| helped.function.is_empty() || spot.function == helped.function;
        let checks = file.checks.iter().filter(|check| check.name == helped.name && in_scope(&check.spot));
        made.extend(checks.map(|check| without(&check.spot)));
        if !file.checked.contains(&helped.name) {
            let uses = file.uses.iter().filter(|used| used.name == helped.name && in_scope(&used.spot));
            made.extend(uses.map(|used| without(&used.spot)));
        }
    }
    made
}

/// What it looks for before use, and gives up without: it is needed where that is tested.
pub fn of_insistence(path: &str, file: &File, needs: &[Need]) -> Vec<Need> {
    let made = file.insists.iter().filter_map(|tested| {
        let what = if tested.kind == "program" {
            What::Effect(Effect::Process)
        } else if tested.kind == "platform" {
            What::OtherPlatform
        } else {
            needs.iter().find_map(|need| match &need.what {
                What::Module(module) if need.name == tested.name && !need.met => Some(What::Without(module.clone())),
                _ => None,
            })?
        };
        Some(need(path, tested.spot.clone(), what, &tested.name, Raises::Other, false))
    });
    made.collect()
}

/// An import that fails and is survived leaves a name behind that is nothing: who gives up over it, or uses it as if it
/// were there, needs the module after all.
pub fn of_fallbacks(path: &str, facts: &Facts, needs: &[Need]) -> Vec<Need> {
    let Some(file) = facts.files.get(path) else { return Vec::new() };
    let mut made = Vec::new();
    for (id, found) in &file.tries {
        let inside = |need: &&Need| need.file == path && need.spot.tries.contains(id) && !need.is_met();
        let lost: Vec<&Need> = needs
            .iter()
            .filter(inside)
            .filter(|need| matches!(need.what, What::Module(_) | What::Bundled(_)))
            .collect();
        let Some(first) = lost.first() else { continue };
        let catching = found.handlers.iter().find(|(caught, _)| first.raises.is_caught_by(caught));
        if catching.is_none_or(|(_, ends)| ends != "goes on") {
            continue;
        }
        let module = match &first.what {
            What::Module(module) => module.clone(),
            _ => Module::Bundled,
        };
        let names: BTreeSet<&String> =
            found.binds.iter().chain(&found.flags).filter(|name| !found.mends.contains(name)).collect();
        let without = |file: &str, spot: &Spot| {
            need(file, spot.clone(), What::Without(module.clone()), &first.name, Raises::Other, false)
        };
        for (other, each) in &facts.files {
            let here = other == path;
            let imported =
                |name: &String| each.imports.iter().any(|import| import.to.is_some() && import.names.contains(name));
            let gives_up =
                each.checks.iter().filter(|check| names.contains(&check.name) && (here || imported(&check.name)));
            made.extend(gives_up.map(|check| without(other, &check.spot)));
        }
        if found.binds.iter().chain(&found.flags).any(|name| file.checked.contains(name)) {
            continue;
        }
        let is_lost = |name: &String| found.binds.contains(name) && names.contains(name);
        let scope = &first.spot.function;
        let uses = file.uses.iter().filter(|used| is_lost(&used.name) && !used.spot.tries.contains(id));
        let uses = uses.filter(|used| scope.is_empty() || used.spot.function == *scope);
        // In a function, a handler that goes on and leaves the rest to run is one that returned.
        if scope.is_empty() {
            made.extend(uses.map(|used| without(path, &used.spot)));
        }
    }
    made
}
