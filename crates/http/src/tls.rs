//! TLS as a client: always verified, 1.2 or newer, against the well-known authorities and those that an operator adds.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};

use crate::client::ClientError;
use crate::error::HttpError;
use crate::place::Place;

/// The configuration for all connections of a client.
pub fn config(ca_files: &[impl AsRef<Path>]) -> Result<Arc<ClientConfig>, ClientError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for path in ca_files {
        add_file(&mut roots, path.as_ref())?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config = builder.map_err(ClientError::Tls)?.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
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
        None => {
            ServerName::try_from(place.host().to_owned()).map_err(|_| failed(place, "no certificate has such a name"))
        }
    }
}

pub fn failed(place: &Place, reason: impl ToString) -> HttpError {
    HttpError::Tls { host: place.host().to_owned(), reason: reason.to_string() }
}
