//! Params on their way in: checked against the manifest, then packed for the door.

use serde_json::json;

use crate::call::Call;
use skillcell_door::Door;
use skillcell_policy::manifest::Manifest;
use skillcell_policy::schema;

/// Whether the guest has to check the params. It need not if they are surely what the manifest wants; whether and how
/// others are wrong is Skillware's to say.
pub fn must_be_checked(manifest: &Manifest, call: &Call) -> bool {
    let schema = manifest.parameters.as_ref().filter(|_| call.validate);
    schema.is_some_and(|schema| schema::is_valid(schema, call.params()) != Ok(true))
}

/// What the door hands to the cell. Most calls have nothing but params. In a session the guest has to know of it: it keeps
/// the instance then.
pub fn pack_call(call: &Call, validate: bool) -> Vec<u8> {
    let params = call.params_json();
    let denied = &call.grants.deny_imports;
    let in_session = call.session.is_some();
    let plain = call.config.is_none() && call.env.is_empty() && denied.is_empty() && !validate && !in_session;
    let extra = (!plain).then(|| {
        let Call { config, env, secrets, .. } = call;
        let mut extra =
            json!({"config": config, "env": env, "secrets": secrets, "validate": validate, "deny_imports": denied});
        if in_session {
            extra["session"] = true.into();
        }
        extra.to_string()
    });
    Door::pack(params.as_bytes(), extra.as_deref().map(str::as_bytes))
}
