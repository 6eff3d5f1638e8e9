//! The effective grants: what the skill asked for, as far as the operator granted it.
//!
//! A skill without `permissions` asks for nothing in particular, so the operator's grants apply unchanged. With
//! `permissions`, a grant applies only as far as it was asked for. Deny rules, `--resolve` entries and denied imports
//! apply either way: they only narrow access, or say where an allowed name resolves to.

use std::collections::BTreeSet;

use serde::Serialize;

use super::describe;
use super::grants::{GrantKind, Grants};
use super::http::HttpRule;
use super::method::Methods;
use super::missing::Missing;
use super::permissions::{Asked, FolderAsk, Permissions, SecretAsk};
use super::secret::{SecretGrant, SecretHost, SecretSource};

/// What a call may do, and what it asked for beyond that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Effective {
    pub grants: Grants,
    /// What was asked for and not granted, or not all of it.
    pub missing: Vec<Missing>,
    /// What was granted but not asked for, so it has no effect; as it was written.
    pub unused: Vec<String>,
}

impl Effective {
    pub fn of(skill: &str, asked: Option<&Permissions>, granted: &Grants) -> Effective {
        let Some(asked) = asked else {
            return Effective { grants: granted.clone(), ..Effective::default() };
        };
        let mut this = Effective::default();
        this.grants.resolve = granted.resolve.clone();
        this.grants.http.deny = granted.http.deny.clone();
        this.grants.deny_imports = granted.deny_imports.clone();
        this.grants.allow_imports = granted.allow_imports.clone();
        this.narrow_network(skill, &asked.network, granted);
        asked.filesystem.iter().for_each(|asked| this.narrow_folder(skill, asked, granted));
        asked.env.iter().for_each(|asked| this.narrow_variable(skill, asked, granted));
        asked.secrets.iter().for_each(|asked| this.narrow_secret(skill, asked, granted));
        this.unused = unused_grants(&this.grants, asked, granted);
        this
    }

    fn narrow_network(&mut self, skill: &str, asked: &[Asked<HttpRule>], granted: &Grants) {
        let mut seen = BTreeSet::new();
        for Asked { what: wish, reason } in asked {
            let held: Vec<HttpRule> = granted.http.allow.iter().filter_map(|rule| rule.intersect(wish)).collect();
            let missing = |wish: &HttpRule| {
                Missing::new(skill, GrantKind::AllowHttp, &[wish.to_string()], describe::http_rule(wish), reason)
                    .with_warning(wish.host().warning())
            };
            if let Some(rule) = granted.http.deny.iter().find(|rule| rule.denies_all(wish)) {
                self.missing.push(missing(wish).with_denying_rule(rule.to_string()));
            } else if let Some(rest) = not_covered(wish, &held) {
                let granted_in_part = held.iter().map(ToString::to_string).collect();
                self.missing.push(Missing { granted_in_part, ..missing(&rest) });
            }
            self.grants.http.allow.extend(held.into_iter().filter(|rule| seen.insert(rule.clone())));
        }
    }

    fn narrow_folder(&mut self, skill: &str, asked: &Asked<FolderAsk>, granted: &Grants) {
        let FolderAsk { path, mode } = &asked.what;
        let held = granted.mounts.iter().find(|mount| mount.guest == *path).map(|mount| mount.at_most(*mode));
        if !held.as_ref().is_some_and(|mount| mount.covers(path, *mode)) {
            let granted_in_part = held.iter().map(ToString::to_string).collect();
            let missing = Missing::for_folder(skill, asked, describe::mounted_folder(path, *mode));
            self.missing.push(Missing { granted_in_part, ..missing });
        }
        let Some(held) = held else { return };
        // If the same folder is requested both ro and rw, rw wins.
        match self.grants.mounts.iter_mut().find(|mount| mount.guest == held.guest) {
            Some(mount) => mount.mode = mount.mode.max(held.mode),
            None => self.grants.mounts.push(held),
        }
    }

    fn narrow_variable(&mut self, skill: &str, asked: &Asked<String>, granted: &Grants) {
        let name = &asked.what;
        match granted.env.iter().find(|env| env.name() == *name) {
            Some(env) if self.grants.env.contains(env) => {}
            Some(env) => self.grants.env.push(env.clone()),
            None => {
                let texts = [name.clone()];
                self.missing.push(Missing::new(
                    skill,
                    GrantKind::Env,
                    &texts,
                    describe::env_variable(name),
                    &asked.reason,
                ));
            }
        }
    }

    fn narrow_secret(&mut self, skill: &str, asked: &Asked<SecretAsk>, granted: &Grants) {
        let SecretAsk { name, hosts } = &asked.what;
        let grant = granted.secrets.iter().find(|secret| secret.name == *name);
        let given = grant.map_or(&[][..], |grant| &grant.hosts[..]);
        let held: Vec<SecretHost> =
            hosts.iter().flat_map(|wish| given.iter().filter_map(|host| host.intersect(wish))).collect();
        let rest: Vec<SecretHost> =
            hosts.iter().filter(|wish| !given.iter().any(|host| host.covers(wish))).cloned().collect();
        if !rest.is_empty() {
            let texts: Vec<String> = rest.iter().map(|host| secret_text(name, grant, host)).collect();
            let granted_in_part = held.iter().map(|host| format!("{name}@{host}")).collect();
            let missing =
                Missing::new(skill, GrantKind::Secret, &texts, describe::secret_use(name, &rest), &asked.reason);
            let warning = rest.iter().find_map(|host| host.host().warning());
            self.missing.push(Missing { granted_in_part, ..missing }.with_warning(warning));
        }
        if let (Some(grant), false) = (grant, held.is_empty()) {
            self.add_secret_hosts(grant, held);
        }
    }

    fn add_secret_hosts(&mut self, grant: &SecretGrant, hosts: Vec<SecretHost>) {
        let at = self.grants.secrets.iter().position(|secret| secret.name == grant.name).unwrap_or_else(|| {
            self.grants.secrets.push(SecretGrant { hosts: Vec::new(), ..grant.clone() });
            self.grants.secrets.len() - 1
        });
        let Some(held) = self.grants.secrets.get_mut(at) else { return };
        hosts.into_iter().for_each(|host| {
            if !held.hosts.contains(&host) {
                held.hosts.push(host);
            }
        });
    }

    /// Replaces the suggested approval command, or removes it if approving would not help.
    pub fn approved_by(mut self, command: Option<&str>) -> Effective {
        for missing in self.missing.iter_mut().filter(|missing| missing.command.is_some()) {
            missing.command = command.map(str::to_owned);
        }
        self
    }

    /// One sentence for each thing that the skill may do, and for each deny rule.
    pub fn describe(&self) -> Vec<String> {
        let grants = &self.grants;
        let http = grants.http.allow.iter().map(describe::http_rule);
        let mounts = grants.mounts.iter().map(|mount| {
            let folder = describe::mounted_folder(&mount.guest, mount.mode);
            format!("{folder}: {}", super::quote::brief(&mount.host))
        });
        let env = grants.env.iter().map(|env| match env.value() {
            Some(_) => format!("read the environment variable {env}, which you gave a value"),
            None => describe::env_variable(env.name()),
        });
        let secrets = grants.secrets.iter().map(|secret| describe::secret_use(&secret.name, &secret.hosts));
        let may = http.chain(mounts).chain(env).chain(secrets).map(|words| format!("it may {words}"));
        let denied = grants.http.deny.iter().map(|rule| format!("it may never {}", describe::http_rule(rule)));
        may.chain(denied).collect()
    }
}

/// The part of a requested rule that no granted rule covers: all of it, or the uncovered methods.
fn not_covered(wish: &HttpRule, rules: &[HttpRule]) -> Option<HttpRule> {
    let covered = |wish: &HttpRule| rules.iter().any(|rule| rule.covers(wish));
    if covered(wish) {
        return None;
    }
    let Methods::Only(methods) = wish.methods() else { return Some(wish.clone()) };
    let is_left = |method: &&String| !covered(&HttpRule { methods: Methods::only_one(method), ..wish.clone() });
    let left: BTreeSet<String> = methods.iter().filter(is_left).cloned().collect();
    (!left.is_empty()).then(|| HttpRule { methods: Methods::Only(left), ..wish.clone() })
}

/// The text of a grant for one more host; an existing grant's source is kept, if a text can say it.
fn secret_text(name: &str, grant: Option<&SecretGrant>, host: &SecretHost) -> String {
    match grant {
        Some(SecretGrant { source, .. }) if !matches!(source, SecretSource::Given(_)) => {
            format!("{name}={source}@{host}")
        }
        _ => format!("{name}@{host}"),
    }
}

fn unused_grants(held: &Grants, asked: &Permissions, granted: &Grants) -> Vec<String> {
    let is_asked = |rule: &HttpRule| asked.network.iter().any(|wish| wish.what.intersect(rule).is_some());
    let rules = granted.http.allow.iter().filter(|rule| !is_asked(rule)).map(ToString::to_string);
    let holds_mount = |guest| held.mounts.iter().any(|mount| mount.guest == guest);
    let mounts = granted.mounts.iter().filter(|mount| !holds_mount(mount.guest.clone())).map(ToString::to_string);
    let env = granted.env.iter().filter(|env| !held.env.contains(env)).map(ToString::to_string);
    let holds_secret = |name: &str| held.secrets.iter().any(|secret| secret.name == name);
    let secrets = granted.secrets.iter().filter(|secret| !holds_secret(&secret.name)).flat_map(SecretGrant::texts);
    rules.chain(mounts).chain(env).chain(secrets).collect()
}
