//! The case that this tool was made for, as a script: one ticket, done without a policy and with one. Logs are made from
//! it (`logs.rs`), and the numbers of `mod.rs` are counted from what stands here.

/// An agent of the session.
pub struct Agent {
    pub session: &'static str,
    /// Empty for the main one.
    pub id: &'static str,
    pub role: Option<&'static str>,
    /// It was given the history of its parent.
    pub history: bool,
    pub steps: Vec<Step>,
}

pub enum Step {
    /// A request with so many tokens of input, and the call that the model answers with.
    Ask(u64, Option<Call>),
    /// The host compacts by itself, at so many tokens.
    Compact(u64),
}

pub struct Call {
    pub tool: Tool,
    /// Bytes of text in its result.
    pub text: usize,
    /// Characters of base64 in its result.
    pub picture: usize,
    /// The host's reviewer is asked first.
    pub reviewed: bool,
}

pub enum Tool {
    Server(&'static str, &'static str, &'static str),
    Shell(&'static str),
    Read(&'static str),
    Patch(&'static str),
    Spawn(&'static str),
}

/// Base64 of a picture of 1,080,993 bytes.
pub const PICTURE: usize = 1_441_324;
/// What one host lets through of a long result, of which 32 KiB are 32,768.
pub const LONG: usize = 40_111;

fn call(tool: Tool, text: usize) -> Call {
    Call { tool, text, picture: 0, reviewed: false }
}

/// Browser calls: `clicks` and `visits` with 700 bytes, pages with 20,000, of which the first `long` have more than the
/// limit, and pictures. One after the other, so that each kind is spread over the session.
fn browsing(visits: usize, clicks: usize, pages: usize, long: usize, pictures: usize, reviewed: bool) -> Vec<Call> {
    let mut left = [
        ("browser_navigate", visits),
        ("browser_click", clicks),
        ("browser_snapshot", pages),
        ("browser_take_screenshot", pictures),
    ];
    let (mut all, mut seen) = (Vec::new(), 0);
    while left.iter().any(|(_, n)| *n > 0) {
        for (name, n) in left.iter_mut().filter(|(_, n)| *n > 0) {
            *n -= 1;
            let text = match *name {
                "browser_snapshot" => {
                    seen += 1;
                    if seen <= long { LONG } else { 20_000 }
                }
                "browser_take_screenshot" => 100,
                _ => 700,
            };
            let picture = if *name == "browser_take_screenshot" { PICTURE } else { 0 };
            let tool = Tool::Server("playwright", name, r#"{"target":"e12"}"#);
            all.push(Call { tool, text, picture, reviewed });
        }
    }
    all
}

/// Requests that grow by the same number of tokens, one for each call and one after the last.
fn growing(first: u64, by: u64, calls: Vec<Call>) -> Vec<Step> {
    let last = first + by * calls.len() as u64;
    let asks = calls.into_iter().enumerate().map(|(n, call)| Step::Ask(first + by * n as u64, Some(call)));
    asks.chain([Step::Ask(last, None)]).collect()
}

/// Without a policy.
pub fn before() -> Vec<Agent> {
    let taxonomy = |tool| call(Tool::Server("kb", tool, "{}"), 900);
    let shell = |line| Call { reviewed: true, ..call(Tool::Shell(line), 400) };
    let mut calls = vec![taxonomy("list_tags"), taxonomy("list_topics"), taxonomy("list_tags")];
    calls.extend([shell("npm ci"), shell("npm run build"), shell("npm run dev")]);
    // 19 + 60 + 36 + 4 = 119
    calls.extend(browsing(19, 60, 36, 4, 4, true));
    calls.push(call(Tool::Spawn("docs_writer"), 60));
    let main = growing(24_000, 1_420, calls);
    // 11 + 30 + 18 + 8 = 67
    let mut steps = growing(204_000, 800, browsing(11, 30, 18, 5, 8, true));
    steps.push(Step::Compact(258_000));
    steps.push(Step::Ask(41_000, Some(call(Tool::Patch("docs/tickets.md"), 80))));
    steps.push(Step::Ask(41_900, None));
    vec![
        Agent { session: "ticket-before", id: "", role: None, history: false, steps: main },
        Agent { session: "ticket-before", id: "docs-before", role: Some("docs_writer"), history: true, steps },
    ]
}

/// The same ticket under the policy: nothing is looked up before it is needed, the parent looks at the page and hands on
/// what it found, the writer writes.
pub fn after() -> Vec<Agent> {
    let reason = r#"{"target":"e12","escalation_reason":"no-host-browser"}"#;
    let browser = |tool, args, text, reviewed| Call { reviewed, ..call(Tool::Server("playwright", tool, args), text) };
    let calls = vec![
        call(Tool::Read("src/tickets.ts"), 6_000),
        call(Tool::Shell("rg -n tickets src"), 1_500),
        call(Tool::Patch("src/tickets.ts"), 80),
        browser("browser_navigate", reason, 700, false),
        browser("browser_snapshot", "{}", 9_800, false),
        browser("browser_click", r#"{"target":"e12"}"#, 700, true),
        browser("browser_click", r#"{"target":"e14"}"#, 700, true),
        // The picture is a file; its path is the result.
        browser("browser_take_screenshot", "{}", 120, false),
        call(Tool::Shell("npm test"), 2_500),
        call(Tool::Spawn("docs_writer"), 60),
    ];
    let write = vec![call(Tool::Read("docs/tickets.md"), 3_000), call(Tool::Patch("docs/tickets.md"), 80)];
    vec![
        Agent { session: "ticket-after", id: "", role: None, history: false, steps: growing(21_000, 1_100, calls) },
        Agent {
            session: "ticket-after",
            id: "docs-after",
            role: Some("docs_writer"),
            history: false,
            steps: growing(18_000, 900, write),
        },
    ]
}
