//! The drafts of JSON Schema that are known here, and which one a schema is written in.

use super::Doubt;
use serde_json::Value;

/// A draft, oldest first. Draft 3 is left to the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Draft {
    Four,
    Six,
    Seven,
    Of2019,
    Of2020,
}

impl Draft {
    /// The draft that `$schema` names. jsonschema takes an unknown address for the newest draft.
    pub fn of_schema(schema: &Value) -> Result<Self, Doubt> {
        let Some(named) = schema.get("$schema") else {
            return Ok(Self::Of2020);
        };
        let address = named.as_str().ok_or(Doubt)?;
        match address.strip_suffix('#').unwrap_or(address) {
            "http://json-schema.org/draft-04/schema" => Ok(Self::Four),
            "http://json-schema.org/draft-06/schema" => Ok(Self::Six),
            "http://json-schema.org/draft-07/schema" => Ok(Self::Seven),
            "https://json-schema.org/draft/2019-09/schema" => Ok(Self::Of2019),
            "https://json-schema.org/draft/2020-12/schema" => Ok(Self::Of2020),
            "http://json-schema.org/draft-03/schema" => Err(Doubt),
            other if is_plain_address(other) => Ok(Self::Of2020),
            _ => Err(Doubt),
        }
    }

    /// The keyword that gives a schema its own address.
    pub fn id_keyword(self) -> &'static str {
        if self == Self::Four { "id" } else { "$id" }
    }

    /// Whether `$ref` hides the keywords beside it.
    pub fn ref_stands_alone(self) -> bool {
        self <= Self::Seven
    }
}

/// Whether an address survives Python's URL handling as it is: nothing to decode, resolve or normalise.
pub fn is_plain_address(address: &str) -> bool {
    let rest = address.strip_prefix("https://");
    let rest = rest.or_else(|| address.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        rest.starts_with(|first: char| first.is_ascii_alphanumeric())
            && !rest.contains("/.")
            && !rest.contains("//")
            && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._/".contains(&b))
    })
}
