//! Opening and making a store.

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};
use std::time::Duration;

use super::{Store, StoreFile};
use crate::primitives::Wanted;
use crate::primitives::embed::dot;

/// What a store says it is.
const FORMAT: &str = "rolecast store 1";
/// The tables. Texts are kept once: the index of words has none of its own.
const TABLES: &str = "
create table about (key text primary key, value blob not null) without rowid;
create table items (n integer primary key autoincrement, space integer not null, id text not null, text text not null,
  metadata text not null, words integer not null, vector blob not null, unique (space, id));
create table facts (key text not null, value text not null, item integer not null, primary key (key, value, item)) without rowid;
create index facts_of_item on facts (item);
create virtual table texts using fts5(text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
";
/// What every connection has for itself: the words of a text, and where each word is.
const OWN: &str = "
create virtual table temp.places using fts5vocab(main, texts, instance);
create virtual table temp.asked using fts5(text, tokenize='unicode61 remove_diacritics 2');
create virtual table temp.asked_words using fts5vocab(temp, asked, row);
";
/// How long another process may write.
const PATIENCE: Duration = Duration::from_secs(10);
/// Steps of SQLite after which it is asked whether the answer is still wanted: some microseconds.
const STEPS: i32 = 1000;
/// A text whose vector tells whether the embedder is still the same.
const PROBE: &str = "The quick brown fox jumps over the lazy dog; 42 boats.";
/// How alike the vectors of that text must be.
const SAME: f32 = 0.999;

impl Store {
    /// Opens a store that is there, as long as it is `wanted`.
    ///
    /// # Errors
    /// There is none, it is something else, or it was made with another embedder.
    pub fn open(file: StoreFile, wanted: &Wanted) -> Result<Self, String> {
        if !file.path.is_file() {
            let name = &file.name;
            return Err(format!("the store `{name}` is not there; `rolecast primitives load {name} FILE` makes it"));
        }
        Self::opened(file, OpenFlags::empty(), wanted)
    }

    /// Opens a store as long as it is `wanted`, and makes it when it is not there.
    ///
    /// # Errors
    /// It is something else, it was made with another embedder, or cannot be written.
    pub fn open_or_make(file: StoreFile, wanted: &Wanted) -> Result<Self, String> {
        if let Some(folder) = file.path.parent() {
            let name = &file.name;
            std::fs::create_dir_all(folder)
                .map_err(|e| format!("the folder of the store `{name}` cannot be made: {}", e.kind()))?;
        }
        Self::opened(file, OpenFlags::SQLITE_OPEN_CREATE, wanted)
    }

    fn opened(file: StoreFile, more: OpenFlags, wanted: &Wanted) -> Result<Self, String> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let name = file.name.clone();
        let base = Connection::open_with_flags(&file.path, flags).map_err(|e| said(&name, &e))?;
        let mut store =
            Self { base, file, known: false, vectors: super::vectors::Vectors::default(), wanted: Wanted::default() };
        store.while_wanted(wanted, |store| store.prepare(more.contains(OpenFlags::SQLITE_OPEN_CREATE)))?;
        Ok(store)
    }

    fn prepare(&mut self, make: bool) -> Result<(), String> {
        let name = self.file.name.clone();
        let failed = |e: rusqlite::Error| said(&name, &e);
        self.base.busy_timeout(PATIENCE).map_err(failed)?;
        // Nothing in a file may run more than what is asked of it.
        let settings = "pragma trusted_schema = off; pragma cell_size_check = on; pragma foreign_keys = off;";
        self.base.execute_batch(settings).map_err(failed)?;
        let tables: i64 =
            self.base.query_row("select count(*) from sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
        if tables == 0 {
            if !make {
                return Err(format!("the store `{name}` is empty; `rolecast primitives load {name} FILE` fills it"));
            }
            self.make().map_err(failed)?;
        }
        let identity = self.file.embedder.identity();
        let about = |key: &str| -> Result<Option<String>, rusqlite::Error> {
            let read = |row: &rusqlite::Row<'_>| Ok(String::from_utf8_lossy(&row.get::<_, Vec<u8>>(0)?).into_owned());
            self.base.query_row("select value from about where key = ?1", [key], read).optional()
        };
        if about("format").ok().flatten().as_deref() != Some(FORMAT) {
            return Err(format!("the file of the store `{name}` is not one of ours"));
        }
        let made_with = about("embedder").map_err(failed)?.unwrap_or_default();
        if made_with != identity {
            return Err(format!(
                "the store `{name}` was made with the embedder `{made_with}`, and the policy says `{identity}`: \
                 vectors of two embedders cannot be compared; load its documents into another file"
            ));
        }
        self.base.execute_batch(OWN).map_err(failed)
    }

    fn make(&mut self) -> Result<(), rusqlite::Error> {
        let identity = self.file.embedder.identity();
        let transaction = self.base.transaction()?;
        transaction.execute_batch(TABLES)?;
        for (key, value) in [("format", FORMAT), ("embedder", &identity)] {
            transaction.execute("insert into about values (?1, ?2)", params![key, value.as_bytes()])?;
        }
        transaction.commit()
    }

    /// Vectors of texts, by the embedder that made those of the store.
    ///
    /// # Errors
    /// The embedder fails, or is not what it was.
    pub(super) fn vectors(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        self.recognise()?;
        self.file.embedder.embed(texts, &self.wanted)
    }

    /// Does something as long as its answer is `wanted`: then every query ends, and what was being written is undone.
    ///
    /// # Errors
    /// Those of `work`; a query that was ended is one.
    pub fn while_wanted<T>(
        &mut self,
        wanted: &Wanted,
        work: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        let asked = wanted.clone();
        self.base.progress_handler(STEPS, Some(move || !asked.holds())).map_err(|e| self.failed(&e))?;
        self.wanted = wanted.clone();
        let done = work(self);
        self.wanted = Wanted::default();
        self.base.progress_handler(0, None::<fn() -> bool>).map_err(|e| self.failed(&e))?;
        done
    }

    /// Holds the embedder against what it was when the first vector was made. A model can change behind its name;
    /// what it makes of one fixed text tells.
    fn recognise(&mut self) -> Result<(), String> {
        if self.known || !self.file.embedder.can_change() {
            return Ok(());
        }
        let name = self.file.name.clone();
        let now = self.file.embedder.embed(&[PROBE], &self.wanted)?.pop().unwrap_or_default();
        let kept: Option<Vec<u8>> = self
            .base
            .query_row("select value from about where key = 'probe'", [], |row| row.get(0))
            .optional()
            .map_err(|e| said(&name, &e))?;
        match kept.map(|bytes| floats(&bytes)) {
            Some(was) if was.len() != now.len() => Err(format!(
                "the embedder of the store `{name}` makes vectors of {} numbers; those of the store have {}",
                now.len(),
                was.len()
            )),
            Some(was) if dot(&was, &now) < SAME => Err(format!(
                "the embedder of the store `{name}` is not the one that made it, although it has the same name; load \
                 its documents into another file"
            )),
            Some(_) => Ok(()),
            None => self
                .base
                .execute("insert into about values ('probe', ?1)", [bytes(&now)])
                .map(|_| ())
                .map_err(|e| said(&name, &e)),
        }?;
        self.known = true;
        Ok(())
    }

    /// The process group of the embedder's program, when it runs.
    pub fn group(&self) -> Option<i32> {
        self.file.embedder.group()
    }

    pub(super) fn failed(&self, error: &rusqlite::Error) -> String {
        said(&self.file.name, error)
    }
}

/// An error in words, without a path or a value.
fn said(name: &str, error: &rusqlite::Error) -> String {
    let why = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "another process writes to it".to_owned(),
        Some(ErrorCode::OperationInterrupted) => "the answer is not wanted any more".to_owned(),
        Some(ErrorCode::CannotOpen) => "its file cannot be opened".to_owned(),
        Some(ErrorCode::NotADatabase) => "its file is no store".to_owned(),
        Some(ErrorCode::DatabaseCorrupt) => "its file is damaged".to_owned(),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => "its file cannot be written".to_owned(),
        Some(ErrorCode::DiskFull) => "the disk is full".to_owned(),
        _ => error.to_string(),
    };
    format!("the store `{name}` fails: {why}")
}

/// A vector as it is kept.
pub(super) fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// A vector that was kept.
pub(super) fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}
