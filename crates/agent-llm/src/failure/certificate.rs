//! A server whose certificate was refused.

use rustls::Error as TlsError;
use std::error::Error;
use std::io;

/// What is wrong with the certificate, if that is why the connection was not made.
pub(super) fn found(error: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(inner) = cause {
        // An I/O error is not the cause of what it wraps: it stands in its place.
        let wrapped = inner.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let tls = wrapped.map_or_else(|| inner.downcast_ref(), |wrapped| wrapped.downcast_ref());
        if let Some(TlsError::InvalidCertificate(refused)) = tls {
            return Some(refused.to_string());
        }
        cause = inner.source();
    }
    None
}
