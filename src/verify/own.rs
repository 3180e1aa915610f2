//! This program under its own name, whatever its file is called: hooks of a copy ask `rolecast`, and must be
//! answered by the one that verifies, not by one that happens to be installed, nor by nobody.

use std::io;
use std::path::Path;

/// A folder with nothing but this program; gone when this is dropped.
pub struct OwnName(tempfile::TempDir);

impl OwnName {
    /// Makes it for the file `program`.
    ///
    /// # Errors
    /// The temporary folder cannot be written.
    pub fn of(program: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("rolecast-verify-bin-").tempdir()?;
        #[cfg(unix)]
        std::os::unix::fs::symlink(program, folder.path().join("rolecast"))?;
        #[cfg(not(unix))]
        std::fs::copy(program, folder.path().join("rolecast.exe"))?;
        Ok(Self(folder))
    }

    /// The folder, for the front of a `PATH`.
    pub fn folder(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::Platform;

    #[test]
    fn a_file_of_any_name_is_found_under_ours() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("rolecast-1.2.3");
        std::fs::write(&file, "program").unwrap();
        let own = OwnName::of(&file).unwrap();
        let platform = Platform { path: Vec::new(), ..Platform::here() };
        let found = platform.before(own.folder().to_owned()).find("rolecast");
        assert_eq!(std::fs::read_to_string(found.unwrap()).unwrap(), "program");
    }
}
