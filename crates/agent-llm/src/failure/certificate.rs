//! A server whose certificate was refused.

use rustls::Error as TlsError;
use std::error::Error;
use std::io;

/// What is wrong with the certificate, if that is why the connection was not made.
pub(super) fn found(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(TlsError::InvalidCertificate(refused)) = error.downcast_ref() {
        return Some(refused.to_string());
    }
    // An I/O error is not the cause of what it wraps: it is in its place.
    let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    match wrapped {
        Some(wrapped) => found(wrapped),
        None => found(error.source()?),
    }
}
