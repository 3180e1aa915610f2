//! What one agent hands to another: its skeleton, and what is wrong with a written one.

mod check;
mod parts;
mod pasted;
mod skeleton;

pub use check::check;
pub use skeleton::skeleton;
