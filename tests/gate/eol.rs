//! eol
