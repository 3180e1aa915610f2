//! The only writer to the terminal: results on standard output, everything else on standard error.

use std::io::{IsTerminal, Write};

use crate::diag::render::{self as diagnostics, Format, Look};
use crate::diag::{Severity, Sink, SourceMap};

use super::args::{ColorChoice, FormatChoice, Global};
use super::exit::Failure;

/// How to print.
pub struct Ui {
    /// Format of results.
    pub format: Format,
    /// Whether notes are printed.
    pub verbose: bool,
    quiet: bool,
    colour_err: bool,
    colour_out: bool,
}

impl Ui {
    /// As the options say.
    pub fn new(global: &Global) -> Self {
        let colour = |terminal: bool| match global.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                terminal && anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
            }
        };
        Self {
            format: match global.format {
                FormatChoice::Human => Format::Human,
                FormatChoice::Json => Format::Json,
                FormatChoice::Github => Format::Github,
                FormatChoice::Sarif => Format::Sarif,
            },
            verbose: global.verbose,
            quiet: global.quiet,
            colour_err: colour(std::io::stderr().is_terminal()),
            colour_out: colour(std::io::stdout().is_terminal()),
        }
    }

    /// Prints a result.
    pub fn result(&self, text: &str) {
        write_all(&mut std::io::stdout().lock(), text);
    }

    /// Prints a result as it is made; a reader that went away ends it and is no error.
    pub fn stream(&self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
        let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
        if write(&mut out).and_then(|()| out.flush()).is_err() {
            // As in [`write_all`].
        }
    }

    /// Prints a remark, unless quiet.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            write_all(&mut std::io::stderr().lock(), &format!("{text}\n"));
        }
    }

    /// Shows how far something is, on a terminal only: each text takes the place of the one before.
    pub fn progress(&self, text: &str) {
        if !self.quiet && std::io::stderr().is_terminal() {
            write_all(&mut std::io::stderr().lock(), &format!("\r\u{1b}[K{text}"));
        }
    }

    /// Prints an error.
    pub fn error(&self, message: &str) {
        write_all(&mut std::io::stderr().lock(), &format!("error: {message}\n"));
    }

    /// Prints why a command ended.
    pub fn failure(&self, failure: &Failure) {
        if !failure.message.is_empty() {
            self.error(&failure.message);
            if let Some(help) = &failure.help {
                write_all(&mut std::io::stderr().lock(), &format!("help: {help}\n"));
            }
        }
    }

    /// Prints diagnostics: for people on standard error, for programs as the result.
    pub fn diagnostics(&self, sink: &Sink, sources: &SourceMap) {
        let text = self.rendered(sink, sources, self.colour_err);
        if self.format == Format::Human {
            write_all(&mut std::io::stderr().lock(), &text);
        } else {
            self.result(&text);
        }
    }

    /// Prints diagnostics that are the result.
    pub fn findings(&self, sink: &Sink, sources: &SourceMap) {
        self.result(&self.rendered(sink, sources, self.colour_out));
    }

    fn rendered(&self, sink: &Sink, sources: &SourceMap, colour: bool) -> String {
        let wanted = |severity: Severity| match severity {
            Severity::Error => true,
            Severity::Warning => !self.quiet,
            Severity::Note => self.verbose,
        };
        let found = sink.sorted(sources).into_iter().filter(|d| wanted(d.severity));
        let look = Look { colour, ..Look::default() };
        diagnostics::render(self.format, found, sources, look)
    }
}

impl Ui {
    /// Prints diagnostics for people on standard error, whatever the format of results is.
    #[cfg(feature = "gateway")]
    pub fn problems(&self, sink: &Sink, sources: &SourceMap) {
        let found = sink.sorted(sources).into_iter().filter(|d| d.severity == Severity::Error || !self.quiet);
        let look = Look { colour: self.colour_err, ..Look::default() };
        write_all(&mut std::io::stderr().lock(), &diagnostics::render(Format::Human, found, sources, look));
    }
}

/// Prints what the argument parser has to say.
pub fn clap_message(error: &clap::Error) {
    if error.print().is_err() {
        // The reader is gone; there is nobody to tell.
    }
}

/// Writes everything; a reader that went away is no error.
fn write_all(out: &mut dyn Write, text: &str) {
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        // A closed pipe: the exit code still says how it went.
    }
}
