//! Writing pins, and the files with what was pinned: with the care of a render, and the lock last.

use super::compare::{Change, Comparison};
use super::finding::{Cause, Problem};
use super::pins::Pins;
use super::state::{LockState, LockStatus};
use super::write::{ApplyError, perform};
use super::{MAX_FILE, Options};
use crate::system::Writer;
use crate::text::eol;

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

/// A file beside the lock, and what it is to hold; none when it is to go.
pub type Kept = (String, Option<Vec<u8>>);

/// Changes the pins of the lock, alone below this root, and the files that `change` names; everything else stays. Whether
/// something was written.
///
/// # Errors
/// See [`RepinError`]; nothing is written then.
pub fn repin(
    system: &dyn Writer,
    options: &Options<'_>,
    change: impl FnOnce(&mut Pins) -> Vec<Kept>,
) -> Result<bool, RepinError> {
    let unwritable = |error| ApplyError::Unwritable { path: ".".to_owned(), error };
    let guard = system.exclusive().map_err(unwritable)?;
    let result = alone(system, options, change);
    drop(guard);
    result
}

fn alone(
    system: &dyn Writer,
    options: &Options<'_>,
    change: impl FnOnce(&mut Pins) -> Vec<Kept>,
) -> Result<bool, RepinError> {
    let state = LockState::load(system, options).map_err(RepinError::Problem)?;
    if state.interrupted {
        return Err(RepinError::First("a render was interrupted".to_owned()));
    }
    if let LockStatus::Damaged(why) = &state.status {
        return Err(RepinError::First(format!("the lock is damaged: {why}")));
    }
    let mut lock = state.lock.clone();
    let kept = change(&mut lock.pins);
    let text = lock.to_text();
    let path = options.lock_path();
    let mut changes = kept.into_iter().map(|file| kept_change(system, file)).collect::<Result<Vec<_>, _>>()?;
    changes.push(Change { own: true, ..to(path.clone(), path.clone(), state.bytes, Some(text.clone().into_bytes())) });
    changes.retain(|change| !same(change.before.as_deref(), change.after.as_deref()));
    if changes.is_empty() {
        return Ok(false);
    }
    let comparison = Comparison {
        changes,
        lock_text: text,
        lock_path: path,
        journal_path: options.journal_path(),
        ..Comparison::default()
    };
    perform(&comparison, system)?;
    Ok(true)
}

fn kept_change(system: &dyn Writer, (path, after): Kept) -> Result<Change, ApplyError> {
    let unwritable = |error| ApplyError::Unwritable { path: path.clone(), error };
    let real = system.resolve(&path).map_err(unwritable)?;
    let before = match system.read(&real, MAX_FILE) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(unwritable(error)),
    };
    Ok(to(path, real, before, after))
}

fn to(path: String, real: String, before: Option<Vec<u8>>, after: Option<Vec<u8>>) -> Change {
    Change {
        path,
        real,
        before,
        after,
        causes: vec![Cause::LockStale],
        conflicts: Vec::new(),
        sources: Vec::new(),
        forced: false,
        own: false,
    }
}

fn same(have: Option<&[u8]>, want: Option<&[u8]>) -> bool {
    match (have, want) {
        (Some(have), Some(want)) => eol::content(have).as_ref() == want,
        (have, want) => have.is_none() && want.is_none(),
    }
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
        let file = "shared-agent-rules/pins/s.json".to_owned();
        let pin = |pins: &mut Pins| {
            pins.insert("s".into(), ServerPin::default());
            vec![(file.clone(), Some(b"[]\n".to_vec()))]
        };
        assert!(repin(&system, &options, pin).unwrap());
        assert!(!repin(&system, &options, pin).unwrap(), "the same again is no change");
        system.put(&file, crate::system::memory::Node::File(b"[]\r\n".to_vec()));
        assert!(!repin(&system, &options, pin).unwrap(), "nor are other line ends");
        assert!(repin(&system, &options, |_| vec![(file.clone(), None)]).unwrap());
        assert_eq!(system.text(&file), None);
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
        let result = repin(&system, &Options::new("shared-agent-rules"), |_| Vec::new());
        assert!(matches!(result, Err(RepinError::First(_))));
        assert_eq!(system.text(LOCK).as_deref(), Some("<<<<<<< a\n"));
    }
}
