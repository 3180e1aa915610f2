//! Sizes and texts of objects, each through one `git cat-file` that stays open.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use super::command::{git, no_git};

/// Reads objects. The programs are started by the first question and end with this value.
#[derive(Debug)]
pub struct Blobs {
    root: PathBuf,
    /// Tells sizes without sending texts: a folder is listed without reading what is in it.
    checks: Option<Running>,
    texts: Option<Running>,
    sizes: BTreeMap<String, u64>,
}

impl Blobs {
    /// Objects of the repository at `root`.
    pub const fn new(root: PathBuf) -> Self {
        Self { root, checks: None, texts: None, sizes: BTreeMap::new() }
    }

    /// Bytes of an object.
    ///
    /// # Errors
    /// Git is missing, or the object is.
    pub fn size(&mut self, id: &str) -> io::Result<u64> {
        if let Some(size) = self.sizes.get(id) {
            return Ok(*size);
        }
        let mut running = taken(&mut self.checks, &self.root, "--batch-check")?;
        let size = running.head(id)?;
        self.checks = Some(running);
        self.sizes.insert(id.to_owned(), size);
        Ok(size)
    }

    /// An object of at most `max` bytes.
    ///
    /// # Errors
    /// It is larger ([`io::ErrorKind::FileTooLarge`]), or as [`Self::size`].
    pub fn read(&mut self, id: &str, max: u64) -> io::Result<Vec<u8>> {
        let mut running = taken(&mut self.texts, &self.root, "--batch")?;
        let size = running.head(id)?;
        let bytes = running.text(id, size, max)?;
        self.texts = Some(running);
        self.sizes.insert(id.to_owned(), size);
        bytes.ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {max} bytes")))
    }
}

/// Takes the running program out, or starts it. It is put back only after a whole answer: after an error
/// what it says next might belong to the question before.
fn taken(running: &mut Option<Running>, root: &Path, how: &str) -> io::Result<Running> {
    running.take().map_or_else(|| Running::start(root, how), Ok)
}

#[derive(Debug)]
struct Running {
    child: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It only reads, and may be stuck in an answer that nobody takes. Errors mean that it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    fn start(root: &Path, how: &str) -> io::Result<Self> {
        let mut command = git(root);
        command.args(["cat-file", how]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(no_git)?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(ask), Some(answer)) => Ok(Self { child, ask, answer: BufReader::new(answer) }),
            _ => Err(io::Error::other("git gave no pipes")),
        }
    }

    /// Asks for an object and reads the line before its text: its size.
    fn head(&mut self, id: &str) -> io::Result<u64> {
        self.ask.write_all(format!("{id}\n").as_bytes())?;
        self.ask.flush()?;
        let mut head = String::new();
        self.answer.read_line(&mut head)?;
        let words: Vec<&str> = head.trim_end().split(' ').collect();
        let size = match words.as_slice() {
            [_, "blob", size] => size.parse::<u64>().ok(),
            _ => None,
        };
        size.ok_or_else(|| io::Error::other(format!("git does not have the object `{id}`")))
    }

    /// The text after the head, when there are at most `max` bytes; else it is passed over.
    fn text(&mut self, id: &str, size: u64, max: u64) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let mut part = (&mut self.answer).take(size);
        let got =
            if size <= max { part.read_to_end(&mut bytes)? as u64 } else { io::copy(&mut part, &mut io::sink())? };
        let mut end = [0];
        self.answer.read_exact(&mut end)?;
        if got != size || end != *b"\n" {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("git's answer for `{id}` is cut")));
        }
        Ok((size <= max).then_some(bytes))
    }
}
