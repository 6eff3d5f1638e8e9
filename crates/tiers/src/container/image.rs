//! Which image a skill's container is made from: the one that its manifest names by digest, the one that its own
//! `Dockerfile` makes, or a default one: a Python base with the skill's requirements in it.
//!
//! Building runs a stranger's instructions, so it has no network unless the operator says so. An image is tagged with
//! the digest of all that went into it, and is made once.

use std::path::Path;
use std::time::Duration;

use skillcell_policy::manifest::ContainerSpec;

use super::engine::{Engine, Kind, last_line};
use skillcell_cache::progress::Progress;
use skillcell_child::{Finished, Program};

/// The base of default images, and of a `Dockerfile` that takes `ARG BASE`, unless the operator names another.
const DEFAULT_BASE: &str = "python:3.13-slim";
/// Raise it when images must be made anew.
const FORMAT: &str = "2";
/// A pull may move a gigabyte through a slow mirror; hanging is not fine.
const PATIENCE: Duration = Duration::from_secs(20 * 60);
/// What a build may take: it copies files, and runs what a stranger wrote.
const BUILD_PATIENCE: Duration = Duration::from_secs(5 * 60);
/// The most memory that it may have, and the longest file that it may write.
const BUILD_BYTES: u64 = 2 << 30;

/// The operator's word on how images are made.
#[derive(Debug, Clone)]
pub struct Containers {
    pub base: String,
    /// Gives the build of a stranger's `Dockerfile` the network, and pulls the image that a manifest names, from
    /// wherever that is.
    pub allow_build_network: bool,
}

impl Default for Containers {
    fn default() -> Containers {
        Containers { base: DEFAULT_BASE.to_owned(), allow_build_network: false }
    }
}

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error(
        "`container.image` of the manifest is `{0}`, which names no digest, so that it could be another image tomorrow"
    )]
    NoDigest(String),
    #[error("`container` of the manifest is not a mapping with `image`")]
    Form,
    #[error("the image `{image}` is not on this machine and can't be pulled: {why}")]
    Pull { image: String, why: String },
    #[error(
        "the image `{image}` is not on this machine, and one that a manifest names is pulled only on your word: \
         `{engine} pull {image}`"
    )]
    Unpulled { image: String, engine: &'static str },
    #[error("the base image `{image}` can't be used: {why}")]
    Base { image: String, why: String },
    #[error("the `Dockerfile` of `{skill}` is not built: {why}")]
    Dockerfile { skill: String, why: String },
    #[error("the image of `{skill}` can't be built: {why}")]
    Build { skill: String, why: String },
    #[error("`{0}` took longer than {1:?}")]
    TookTooLong(String, Duration),
    #[error("can't run the container engine")]
    Engine(#[source] std::io::Error),
}

impl ImageError {
    pub fn hint(&self) -> Option<String> {
        match self {
            ImageError::NoDigest(image) => {
                Some(format!("write it as `{image}@sha256:…`; `podman image inspect` tells the digest"))
            }
            ImageError::Pull { .. } => {
                Some("pull it by hand, or name a base image that is there with `SKILLCELL_CONTAINER_BASE`".to_string())
            }
            ImageError::Unpulled { .. } => {
                Some("with `SKILLCELL_CONTAINER_BUILD_NETWORK=1` such images are pulled".to_owned())
            }
            ImageError::Build { .. } | ImageError::Dockerfile { .. } => {
                Some("a build has no network unless you set `SKILLCELL_CONTAINER_BUILD_NETWORK=1`".to_owned())
            }
            _ => None,
        }
    }
}

/// Where a skill's image comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// `name@sha256:…`, implementing the contract by itself.
    Named(String),
    /// The bundle's own `Dockerfile`.
    Dockerfile,
    /// A base with our runner and the skill's requirements.
    Default,
}

impl Source {
    /// What the manifest and the bundle say.
    pub fn select(container: Option<&ContainerSpec>, has_dockerfile: bool) -> Result<Source, ImageError> {
        match container.map(|container| container.image.as_deref()) {
            Some(Some(image)) if is_named_by_digest(image) => Ok(Source::Named(image.to_owned())),
            Some(Some(image)) => Err(ImageError::NoDigest(image.chars().take(200).collect())),
            Some(None) if !has_dockerfile => Err(ImageError::Form),
            _ if has_dockerfile => Ok(Source::Dockerfile),
            _ => Ok(Source::Default),
        }
    }
}

/// `name@sha256:64 hex digits`, of characters that no engine takes for anything else.
fn is_named_by_digest(image: &str) -> bool {
    let plain = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.len() <= 200
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-/:".contains(c))
    };
    image.split_once("@sha256:").is_some_and(|(name, digest)| {
        plain(name) && digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

impl Engine {
    /// How large an image is, as the engine counts.
    pub(super) fn image_bytes(&self, image: &str) -> u64 {
        let mut command = self.command();
        command.args(["image", "inspect", "--format", "{{.Size}}", image]);
        let said = super::engine::run_to_end(&mut command).ok();
        said.and_then(|said| String::from_utf8(said.stdout).ok()?.trim().parse().ok()).unwrap_or_default()
    }

    /// The id of an image that is here.
    pub(super) fn image_id(&self, image: &str) -> Option<String> {
        let mut command = self.command();
        command.args(["image", "inspect", "--format", "{{.Id}}", image]);
        let said = super::engine::run_to_end(&mut command).ok()?;
        let id = String::from_utf8(said.stdout).ok()?.trim().to_owned();
        (said.status.success() && !id.is_empty()).then_some(id)
    }

    /// Sees to it that an image is here, and tells its id.
    pub(super) fn ensure_image(
        &self,
        image: &str,
        offline: bool,
        progress: &dyn Progress,
    ) -> Result<String, ImageError> {
        if let Some(id) = self.image_id(image) {
            return Ok(id);
        }
        let failed = |why| ImageError::Pull { image: image.to_owned(), why };
        if offline {
            return Err(failed("`--offline`".to_owned()));
        }
        progress.step(&format!("pulling the image {image}"));
        self.finish_long(self.command().args(["pull", "--quiet", image]), "pull", PATIENCE, failed)?;
        self.image_id(image).ok_or_else(|| failed("the engine says that it did, and has no such image".to_owned()))
    }

    /// The image of a build that was made before.
    pub(super) fn find_built(&self, build: &Build<'_>) -> Option<String> {
        let tag = build.tag();
        self.image_id(&tag).map(|_| tag)
    }

    /// Builds an image from a folder with a `Dockerfile`, unless one with this tag is there.
    pub(super) fn build_image(&self, build: &Build<'_>, progress: &dyn Progress) -> Result<String, ImageError> {
        if let Some(tag) = self.find_built(build) {
            return Ok(tag);
        }
        let tag = build.tag();
        progress.step(&format!("building the container image of {}", build.skill));
        let mut command = self.command();
        command.args(["build", "--quiet", "--force-rm", "--tag", &tag]);
        command.args(["--network", if build.network { "default" } else { "none" }]);
        if self.kind == Kind::Podman {
            // What it takes from other images is fetched by the engine itself, as `ADD` is.
            let pull = if build.network { "--pull=missing" } else { "--pull=never" };
            command.args([pull, &format!("--http-proxy={}", build.network)]);
        }
        self.bound_build(&mut command);
        command.args(["--build-arg", &format!("BASE={}", build.base)]);
        command.arg("--file").arg(build.dockerfile).arg(build.folder);
        let failed = |why| ImageError::Build { skill: build.skill.to_owned(), why };
        self.finish_long(&mut command, "build", BUILD_PATIENCE, failed)?;
        Ok(tag)
    }

    /// What a stranger's instructions may take, as far as engines can be told. They run as the image's root.
    fn bound_build(&self, command: &mut Program) {
        command.args(["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=512:512", "--ulimit", "core=0:0"]);
        command.args(["--ulimit", &format!("fsize={BUILD_BYTES}:{BUILD_BYTES}")]);
        if self.limits_container {
            let bytes = format!("{BUILD_BYTES}b");
            command.args(["--memory", &bytes, "--memory-swap", &bytes]);
        }
        if self.limits_processors {
            command.args(["--cpu-period", "100000", "--cpu-quota", "100000"]);
        }
        if self.kind == Kind::Podman {
            // What installing files takes, and no more. Docker has no such option.
            command.args(["--cap-drop", "all"]);
            command.args(["--cap-add", "CHOWN", "--cap-add", "DAC_OVERRIDE", "--cap-add", "FOWNER"]);
        }
    }

    /// Runs what takes long; `failed` makes an error of what the engine says last.
    fn finish_long(
        &self,
        command: &mut Program,
        verb: &str,
        patience: Duration,
        failed: impl Fn(String) -> ImageError,
    ) -> Result<(), ImageError> {
        match command.finish(patience).map_err(ImageError::Engine)? {
            Finished::TookTooLong => Err(ImageError::TookTooLong(format!("{} {verb}", self.kind.program()), patience)),
            Finished::Ended(said) if said.status.success() => Ok(()),
            Finished::Ended(said) => Err(failed(last_line(&String::from_utf8_lossy(&said.stderr)))),
        }
    }
}

/// What an image is built from.
pub struct Build<'a> {
    pub skill: &'a str,
    /// A digest of what is in the folder.
    pub digest: &'a str,
    pub folder: &'a Path,
    pub dockerfile: &'a Path,
    pub base: &'a str,
    /// The base's id, where it is here: another base under the same name makes another image.
    pub base_id: Option<&'a str>,
    pub network: bool,
}

impl Build<'_> {
    fn tag(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [FORMAT, self.digest, self.base, self.base_id.unwrap_or_default()] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        format!("localhost/skillcell-skill:{}", &hasher.finalize().to_hex()[..32])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec_with_image(image: &str) -> ContainerSpec {
        let manifest = skillcell_policy::manifest::Manifest::read(serde_json::json!({"container": {"image": image}}));
        manifest.unwrap().container.unwrap()
    }

    #[test]
    fn an_image_is_named_by_digest_or_not_at_all() {
        let digest = format!("a/b:1@sha256:{}", "0".repeat(64));
        assert_eq!(Source::select(Some(&spec_with_image(&digest)), true).unwrap(), Source::Named(digest));
        for image in ["python:3", "--privileged@sha256:00", "a b@sha256:00", &format!("-v@sha256:{}", "0".repeat(64))] {
            let refused = Source::select(Some(&spec_with_image(image)), true);
            assert!(matches!(refused, Err(ImageError::NoDigest(_))), "{image}: {refused:?}");
        }
        assert!(matches!(Source::select(Some(&ContainerSpec::default()), false), Err(ImageError::Form)));
    }

    #[test]
    fn a_bundle_without_an_image_has_its_dockerfile_or_the_default() {
        assert_eq!(Source::select(None, true).unwrap(), Source::Dockerfile);
        assert_eq!(Source::select(None, false).unwrap(), Source::Default);
    }
}
