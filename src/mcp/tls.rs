//! Why an encrypted connection does not come about, in words that say what to do. What a certificate says of itself is
//! in none of them: whoever answers wrote it.

use std::error::Error;
use std::io;

use rustls::{CertificateError, Error as Tls};

/// What to do about a certificate that nobody vouches for.
const TRUST: &str = "install the certificate of its authority on this machine, or name a file with it in `SSL_CERT_FILE`, \
                     which on Linux then counts instead of the machine's own";

/// The words for the failure in a chain of errors; none when it is not of TLS.
pub(super) fn words(error: &(dyn Error + 'static)) -> Option<String> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(tls) = error.downcast_ref::<Tls>() {
            return Some(said(tls));
        }
        // An error of the system holds one that it does not name as its source.
        let held = error.downcast_ref::<io::Error>().and_then(|error| error.get_ref());
        next = match held {
            Some(held) => Some(held),
            None => error.source(),
        };
    }
    None
}

fn said(error: &Tls) -> String {
    match error {
        Tls::InvalidCertificate(certificate) => of_certificate(certificate),
        // What the platform's store of certificates says that has none.
        Tls::General(why) if why.contains("No CA certificates") => {
            format!("this machine trusts no authority, and so no certificate: {TRUST}")
        }
        Tls::InvalidMessage(_) => "what answers speaks no TLS; is its address one with `http://`?".to_owned(),
        other => format!("no TLS comes about ({other})"),
    }
}

fn of_certificate(error: &CertificateError) -> String {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired: its owner is to renew it".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet: is the clock of this machine right?".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another name than the one in its address".to_owned()
        }
        other => format!("its certificate is not trusted on this machine ({other}): {TRUST}"),
    }
}
