//! What a sentence says: when, and which tools it demands. Made to miss rather than to cry wolf.

/// A word of a text in lower case, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Lower case, without apostrophes.
    pub text: String,
    /// Byte offset of the first character.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// The words of `text`, places shifted by `base`. `_` is part of a word, as tools are named that way.
pub fn words(text: &str, base: usize) -> Vec<Word> {
    let mut all: Vec<Word> = Vec::new();
    let mut open = false;
    for (at, c) in text.char_indices() {
        let end = base + at + c.len_utf8();
        match all.last_mut() {
            Some(word) if open && (c.is_alphanumeric() || c == '_') => {
                word.text.extend(c.to_lowercase());
                word.end = end;
            }
            Some(word) if open && matches!(c, '\'' | '’') => word.end = end,
            _ if c.is_alphanumeric() || c == '_' => {
                all.push(Word { text: c.to_lowercase().collect(), start: base + at, end });
                open = true;
            }
            _ => open = false,
        }
    }
    all
}

/// Phrases that mean the start of every session or task. Words with `|` between alternatives; `?` after a
/// word that may be missing.
const STARTS: &[&str] = &[
    "at|on|upon the? very? start|beginning|outset of? each|every|any|a|the|your|this|all? new? session|sessions|conversation|conversations|chat|chats|task|tasks",
    "at|on|upon session|conversation|chat start|startup|begin",
    "when|whenever|once|time a|the|each|every|any|your new? session|conversation|chat starts|begins|opens",
    "start|begin|open each|every|any|all|the|your new? session|sessions|conversation|conversations|chat|chats by|with",
    "in|for each|every new? session|conversation|chat",
    "before you? do|doing|start|starting|begin|beginning anything",
    "before anything else",
    "before each|every|any task|tasks|response|answer|reply|action|prompt|request|ticket|turn",
    "before you? do|doing|start|starting|begin|beginning|answer|answering each|every|any task|tasks|work|ticket|tickets|question|questions|prompt",
    "always first",
    "always start|begin by|with",
    "first thing",
    "your very? first action|step|call|move|tool",
];

/// Headings of sections about the start of a session.
const HEADINGS: &[&str] = &[
    "session start|startup|initialization|initialisation|bootstrap|kickoff",
    "start|beginning of a|the|each|every? session",
    "every|each session",
];

/// Words with which a sentence forbids, limits or leaves open what it names.
const RESTRAINTS: &[&str] = &[
    "not",
    "dont",
    "doesnt",
    "shouldnt",
    "neednt",
    "cannot",
    "cant",
    "mustnt",
    "never",
    "no",
    "nothing",
    "none",
    "avoid",
    "without",
    "only",
    "unless",
    "instead",
    "skip",
    "if",
    "needed",
    "necessary",
    "rather",
    "nor",
    "neither",
    "stop",
    "forbidden",
    "optional",
    "optionally",
];

const VERBS: &[&str] = &[
    "search",
    "query",
    "read",
    "load",
    "fetch",
    "call",
    "use",
    "consult",
    "check",
    "retrieve",
    "recall",
    "open",
    "review",
    "list",
    "scan",
    "explore",
    "browse",
    "run",
    "invoke",
    "get",
    "pull",
    "crawl",
    "enumerate",
    "look",
    "access",
    "walk",
    "study",
];
/// Verbs that go looking; reading one named document is no discovery.
const SEEKING: &[&str] = &["search", "query", "list", "scan", "explore", "browse", "crawl", "enumerate", "consult"];
/// Words after which a verb is a noun.
const ARTICLES: &[&str] = &["the", "a", "an", "this", "that", "its", "each", "every", "of"];
const MODALS: &[&str] = &["will", "may", "can", "could", "might", "would"];
const PERSONS: &[&str] = &["you", "we", "i", "agent", "agents", "assistant", "assistants", "model"];

/// What may follow `memory` when the machine's is meant …
const MACHINE_AFTER: &[&str] = &[
    "usage",
    "leak",
    "leaks",
    "limit",
    "limits",
    "allocation",
    "allocations",
    "allocator",
    "footprint",
    "profile",
    "profiler",
    "profiling",
    "address",
    "addresses",
    "map",
    "mapping",
    "mapped",
    "maps",
    "safety",
    "management",
    "manager",
    "consumption",
    "pressure",
    "barrier",
    "barriers",
    "layout",
    "model",
    "pool",
    "pools",
    "size",
    "dump",
    "dumps",
    "heap",
    "budget",
    "access",
    "requirements",
    "page",
    "pages",
    "region",
    "regions",
    "overhead",
    "stats",
    "statistics",
    "cache",
    "ordering",
    "unsafe",
    "constraints",
    "buffer",
    "buffers",
];
/// … or one file.
const FILE_AFTER: &[&str] =
    &["md", "txt", "json", "rs", "py", "ts", "js", "go", "c", "h", "cpp", "yaml", "yml", "toml"];
const MACHINE_BEFORE: &[&str] = &[
    "virtual", "heap", "physical", "gpu", "free", "system", "device", "in", "flash", "video", "process", "main",
    "into", "from",
];
const DOCS: &[&str] = &["docs", "documentation", "wiki"];
const WHOLE: &[&str] = &["all", "entire", "full", "whole", "complete", "every"];
/// Parts of the name of a tool that looks into something …
const AREAS: &[&str] = &[
    "memory",
    "memories",
    "taxonomy",
    "taxonomies",
    "catalog",
    "catalogue",
    "knowledge",
    "docs",
    "documents",
    "documentation",
];
/// … and what it does there.
const ACTIONS: &[&str] = &[
    "search", "list", "read", "get", "query", "recall", "load", "find", "fetch", "browse", "open", "retrieve",
    "explore", "mcp", "status", "dump",
];
/// Tools of common memory servers whose names say neither.
const TOOLS: &[&str] = &["read_graph", "search_nodes", "open_nodes"];
/// Most words between a verb and its object.
const REACH: usize = 5;

/// Whether the words say "at the start of every session or task".
pub fn says_start(words: &[Word]) -> bool {
    STARTS.iter().any(|p| found(words, p))
}

/// Whether a heading with these words opens a section about the start of a session.
pub fn heads_start(words: &[Word]) -> bool {
    says_start(words) || HEADINGS.iter().any(|p| found(words, p))
}

/// Whether the words forbid or limit.
pub fn restrains(words: &[Word]) -> bool {
    words.iter().any(|w| RESTRAINTS.contains(&w.text.as_str()))
}

/// Where the words demand a discovery tool: first and last word of the demand. `text` is what the places of
/// the words are in.
pub fn demand(words: &[Word], text: &str) -> Option<(usize, usize)> {
    (0..words.len()).find_map(|at| {
        if tool(&words[at].text) {
            return Some((at, at));
        }
        let verb = VERBS.contains(&words[at].text.as_str()) && acts(words, at);
        verb.then(|| object(words, at, text).map(|to| (at, to))).flatten()
    })
}

/// Whether the demand that starts at this word is an order: the first word, or after one that orders.
pub fn ordered(words: &[Word], at: usize) -> bool {
    const BEFORE: &[&str] = &["always", "must", "first", "then", "to", "you", "please", "and", "should", "by"];
    tool(&words[at].text) || at == 0 || BEFORE.contains(&words[at - 1].text.as_str()) || words[..at].iter().all(number)
}

fn number(word: &Word) -> bool {
    word.text.chars().all(|c| c.is_ascii_digit())
}

/// Whether the word at `at` is a verb for the agent, as far as its neighbours tell.
fn acts(words: &[Word], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|i| words.get(i)).map_or("", |w| w.text.as_str());
    if ARTICLES.contains(&before(1)) {
        return false;
    }
    !MODALS.contains(&before(1)) || PERSONS.contains(&before(2))
}

/// The last word of what the verb at `at` is to look into.
fn object(words: &[Word], at: usize, text: &str) -> Option<usize> {
    let last = words.len().min(at + 2 + REACH);
    (at + 1..last).find(|&i| area(words, at, i, text))
}

fn area(words: &[Word], verb: usize, at: usize, text: &str) -> bool {
    let word = |i: usize| words.get(i).map_or("", |w| w.text.as_str());
    let (this, before, after) = (word(at), word(at - 1), word(at + 1));
    let path = text.get(words[at].end..).is_some_and(|rest| rest.starts_with('/'))
        || text.get(..words[at].start).is_some_and(|head| head.ends_with('/'));
    match this {
        "memory" if after == "bank" => true,
        "memory" | "memories" => {
            !path
                && !MACHINE_AFTER.contains(&after)
                && !FILE_AFTER.contains(&after)
                && !MACHINE_BEFORE.contains(&before)
        }
        "taxonomy" | "taxonomies" => !path,
        "knowledge" => matches!(after, "base" | "bases" | "graph" | "store" | "catalog" | "catalogue"),
        "catalog" | "catalogue" => {
            !path
                && (DOCS.contains(&before)
                    || WHOLE.contains(&before)
                    || matches!(before, "document" | "tool" | "memory"))
        }
        docs if DOCS.contains(&docs) && !path && after != "md" => {
            SEEKING.contains(&word(verb)) || words[verb..at].iter().any(|w| WHOLE.contains(&w.text.as_str()))
        }
        _ => false,
    }
}

/// Whether a word is the name of a discovery tool.
pub fn tool(word: &str) -> bool {
    let any = |list: &[&str]| word.split('_').any(|part| list.contains(&part));
    TOOLS.contains(&word) || (word.contains('_') && any(AREAS) && any(ACTIONS))
}

/// Whether the words of a command name something that looks into memory, documentation or a taxonomy.
pub fn command_discovers(words: &[Word]) -> bool {
    let parts: Vec<&str> = words.iter().flat_map(|w| w.text.split('_')).filter(|p| !p.is_empty()).collect();
    let has = |list: &[&str]| parts.iter().any(|p| list.contains(p));
    parts.windows(2).any(|w| w[0] == "knowledge" && matches!(w[1], "base" | "graph"))
        || words.iter().any(|w| TOOLS.contains(&w.text.as_str()))
        || has(&["taxonomy", "taxonomies", "mem0"])
        || (has(ACTIONS)
            && has(&["memory", "memories"])
            && !parts.windows(2).any(|w| w[0] == "memory" && MACHINE_AFTER.contains(&w[1])))
        || (has(SEEKING) && has(&["docs", "documentation", "catalog", "catalogue", "knowledge"]))
}

fn found(words: &[Word], pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.split(' ').collect();
    (0..words.len()).any(|at| matches(&words[at..], &parts))
}

fn matches(words: &[Word], pattern: &[&str]) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return true };
    let (choices, optional) = first.strip_suffix('?').map_or((*first, false), |c| (c, true));
    let here = words.first().is_some_and(|w| choices.split('|').any(|c| c == w.text));
    (here && matches(&words[1..], rest)) || (optional && matches(words, rest))
}
