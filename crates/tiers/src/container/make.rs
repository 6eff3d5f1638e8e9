//! Prepares a skill's image: pulled by name, built from its `Dockerfile`, or built from a base and its requirements.

use super::arguments::Container;
use super::dockerfile;
use super::engine::{Engine, Kind, last_line};
use super::image::{Build, Containers, ImageError, Source};
use super::run::End;
use super::{RUNNER_FOLDER, Ready, seccomp};
use crate::{TierError, deadline_after};
use skillcell_cache::Cache;
use skillcell_cache::progress::Progress;
use skillcell_limits::Limits;
use skillcell_limits::cancel::CancelToken;
use skillcell_packages::provision::Fetch;
use skillcell_packages::skill::Skill;
use skillcell_packages::venv::{Foreign, Venv};
use skillcell_packages::{Target, Wanted};
use skillcell_policy::manifest::Manifest;

/// The `Dockerfile` of default images, which have the skill's packages in `/opt/packages`.
const DEFAULT: &str = "ARG BASE\nFROM ${BASE}\nCOPY . /opt/packages\n";

/// Makes images.
pub struct Maker<'a> {
    pub cache: &'a Cache,
    pub fetch: &'a Fetch,
    pub progress: &'a dyn Progress,
    pub containers: &'a Containers,
}

impl Maker<'_> {
    /// The image of this skill, built or pulled if it does not exist.
    pub fn make(&self, skill: &Skill, manifest: &Manifest, wanted: &Wanted) -> Result<Ready, TierError> {
        let engine = Engine::of_machine()?;
        let has_dockerfile = skill.files().iter().any(|(path, _)| path == "Dockerfile");
        match Source::select(manifest.container.as_ref(), has_dockerfile).map_err(TierError::from)? {
            Source::Named(image) => {
                // The manifest chooses the registry, which could be an address in the operator's own network.
                if !self.containers.allow_build_network && engine.image_id(&image).is_none() {
                    let engine = engine.kind.program();
                    return Err(ImageError::Unpulled { image, engine }.into());
                }
                engine.ensure_image(&image, self.fetch.offline, self.progress).map_err(TierError::from)?;
                Ok(Ready { engine, image, command: Vec::new() })
            }
            Source::Dockerfile => {
                let image = self.build_from_dockerfile(&engine, skill)?;
                Ok(Ready { engine, image, command: Vec::new() })
            }
            Source::Default => {
                let image = self.build_from_requirements(&engine, skill, wanted)?;
                let command =
                    ["python3", "-I", "-S", &format!("{RUNNER_FOLDER}/container.py")].map(str::to_owned).to_vec();
                Ok(Ready { engine, image, command })
            }
        }
    }

    fn build_from_dockerfile(&self, engine: &Engine, skill: &Skill) -> Result<String, TierError> {
        let work = self.cache.scratch()?;
        let folder = work.path().join("skill");
        skill.write_to(&folder).map_err(TierError::io("write the skill's files"))?;
        let Containers { base, allow_build_network } = self.containers;
        let network = *allow_build_network && !self.fetch.offline;
        let dockerfile = folder.join("Dockerfile");
        let text = std::fs::read(&dockerfile).map_err(TierError::io("read the skill's Dockerfile"))?;
        if let Some(why) = dockerfile::why_refused(&text, network) {
            return Err(ImageError::Dockerfile { skill: skill.id().to_owned(), why }.into());
        }
        if engine.kind == Kind::Docker && !network {
            // Podman is told not to pull; Docker can't be.
            let missing = dockerfile::external_images(&text).into_iter().find(|image| engine.image_id(image).is_none());
            if let Some(image) = missing {
                let why = format!("it takes `{image}`, which is not on this machine, and a build fetches nothing");
                return Err(ImageError::Dockerfile { skill: skill.id().to_owned(), why }.into());
            }
        }
        // The base is the operator's choice and may be pulled; the build itself pulls nothing.
        let takes_base = String::from_utf8_lossy(&text).contains("BASE");
        let base_id = takes_base
            .then(|| engine.ensure_image(base, self.fetch.offline, self.progress))
            .transpose()
            .map_err(TierError::from)?;
        let build = Build {
            skill: skill.id(),
            digest: skill.digest(),
            folder: &folder,
            dockerfile: &dockerfile,
            base,
            base_id: base_id.as_deref(),
            network,
        };
        engine.build_image(&build, self.progress).map_err(TierError::from)
    }

    fn build_from_requirements(&self, engine: &Engine, skill: &Skill, wanted: &Wanted) -> Result<String, TierError> {
        let base = &self.containers.base;
        let base_id = engine.ensure_image(base, self.fetch.offline, self.progress).map_err(TierError::from)?;
        let work = self.cache.scratch()?;
        let dockerfile = work.path().join("Dockerfile");
        std::fs::write(&dockerfile, DEFAULT).map_err(TierError::io("write a Dockerfile"))?;
        let digest = wanted.digest(self.fetch);
        let mut build = Build {
            skill: skill.id(),
            digest: &digest,
            folder: work.path(),
            dockerfile: &dockerfile,
            base,
            base_id: Some(&base_id),
            network: false,
        };
        if let Some(tag) = engine.find_built(&build) {
            return Ok(tag);
        }
        let packages = self.packages_for_base(engine, wanted)?;
        build.folder = packages.root();
        engine.build_image(&build, self.progress).map_err(TierError::from)
    }

    /// The packages of a default image. For other images they are not known.
    pub fn packages(&self, ready: &Ready, wanted: &Wanted) -> Result<Option<Venv>, TierError> {
        if ready.command.is_empty() { Ok(None) } else { self.packages_for_base(&ready.engine, wanted).map(Some) }
    }

    /// Installs the requirements for the base's Python.
    fn packages_for_base(&self, engine: &Engine, wanted: &Wanted) -> Result<Venv, TierError> {
        let foreign = self.query_base_python(engine, &self.containers.base)?;
        Ok(Venv::make(self.cache, self.fetch, self.progress, wanted, Some(&foreign))?)
    }

    /// The platform for which packages of the default image are chosen. Fails if the base is not local; it is not pulled.
    pub fn base_target(&self) -> Result<Target, TierError> {
        let engine = Engine::of_machine()?;
        let base = &self.containers.base;
        if engine.image_id(base).is_none() {
            let why = "it is not on this machine".to_owned();
            return Err(ImageError::Base { image: base.clone(), why }.into());
        }
        Ok(self.query_base_python(&engine, base)?.target())
    }

    /// Asks the base's Python for its version and platform, in a container.
    fn query_base_python(&self, engine: &Engine, base: &str) -> Result<Foreign, TierError> {
        let work = self.cache.scratch().map_err(|error| TierError::Sandbox(error.to_string()))?;
        let env_file = work.path().join("env");
        std::fs::write(&env_file, "").map_err(TierError::io("write a file"))?;
        let filter = work.path().join("seccomp.json");
        let profile = seccomp::build_profile(engine.filter.as_deref());
        std::fs::write(&filter, profile.to_string()).map_err(TierError::io("write a file"))?;
        // The base may be any image, so it runs as isolated as a skill does.
        let limits = Limits::default();
        let command = ["python3", "-I", "-S", "-c", Foreign::ASK].map(str::to_owned);
        let name = format!("skillcell-ask-{}", std::process::id());
        let container = Container {
            engine,
            name: &name,
            image: base,
            command: &command,
            mounts: &[],
            env_file: &env_file,
            id_file: &work.path().join("id"),
            pid_file: &work.path().join("pid"),
            filter: &filter,
            limits: &limits,
            cancel: &CancelToken::default(),
        };
        let ended =
            container.run(b"", [1 << 16, 1 << 16], deadline_after(limits.deadline)).map_err(ImageError::Engine)?;
        let answer = match ended.end {
            End::Exited(status) if status.success() => serde_json::from_slice(&ended.stdout.bytes).ok(),
            _ => None,
        };
        answer.ok_or_else(|| {
            let why =
                format!("it has no usable `python3`: {}", last_line(&String::from_utf8_lossy(&ended.stderr.bytes)));
            ImageError::Base { image: base.to_owned(), why }.into()
        })
    }
}
