//! What of the surroundings a run of a host may know: where programs are, and on what it runs.

use std::path::PathBuf;

/// The surroundings.
#[derive(Debug, Clone, Default)]
pub struct Platform {
    /// Folders in which programs are looked for.
    pub path: Vec<PathBuf>,
    /// Name of the system as npm spells it.
    pub os: &'static str,
    /// Name of the processor as npm spells it.
    pub arch: &'static str,
}

impl Platform {
    /// Those of this process.
    pub fn here() -> Self {
        let path = std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default();
        let os = match std::env::consts::OS {
            "macos" => "darwin",
            "windows" => "win32",
            other => other,
        };
        let arch = match std::env::consts::ARCH {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            other => other,
        };
        Self { path, os, arch }
    }

    /// Adds `folder` before the others.
    #[must_use]
    pub fn before(mut self, folder: PathBuf) -> Self {
        self.path.insert(0, folder);
        self
    }

    /// The same without the folders in which there is a program called `name`.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        let has = |folder: &PathBuf| Self { path: vec![folder.clone()], ..self }.find(name).is_some();
        let path = self.path.iter().filter(|folder| !has(folder)).cloned().collect();
        self.path = path;
        self
    }

    /// The value of `PATH`.
    pub fn joined(&self) -> String {
        std::env::join_paths(&self.path).map(|p| p.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The program called `name` on the path.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let names =
            if self.os == "win32" { vec![format!("{name}.exe"), format!("{name}.cmd")] } else { vec![name.to_owned()] };
        self.path.iter().flat_map(|dir| names.iter().map(|n| dir.join(n))).find(|file| file.is_file())
    }
}
