//! Who calls, and what that one may do at most. Nothing here widens what the settings grant a skill.

mod rate;

use std::sync::Arc;
use std::time::Duration;

pub use self::rate::Rate;
use skillcell_limits::Limits;
use skillcell_policy::Grants;
use skillcell_settings::LimitOverrides;

/// Who calls: the bearer of a token, or whoever can reach the server where no token is asked for. Clones are the same client.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// The token's name in the settings; none for whoever needs no token.
    pub name: Option<String>,
    /// Which lane of the queue its calls wait in; 0 is of whoever needs no token.
    pub(crate) number: usize,
    rights: Arc<Rights>,
}

/// What a client may do at most. The default is everything that is served, as it was granted.
#[derive(Debug, Default)]
pub struct Rights {
    /// The skills that it may see and call, as ids or with `*` for any text; all of them if there is no list.
    pub skills: Option<Vec<String>>,
    /// What of a skill's grants its calls keep; all of them if it is not set.
    pub grants: Option<Arc<Grants>>,
    /// What its calls may use, where that is less than the server's limits.
    pub limits: LimitOverrides,
    /// How often it may call.
    pub rate: Option<Rate>,
    /// It is told what is for the operator alone is not: see [`Client::is_operator`].
    pub is_stranger: bool,
}

impl Client {
    /// The bearer of the token with this name, which is the settings' `number`th, from 1.
    pub fn new(name: &str, number: usize, rights: Rights) -> Client {
        Client { name: Some(name.to_owned()), number, rights: Arc::new(rights) }
    }

    /// Whether it may see and call the skill with this id.
    pub fn may_call(&self, skill: &str) -> bool {
        let listed = self.rights.skills.as_ref();
        listed.is_none_or(|globs| globs.iter().any(|glob| matches_glob(glob, skill)))
    }

    /// Whether it sees what is for the operator: figures of all clients, and by which flag or command a refusal would be
    /// lifted, which names files of this machine.
    pub fn is_operator(&self) -> bool {
        !self.rights.is_stranger
    }

    /// What of a skill's grants its calls keep, if not all.
    pub(crate) fn grants(&self) -> Option<&Arc<Grants>> {
        self.rights.grants.as_ref()
    }

    /// The server's limits, narrowed to its own.
    pub(crate) fn narrow_limits(&self, limits: Limits) -> Limits {
        self.rights.limits.narrow(limits)
    }

    /// Counts a call; how long to wait if that is one too many.
    pub(crate) fn count_call(&self) -> Result<(), Duration> {
        self.rights.rate.as_ref().map_or(Ok(()), Rate::count)
    }
}

/// Whether a text matches; `*` stands for any text. The time is linear in the text for each `*`.
pub(crate) fn matches_glob(glob: &str, text: &str) -> bool {
    let mut pieces = glob.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_whole_ids() {
        for (glob, id) in [("a/b", "a/b"), ("a/*", "a/b"), ("*", "x"), ("*/b", "a/b"), ("a*c*e", "abcde"), ("a*", "a")]
        {
            assert!(matches_glob(glob, id), "{glob} {id}");
        }
        for (glob, id) in [("a/b", "a/bc"), ("a/*", "b/a/"), ("", "x"), ("a*a", "a"), ("*b", "bc"), ("a*c*e", "aec")] {
            assert!(!matches_glob(glob, id), "{glob} {id}");
        }
    }

    #[test]
    fn a_client_without_a_list_sees_all_and_with_an_empty_one_nothing() {
        let with = |skills| Client::new("t", 1, Rights { skills, ..Rights::default() });
        assert!(with(None).may_call("a/b") && Client::default().may_call("a/b"));
        assert!(!with(Some(Vec::new())).may_call("a/b"));
        assert!(with(Some(vec!["a/*".to_owned()])).may_call("a/b"));
    }
}
