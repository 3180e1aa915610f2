//! Writing pins: the lock alone, with the care of a render.

use super::Options;
use super::compare::{Change, Comparison};
use super::finding::{Cause, Problem};
use super::pins::Pins;
use super::state::{LockState, LockStatus};
use super::write::{ApplyError, perform};
use crate::system::Writer;

/// Why nothing was pinned.
#[derive(Debug, thiserror::Error)]
pub enum RepinError {
    /// The lock has to be put right first.
    #[error("{0}; run `rolecast render` first")]
    First(String),
    /// The lock may not be used.
    #[error("{}", .0)]
    Problem(Problem),
    /// The lock cannot be written.
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

/// Changes the pins of the lock, alone below this root; everything else in it stays. Whether it was written.
///
/// # Errors
/// See [`RepinError`]; nothing is written then.
pub fn repin(system: &dyn Writer, options: &Options<'_>, change: impl FnOnce(&mut Pins)) -> Result<bool, RepinError> {
    let unwritable = |error| ApplyError::Unwritable { path: ".".to_owned(), error };
    let guard = system.exclusive().map_err(unwritable)?;
    let result = alone(system, options, change);
    drop(guard);
    result
}

fn alone(system: &dyn Writer, options: &Options<'_>, change: impl FnOnce(&mut Pins)) -> Result<bool, RepinError> {
    let state = LockState::load(system, options).map_err(RepinError::Problem)?;
    if state.interrupted {
        return Err(RepinError::First("a render was interrupted".to_owned()));
    }
    if let LockStatus::Damaged(why) = &state.status {
        return Err(RepinError::First(format!("the lock is damaged: {why}")));
    }
    let mut lock = state.lock.clone();
    change(&mut lock.pins);
    let text = lock.to_text();
    if state.bytes.as_deref().is_some_and(|have| crate::text::eol::content(have).as_ref() == text.as_bytes()) {
        return Ok(false);
    }
    let path = options.lock_path();
    let change = Change {
        path: path.clone(),
        real: path.clone(),
        before: state.bytes.clone(),
        after: Some(text.clone().into_bytes()),
        causes: vec![Cause::LockStale],
        conflicts: Vec::new(),
        sources: Vec::new(),
        forced: false,
        own: true,
    };
    let comparison = Comparison {
        changes: vec![change],
        lock_text: text,
        lock_path: path,
        journal_path: options.journal_path(),
        ..Comparison::default()
    };
    perform(&comparison, system)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::super::pins::ServerPin;
    use super::*;
    use crate::system::System;
    use crate::system::memory::Memory;

    const LOCK: &str = "shared-agent-rules/rolecast.lock";

    #[test]
    fn pins_are_written_beside_what_is_owned_and_a_render_keeps_them() {
        let owned = "{\n  \"version\": 1,\n  \"owned\": [\n    {\"path\":\"a.md\",\"whole\":\"sha256:1\"}\n  ]\n}\n";
        let system = Memory::new().with(LOCK, owned);
        let options = Options::new("shared-agent-rules");
        let pin = |pins: &mut Pins| drop(pins.insert("s".into(), ServerPin::default()));
        assert!(repin(&system, &options, pin).unwrap());
        assert!(!repin(&system, &options, pin).unwrap(), "the same again is no change");
        let text = system.text(LOCK).unwrap();
        assert!(text.contains("\"a.md\"") && text.contains("\"pins\""), "{text}");
        super::super::render(&[], &system, &options).1.unwrap();
        let text = system.text(LOCK).unwrap();
        assert!(!text.contains("a.md") && text.contains("\"pins\""), "{text}");
        assert_eq!(system.list("shared-agent-rules").unwrap().len(), 1, "no journal stays");
    }

    #[test]
    fn a_damaged_lock_is_left_to_a_render() {
        let system = Memory::new().with(LOCK, "<<<<<<< a\n");
        let result = repin(&system, &Options::new("shared-agent-rules"), |_| {});
        assert!(matches!(result, Err(RepinError::First(_))));
        assert_eq!(system.text(LOCK).as_deref(), Some("<<<<<<< a\n"));
    }
}
