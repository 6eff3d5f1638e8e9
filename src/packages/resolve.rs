//! From requirements to packages: a walk, one level of dependencies at a time. pip chooses the version at each step; markers are
//! evaluated here, for the guest, and what is installed already ends the walk without asking anyone.
//!
//! It does not go back: where two packages want different versions of a third, one that suits both is asked for, and if there
//! is none, that is recorded. A version that was chosen before is replaced then, and what only it needed is forgotten.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use super::index::{Answer, Index, OFFLINE};
use super::installed::Installed;
use super::passed::Absent;
use super::requirement::Requirement;
use super::specifier::Specifiers;
use super::{
    Error, MAX_REQUIREMENTS, Package, Packages, Standing, constraints, metadata, modules, standins, version::Version,
};
use crate::cache::Cache;
use crate::progress::Progress;
use crate::provision::{self, Fetch, Wheel};

/// Bounds of the walk: strangers decide how far it goes.
const MAX_PACKAGES: usize = 250;
const MAX_ROUNDS: usize = 40;
const MAX_STEPS: usize = 20_000;
const MAX_EXTRAS: usize = 64;

pub struct Resolver<'a> {
    pub cache: &'a Cache,
    pub fetch: &'a Fetch,
    pub progress: &'a dyn Progress,
}

/// What is known of a distribution so far.
struct Chosen {
    standing: Standing,
    requires: Vec<Requirement>,
    modules: Vec<String>,
    /// What was asked for when it was chosen.
    asked: String,
}

/// What is wanted of a distribution, by all that are chosen now.
#[derive(Default)]
struct Demand {
    specifiers: Specifiers,
    extras: BTreeSet<String>,
    chain: Vec<String>,
}

/// Wheels that were fetched on the way, by distribution.
pub type Wheels = BTreeMap<String, Wheel>;

impl Resolver<'_> {
    /// Resolves the requirements of a manifest. Wheels are downloaded to a folder that lives as long as they do.
    pub fn resolve(&self, requirements: &[String]) -> Result<(Packages, Wheels, crate::cache::Scratch), Error> {
        let scratch = self.cache.scratch()?;
        let mut packages = Packages { requirements: requirements.to_vec(), ..Packages::default() };
        let roots = read(&mut packages);
        let installed = Installed::look(self.cache, self.progress)?;
        let index = Index::new(self.fetch, scratch.path(), self.progress);
        let mut chosen: BTreeMap<String, Chosen> = BTreeMap::new();
        let mut wheels = Wheels::new();
        let mut demands = BTreeMap::new();
        for _ in 0..MAX_ROUNDS {
            demands = demanded(&roots, &chosen)?;
            if demands.len() > MAX_PACKAGES {
                return Err(Error::TooMuch(format!("they are more than {MAX_PACKAGES}")));
            }
            let open: Vec<(&String, &Demand)> =
                demands.iter().filter(|(name, demand)| is_open(&chosen, name, demand)).collect();
            if open.is_empty() {
                break;
            }
            let mut unknown = Vec::new();
            for (name, demand) in open {
                match self.without_index(name, demand, &installed)? {
                    Some(found) => drop(chosen.insert(name.clone(), found)),
                    None => unknown.push((name, demand)),
                }
            }
            for (name, found, wheel) in self.from_index(&unknown, &index)? {
                wheel.map(|wheel| wheels.insert(name.clone(), wheel));
                chosen.insert(name, found);
            }
        }
        let plain: Vec<Requirement> = roots.iter().map(Requirement::without_extras).collect();
        let always: BTreeSet<String> = demanded(&plain, &chosen)?.into_keys().collect();
        packages.packages = in_order(&roots, demands, chosen, &always);
        let is_wheel = |package: &Package| matches!(package.standing, Standing::Wheel { .. });
        wheels.retain(|name, _| packages.packages.iter().any(|package| package.name == *name && is_wheel(package)));
        for package in &mut packages.packages {
            self.complete(package, &mut wheels, scratch.path())?;
        }
        Ok((packages, wheels, scratch))
    }

    /// Gets the wheel whose Python a stand-in completes. Without it the package is not there, which is not fatal either.
    fn complete(&self, package: &mut Package, wheels: &mut Wheels, folder: &Path) -> Result<(), Error> {
        let standin = standins::of(&package.name).filter(|_| matches!(package.standing, Standing::StandIn { .. }));
        let Some(pin) = standin.and_then(|standin| standin.python_of.as_ref()) else { return Ok(()) };
        if self.fetch.offline && self.fetch.wheels.is_empty() {
            package.standing = Standing::Unresolved { why: OFFLINE.into() };
            return Ok(());
        }
        let path = folder.join(format!("python-of-{}", package.name));
        fs::create_dir(&path).map_err(|source| Error::Folder { path: path.clone(), source })?;
        let fetched = provision::fetch(&[pin], self.fetch, &path, self.progress);
        match fetched.and_then(|mut fetched| Wheel::open(fetched.remove(0))) {
            Ok(wheel) => drop(wheels.insert(package.name.clone(), wheel)),
            Err(error) => package.standing = Standing::Unresolved { why: error.to_string() },
        }
        Ok(())
    }

    /// What the runtime, the framework or a stand-in has.
    fn without_index(&self, name: &str, demand: &Demand, installed: &Installed) -> Result<Option<Chosen>, Error> {
        let asked = demand.asked();
        if let Some((version, standing)) = installed.of(name) {
            let extras: Vec<String> = demand.extras.iter().cloned().collect();
            let requires = installed.requires_for(name, &extras, (self.cache, self.fetch, self.progress))?;
            let standing = or_other(standing, version, demand);
            return Ok(Some(Chosen { standing, requires, modules: modules::guessed(name), asked }));
        }
        Ok(standins::of(name).map(|standin| {
            let version = standin.version.to_string();
            let mut limits = standin.limits.clone();
            // It keeps an interface; whether that is the one of another version too, nobody knows.
            if !demand.specifiers.accept(&standin.version) {
                limits.push(format!("it is made after {version}, and `{}` is asked for", demand.specifiers));
            }
            let standing = Standing::StandIn { version, limits };
            Chosen { standing, requires: standin.requires.clone(), modules: standin.modules.clone(), asked }
        }))
    }

    fn from_index(
        &self,
        unknown: &[(&String, &Demand)],
        index: &Index<'_>,
    ) -> Result<Vec<(String, Chosen, Option<Wheel>)>, Error> {
        if unknown.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<_> =
            unknown.iter().map(|(name, demand)| ((*name).clone(), constrained(name, demand))).collect();
        let mut answers = index.ask(&wanted)?;
        // A constraint of ours must not stand between a skill and what it asks for.
        for (at, (name, demand)) in unknown.iter().enumerate() {
            if matches!(
                answers[at],
                Answer::Absent(Absent::Unfit { .. } | Absent::Native { .. } | Absent::Source { .. })
            ) && constraints::of(name).is_some()
            {
                answers[at] = index.ask(&[((*name).clone(), demand.specifiers.clone())])?.remove(0);
            }
        }
        let taken = unknown.iter().zip(answers).map(|((name, demand), answer)| {
            let (chosen, wheel) = choose(name, demand, answer);
            ((*name).clone(), chosen, wheel)
        });
        Ok(taken.collect())
    }
}

fn choose(name: &str, demand: &Demand, answer: Answer) -> (Chosen, Option<Wheel>) {
    let asked = demand.asked();
    let without = |standing, asked| Chosen { standing, requires: Vec::new(), modules: modules::guessed(name), asked };
    let (pin, fetched) = match answer {
        Answer::Wheel(pin, fetched) => (pin, fetched),
        Answer::Absent(absent) => return (without(absent.into(), asked), None),
    };
    let opened = Wheel::open(fetched).and_then(|mut wheel| {
        let text = wheel.metadata()?;
        Ok((wheel, text))
    });
    match opened {
        Ok((wheel, text)) => {
            let standing = Standing::Wheel { version: pin.version, file: pin.file, sha256: pin.sha256 };
            let modules = modules::of_wheel(&wheel);
            (Chosen { standing, requires: metadata::requires(&text), modules, asked }, Some(wheel))
        }
        Err(error) => (without(Standing::Refused { why: refusal(&error) }, asked), None),
    }
}

/// Without the path, which is of a folder that is gone by the time anyone reads this.
fn refusal(error: &crate::provision::Error) -> String {
    match error {
        crate::provision::Error::Wheel { what, .. } => what.clone(),
        crate::provision::Error::Member { member, .. } => format!("it has no `{member}`"),
        other => other.to_string(),
    }
}

impl Demand {
    fn asked(&self) -> String {
        format!("{:?}{}", self.extras, self.specifiers)
    }
}

/// The skill's own requirements, those that apply; the others are recorded.
fn read(packages: &mut Packages) -> Vec<Requirement> {
    let mut roots = Vec::new();
    for (at, text) in packages.requirements.iter().enumerate() {
        if at >= MAX_REQUIREMENTS {
            packages.refused.push((text.clone(), format!("a skill may have {MAX_REQUIREMENTS} requirements")));
            continue;
        }
        match Requirement::parse(text) {
            Ok(requirement) if requirement.applies(&[]) => roots.push(requirement),
            Ok(_) => packages.not_needed.push(text.clone()),
            Err(why) => packages.refused.push((text.clone(), why)),
        }
    }
    roots
}

/// What is wanted now, from the skill's requirements through what is chosen.
fn demanded(roots: &[Requirement], chosen: &BTreeMap<String, Chosen>) -> Result<BTreeMap<String, Demand>, Error> {
    let mut demands: BTreeMap<String, Demand> = BTreeMap::new();
    let mut todo: VecDeque<(Requirement, Vec<String>)> = roots.iter().map(|root| (root.clone(), Vec::new())).collect();
    let mut steps = 0;
    while let Some((requirement, above)) = todo.pop_front() {
        steps += 1;
        if steps > MAX_STEPS || todo.len() > MAX_STEPS {
            return Err(Error::TooMuch(format!("they need each other in more than {MAX_STEPS} ways")));
        }
        let known = demands.contains_key(&requirement.name);
        let demand = demands.entry(requirement.name.clone()).or_default();
        if !known {
            demand.chain = above.iter().chain([&requirement.name]).cloned().collect();
        }
        demand.specifiers.and(&requirement.specifiers);
        let before = demand.extras.len();
        let room = MAX_EXTRAS.saturating_sub(before);
        demand.extras.extend(requirement.extras.iter().take(room).cloned());
        // Once for each, and again when it is wanted with more.
        if (!known || demand.extras.len() > before)
            && let Some(chosen) = chosen.get(&requirement.name)
        {
            let extras: Vec<String> = demand.extras.iter().cloned().collect();
            let chain = demand.chain.clone();
            let needed = chosen.requires.iter().filter(|needed| needed.applies(&extras));
            todo.extend(needed.map(|needed| (needed.clone(), chain.clone())));
        }
    }
    Ok(demands)
}

/// Whether nothing is chosen for a demand, or something that does not suit it and was chosen for another one.
fn is_open(chosen: &BTreeMap<String, Chosen>, name: &str, demand: &Demand) -> bool {
    let Some(chosen) = chosen.get(name) else { return true };
    let fits = match &chosen.standing {
        // The wheel is the same whatever extras are wanted of it.
        Standing::Wheel { version, .. } => {
            Version::parse(version).is_some_and(|version| demand.specifiers.accept(&version))
        }
        _ => false,
    };
    !fits && chosen.asked != demand.asked()
}

fn constrained(name: &str, demand: &Demand) -> Specifiers {
    let mut specifiers = demand.specifiers.clone();
    if let Some(constraint) = constraints::of(name) {
        specifiers.and(constraint);
    }
    specifiers
}

fn or_other(standing: Standing, version: &Version, demand: &Demand) -> Standing {
    if demand.specifiers.accept(version) { standing } else { Standing::OtherVersion { version: version.to_string() } }
}

/// The skill's own requirements first, as it states them, then the others by name.
fn in_order(
    roots: &[Requirement],
    demands: BTreeMap<String, Demand>,
    mut chosen: BTreeMap<String, Chosen>,
    always: &BTreeSet<String>,
) -> Vec<Package> {
    let unresolved = || Standing::Unresolved { why: "it was given up after too many steps".into() };
    let packages = demands.into_iter().map(|(name, demand)| {
        let found = chosen.remove(&name);
        let (standing, modules) =
            found.map_or_else(|| (unresolved(), Vec::new()), |found| (found.standing, found.modules));
        let of_extra = !always.contains(&name);
        Package { name, wanted: demand.specifiers.to_string(), chain: demand.chain, modules, of_extra, standing }
    });
    let mut packages: Vec<Package> = packages.collect();
    let place = |package: &Package| roots.iter().position(|root| root.name == package.name).unwrap_or(usize::MAX);
    packages.sort_by_key(place);
    packages
}

impl From<Absent> for Standing {
    fn from(absent: Absent) -> Standing {
        match absent {
            Absent::Native { version, tags } => Standing::Native { version, tags },
            Absent::Source { version } => Standing::Source { version },
            Absent::Refused(why) => Standing::Refused { why },
            Absent::Unfit { versions } => Standing::NoVersion { versions },
            Absent::NotFound => Standing::NotFound,
            Absent::Unreachable(why) => Standing::Unresolved { why },
        }
    }
}
