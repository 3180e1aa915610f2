//! Which versions are installed here, asked of the programs themselves.

use std::path::Path;

use crate::model::adapter::Adapter;

use super::Problem;
use super::found::Installed;
use super::platform::Platform;
use super::process::Interrupt;
use super::program;
use super::session::Session;

/// Asks the program of each adapter for its version, in an empty home and with bounded time.
///
/// # Errors
/// A person interrupted, or nothing can be started at all.
pub fn installed(adapters: &[&Adapter], bin: Option<&Path>, platform: &Platform) -> Result<Vec<Installed>, Problem> {
    let runtime = super::runtime()?;
    runtime.block_on(async {
        let mut interrupt = Interrupt::listen();
        let mut all = Vec::new();
        for adapter in adapters {
            all.push(one(adapter, bin, platform, &mut interrupt).await);
            if interrupt.happened() {
                return Err(Problem::Interrupted);
            }
        }
        Ok(all)
    })
}

async fn one(adapter: &Adapter, bin: Option<&Path>, platform: &Platform, interrupt: &mut Interrupt) -> Installed {
    let Some(driver) = &adapter.verify else {
        return Installed::No("no way is known to run it".to_owned());
    };
    let Some(program) = &adapter.program else {
        return Installed::No("the adapter names no program".to_owned());
    };
    let Some(found) = program::find(program, bin, platform) else {
        return Installed::No(super::absent(program, bin));
    };
    match (Session { adapter, driver, found: &found, platform }).version(interrupt).await {
        Ok(Some(version)) => Installed::Version(version),
        Ok(None) => Installed::No("the program does not say what version it is".to_owned()),
        Err(error) => Installed::No(format!("the program cannot be run: {error}")),
    }
}
