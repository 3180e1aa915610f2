//! Instruction files of the user, as far as the plan must know them.

/// An instruction file in which the user has text of their own, outside our block, or that is a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFile {
    /// Relative to the root, `/` between parts.
    pub path: String,
    /// Files, relative to the root, that the user's text includes with an import line.
    pub imports: Vec<String>,
    /// The file inside the root this is a link to; such a file has no text of its own.
    pub link_to: Option<String>,
    /// Size of the user's own text, in bytes.
    pub bytes: u64,
}
