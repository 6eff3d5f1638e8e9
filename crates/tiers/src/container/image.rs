//! Which image a skill's container uses: the one that its manifest names by digest, one built from its own `Dockerfile`, or
//! the default: a Python base with the skill's requirements.
//!
//! A build runs untrusted instructions, so it has no network unless the operator allows it. An image is tagged with the
//! digest of its inputs, and built once.

use std::path::Path;
use std::time::Duration;

use skillcell_policy::manifest::ContainerSpec;

use super::engine::{Engine, Kind, last_line};
use skillcell_cache::progress::Progress;
use skillcell_child::{Finished, Program};

/// The base of default images, and of a `Dockerfile` with `ARG BASE`, unless the operator configures another.
const DEFAULT_BASE: &str = "python:3.13-slim";
/// Raise it to have all images rebuilt.
const FORMAT: &str = "2";
/// The timeout of a pull, which may move a gigabyte over a slow connection.
const PATIENCE: Duration = Duration::from_secs(20 * 60);
/// The timeout of a build, which copies files and runs untrusted instructions.
const BUILD_PATIENCE: Duration = Duration::from_secs(5 * 60);
/// The memory limit of a build, and the largest file that it may write.
const BUILD_BYTES: u64 = 2 << 30;

/// The operator's settings for images.
#[derive(Debug, Clone)]
pub struct Containers {
    pub base: String,
    /// Allows network access in the build of a skill's `Dockerfile`, and pulling the image that a manifest names, from any
    /// registry.
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
    /// `name@sha256:…`, an image that implements the contract itself.
    Named(String),
    /// The bundle's own `Dockerfile`.
    Dockerfile,
    /// A base with our runner and the skill's requirements.
    Default,
}

impl Source {
    /// Decides by the manifest's `container` section, and by whether the bundle has a `Dockerfile`.
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

/// Whether it is `name@sha256:` and 64 hex digits, with a name that no engine could take for an option.
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
    /// The size of an image, as the engine reports it.
    pub(super) fn image_bytes(&self, image: &str) -> u64 {
        let mut command = self.command();
        command.args(["image", "inspect", "--format", "{{.Size}}", image]);
        let said = super::engine::run_to_end(&mut command).ok();
        said.and_then(|said| String::from_utf8(said.stdout).ok()?.trim().parse().ok()).unwrap_or_default()
    }

    /// The id of a local image.
    pub(super) fn image_id(&self, image: &str) -> Option<String> {
        let mut command = self.command();
        command.args(["image", "inspect", "--format", "{{.Id}}", image]);
        let said = super::engine::run_to_end(&mut command).ok()?;
        let id = String::from_utf8(said.stdout).ok()?.trim().to_owned();
        (said.status.success() && !id.is_empty()).then_some(id)
    }

    /// Pulls an image unless it is local, and returns its id.
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

    /// The tag of an earlier build with the same inputs, if its image exists.
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
            // `FROM` and `COPY --from` pull with the engine's own network access, which `--network` does not affect.
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

    /// Limits what untrusted instructions may use, as far as engines have options for it. They run as root of the image.
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
            // The capabilities that installing files needs. Docker's build has no such option.
            command.args(["--cap-drop", "all"]);
            command.args(["--cap-add", "CHOWN", "--cap-add", "DAC_OVERRIDE", "--cap-add", "FOWNER"]);
        }
    }

    /// Runs a slow command; `failed` turns the engine's last line into an error.
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
    /// The base's id, if the base is used: a changed base under the same name must give another image.
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
