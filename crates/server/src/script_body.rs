//! A script's run as clients write it in JSON, over HTTP and MCP alike.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::ScriptRequest;

/// A script of an Agent Skills folder, and what it is run with.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Script")]
pub(crate) struct ScriptBody {
    /// Its path in the skill's folder: `scripts/convert.py`.
    path: String,
    /// What it gets as its arguments.
    #[serde(default)]
    args: Vec<String>,
    /// What it reads as standard input.
    #[serde(default)]
    stdin: Option<String>,
    /// Files that are laid into its folder for this call; what is there is replaced.
    #[serde(default)]
    files: Vec<FileBody>,
}

/// A file: its text, or its bytes in base64.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ScriptFile")]
struct FileBody {
    /// Relative to the skill's folder.
    path: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    base64: Option<String>,
}

impl ScriptBody {
    pub(crate) fn into_request(self) -> Result<ScriptRequest, String> {
        let files = self.files.into_iter().map(FileBody::into_file).collect::<Result<_, String>>()?;
        let stdin = self.stdin.unwrap_or_default().into_bytes();
        Ok(ScriptRequest { path: self.path, args: self.args, stdin, files })
    }
}

impl FileBody {
    fn into_file(self) -> Result<(String, Arc<[u8]>), String> {
        let bytes = match (self.text, self.base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(encoded)) => {
                STANDARD.decode(encoded).map_err(|_| format!("the file `{}` is not base64", self.path))?
            }
            _ => return Err(format!("the file `{}` must have either `text` or `base64`", self.path)),
        };
        Ok((self.path, bytes.into()))
    }
}
