//! Where the repository and its policy are.

use std::path::{Path, PathBuf};

use crate::load::DEFAULT_DIR;
use crate::system::os::Os;

use super::args::Global;
use super::env;
use super::exit::Failure;

/// A repository.
pub struct Place {
    /// Files below the root.
    pub system: Os,
    /// The policy folder relative to the root; `None` when there is none.
    pub policy: Option<String>,
}

impl Place {
    /// The policy folder, or where it would be.
    pub fn policy_dir(&self) -> &str {
        self.policy.as_deref().unwrap_or(DEFAULT_DIR)
    }
}

/// Finds the repository.
///
/// # Errors
/// A folder that does not exist, or a policy outside of the root.
pub fn find(global: &Global) -> Result<Place, Failure> {
    let here =
        env::working_folder().map_err(|e| Failure::environment(format!("cannot tell the working folder: {e}")))?;
    let named = global.policy.as_ref().map(|p| folder(&here, p, "--policy")).transpose()?;
    let root = match &global.root {
        Some(root) => folder(&here, root, "--root")?,
        None => match &named {
            Some(policy) => {
                env::with_git(policy).or_else(|| policy.parent().map(Path::to_owned)).unwrap_or_else(|| here.clone())
            }
            None => env::with_policy(&here).or_else(|| env::with_git(&here)).unwrap_or_else(|| here.clone()),
        },
    };
    let policy = match named {
        Some(policy) => Some(below(&root, &policy)?),
        None => root.join(DEFAULT_DIR).exists().then(|| DEFAULT_DIR.to_owned()),
    };
    let system = Os::new(&root).map_err(|e| Failure::environment(format!("cannot open `{}`: {e}", root.display())))?;
    Ok(Place { system, policy })
}

fn folder(here: &Path, named: &str, flag: &str) -> Result<PathBuf, Failure> {
    let path = here.join(named);
    match path.canonicalize() {
        Ok(path) if path.is_dir() => Ok(path),
        _ => Err(Failure::usage(format!("`{flag} {named}` is not a folder"))),
    }
}

fn below(root: &Path, policy: &Path) -> Result<String, Failure> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    match policy.strip_prefix(&root).ok().and_then(Path::to_str).map(|p| p.replace('\\', "/")) {
        Some(relative) if !relative.is_empty() => Ok(relative),
        _ => {
            Err(Failure::usage(format!("the policy `{}` is not below the root `{}`", policy.display(), root.display())))
        }
    }
}
