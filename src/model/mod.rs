//! The types of the files exactly as people write them. No logic but parsing single values.

pub mod adapter;
pub mod capability;
pub mod commands;
pub mod composed;
pub mod driver;
pub mod evidence;
pub mod guard;
pub mod packet;
pub mod policy;
pub mod primitives;
pub mod role;
pub mod rule;
pub mod scalar;
pub mod scenario;
pub mod user_file;
