//! What everything that starts foreign programs shares: ending all that they started, and a person who
//! interrupts.

mod group;
mod interrupt;

pub use group::Group;
pub use interrupt::Interrupt;
