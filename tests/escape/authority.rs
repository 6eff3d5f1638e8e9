//! Certificates for the servers: one authority that the host is told to trust, and what is wrong with each other server.

use std::sync::{Arc, LazyLock};

use rustls::ServerConfig;

use crate::common::held::Held;
use crate::common::server::Authority;

static TRUSTED: LazyLock<Authority> = LazyLock::new(Authority::new);
static UNKNOWN: LazyLock<Authority> = LazyLock::new(Authority::new);

/// The authority's certificate in a file, for `--ca-file`.
pub static FILE: LazyLock<&'static Held> = LazyLock::new(|| &TRUSTED.file);

/// A server's TLS: `good`, or what is wrong with it.
pub fn config(kind: &str) -> Arc<ServerConfig> {
    let names = ["api.example.test", "other.example.test"];
    Arc::new(match kind {
        "good" => TRUSTED.config(&names, None),
        "wrong_name" => TRUSTED.config(&["elsewhere.example.test"], None),
        "expired" => TRUSTED.config(&names, Some(2020)),
        "wrong_authority" => UNKNOWN.config(&names, None),
        other => panic!("there is no kind `{other}` of TLS"),
    })
}
