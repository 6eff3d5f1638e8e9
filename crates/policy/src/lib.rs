//! Policy: what a skill asks for, what an operator grants, and what therefore holds.
//!
//! ```text
//!   manifest `permissions:` ─▶ Permissions ─┐
//!   flags, skillcell.toml, approval ─▶ Grants ─┴▶ Effective ─▶ HttpRules::decide ─▶ decide_address ─▶ allowed | Denial
//!                                                    └▶ missing: what was asked for and not granted
//! ```
//!
//! Pure: nothing here opens a file, resolves a name or reads the environment. What it is given may be hostile, so
//! every text and every list has a bound, and nothing panics. Nothing is granted by default; deny beats allow; and what
//! holds is never wider than what was granted, nor than what was asked for.

mod address;
mod allowed;
mod command;
#[deny(missing_docs)]
mod denial;
mod describe;
mod effective;
mod env;
mod file;
mod forward_proxy;
#[deny(missing_docs)]
mod grants;
mod host;
mod http;
mod imports;
pub mod manifest;
mod method;
mod missing;
mod mount;
#[cfg(any(test, feature = "naive"))]
pub mod naive;
mod narrow;
mod path;
mod permissions;
mod resolve;
mod rules;
pub mod schema;
mod secret;
#[cfg(test)]
mod tests;
#[deny(missing_docs)]
mod tier;
#[deny(missing_docs)]
mod tiers;
mod url;
mod written;

use skillcell_quote as quote;

pub use self::address::{AddressClass, class_of_address};
pub use self::allowed::{Allowed, AllowedRequest, DecidedBy, RuleId};
pub use self::denial::{Denial, DenialKind, NO_RULE};
pub use self::effective::Effective;
pub use self::env::{BadEnv, EnvGrant};
pub use self::file::{BadPolicyFile, MAX_FILE_BYTES, PolicyFile};
pub use self::forward_proxy::{BadProxy, ForwardProxy};
pub use self::grants::{BadGrant, GrantKind, Grants};
pub use self::host::{BadHost, HostName, HostPattern};
pub use self::http::{BadRule, HttpRule};
pub use self::imports::refused_import;
pub use self::imports::{REFUSED_AT_USE, early_denials};
pub use self::method::{BadMethod, Methods};
pub use self::missing::Missing;
pub use self::mount::{BadMount, GuestPath, Mode, MountGrant};
pub use self::path::{Ambiguity, BadPath, MatchPath, PathPattern};
pub use self::permissions::{Asked, BadPermissions, Change, FolderAsk, Permissions, SecretAsk, Wish};
pub use self::resolve::{AddressDenial, BadResolve, NameDenial, Origin, Resolve, decide_address, decide_name};
pub use self::rules::{ConnectDenial, HttpDenial, HttpPart, HttpRules};
pub use self::secret::{BadSecret, GivenValue, SecretDenial, SecretGrant, SecretHost, SecretSource, SecretUse};
pub use self::tier::{BadTier, Choice, Tier};
pub use self::tiers::{TierDenial, TierRules, Vouched};
pub use self::url::{BadUrl, Scheme, Target};
pub use self::written::Written;
