//! What the policy becomes on the selected hosts: which file carries what, which tools a role gets.

pub mod delivery;
