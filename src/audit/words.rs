//! Words by which names and descriptions are read: the only place for guesses. Each list says why; what could be
//! either is in neither, so that a guess misses rather than accuses.

/// Verbs with which a tool or a value only looks.
pub const READS: &[&str] = &[
    "list",
    "get",
    "read",
    "show",
    "view",
    "find",
    "search",
    "lookup",
    "status",
    "describe",
    "fetch",
    "check",
    "info",
    "inspect",
    "log",
    "logs",
    "diff",
    "count",
    "stat",
    "stats",
    "validate",
    "verify",
    "lint",
    "preview",
    "summary",
    "summarize",
    "summarise",
    "retrieve",
    "query",
    "peek",
    "explain",
    "help",
    "history",
    "whoami",
    "tail",
    "tree",
];

/// Verbs with which something is different afterwards. `open`, `select`, `start` and `switch` are left out: often
/// only what is looked at changes.
pub const CHANGES: &[&str] = &[
    "create",
    "add",
    "new",
    "insert",
    "write",
    "update",
    "set",
    "edit",
    "modify",
    "patch",
    "put",
    "post",
    "delete",
    "remove",
    "rm",
    "drop",
    "clear",
    "close",
    "move",
    "rename",
    "copy",
    "upload",
    "send",
    "submit",
    "publish",
    "execute",
    "exec",
    "run",
    "kill",
    "terminate",
    "install",
    "uninstall",
    "setup",
    "init",
    "configure",
    "enable",
    "disable",
    "apply",
    "fix",
    "commit",
    "push",
    "merge",
    "checkout",
    "reset",
    "rebase",
    "import",
    "export",
    "save",
    "append",
    "replace",
    "overwrite",
    "restore",
    "revert",
    "migrate",
    "evaluate",
    "eval",
    "click",
    "type",
    "fill",
    "drag",
    "archive",
    "assign",
    "comment",
    "reply",
    "transition",
    "deploy",
    "restart",
    "stop",
    "destroy",
    "purge",
    "grant",
    "revoke",
    "format",
];

/// Verbs with which something is gone afterwards.
pub const DESTROYS: &[&str] =
    &["delete", "remove", "rm", "drop", "clear", "purge", "destroy", "reset", "kill", "terminate"];

/// Parameters that choose what a tool does.
pub const SELECTORS: &[&str] =
    &["action", "actions", "command", "cmd", "operation", "op", "subcommand", "method", "task"];

/// The same, but as often a filter of what is listed: believed only where the tool's own name does not look.
pub const WEAK_SELECTORS: &[&str] = &["mode", "type", "kind", "function", "tool"];

/// Switches that turn a look into a change.
pub const SWITCHES: &[&str] = &[
    "fix",
    "autofix",
    "auto_fix",
    "apply",
    "apply_fixes",
    "write",
    "save",
    "persist",
    "overwrite",
    "in_place",
    "inplace",
    "delete",
    "remove",
    "prune",
    "commit",
    "push",
    "force_write",
    "update_snapshots",
];

/// What a file that is written is called, whatever the description says.
pub const OUTPUT_FILES: &[&str] = &[
    "output_path",
    "output_file",
    "output_dir",
    "output_dir_path",
    "output_directory",
    "output_folder",
    "output_filename",
    "out_file",
    "out_path",
    "outfile",
    "save_to",
    "save_path",
    "save_as",
    "save_dir",
    "destination",
    "destination_path",
    "dest",
    "dest_path",
    "target_path",
    "target_file",
    "download_path",
    "export_path",
    "write_to",
];

/// What a file is called that is read or written: the description decides.
pub const FILES: &[&str] = &["filename", "file_name", "file_path", "filepath", "file", "path"];

/// How a description says that a file is written.
pub const WRITES_FILE: &[&str] = &[
    "save ",
    "saved",
    "saves",
    "write the",
    "written to",
    "writes to",
    "store the",
    "dump",
    "instead of returning",
    "instead of attaching",
    "instead of including",
    "output file",
];

/// Parameters that are code by their name.
pub const CODE: &[&str] = &["code", "script", "javascript", "sql", "statement", "shell_command", "source_code"];

/// Parameters that are code when the description speaks of it.
pub const MAYBE_CODE: &[&str] = &[
    "function",
    "expression",
    "command",
    "cmd",
    "query",
    "program",
    "input",
    "script_text",
    "page_function",
    "init_script",
];

/// How a description speaks of code.
pub const SPEAKS_OF_CODE: &[&str] = &[
    "javascript",
    "sql",
    "shell command",
    "bash",
    "python code",
    "code to run",
    "command to execute",
    "command to run",
    "powershell",
];

/// Parameters that bound how much is answered.
pub const LIMITS: &[&str] = &[
    "limit",
    "max",
    "max_results",
    "max_count",
    "max_items",
    "max_length",
    "max_lines",
    "max_entries",
    "max_tokens",
    "max_chars",
    "max_bytes",
    "count",
    "page",
    "page_size",
    "page_idx",
    "page_index",
    "page_token",
    "per_page",
    "size",
    "cursor",
    "start_cursor",
    "next_cursor",
    "after",
    "offset",
    "first",
    "last",
    "top",
    "top_k",
    "k",
    "n",
    "head",
    "tail",
    "num",
    "num_results",
    "number",
    "results",
    "result_count",
    "depth",
    "take",
    "skip",
    "length",
    "tokens",
];

/// Parameters that take a part of one text.
pub const RANGES: &[&str] = &[
    "range",
    "ranges",
    "start",
    "end",
    "start_line",
    "end_line",
    "line_start",
    "line_end",
    "from_line",
    "to_line",
    "lines",
    "start_index",
    "view_range",
    "section",
    "sections",
    "heading",
    "pages",
    "chunk",
    "filter_properties",
];

/// Nouns and verbs of tools that answer with many things.
pub const MANY: &[&str] =
    &["list", "search", "find", "query", "log", "logs", "history", "diff", "messages", "requests", "tree", "graph"];

/// Nouns of tools that answer with one text of any length.
pub const TEXTS: &[&str] =
    &["file", "files", "document", "doc", "docs", "content", "contents", "markdown", "resource", "log", "transcript"];

/// Verbs of tools that answer with a text.
pub const READ_TEXT: &[&str] = &["read", "get", "cat", "fetch", "open", "show", "view", "retrieve", "download"];

/// Nouns of tools that answer with media.
pub const MEDIA: &[&str] =
    &["screenshot", "image", "images", "photo", "picture", "pdf", "video", "audio", "media", "screencast"];

/// Parameters that choose how media come.
pub const DELIVERY: &[&str] = &[
    "inline",
    "delivery",
    "as_file",
    "as_link",
    "embed",
    "return_type",
    "output_type",
    "response_format",
    "include_image",
];

/// Nouns of what media are not a result of: they go in, or only how they look is set.
pub const MEDIA_IN: &[&str] =
    &["upload", "emulate", "set", "write", "create", "add", "delete", "remove", "update", "stop"];

/// Orders that reach beyond the tool itself: over other instructions, other tools, the person, or the session.
/// How to call the tool itself ("always pass an absolute path") is what a description is for.
pub const ORDERS: &[(&str, &str)] = &[
    ("ignore previous", "overrides instructions"),
    ("ignore all previous", "overrides instructions"),
    ("ignore prior", "overrides instructions"),
    ("ignore any other", "overrides instructions"),
    ("disregard previous", "overrides instructions"),
    ("disregard all", "overrides instructions"),
    ("override your", "overrides instructions"),
    ("system prompt", "speaks of the system prompt"),
    ("do not tell the user", "hides something from the person"),
    ("don't tell the user", "hides something from the person"),
    ("do not mention this", "hides something from the person"),
    ("do not inform the user", "hides something from the person"),
    ("without telling the user", "hides something from the person"),
    ("without asking the user", "keeps the person out"),
    ("without user confirmation", "keeps the person out"),
    ("do not ask the user", "keeps the person out"),
    ("before any other tool", "puts itself before other tools"),
    ("before using any other", "puts itself before other tools"),
    ("before calling any other", "puts itself before other tools"),
    ("instead of any other", "puts itself before other tools"),
    ("instead of other tools", "puts itself before other tools"),
    ("prefer this tool over any", "puts itself before other tools"),
    ("prefer this tool over other", "puts itself before other tools"),
    ("prefer this tool over built", "puts itself before other tools"),
    ("never use other", "puts itself before other tools"),
    ("never use analysis", "puts itself before other tools"),
    ("at the start of every", "demands a place in every session"),
    ("at the beginning of every", "demands a place in every session"),
    ("at the start of each", "demands a place in every session"),
    ("in every conversation", "demands a place in every session"),
    ("for every user message", "demands a place in every session"),
    ("on every request", "demands a place in every session"),
    ("always call this tool", "demands to be called"),
    ("always use this tool", "demands to be called"),
    ("must always call", "demands to be called"),
    ("must call this tool", "demands to be called"),
    ("must call this function", "demands to be called"),
    ("<important>", "speaks in tags to the model"),
    ("<system>", "speaks in tags to the model"),
    ("<secret>", "speaks in tags to the model"),
    ("[system]", "speaks in tags to the model"),
];

/// The words of a name, in lower case: `getFileInfo`, `get-file-info` and `get_file_info` are one.
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before: Option<char> = None;
    for c in name.chars() {
        if c.is_alphanumeric() {
            let starts = before.is_none_or(|b| !b.is_alphanumeric() || (c.is_uppercase() && !b.is_uppercase()));
            if starts {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = Some(c);
    }
    words
}

/// The words of a name joined by `_`.
pub fn snake(name: &str) -> String {
    words(name).join("_")
}

/// Whether any word of `name` is in the list.
pub fn any(name: &str, list: &[&str]) -> bool {
    words(name).iter().any(|word| list.contains(&word.as_str()))
}

/// What a name or a value does by its first verb: true changes, false looks, none cannot be told.
pub fn changes(name: &str) -> Option<bool> {
    words(name).iter().find_map(|word| {
        let word = word.as_str();
        if CHANGES.contains(&word) { Some(true) } else { READS.contains(&word).then_some(false) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_every_spelling() {
        for name in ["getFileInfo", "get-file-info", "get_file_info", "Get.File.Info"] {
            assert_eq!(words(name), ["get", "file", "info"], "{name}");
        }
        assert_eq!(words("API-post-search"), ["api", "post", "search"]);
        assert_eq!(
            (changes("git_log"), changes("create_or_update"), changes("browser_hover")),
            (Some(false), Some(true), None)
        );
    }

    #[test]
    fn no_word_looks_and_changes_at_once() {
        assert!(READS.iter().all(|word| !CHANGES.contains(word)));
        assert!(DESTROYS.iter().all(|word| CHANGES.contains(word)));
    }
}
