//! Policy × adapters to a plan: which file carries what, which tools each role gets, which settings are set, what can be claimed.

pub mod delivery;
pub mod deny;
pub mod knobs;
pub mod ledger;
pub mod names;
pub mod offer;
pub mod role;
pub mod search;
