//! Tries the ledger's claims on the real host programs, offline, with a scripted model.

pub mod model;
