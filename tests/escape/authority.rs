//! Certificates for the servers: one authority that the host is told to trust, and what is wrong with each other server.

use std::sync::{Arc, LazyLock};

use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::common::held::Held;

struct Authority {
    certificate: rcgen::Certificate,
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
}

impl Authority {
    fn new() -> Authority {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut params = rcgen::CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("signed");
        Authority { certificate, issuer: rcgen::Issuer::new(params, key) }
    }

    fn server(&self, names: &[&str], until: Option<i32>) -> Arc<ServerConfig> {
        let key = rcgen::KeyPair::generate().expect("a key");
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = rcgen::CertificateParams::new(names).expect("plain names");
        params.not_after = until.map_or(params.not_after, |year| rcgen::date_time_ymd(year, 1, 1));
        let certificate = params.signed_by(&key, &self.issuer).expect("signed");
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("TLS versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key);
        Arc::new(config.expect("a certificate with its key"))
    }
}

static TRUSTED: LazyLock<Authority> = LazyLock::new(Authority::new);
static UNKNOWN: LazyLock<Authority> = LazyLock::new(Authority::new);

/// The authority's certificate in a file, for `--ca-file`.
pub static FILE: LazyLock<Held> = LazyLock::new(|| Held::new(&TRUSTED.certificate.pem()));

/// A server's TLS: `good`, or what is wrong with it.
pub fn config(kind: &str) -> Arc<ServerConfig> {
    let names = ["api.example.test", "other.example.test"];
    match kind {
        "good" => TRUSTED.server(&names, None),
        "wrong_name" => TRUSTED.server(&["elsewhere.example.test"], None),
        "expired" => TRUSTED.server(&names, Some(2020)),
        "wrong_authority" => UNKNOWN.server(&names, None),
        other => panic!("there is no kind `{other}` of TLS"),
    }
}
