//! A system that fails on purpose, to try what a killed or refused render leaves behind.

use super::{Guard, Kind, System, Writer};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What happens at the chosen operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing; operations are only counted.
    None,
    /// Only that operation fails, as when a disk is full for a moment.
    Error,
    /// That and all later ones fail, as after a kill.
    Crash,
    /// As `Crash`, but a file being created then is left half written.
    Torn,
}

/// Counts each changing operation of `inner` and lets one of them fail.
#[derive(Debug)]
pub struct Faulty<'a, W> {
    inner: &'a W,
    fault: Fault,
    at: usize,
    count: AtomicUsize,
}

impl<'a, W: Writer> Faulty<'a, W> {
    /// Lets operation number `at` (from 0) fail.
    pub const fn new(inner: &'a W, fault: Fault, at: usize) -> Self {
        Self { inner, fault, at, count: AtomicUsize::new(0) }
    }

    /// Changing operations asked for so far.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    fn step(&self) -> Result<(), Fault> {
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        match self.fault {
            Fault::Error | Fault::Torn | Fault::Crash if number == self.at => Err(self.fault),
            Fault::Crash | Fault::Torn if number > self.at => Err(Fault::Crash),
            _ => Ok(()),
        }
    }

    fn run(&self, act: impl FnOnce(&W) -> io::Result<()>) -> io::Result<()> {
        self.step().map_err(|_| injected())?;
        act(self.inner)
    }
}

fn injected() -> io::Error {
    io::Error::other("injected fault")
}

impl<W: Writer> System for Faulty<'_, W> {
    fn kind(&self, path: &str) -> io::Result<Option<Kind>> {
        self.inner.kind(path)
    }
    fn resolve(&self, path: &str) -> io::Result<String> {
        self.inner.resolve(path)
    }
    fn read(&self, path: &str, max: u64) -> io::Result<Vec<u8>> {
        self.inner.read(path, max)
    }
    fn list(&self, path: &str) -> io::Result<Vec<(String, Kind)>> {
        self.inner.list(path)
    }
    fn recorded_as_link(&self, path: &str) -> bool {
        self.inner.recorded_as_link(path)
    }
}

impl<W: Writer> Writer for Faulty<'_, W> {
    fn exclusive(&self) -> io::Result<Box<dyn Guard>> {
        self.inner.exclusive()
    }
    fn create(&self, path: &str, bytes: &[u8], like: Option<&str>) -> io::Result<()> {
        match self.step() {
            Ok(()) => self.inner.create(path, bytes, like),
            Err(Fault::Torn) => {
                self.inner.create(path, &bytes[..bytes.len() / 2], like)?;
                Err(injected())
            }
            Err(_) => Err(injected()),
        }
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.run(|inner| inner.rename(from, to))
    }
    fn remove_file(&self, path: &str) -> io::Result<()> {
        self.run(|inner| inner.remove_file(path))
    }
    fn create_dir(&self, path: &str) -> io::Result<()> {
        self.run(|inner| inner.create_dir(path))
    }
    fn remove_dir(&self, path: &str) -> io::Result<()> {
        self.run(|inner| inner.remove_dir(path))
    }
    fn sync_dir(&self, path: &str) -> io::Result<()> {
        self.run(|inner| inner.sync_dir(path))
    }
}
