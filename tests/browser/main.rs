//! The shipped composition over Playwright MCP: what it says, and what it does with the real server and a real Chromium.
//! Where one of the two is not installed the tests say so loudly; under `CI` that is a failure.
#![cfg(unix)]

mod capture;
mod gateway;
mod inspect;
mod place;
mod reason;
mod shipped;
mod web;
