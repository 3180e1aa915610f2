//! How far the reading is, on a terminal only, and only when it takes long.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::cli::ui::Ui;

/// Shown after this time, and again each time.
const EVERY: Duration = Duration::from_millis(250);

/// The progress.
pub struct Progress<'u> {
    ui: &'u Ui,
    all: u64,
    done: u64,
    shown: bool,
    last: Instant,
}

impl<'u> Progress<'u> {
    /// Of reading these files.
    pub fn new(files: &[PathBuf], ui: &'u Ui) -> Self {
        let all = files.iter().filter_map(|f| f.metadata().ok()).map(|m| m.len()).sum();
        Self { ui, all, done: 0, shown: false, last: Instant::now() }
    }

    /// Some bytes were read.
    pub fn step(&mut self, bytes: u64) {
        self.done += bytes;
        if self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        self.shown = true;
        // What is compressed gives more than it has.
        let percent = (self.done.min(self.all) * 100).checked_div(self.all).unwrap_or(100);
        let bar = "#".repeat(usize::try_from(percent / 4).unwrap_or(0));
        self.ui.progress(&format!("reading logs [{bar:<25}] {percent:>3} % of {} MiB", self.all >> 20));
    }

    /// All was read.
    pub fn end(self) {
        if self.shown {
            self.ui.progress("");
        }
    }
}
