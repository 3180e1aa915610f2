//! What everything that starts foreign programs shares: ending all that they started, and a person who
//! interrupts.

mod group;
#[cfg(feature = "gateway")]
mod interrupt;

pub use group::Group;
#[cfg(feature = "gateway")]
pub use interrupt::Interrupt;
