//! The gate on the real binary: every promise of `render` and `check` that a person or a pipeline relies on,
//! tried in folders of its own with an empty environment.

mod blocked;
mod budgets;
mod crash;
mod drift;
mod eol;
mod golden;
mod hosts;
mod legacy;
mod names;
mod ownership;
mod readers;
mod servers;
mod sources;
mod support;
mod usage;
