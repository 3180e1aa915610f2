//! Every text exactly once over sets of hosts, checked by a simulator that does not share the planner's method.

mod borrowed;
mod fixtures;
mod imported;
mod invented;
mod mixed;
mod repositories;
mod simulator;
mod speed;
mod subsets;
