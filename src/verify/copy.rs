//! A copy of the repository, so that a host may do to it what it likes.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::platform::Platform;
use super::process::{Interrupt, Task, run};

/// Most files and bytes that are copied.
const MAX_FILES: usize = 50_000;
const MAX_BYTES: u64 = 1 << 30;
/// Most files, and bytes of each, that are looked for in requests.
const MAX_TEXTS: usize = 500;
const MAX_TEXT: u64 = 64 << 10;

/// The files of a repository: what git tracks or would track, so that ignored secrets stay where they are.
#[derive(Debug, Clone)]
pub struct Files {
    root: PathBuf,
    paths: Vec<String>,
}

impl Files {
    /// Lists the files below `root`; `home` is an empty folder for git.
    ///
    /// # Errors
    /// `root` is not in a git work tree, or git cannot be run.
    pub async fn list(root: &Path, home: &Path, platform: &Platform, interrupt: &mut Interrupt) -> io::Result<Self> {
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let out = git(&args, root, home, platform, interrupt).await?;
        let mut paths: Vec<String> = out.split('\0').filter(|p| !p.is_empty()).map(str::to_owned).collect();
        paths.sort();
        paths.dedup();
        if paths.len() > MAX_FILES {
            return Err(io::Error::other(format!("the repository has more than {MAX_FILES} files")));
        }
        Ok(Self { root: root.to_owned(), paths })
    }

    /// Copies them into `to`, which becomes a git work tree without commits.
    ///
    /// # Errors
    /// An I/O error, or too much to copy.
    pub async fn copy(&self, to: &Path, home: &Path, platform: &Platform, stop: &mut Interrupt) -> io::Result<()> {
        std::fs::create_dir_all(to)?;
        let mut left = MAX_BYTES;
        for path in &self.paths {
            left = self.one(path, to, left)?;
        }
        git(&["-c", "init.templateDir=", "init", "-q"], to, home, platform, stop).await.map(|_| ())
    }

    /// Texts that a host might put into its requests by itself: path and content of Markdown files that `wanted` takes.
    pub fn texts(&self, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (String, String)> {
        let markdown = |path: &&String| path.ends_with(".md") || path.ends_with(".mdc");
        let small = |path: &&String| self.root.join(path).metadata().is_ok_and(|m| m.is_file() && m.len() <= MAX_TEXT);
        let paths = self.paths.iter().filter(markdown).filter(move |p| wanted(p)).filter(small).take(MAX_TEXTS);
        paths.filter_map(|path| Some((path.clone(), std::fs::read_to_string(self.root.join(path)).ok()?)))
    }

    /// Copies one file and says how many bytes may still be copied. A tracked file that was deleted and a
    /// folder (another repository in it) are passed over.
    fn one(&self, path: &str, to: &Path, left: u64) -> io::Result<u64> {
        let (from, to) = (self.root.join(path), to.join(path));
        let Ok(found) = from.symlink_metadata() else { return Ok(left) };
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent)?;
        }
        if found.is_symlink() {
            link(path, &std::fs::read_link(&from)?, &to)?;
            return Ok(left);
        }
        if !found.is_file() {
            return Ok(left);
        }
        let left = left.checked_sub(found.len()).ok_or_else(|| io::Error::other("the repository is too large"))?;
        std::fs::copy(&from, &to)?;
        Ok(left)
    }
}

/// Makes a link again when it stays inside; a host must not reach what is outside of the copy.
fn link(path: &str, target: &Path, to: &Path) -> io::Result<()> {
    let mut depth = i64::try_from(path.matches('/').count()).unwrap_or(0);
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => depth = -1,
        }
        if depth < 0 {
            return Ok(());
        }
    }
    #[cfg(unix)]
    return std::os::unix::fs::symlink(target, to);
    #[cfg(not(unix))]
    {
        let _ = to;
        Ok(())
    }
}

/// Runs git in a folder, with nothing of the user's configuration.
///
/// # Errors
/// It is not there, or fails.
pub async fn git(
    args: &[&str],
    folder: &Path,
    home: &Path,
    platform: &Platform,
    interrupt: &mut Interrupt,
) -> io::Result<String> {
    let program = platform.find("git").ok_or_else(|| io::Error::other("`git` is not on the path"))?;
    let env = [
        ("PATH".to_owned(), platform.joined()),
        ("HOME".to_owned(), home.to_string_lossy().into_owned()),
        ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
    ];
    let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
    let task = Task { program: &program, args: &args, env: &env, folder, time: Duration::from_secs(60) };
    let ran = run(task, interrupt).await?;
    match ran.code {
        Some(0) => Ok(ran.stdout),
        _ => Err(io::Error::other(format!("`git {}`: {}", args.join(" "), ran.stderr.trim()))),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_repository_are_not_copied() {
        let dir = tempfile::tempdir().unwrap();
        for (name, target, kept) in [
            ("a/in", "../b", true),
            ("out", "../b", false),
            ("far", "/etc/passwd", false),
            ("a/over", "../../b", false),
        ] {
            let to = dir.path().join(name.replace('/', "-"));
            link(name, Path::new(target), &to).unwrap();
            assert_eq!(to.symlink_metadata().is_ok(), kept, "{name}");
        }
    }

    #[test]
    fn ignored_files_stay_where_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let (root, to, home) = (dir.path().join("root"), dir.path().join("to"), dir.path().join("home"));
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::create_dir_all(&home).unwrap();
        for (path, text) in [(".gitignore", ".env\n"), (".env", "secret"), ("sub/x", "x")] {
            std::fs::write(root.join(path), text).unwrap();
        }
        let platform = Platform::here();
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let mut stop = Interrupt::listen();
            git(&["init", "-q"], &root, &home, &platform, &mut stop).await.unwrap();
            let files = Files::list(&root, &home, &platform, &mut stop).await.unwrap();
            files.copy(&to, &home, &platform, &mut stop).await.unwrap();
        });
        assert!(to.join("sub/x").is_file() && to.join(".git").is_dir() && !to.join(".env").exists());
    }
}
