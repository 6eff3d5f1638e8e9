//! Grants that are kept only as far as others reach: what a client of a server may use of what its operator granted a skill.

use super::grants::Grants;
use super::secret::{SecretGrant, SecretHost};

impl Grants {
    /// What both grant. Values and places stay those of `self`: `most` can only take away. What denies adds up.
    #[must_use]
    pub fn narrowed_to(mut self, most: &Grants) -> Grants {
        let allow = std::mem::take(&mut self.http.allow);
        for rule in allow.iter().flat_map(|rule| most.http.allow.iter().filter_map(|other| rule.intersect(other))) {
            if !self.http.allow.contains(&rule) {
                self.http.allow.push(rule);
            }
        }
        self.http.deny.extend(most.http.deny.iter().cloned());
        self.deny_imports.extend(most.deny_imports.iter().cloned());
        self.allow_imports.retain(|module| most.allow_imports.contains(module));
        self.env.retain(|env| most.env.iter().any(|other| other.name() == env.name()));
        self.mounts = self
            .mounts
            .iter()
            .filter_map(|mount| {
                let same = |other: &&super::MountGrant| other.guest == mount.guest && other.host == mount.host;
                most.mounts.iter().find(same).map(|other| mount.at_most(other.mode))
            })
            .collect();
        self.secrets = self.secrets.into_iter().filter_map(|secret| narrow_secret(secret, &most.secrets)).collect();
        self
    }
}

fn narrow_secret(secret: SecretGrant, most: &[SecretGrant]) -> Option<SecretGrant> {
    let other = most.iter().find(|other| other.name == secret.name)?;
    let both = secret.hosts.iter().flat_map(|host| other.hosts.iter().filter_map(|most| host.intersect(most)));
    let hosts: Vec<SecretHost> = both.collect();
    (!hosts.is_empty()).then_some(SecretGrant { hosts, ..secret })
}

#[cfg(test)]
mod tests {
    use super::super::GrantKind;
    use super::*;

    fn grants(entries: &[(GrantKind, &str)]) -> Grants {
        let mut grants = Grants::default();
        entries.iter().for_each(|(kind, text)| grants.add(*kind, text).unwrap());
        grants
    }

    #[test]
    fn narrowing_keeps_what_both_grant() {
        let own = grants(&[
            (GrantKind::AllowHttp, "GET,POST https://a.example/v1/*"),
            (GrantKind::AllowHttp, "GET https://b.example/"),
            (GrantKind::Mount, "/srv/in:/data:rw"),
            (GrantKind::Mount, "/srv/out:/out:rw"),
            (GrantKind::Env, "REGION=eu"),
            (GrantKind::Env, "OTHER=1"),
            (GrantKind::Secret, "KEY@a.example"),
            (GrantKind::Secret, "KEY@b.example"),
            (GrantKind::Secret, "TOKEN@a.example"),
            (GrantKind::AllowImport, "subprocess"),
        ]);
        let most = grants(&[
            (GrantKind::AllowHttp, "GET https://a.example/*"),
            (GrantKind::AllowHttp, "GET https://c.example/"),
            (GrantKind::DenyHttp, "https://a.example/v1/admin"),
            (GrantKind::Mount, "/srv/in:/data"),
            (GrantKind::Mount, "/etc:/out"),
            (GrantKind::Env, "REGION=us"),
            (GrantKind::Secret, "KEY=env:OTHER_KEY@a.example"),
        ]);
        let kept = grants(&[
            (GrantKind::AllowHttp, "GET https://a.example/v1/*"),
            (GrantKind::DenyHttp, "https://a.example/v1/admin"),
            (GrantKind::Mount, "/srv/in:/data"),
            (GrantKind::Env, "REGION=eu"),
            (GrantKind::Secret, "KEY@a.example"),
        ]);
        assert_eq!(own.clone().narrowed_to(&most), kept);
        assert_eq!(own.narrowed_to(&Grants::default()), Grants::default());
        assert_eq!(Grants::default().narrowed_to(&kept).http.allow, []);
    }
}
