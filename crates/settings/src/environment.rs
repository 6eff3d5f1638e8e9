//! Settings in the environment. A variable that is empty is as one that is not there.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{Overrides, SettingsError, units};

/// What these variables say.
pub fn read(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Overrides, SettingsError> {
    let given = |name: &'static str| variable(name).filter(|value| !value.is_empty());
    let path = |name| given(name).map(PathBuf::from);
    Ok(Overrides {
        policy: path("SKILLCELL_POLICY"),
        cache_dir: path("SKILLCELL_CACHE_DIR"),
        approvals_dir: path("SKILLCELL_APPROVALS_DIR"),
        max_images: parse_variable("SKILLCELL_MAX_IMAGES", given("SKILLCELL_MAX_IMAGES"), units::parse_size)?,
        runtime: parse_variable("SKILLCELL_RUNTIME", given("SKILLCELL_RUNTIME"), str::parse)?,
        offline: parse_variable("SKILLCELL_OFFLINE", given("SKILLCELL_OFFLINE"), yes_or_no)?,
        python: path("SKILLCELL_PYTHON"),
        container_base: parse_variable("SKILLCELL_CONTAINER_BASE", given("SKILLCELL_CONTAINER_BASE"), accept_text)?,
        sandbox: parse_variable("SKILLCELL_SANDBOX", given("SKILLCELL_SANDBOX"), str::parse)?,
        container_build_network: parse_variable(
            "SKILLCELL_CONTAINER_BUILD_NETWORK",
            given("SKILLCELL_CONTAINER_BUILD_NETWORK"),
            yes_or_no,
        )?,
        audit: path("SKILLCELL_AUDIT"),
        ..Overrides::default()
    })
}

fn parse_variable<T>(
    name: &'static str,
    value: Option<OsString>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, SettingsError> {
    let Some(value) = value else { return Ok(None) };
    let wrong = |why: String| {
        let shown = value.to_string_lossy().chars().filter(|c| !c.is_control()).take(80).collect();
        SettingsError::BadVariable { name, value: shown, why }
    };
    let text = value.to_str().ok_or_else(|| wrong("it is not UTF-8".to_owned()))?;
    parse(text).map(Some).map_err(wrong)
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err("expected 1 or 0".to_owned()),
    }
}

fn accept_text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}
