//! A file that is there whole or not at all.

use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::cli::exit::Failure;

/// A file that is being written beside the place where it will be.
pub struct Output {
    to: std::path::PathBuf,
    file: NamedTempFile,
}

impl Output {
    /// Begins a file. What is there stays until [`Self::done`]; only a file is written over.
    ///
    /// # Errors
    /// There is something else than a file, or the folder cannot be written to.
    pub fn new(path: &Path) -> Result<Self, Failure> {
        // A link stays one, and what it names is written.
        let to = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if to.exists() && !to.is_file() {
            return Err(Failure::environment(format!("`{}` is no file", path.display())));
        }
        let folder = to.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = NamedTempFile::new_in(folder).map_err(|e| failed(path, &e))?;
        Ok(Self { to, file })
    }

    /// What to write to.
    ///
    /// # Errors
    /// The file cannot be opened once more.
    pub fn writer(&self) -> Result<io::BufWriter<std::fs::File>, Failure> {
        let file = self.file.reopen().map_err(|e| failed(&self.to, &e))?;
        Ok(io::BufWriter::with_capacity(1 << 16, file))
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// It cannot be put there.
    pub fn done(self) -> Result<(), Failure> {
        let Self { to, file } = self;
        file.as_file().sync_all().map_err(|e| failed(&to, &e))?;
        file.persist(&to).map(drop).map_err(|e| failed(&to, &e.error))
    }
}

/// Writing failed.
pub fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::environment(format!("cannot write `{}`: {error}", path.display()))
}
