//! `measure --export`: every event as a row.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::output::{Output, failed};
use crate::cli::args::ExportKind;
use crate::cli::exit::{Exit, Failure};
use crate::cli::ui::Ui;
use crate::measure::export::{Row, Target, rows};
use crate::measure::tally::Tally;

/// Exports to a file, a file in a folder, or standard output.
///
/// # Errors
/// The logs cannot be read, none is one, or the rows cannot be written.
pub fn export(
    kind: ExportKind,
    output: Option<&Path>,
    files: &[PathBuf],
    tally: &mut Tally<'_>,
    ui: &Ui,
) -> Result<Exit, Failure> {
    let target = match kind {
        ExportKind::Parquet => Target::Parquet,
        ExportKind::Jsonl => Target::Jsonl,
        ExportKind::Otlp => Target::Otlp,
    };
    let Some(path) = output.filter(|p| p.as_os_str() != "-") else {
        if target == Target::Parquet {
            return Err(Failure::usage("Parquet is no text").help("name a file: `-o events.parquet`"));
        }
        return match write(target, io::BufWriter::new(io::stdout()), files, tally, ui) {
            Ok(_) => Ok(Exit::Clean),
            Err(Wrong::Failed(failure)) => Err(failure),
            // Who read them has enough.
            Err(Wrong::Io(e)) if e.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Clean),
            Err(Wrong::Io(e)) => Err(failed(Path::new("-"), &e)),
        };
    };
    let path = if path.is_dir() { path.join(format!("events.{}", target.ending())) } else { path.to_owned() };
    let to = Output::new(&path)?;
    let count = write(target, to.writer()?, files, tally, ui).map_err(|wrong| match wrong {
        Wrong::Failed(failure) => failure,
        Wrong::Io(e) => failed(&path, &e),
    })?;
    to.done()?;
    ui.say(&format!("wrote {count} events to {}", path.display()));
    Ok(Exit::Clean)
}

enum Wrong {
    Failed(Failure),
    Io(io::Error),
}

fn write(
    target: Target,
    to: impl Write + Send,
    files: &[PathBuf],
    tally: &mut Tally<'_>,
    ui: &Ui,
) -> Result<u64, Wrong> {
    let mut out = rows(target, to).map_err(Wrong::Io)?;
    let (mut count, mut wrong) = (0, None);
    let read = super::read(files, ui, &mut |event, read, path| {
        if wrong.is_none() {
            count += 1;
            let row = Row::count(event, tally, read, path, count);
            wrong = out.row(&row).err();
        }
    });
    if let Some(wrong) = wrong {
        return Err(Wrong::Io(wrong));
    }
    let read = read.map_err(Wrong::Failed)?;
    if read.iter().all(|f| f.format.is_none()) {
        return Err(Wrong::Failed(super::nothing()));
    }
    out.end().map_err(Wrong::Io)?;
    Ok(count)
}
