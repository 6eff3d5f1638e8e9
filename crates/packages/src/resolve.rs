//! From requirements to packages: a walk, one level of dependencies at a time. pip chooses the version at each step; markers are
//! evaluated here, for the target, and what is installed already ends the walk without asking anyone. What a wheel requires
//! by an address, a path or an option is refused, with the chain that leads to it.
//!
//! There is no backtracking: where two packages want different versions of a third, one that suits both is asked for, and if there
//! is none, that is recorded. A version that was chosen before is replaced then, and what only it needed is forgotten.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use pep440_rs::Version;

use super::absence::Absent;
use super::demand::{Chosen, Demand, Demands, in_order, is_open};
use super::index::{Answer, Index, OFFLINE};
use super::installed::Installed;
use super::metadata::{self, Required};
use super::requirement::Requirement;
use super::specifier::{Specifiers, parse_version};
use super::target::Target;
use super::wheel_rules::has_only_empty_modules;
use super::{Error, MAX_REQUIREMENTS, Package, PackageStatus, Packages, modules, standins};
use crate::provision::{self, Fetch, Pin, Wheel, normalize_name};
use skillcell_cache::progress::Progress;
use skillcell_cache::{Cache, Scratch};

/// Bounds of the walk, since untrusted metadata decides how far it goes.
const MAX_PACKAGES: usize = 250;
const MAX_ROUNDS: usize = 40;
const MAX_STEPS: usize = 20_000;
/// The package whose version nothing may change.
const FRAMEWORK: &str = "skillware";

pub struct Resolver<'a> {
    pub cache: &'a Cache,
    pub fetch: &'a Fetch,
    pub target: &'a Target,
    pub progress: &'a dyn Progress,
}

/// Wheels that were fetched on the way, by distribution.
pub type Wheels = BTreeMap<String, Wheel>;

impl Resolver<'_> {
    /// Resolves the requirements of a manifest. Wheels are downloaded to a folder that lives as long as they do.
    pub fn resolve(&self, requirements: &[String]) -> Result<(Packages, Wheels, Scratch), Error> {
        let scratch = self.cache.scratch()?;
        let mut packages = Packages { requirements: requirements.to_vec(), ..Packages::default() };
        let roots = self.read_roots(&mut packages);
        let mut wheels = Wheels::new();
        let (demands, chosen) = self.resolve_demands(&roots, scratch.path(), &mut wheels)?;
        // Once more without the skill's extras, to tell which packages are needed in any case.
        let plain: Vec<Requirement> = roots.iter().map(Requirement::without_extras).collect();
        let always: BTreeSet<String> = self.collect_demands(&plain, &chosen)?.by_name.into_keys().collect();
        packages.refused.extend(demands.refused);
        packages.packages = in_order(&roots, demands.by_name, chosen, &always);
        let is_wheel = |package: &Package| matches!(package.standing, PackageStatus::Wheel { .. });
        wheels.retain(|name, _| packages.packages.iter().any(|package| package.name == *name && is_wheel(package)));
        for package in &mut packages.packages {
            self.fetch_wheel_for_stand_in(package, &mut wheels, scratch.path())?;
        }
        Ok((packages, wheels, scratch))
    }

    /// Repeats until every demand has a choice, or gives up after [`MAX_ROUNDS`].
    fn resolve_demands(
        &self,
        roots: &[Requirement],
        folder: &Path,
        wheels: &mut Wheels,
    ) -> Result<(Demands, BTreeMap<String, Chosen>), Error> {
        let installed = Installed::at(self.target, self.cache, self.progress)?;
        let index = Index::new(self.target, self.fetch, folder, self.progress);
        let mut chosen: BTreeMap<String, Chosen> = BTreeMap::new();
        for _ in 0..MAX_ROUNDS {
            // Demands depend on the versions chosen so far, so they are collected anew in each round.
            let demands = self.collect_demands(roots, &chosen)?;
            if demands.by_name.len() > MAX_PACKAGES {
                return Err(Error::TooMuch(format!("they are more than {MAX_PACKAGES}")));
            }
            let open: Vec<(&String, &Demand)> =
                demands.by_name.iter().filter(|(name, demand)| is_open(&chosen, name, demand)).collect();
            if open.is_empty() {
                return Ok((demands, chosen));
            }
            let mut unknown = Vec::new();
            for (name, demand) in open {
                match self.choose_without_index(name, demand, &installed)? {
                    Some(found) => drop(chosen.insert(name.clone(), found)),
                    None => unknown.push((name, demand)),
                }
            }
            for (name, found, wheel) in self.choose_from_index(&unknown, &index)? {
                wheel.map(|wheel| wheels.insert(name.clone(), wheel));
                chosen.insert(name, found);
            }
        }
        Ok((self.collect_demands(roots, &chosen)?, chosen))
    }

    /// The skill's own requirements, those that apply; the others are recorded. Outside of cells, what every cell has comes
    /// with them: skills rely on it.
    fn read_roots(&self, packages: &mut Packages) -> Vec<Requirement> {
        let mut roots = Vec::new();
        for (at, text) in packages.requirements.iter().enumerate() {
            if at >= MAX_REQUIREMENTS {
                packages.refused.push((text.clone(), format!("a skill may have {MAX_REQUIREMENTS} requirements")));
                continue;
            }
            match Requirement::parse(text) {
                Ok(requirement) if requirement.applies_to(&self.target.values, &[]) => roots.push(requirement),
                Ok(_) => packages.not_needed.push(text.clone()),
                Err(refused) => packages.refused.push((text.clone(), refused.why)),
            }
        }
        if !self.target.is_guest() {
            let names = provision::pins().packages().iter().map(|pin| normalize_name(&pin.name));
            roots.extend(names.map(Requirement::of_any_version));
        }
        roots
    }

    /// Fetches the wheel whose Python code a stand-in completes. If that fails, the package is unresolved, which is not fatal.
    fn fetch_wheel_for_stand_in(&self, package: &mut Package, wheels: &mut Wheels, folder: &Path) -> Result<(), Error> {
        let standin =
            standins::stand_in_for(&package.name).filter(|_| matches!(package.standing, PackageStatus::StandIn { .. }));
        let Some(pin) = standin.and_then(|standin| standin.python_of.as_ref()) else { return Ok(()) };
        if self.fetch.offline && self.fetch.wheels.is_empty() {
            package.standing = PackageStatus::Unresolved { why: OFFLINE.into() };
            return Ok(());
        }
        let path = folder.join(format!("python-of-{}", package.name));
        fs::create_dir(&path).map_err(|source| Error::Folder { path: path.clone(), source })?;
        let fetched = provision::fetch_wheels(&[pin], self.fetch, &path, self.progress);
        match fetched.and_then(|mut fetched| Wheel::open(fetched.remove(0))) {
            Ok(wheel) => drop(wheels.insert(package.name.clone(), wheel)),
            Err(error) => package.standing = PackageStatus::Unresolved { why: error.to_string() },
        }
        Ok(())
    }

    /// What can be chosen without an index.
    fn choose_without_index(
        &self,
        name: &str,
        demand: &Demand,
        installed: &Installed,
    ) -> Result<Option<Chosen>, Error> {
        if self.target.is_guest() {
            return self.choose_from_cell(name, demand, installed);
        }
        // Prefer the versions that cells have, so that tiers differ little, unless a requirement excludes them.
        let Some((version, standing)) = installed.find_package(name) else { return Ok(None) };
        let (modules, asked) = (modules::guess_modules(name), demand.to_text());
        if demand.specifiers.accept(version) {
            let requires = installed.requirements_of(name, self.cache, self.fetch, self.progress)?;
            return Ok(Some(Chosen { standing, requires, modules, asked }));
        }
        let standing = PackageStatus::NoVersion { versions: vec![version.to_string()] };
        Ok((name == FRAMEWORK).then_some(Chosen { standing, requires: Vec::new(), modules, asked }))
    }

    /// What the runtime, the framework or a stand-in has in a cell.
    fn choose_from_cell(&self, name: &str, demand: &Demand, installed: &Installed) -> Result<Option<Chosen>, Error> {
        let asked = demand.to_text();
        if let Some((version, standing)) = installed.find_package(name) {
            let requires = self.requirements_of_extras(name, demand, installed)?;
            let standing = status_for_version(standing, version, demand);
            return Ok(Some(Chosen { standing, requires, modules: modules::guess_modules(name), asked }));
        }
        let standin = standins::stand_in_for(name).filter(|_| self.target.uses_stand_in(name));
        Ok(standin.map(|standin| {
            let version = standin.version.to_string();
            let mut limits = standin.limits.clone();
            // A stand-in implements one version's interface, which may not be that of the version that is asked for.
            if !demand.specifiers.accept(&standin.version) {
                limits.push(format!("it is made after {version}, and `{}` is asked for", demand.specifiers));
            }
            let standing = PackageStatus::StandIn { version, limits };
            let requires = standin.requires.iter().cloned().map(Ok).collect();
            Chosen { standing, requires, modules: standin.modules.clone(), asked }
        }))
    }

    /// What an installed distribution requires for its extras. What it requires without them is installed already.
    fn requirements_of_extras(
        &self,
        name: &str,
        demand: &Demand,
        installed: &Installed,
    ) -> Result<Vec<Required>, Error> {
        if demand.extras.is_empty() {
            return Ok(Vec::new());
        }
        let extras: Vec<String> = demand.extras.iter().cloned().collect();
        let mut requires = installed.requirements_of(name, self.cache, self.fetch, self.progress)?;
        requires.retain(|required| self.is_needed(name, required, &extras) && !self.is_needed(name, required, &[]));
        Ok(requires)
    }

    /// Whether the package of this name needs what its metadata says that it requires.
    fn is_needed(&self, name: &str, required: &Required, extras: &[String]) -> bool {
        let values = self.target.values_for(name);
        match required {
            Ok(requirement) => requirement.applies_to(&values, extras),
            Err(refused) => refused.applies_to(&values, extras),
        }
    }

    /// What is wanted now, from the skill's requirements through what is chosen.
    fn collect_demands(&self, roots: &[Requirement], chosen: &BTreeMap<String, Chosen>) -> Result<Demands, Error> {
        let mut demands = Demands::default();
        let mut todo: VecDeque<(Requirement, Vec<String>)> =
            roots.iter().map(|root| (root.clone(), Vec::new())).collect();
        let mut steps = 0;
        while let Some((requirement, above)) = todo.pop_front() {
            steps += 1;
            if steps > MAX_STEPS || todo.len() > MAX_STEPS {
                return Err(Error::TooMuch(format!("they need each other in more than {MAX_STEPS} ways")));
            }
            let Some(chain) = demands.add_requirement(&requirement, &above) else { continue };
            let Some(chosen) = chosen.get(&requirement.name) else { continue };
            let extras: Vec<String> = demands.by_name[&requirement.name].extras.iter().cloned().collect();
            for needed in chosen.requires.iter().filter(|needed| self.is_needed(&requirement.name, needed, &extras)) {
                match needed {
                    Ok(needed) => todo.push_back((needed.clone(), chain.clone())),
                    Err(refused) => demands.record_refusal(&chain, &refused.text, &refused.why),
                }
            }
        }
        Ok(demands)
    }

    fn choose_from_index(
        &self,
        unknown: &[(&String, &Demand)],
        index: &Index<'_>,
    ) -> Result<Vec<(String, Chosen, Option<Wheel>)>, Error> {
        if unknown.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<_> =
            unknown.iter().map(|(name, demand)| ((*name).clone(), demand.specifiers.clone())).collect();
        let mut answers = index.request_wheels(&wanted)?;
        for (answer, wanted) in answers.iter_mut().zip(wanted) {
            // A wheel for an older platform is taken only where there is none for the target's own.
            if let Answer::Absent(absent) = &*answer
                && !matches!(absent, Absent::Unreachable(_))
                && let Some(older) = self.target.older_platform(&wanted.0)
                && let found @ Answer::Wheel(..) = index.request_for(&older.platform, wanted)?
            {
                *answer = found;
            }
        }
        let mut taken = Vec::new();
        for ((name, demand), answer) in unknown.iter().zip(answers) {
            let (chosen, wheel) = self.choose_from_answer(name, demand, answer, index)?;
            taken.push(((*name).clone(), chosen, wheel));
        }
        Ok(taken)
    }

    fn choose_from_answer(
        &self,
        name: &str,
        demand: &Demand,
        answer: Answer,
        index: &Index<'_>,
    ) -> Result<(Chosen, Option<Wheel>), Error> {
        let asked = demand.to_text();
        let without =
            |standing, asked| Chosen { standing, requires: Vec::new(), modules: modules::guess_modules(name), asked };
        let (pin, fetched) = match answer {
            Answer::Wheel(pin, fetched) => (pin, fetched),
            Answer::Absent(absent) => return Ok((without(absent.into(), asked), None)),
        };
        let opened = if self.target.is_guest() { Wheel::open(fetched) } else { Wheel::open_native(fetched) };
        let read = opened.and_then(|mut wheel| wheel.read_metadata().map(|text| (wheel, text)));
        let checked = read.map_err(|error| describe_refusal(&error)).and_then(|(wheel, text)| {
            self.check_identity(name, &demand.specifiers, &pin, &text)?;
            Ok((wheel, text))
        });
        Ok(match checked {
            Ok((wheel, text)) => {
                let requires = metadata::parse_requirements(&text);
                if requires.is_empty() && has_only_empty_modules(&wheel) {
                    return Ok((without(self.status_beyond(name, demand, &pin, index)?, asked), None));
                }
                let standing = PackageStatus::Wheel { version: pin.version, file: pin.file, sha256: pin.sha256 };
                let modules = modules::modules_of_wheel(&wheel);
                (Chosen { standing, requires, modules, asked }, Some(wheel))
            }
            Err(why) => (without(PackageStatus::Refused { why }, asked), None),
        })
    }

    /// What there is instead of a placeholder, which pip falls back to where newer versions are for other platforms only.
    fn status_beyond(
        &self,
        name: &str,
        demand: &Demand,
        placeholder: &Pin,
        index: &Index<'_>,
    ) -> Result<PackageStatus, Error> {
        let mut newer = demand.specifiers.clone();
        if let Ok(clause) = Specifiers::parse(&format!(">{}", placeholder.version)) {
            newer.add_clauses(&clause);
        }
        Ok(match index.request_wheels(&[(name.to_owned(), newer)])?.remove(0) {
            Answer::Absent(absent @ (Absent::Native { .. } | Absent::Source { .. })) => absent.into(),
            _ => PackageStatus::Refused {
                why: format!("{} is a placeholder: its modules are empty", placeholder.version),
            },
        })
    }

    /// Checks that the wheel's own metadata is what was requested: an index may serve any file under any name.
    fn check_identity(&self, name: &str, wanted: &Specifiers, pin: &Pin, metadata: &str) -> Result<(), String> {
        let says = |header: &str| metadata::first_header(metadata, header).unwrap_or_default().to_owned();
        let (its_name, its_version) = (says("name"), says("version"));
        let version =
            parse_version(&its_version).filter(|version| Some(version) == parse_version(&pin.version).as_ref());
        if normalize_name(&its_name) != name || version.is_none() {
            return Err(format!("its metadata is that of {its_name:?} {its_version:?}"));
        }
        if version.is_some_and(|version| !wanted.accept(&version)) {
            return Err(format!("pip delivered {}, and `{wanted}` is asked for", pin.version));
        }
        if self.target.is_guest() && !self.target.takes_wheel(name, &pin.file) {
            return Err(format!("`{}` is not for {}", pin.file, self.target.describe()));
        }
        Ok(())
    }
}

/// The error without its path: the temporary folder is gone by the time the message is read.
fn describe_refusal(error: &provision::Error) -> String {
    match error {
        provision::Error::Wheel { what, .. } => what.clone(),
        provision::Error::Member { member, .. } => format!("it has no `{member}`"),
        other => other.to_string(),
    }
}

fn status_for_version(standing: PackageStatus, version: &Version, demand: &Demand) -> PackageStatus {
    if demand.specifiers.accept(version) {
        standing
    } else {
        PackageStatus::OtherVersion { version: version.to_string() }
    }
}

impl From<Absent> for PackageStatus {
    fn from(absent: Absent) -> PackageStatus {
        match absent {
            Absent::Native { version, tags } => PackageStatus::Native { version, tags },
            Absent::Source { version } => PackageStatus::Source { version },
            Absent::Refused(why) => PackageStatus::Refused { why },
            Absent::Unfit { versions } => PackageStatus::NoVersion { versions },
            Absent::NotFound => PackageStatus::NotFound,
            Absent::Unreachable(why) => PackageStatus::Unresolved { why },
        }
    }
}
