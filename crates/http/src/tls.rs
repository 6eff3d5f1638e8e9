//! TLS as a client: always verified, 1.2 or newer, against the system's authorities and those that an operator adds.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};

use crate::client::ClientError;
use crate::error::HttpError;
use crate::place::Place;

/// The trust settings of a client. The system's authorities are loaded on the first TLS connection, because that takes a
/// few milliseconds that calls without TLS need not pay.
pub struct Tls {
    builder: ConfigBuilder<ClientConfig, WantsVerifier>,
    /// Authorities that the operator adds.
    added: RootCertStore,
    config: OnceLock<Arc<ClientConfig>>,
}

impl Tls {
    pub fn new(ca_files: &[impl AsRef<Path>]) -> Result<Tls, ClientError> {
        let mut added = RootCertStore::empty();
        for path in ca_files {
            add_file(&mut added, path.as_ref())?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        Ok(Tls { builder: builder.map_err(ClientError::Tls)?, added, config: OnceLock::new() })
    }

    /// The configuration for all connections of a client.
    pub fn config(&self) -> &Arc<ClientConfig> {
        self.config.get_or_init(|| {
            let mut roots = system_roots();
            roots.roots.extend_from_slice(&self.added.roots);
            let mut config = self.builder.clone().with_root_certificates(roots).with_no_client_auth();
            config.alpn_protocols = vec![b"http/1.1".to_vec()];
            Arc::new(config)
        })
    }
}

/// The system's authorities, also where `SSL_CERT_FILE` or `SSL_CERT_DIR` say where they are; Mozilla's, as they were when
/// this was built, on a machine that has none.
fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<(), ClientError> {
    let bad = |reason: String| ClientError::CaFile { path: path.to_owned(), reason };
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| bad(error.to_string()))?;
    let mut count = 0;
    for certificate in certificates {
        roots.add(certificate.map_err(|error| bad(error.to_string()))?).map_err(|error| bad(error.to_string()))?;
        count += 1;
    }
    if count == 0 { Err(bad("there is no certificate in it".to_owned())) } else { Ok(()) }
}

/// The name that the server's certificate must be for.
pub fn server_name(place: &Place) -> Result<ServerName<'static>, HttpError> {
    match place.address() {
        Some(address) => Ok(ServerName::IpAddress(address.into())),
        None => ServerName::try_from(place.host().to_owned())
            .map_err(|_| certificate_error(place, "no certificate has such a name")),
    }
}

/// Converts a rustls error of a handshake.
pub fn handshake_error(place: &Place, error: &rustls::Error) -> HttpError {
    use rustls::Error::{InvalidCertificate, NoCertificatesPresented, UnsupportedNameType};
    match error {
        InvalidCertificate(_) | NoCertificatesPresented | UnsupportedNameType => certificate_error(place, error),
        _ => tls_error(place, error),
    }
}

pub fn tls_error(place: &Place, reason: impl ToString) -> HttpError {
    HttpError::Tls { host: place.host().to_owned(), reason: reason.to_string() }
}

fn certificate_error(place: &Place, reason: impl ToString) -> HttpError {
    HttpError::Certificate { host: place.host().to_owned(), reason: reason.to_string() }
}
