//! The certificates of a server, and which clients may connect at all.
//!
//! Turns PEM files into a TLS acceptor on the one cryptographic library that is linked.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::error::{Error, Result};

/// How a server proves who it is, and asks the same of clients.
#[derive(Clone)]
pub struct Tls(pub(super) TlsAcceptor);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls(…)")
    }
}

impl Tls {
    /// Reads a certificate chain and its key; with `client_ca`, clients need a certificate of it.
    pub fn load(cert: &Path, key: &Path, client_ca: Option<&Path>) -> Result<Self> {
        let chain = certificates(cert)?;
        let key_der = PrivateKeyDer::from_pem_file(key).map_err(|error| {
            Error::invalid(format!("`{}` holds no private key", key.display())).because(error)
        })?;
        let provider = Arc::new(default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::bug("TLS has no protocol version").because(error))?;
        let builder = match client_ca {
            None => builder.with_no_client_auth(),
            Some(file) => {
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots(file)?), provider).build();
                let verifier = verifier.map_err(|error| {
                    Error::invalid(format!("`{}` cannot be used to verify clients", file.display()))
                        .because(error)
                })?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let mut config = builder.with_single_cert(chain, key_der).map_err(|error| {
            Error::invalid(format!("`{}` and `{}` do not fit", cert.display(), key.display())).because(error)
        })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let unreadable = || Error::invalid(format!("`{}` holds no certificate", file.display()));
    let chain = CertificateDer::pem_file_iter(file).map_err(|error| unreadable().because(error))?;
    let chain =
        chain.collect::<std::result::Result<Vec<_>, _>>().map_err(|error| unreadable().because(error))?;
    if chain.is_empty() { Err(unreadable()) } else { Ok(chain) }
}

fn roots(file: &Path) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| {
            Error::invalid(format!("`{}` holds a certificate that cannot be used", file.display()))
                .because(error)
        })?;
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_or_key_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("empty.pem");
        std::fs::write(&file, "nothing").expect("a file");

        for path in [file.as_path(), Path::new("/nonexistent/cert.pem")] {
            let error = Tls::load(path, path, None).expect_err("no certificate");
            assert!(error.message().contains(&path.display().to_string()), "{error}");
        }
    }
}
