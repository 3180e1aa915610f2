//! Where a path really is and what stands there.

use super::finding::Problem;
use super::{MAX_FILE, Options};
use crate::system::{Kind, System, parent, path};

/// A path on disk.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Links followed.
    pub real: String,
    /// The last part of the path is a link, on disk or in version control.
    pub linked: bool,
    /// Its bytes; `None` when nothing stands there.
    pub bytes: Option<Vec<u8>>,
}

/// A link is text of one line without an end where a checkout could not make one.
const LONGEST_LINK: usize = 300;

pub(super) fn locate(system: &dyn System, at: &str, options: &Options<'_>) -> Result<Place, Problem> {
    path::check(at).map_err(|why| Problem::new(at, format!("the path {why}")))?;
    let mut place = follow(system, at, at)?;
    if let Some(target) = place.bytes.as_deref().and_then(link_text)
        && system.recorded_as_link(at)
    {
        let joined = join(parent(at), target).ok_or_else(|| Problem::new(at, "is a link out of the root"))?;
        place = follow(system, at, &joined)?;
        place.linked = true;
    }
    path::check(&place.real)
        .map_err(|why| Problem::new(at, format!("leads to `{}`, a path that {why}", place.real)))?;
    let inside = |file: &str| options.policy_dir.is_empty() || file.starts_with(&format!("{}/", options.policy_dir));
    if place.real != at && inside(&place.real) && !options.policy_dir.is_empty() {
        return Err(Problem::new(at, format!("is a link into the policy, to `{}`", place.real)));
    }
    Ok(place)
}

fn follow(system: &dyn System, at: &str, path: &str) -> Result<Place, Problem> {
    let fail = |error: std::io::Error| Problem::new(at, error.to_string());
    let (real, bytes) =
        system.find(path, MAX_FILE).map_err(|error| match system.resolve(path).map(|real| system.kind(&real)) {
            Ok(Ok(Some(Kind::Dir))) => Problem::new(at, "a directory stands where a file must be"),
            Ok(Ok(Some(Kind::Other))) => Problem::new(at, "a device, pipe or socket stands where a file must be"),
            _ => fail(error),
        })?;
    let linked = real != path && system.kind(path).map_err(fail)? == Some(Kind::Link);
    if linked && bytes.is_none() {
        return Err(Problem::new(at, format!("is a link to `{real}`, where nothing is")));
    }
    Ok(Place { real, linked, bytes })
}

fn link_text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.is_empty() && text.len() < LONGEST_LINK && !text.contains('\n')).then_some(text)
}

/// A link's target seen from its folder; `None` when it leads out.
fn join(dir: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}
