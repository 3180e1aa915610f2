//! `rolecast eval` as people run it: with a program that stands for a host and its model, and with the real programs
//! and a scripted model where they are installed.

#[path = "../verify/support.rs"]
#[expect(dead_code, reason = "the tests of verify use more of it")]
mod support;
mod usage;
mod with_programs;
#[cfg(unix)]
mod without_programs;
