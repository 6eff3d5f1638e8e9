//! Requested permissions for the operator who decides about them: what is asked for, what granting it would expose, and
//! how it differs from an earlier version's request.

use serde::Serialize;

use super::{Permissions, describe};
use crate::mount::Mode;

/// One thing that a skill asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wish {
    /// The key of `permissions` that it is under.
    pub kind: &'static str,
    /// As a grant would be written; for a folder, its path in the cell.
    pub asked: String,
    /// In words, after "it wants to".
    pub words: String,
    /// What granting it would expose.
    pub exposes: String,
    /// Why, as the skill's author says.
    pub reason: Option<String>,
    /// Whether approving the skill grants it. A folder must also be named with `--mount`.
    pub granted_by_approval: bool,
    /// Identifies the same request across versions, so that a change is reported as one.
    #[serde(skip)]
    subject: String,
}

/// A difference between what a skill asked for when it was approved and what it asks for now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    Added { words: String },
    Removed { words: String },
    Changed { from: String, to: String },
}

impl Change {
    /// For people.
    pub fn describe(&self) -> String {
        match self {
            Change::Added { words } => format!("it now asks to {words}"),
            Change::Removed { words } => format!("it no longer asks to {words}"),
            Change::Changed { from, to } => format!("where it asked to {from}, it now asks to {to}"),
        }
    }
}

impl Wish {
    /// The description and the author's reason, on one line.
    pub fn with_reason(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{} (it says: {reason})", self.words),
            None => self.words.clone(),
        }
    }
}

impl Permissions {
    /// All that is asked for, in the manifest's order.
    pub fn wishes(&self) -> Vec<Wish> {
        let network = self.network.iter().map(|asked| Wish {
            kind: "network",
            asked: asked.what.to_string(),
            words: describe::http_rule(&asked.what),
            exposes: describe::http_exposes(&asked.what),
            reason: asked.reason.clone(),
            granted_by_approval: true,
            subject: format!("{}{}", asked.what.origin(), asked.what.path()),
        });
        let filesystem = self.filesystem.iter().map(|asked| Wish {
            kind: "filesystem",
            asked: format!("{}:{}", asked.what.path, asked.what.mode.name()),
            words: describe::mounted_folder(&asked.what.path, asked.what.mode),
            exposes: describe::folder_exposes(asked.what.mode == Mode::ReadWrite),
            reason: asked.reason.clone(),
            granted_by_approval: false,
            subject: asked.what.path.to_string(),
        });
        let env = self.env.iter().map(|asked| Wish {
            kind: "env",
            asked: asked.what.clone(),
            words: describe::env_variable(&asked.what),
            exposes: describe::env_exposes(),
            reason: asked.reason.clone(),
            granted_by_approval: true,
            subject: asked.what.clone(),
        });
        let secrets = self.secrets.iter().map(|asked| Wish {
            kind: "secrets",
            asked: asked
                .what
                .hosts
                .iter()
                .map(|host| format!("{}@{host}", asked.what.name))
                .collect::<Vec<_>>()
                .join(" "),
            words: describe::secret_use(&asked.what.name, &asked.what.hosts),
            exposes: describe::secret_exposes(&asked.what.name, &asked.what.hosts),
            reason: asked.reason.clone(),
            granted_by_approval: true,
            subject: asked.what.name.clone(),
        });
        network.chain(filesystem).chain(env).chain(secrets).collect()
    }

    /// One line for each requested item, with its reason.
    pub fn describe(&self) -> Vec<String> {
        self.wishes().iter().map(Wish::with_reason).collect()
    }

    /// What was added or changed since `earlier`, then what was removed. A different reason counts as a change.
    pub fn changes_since(&self, earlier: &Permissions) -> Vec<Change> {
        let (now, then) = (self.wishes(), earlier.wishes());
        let only = |some: &[Wish], others: &[Wish]| -> Vec<Wish> {
            some.iter()
                .filter(|wish| !others.iter().any(|other| other.with_reason() == wish.with_reason()))
                .cloned()
                .collect()
        };
        let (added, mut removed) = (only(&now, &then), only(&then, &now));
        let mut changes: Vec<Change> = Vec::new();
        for wish in added {
            let was = removed.iter().position(|other| other.kind == wish.kind && other.subject == wish.subject);
            changes.push(match was.map(|at| removed.remove(at)) {
                Some(was) => Change::Changed { from: was.with_reason(), to: wish.with_reason() },
                None => Change::Added { words: wish.with_reason() },
            });
        }
        changes.extend(removed.iter().map(|wish| Change::Removed { words: wish.with_reason() }));
        changes
    }
}
