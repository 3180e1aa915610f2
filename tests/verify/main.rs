//! `rolecast verify` as people run it: without the hosts' programs, and with them where they are installed.

#[cfg(unix)]
mod commands;
#[cfg(unix)]
mod evidence;
mod guarded;
mod support;
mod through_gateway;
mod with_programs;
#[cfg(unix)]
mod without_programs;
