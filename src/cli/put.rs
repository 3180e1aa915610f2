//! Writing one file: whole or not at all; a new one never over something that is there.

use std::io;

use crate::system::{Writer, file_name, parent};

/// Writes `bytes` to `path`, making its folders. Another file or link at `path` is left alone.
///
/// # Errors
/// Something stands at `path`, a part of it leads out of the root, or an I/O error.
pub fn new_file(system: &dyn Writer, path: &str, bytes: &[u8]) -> io::Result<()> {
    folders(system, parent(path))?;
    let _alone = system.exclusive()?;
    if system.kind(path)?.is_some() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("`{path}` exists already")));
    }
    placed(system, path, bytes)
}

/// Writes `bytes` to `path`, making its folders, in the place of a file that is there.
///
/// # Errors
/// Something else than a file stands at `path`, a part of it leads out of the root, or an I/O error.
#[cfg(feature = "gateway")]
pub fn file(system: &dyn Writer, path: &str, bytes: &[u8]) -> io::Result<()> {
    folders(system, parent(path))?;
    let _alone = system.exclusive()?;
    if !matches!(system.kind(path)?, None | Some(crate::system::Kind::File(_))) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("`{path}` is no regular file")));
    }
    placed(system, path, bytes)
}

fn placed(system: &dyn Writer, path: &str, bytes: &[u8]) -> io::Result<()> {
    // A leftover of a run that was killed is in nobody's way but ours.
    let temp = format!("{}/.{}.rolecast-new", parent(path), file_name(path));
    if system.kind(&temp)?.is_some() {
        system.remove_file(&temp)?;
    }
    let done = system.create(&temp, bytes, None).and_then(|()| system.rename(&temp, path));
    if done.is_err() && system.kind(&temp).is_ok_and(|k| k.is_some()) {
        // The first error is the one to report.
        let _ = system.remove_file(&temp);
    }
    done?;
    system.sync_dir(parent(path))
}

fn folders(system: &dyn Writer, dir: &str) -> io::Result<()> {
    let real = system.resolve(dir)?;
    let mut at = String::new();
    for part in real.split('/').filter(|p| !p.is_empty()) {
        if !at.is_empty() {
            at.push('/');
        }
        at.push_str(part);
        if system.kind(&at)?.is_none() {
            system.create_dir(&at)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::System;
    use crate::system::memory::{Memory, Node};

    #[test]
    fn folders_are_made_and_nothing_else_stays_behind() {
        let system = Memory::new();
        new_file(&system, "a/b/c.md", b"x").unwrap();
        assert_eq!(system.list("a/b").unwrap().len(), 1);
        assert_eq!(system.text("a/b/c.md").as_deref(), Some("x"));
    }

    #[test]
    fn a_file_is_replaced_and_a_link_is_not() {
        let system = Memory::new().with("a/c.md", "old");
        system.put("a/link.md", Node::Link("c.md".to_owned()));
        file(&system, "a/c.md", b"new").unwrap();
        assert_eq!((system.text("a/c.md").as_deref(), system.list("a").unwrap().len()), (Some("new"), 2));
        assert!(file(&system, "a/link.md", b"x").is_err());
    }

    #[test]
    fn what_stands_there_or_leads_out_is_left_alone() {
        let system = Memory::new().with("a/c.md", "mine");
        system.put("out", Node::Link("../elsewhere".to_owned()));
        system.put("a/link.md", Node::Link("gone.md".to_owned()));
        let before = system.snapshot();
        for path in ["a/c.md", "out/c.md", "a/link.md"] {
            assert!(new_file(&system, path, b"x").is_err(), "{path}");
        }
        assert_eq!(system.snapshot(), before);
    }
}
