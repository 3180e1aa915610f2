//! The folder of results that were too large for an answer: private, bounded in size and age, unknown to git.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, SystemTime};

use super::bound::{Artifact, Keep, Kind, pixels};
use crate::text::digest::digest;

/// Where it is, relative to the root.
pub const PLACE: &str = ".rolecast/artifacts";
/// Characters of a digest in a name.
const DIGITS: usize = 24;

/// Bounds of the folder.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Most bytes of all files.
    pub bytes: u64,
    /// How old a file gets.
    pub age: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { bytes: 200 << 20, age: Duration::from_secs(7 * 24 * 3600) }
    }
}

/// The folder, and what one session put there.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    bounds: Bounds,
    own: Mutex<BTreeSet<String>>,
    prepared: Once,
}

impl Folder {
    /// The folder below `root`; nothing is made before something is kept.
    pub const fn new(root: PathBuf, bounds: Bounds) -> Self {
        Self { root, bounds, own: Mutex::new(BTreeSet::new()), prepared: Once::new() }
    }

    /// Makes the folder, so that git does not see what a server puts below it by itself. That it cannot be made is said
    /// when something is to be kept.
    pub fn prepare(&self) {
        self.prepared.call_once(|| {
            let _ = made(&self.root, PLACE);
        });
    }

    /// A part of what this session kept: the bytes from `offset`, at most `max`, and how many there are in all.
    ///
    /// # Errors
    /// This session kept nothing of this name, or it is gone.
    pub fn read(&self, id: &str, offset: u64, max: usize) -> Result<(Vec<u8>, u64), String> {
        if !self.own.lock().unwrap_or_else(PoisonError::into_inner).contains(id) {
            return Err("no artifact of this session has this id".to_owned());
        }
        let gone = |error: io::Error| format!("the artifact cannot be read any more: {}", error.kind());
        let mut file = open_plain(&self.root.join(PLACE).join(id)).map_err(gone)?;
        let all = file.metadata().map_err(gone)?.len();
        file.seek(SeekFrom::Start(offset)).map_err(gone)?;
        let mut bytes = Vec::new();
        file.take(max as u64).read_to_end(&mut bytes).map_err(gone)?;
        Ok((bytes, all))
    }

    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let folder = made(&self.root, PLACE)?;
        let target = folder.join(name);
        if let Ok(file) = open_plain(&target) {
            // The name is made from the bytes: what is there is the same, and was wanted again.
            let _ = file.set_modified(SystemTime::now());
            return Ok(());
        }
        replace(&folder, name, bytes)?;
        self.prune(&folder, name);
        Ok(())
    }

    /// Removes what is too old, then the oldest until the rest is small enough; never `newest`.
    fn prune(&self, folder: &Path, newest: &str) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut files: Vec<(SystemTime, u64, String)> = entries
            .flatten()
            .filter_map(|entry| {
                let meta = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                Some((meta.modified().ok()?, meta.len(), entry.file_name().into_string().ok()?))
            })
            // Nothing else in the folder is ours to remove.
            .filter(|(.., name)| is_ours(name))
            .collect();
        files.sort();
        let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        let now = SystemTime::now();
        for (changed, bytes, name) in files {
            let old = now.duration_since(changed).is_ok_and(|age| age > self.bounds.age);
            if name != newest && (old || total > self.bounds.bytes) && fs::remove_file(folder.join(&name)).is_ok() {
                total -= bytes;
            }
        }
    }
}

impl Keep for Folder {
    fn keep(&self, bytes: &[u8], kind: Kind) -> Result<Artifact, String> {
        let digest = digest(bytes);
        let digits = digest.rsplit(':').next().unwrap_or(&digest);
        let id = format!("{}.{}", &digits[..DIGITS.min(digits.len())], kind.ending);
        // The words of the system may hold a path of this machine.
        self.put(&id, bytes).map_err(|error| error.kind().to_string())?;
        self.own.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        let path = format!("{PLACE}/{id}");
        let sha256 = digits.to_owned();
        Ok(Artifact { id, path, bytes: bytes.len(), sha256, mime: kind.mime, pixels: pixels(bytes) })
    }
}

/// Whether a name is one of those this folder gives.
fn is_ours(name: &str) -> bool {
    let stem = name.strip_prefix('.').unwrap_or(name).split('.').next().unwrap_or("");
    stem.len() == DIGITS && stem.bytes().all(|b| b.is_ascii_hexdigit())
}

/// A private folder at `place` below `root`, unknown to git, made where it is not there. A link in the place of one of
/// its parts is not followed.
///
/// # Errors
/// Something else stands there, or an I/O error.
pub(super) fn made(root: &Path, place: &str) -> io::Result<PathBuf> {
    let mut here = root.to_owned();
    for part in place.split('/') {
        here.push(part);
        match fs::symlink_metadata(&here) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => make_dir(&here, place.ends_with(part))?,
            Err(error) => return Err(error),
        }
    }
    match private(&here.join(".gitignore")) {
        Ok(mut file) => file.write_all(b"*\n")?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    Ok(here)
}

/// Puts a private file in its place in one step.
///
/// # Errors
/// An I/O error.
pub(super) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    // Two processes may keep the same bytes at once.
    let unfinished = folder.join(format!(".{name}.{}", std::process::id()));
    let _ = fs::remove_file(&unfinished);
    let mut file = private(&unfinished)?;
    let placed =
        file.write_all(bytes).and_then(|()| file.flush()).and_then(|()| fs::rename(&unfinished, folder.join(name)));
    if placed.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    placed
}

fn make_dir(path: &Path, private: bool) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    if private {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// A new file that only its owner can read.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A regular file; a link in its place is not followed.
fn open_plain(path: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
    }
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::bound::kind;

    fn folder(bounds: Bounds) -> (tempfile::TempDir, Folder) {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::new(root.path().to_owned(), bounds);
        (root, folder)
    }

    #[test]
    fn what_is_kept_is_private_ignored_and_named_from_its_bytes() {
        let (root, folder) = folder(Bounds::default());
        let first = folder.keep(b"hello", kind(b"hello")).unwrap();
        assert_eq!(folder.keep(b"hello", kind(b"hello")).unwrap(), first);
        assert_eq!((first.id.len(), first.mime, first.bytes), (DIGITS + 4, "text/plain", 5));
        assert_eq!(fs::read(root.path().join(&first.path)).unwrap(), b"hello");
        assert_eq!(fs::read_to_string(root.path().join(PLACE).join(".gitignore")).unwrap(), "*\n");
        assert_eq!(folder.read(&first.id, 1, 2).unwrap(), (b"el".to_vec(), 5));
        assert_eq!(folder.read(&first.id, 9, 2).unwrap(), (Vec::new(), 5));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &str| fs::metadata(root.path().join(path)).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&first.path), mode(PLACE)), (0o600, 0o700));
        }
    }

    #[test]
    fn another_session_and_other_files_are_not_read() {
        let (root, one) = folder(Bounds::default());
        let kept = one.keep(b"secret", kind(b"secret")).unwrap();
        let other = Folder::new(root.path().to_owned(), Bounds::default());
        for id in [kept.id.as_str(), ".gitignore", "../artifacts/.gitignore", "../../x", "", "/etc/passwd"] {
            assert!(other.read(id, 0, 10).is_err(), "{id}");
        }
        assert!(one.read(&format!("../artifacts/{}", kept.id), 0, 10).is_err());
    }

    #[test]
    fn the_oldest_go_when_there_is_too_much_and_foreign_files_stay() {
        let (root, folder) = folder(Bounds { bytes: 25, age: Duration::from_secs(3600) });
        let id = |bytes: &[u8]| folder.keep(bytes, kind(bytes)).unwrap().id;
        let age = |name: &str, seconds| {
            let file = File::options().append(true).open(root.path().join(PLACE).join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        };
        let (first, second) = (id(b"0123456789"), id(b"123456789a"));
        fs::write(root.path().join(PLACE).join("mine.txt"), "x".repeat(100)).unwrap();
        age(&first, 20);
        age(&second, 10);
        age("mine.txt", 999_999);
        let third = id(b"23456789ab");
        let there = |name: &str| root.path().join(PLACE).join(name).exists();
        assert_eq!([&first, &second, &third].map(|n| there(n)), [false, true, true]);
        age(&second, 7200);
        id(b"z");
        assert!(!there(&second) && there("mine.txt"));
        let large = id(&[b'q'; 90]);
        assert!(there(&large), "what was just kept stays, however large");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_the_folder_or_a_file_is_not_followed() {
        let (root, one) = folder(Bounds::default());
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join(".rolecast")).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join(PLACE)).unwrap();
        assert!(one.keep(b"x", kind(b"x")).is_err());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
