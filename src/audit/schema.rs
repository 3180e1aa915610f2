//! What a tool's parameters say that its hints may not: it writes, it runs code, it is several tools in one.

use super::contract::{Param, Tool};
use super::words;

/// Something that a parameter makes possible beyond looking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A file is written where the parameter says.
    File {
        /// The parameter.
        param: String,
    },
    /// A switch turns the look into a change.
    Switch {
        /// The parameter.
        param: String,
    },
    /// Code is run; `sql` for statements.
    Code {
        /// The parameter.
        param: String,
        /// Whether it is SQL.
        sql: bool,
    },
}

/// A parameter whose values look and change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mixed {
    /// The parameter.
    pub param: String,
    /// Values that look.
    pub reads: Vec<String>,
    /// Values that change.
    pub changes: Vec<String>,
    /// Values of which it cannot be told.
    pub other: Vec<String>,
}

/// Everything that the parameters make possible beyond looking.
pub fn reach(tool: &Tool) -> Vec<Reach> {
    tool.params().iter().filter_map(|param| one(param, tool)).collect()
}

fn one(param: &Param<'_>, tool: &Tool) -> Option<Reach> {
    let name = words::snake(param.name);
    let said = param.description().to_lowercase();
    let listed = !param.values().is_empty();
    let text = param.is("string") && !listed;
    let path = || param.path.clone();
    let file_name = words::FILES.iter().any(|file| name == *file || name.ends_with(&format!("_{file}")));
    let writes = words::WRITES_FILE.iter().any(|phrase| said.contains(phrase));
    if text && (words::OUTPUT_FILES.contains(&name.as_str()) || (file_name && writes)) {
        return Some(Reach::File { param: path() });
    }
    if param.is("boolean") && words::SWITCHES.contains(&name.as_str()) {
        return Some(Reach::Switch { param: path() });
    }
    let speaks = |text: &str| words::SPEAKS_OF_CODE.iter().any(|phrase| text.contains(phrase));
    let maybe = words::MAYBE_CODE.contains(&name.as_str()) && speaks(&said);
    // A tool called after its statements need not say again what they are.
    let sql_tool = name == "query" && words::any(&tool.name, &["sql", "query"]) && tool.description().contains("SQL");
    if text && (words::CODE.contains(&name.as_str()) || maybe || sql_tool) {
        let sql = matches!(name.as_str(), "sql" | "statement") || said.contains("sql") || sql_tool;
        return Some(Reach::Code { param: path(), sql });
    }
    None
}

/// The parameter that makes several tools of one, where its values look and change.
pub fn mixed(tool: &Tool) -> Option<Mixed> {
    tool.params().iter().find_map(|param| {
        let name = words::snake(param.name);
        let strong = words::SELECTORS.contains(&name.as_str());
        let weak = words::WEAK_SELECTORS.contains(&name.as_str()) && words::changes(&tool.name) != Some(false);
        if !strong && !weak {
            return None;
        }
        let listed = param.values();
        let values = if listed.is_empty() { quoted(param.description()) } else { listed };
        let of = |wanted: Option<bool>| -> Vec<String> {
            values.iter().filter(|value| words::changes(value) == wanted).map(|value| (*value).to_owned()).collect()
        };
        let mixed =
            Mixed { param: param.path.clone(), reads: of(Some(false)), changes: of(Some(true)), other: of(None) };
        (!mixed.reads.is_empty() && !mixed.changes.is_empty()).then_some(mixed)
    })
}

/// Words in quotation marks: how descriptions list values that the schema does not.
fn quoted(text: &str) -> Vec<&str> {
    let mut values = Vec::new();
    for mark in ['"', '\'', '`'] {
        let inside = text.split(mark).skip(1).step_by(2);
        values.extend(inside.filter(|value| {
            !value.is_empty()
                && value.len() <= 40
                && value.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        }));
    }
    if values.len() >= 2 { values } else { Vec::new() }
}

/// The parameter with the first of these names.
fn named<'a>(tool: &'a Tool, names: &[&str]) -> Option<Param<'a>> {
    tool.params().into_iter().find(|param| names.contains(&words::snake(param.name).as_str()))
}

/// Whether it answers with many things and nothing bounds how many.
pub fn unbounded_list(tool: &Tool) -> bool {
    let name = words::words(&tool.name);
    let many = name.iter().any(|word| words::MANY.contains(&word.as_str())) && words::changes(&tool.name) != Some(true);
    // An assertion answers yes or no, whatever it looks at.
    let many = many && !name.iter().any(|word| matches!(word.as_str(), "verify" | "assert" | "count"));
    many && named(tool, words::LIMITS).is_none() && !has_output_schema_of_one(tool)
}

/// Tools without any parameter that answer with settings or a fixed list of the server itself are short.
fn has_output_schema_of_one(tool: &Tool) -> bool {
    words::any(&tool.name, &["allowed", "config", "configuration", "templates"])
}

/// Whether it answers with one text of any length and no part of it can be asked for.
pub fn unbounded_text(tool: &Tool) -> bool {
    let name = words::words(&tool.name);
    let reads = name.iter().any(|word| words::READ_TEXT.contains(&word.as_str()));
    let text = name.iter().any(|word| words::TEXTS.contains(&word.as_str()));
    let facts = name.iter().any(|word| matches!(word.as_str(), "info" | "metadata" | "stats" | "status" | "list"));
    reads
        && text
        && !facts
        && !media(tool)
        && words::changes(&tool.name) != Some(true)
        && named(tool, words::RANGES).is_none()
        && named(tool, words::LIMITS).is_none()
}

/// Whether it answers with media: it is called after them, not after something one does to them.
pub fn media(tool: &Tool) -> bool {
    let name = words::words(&tool.name);
    let mut last = name.iter().rev().skip_while(|word| matches!(word.as_str(), "file" | "resource" | "content"));
    let noun = last.next().is_some_and(|word| words::MEDIA.contains(&word.as_str()));
    noun && !words::any(&tool.name, words::MEDIA_IN)
}

/// Whether it answers with media, and nothing lets one choose how they come.
pub fn media_without_choice(tool: &Tool) -> bool {
    let written = || reach(tool).iter().any(|reach| matches!(reach, Reach::File { .. }));
    media(tool) && named(tool, words::DELIVERY).is_none() && !written()
}

/// Parameters that take the path of a file.
pub fn paths(tool: &Tool) -> Vec<String> {
    let takes = |param: &Param<'_>| {
        let name = words::words(param.name);
        let last = name.last().map_or("", String::as_str);
        (param.is("string") || param.is("array"))
            && matches!(last, "path" | "paths" | "filename" | "filepath" | "directory" | "dir")
    };
    tool.params().iter().filter(|param| takes(param)).map(|param| param.path.clone()).collect()
}
