//! A repository that names the composition in one line, with the real server and the real browser behind it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::gateway::Gateway;

/// Roles of the repository, with their grants.
const ROLES: &[(&str, &str)] = &[
    ("looker", "browser.inspect: {}"),
    ("tester", "browser.inspect: {}, browser.capture: {}, browser.interact: {}, repo.read: {}"),
    (
        "writer",
        "browser.inspect: {}, browser.capture: {}, browser.interact: {}, repo.read: {}, repo.create: {}, repo.edit: {}",
    ),
];
/// A tool of the repository's own that takes a path and knows `delivery`.
const SAVE: &str = "tools:
  save_picture:
    description: Save a picture where you want it.
    primitive: playwright/browser_take_screenshot
    arguments: { path: { type: string, required: false } }
    bind: { filename: { argument: path }, scale: { constant: css } }
    confers: [browser.capture, repo.create, repo.edit]
    bounds: { inline-media: true }
";
/// Where browsers are; the variable `ROLECAST_CHROMIUM` comes first.
const BROWSERS: &[&str] = &["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/// Playwright MCP and a browser for it, when both are there.
fn installed() -> Option<(PathBuf, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let servers = std::env::var_os("ROLECAST_SERVERS").map_or_else(|| root.join("tests/servers"), PathBuf::from);
    let program = servers.join("node_modules/@playwright/mcp/cli.js");
    let named = std::env::var_os("ROLECAST_CHROMIUM").map(PathBuf::from);
    let browser = named.into_iter().chain(BROWSERS.iter().map(PathBuf::from)).find(|path| path.exists());
    let missing = match &browser {
        _ if !program.exists() => "Playwright MCP; see tests/servers/install",
        None => "a Chromium (package `chromium` of Debian); its path may stand in ROLECAST_CHROMIUM",
        Some(browser) => return Some((program, browser.clone())),
    };
    let say = format!("*** NOT RUN: not installed: {missing}");
    assert!(std::env::var_os("CI").is_none(), "{say}");
    eprintln!("{say}");
    None
}

/// A repository, and beside it what stands for the network: `npx`, which starts the package that is installed.
pub struct Place {
    repository: tempfile::TempDir,
    beside: tempfile::TempDir,
}

impl Place {
    /// One that has pinned the server; nothing where a part is not installed.
    pub fn pinned() -> Option<Self> {
        let place = Self::new()?;
        let (code, said) = place.run(&["audit", "playwright", "--accept", "--quiet"]);
        assert_eq!(code, 0, "{said}");
        Some(place)
    }

    /// One in which nothing was pinned yet.
    pub fn new() -> Option<Self> {
        let (program, browser) = installed()?;
        let place = Self { repository: tempfile::tempdir().unwrap(), beside: tempfile::tempdir().unwrap() };
        place.put_npx(&program);
        // Nothing but the page is loaded: the machine may have no network.
        let arguments = [
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-quic",
            "--no-first-run",
            "--disable-gpu",
        ];
        let launch = json!({ "executablePath": browser, "chromiumSandbox": false, "args": arguments });
        let config = place.beside.path().join("playwright.json");
        std::fs::write(&config, json!({ "browser": { "launchOptions": launch } }).to_string()).unwrap();
        place.write(
            "shared-agent-rules/policy.yaml",
            &format!(
                "version: 1\nhosts: {{ claude-code: {{}} }}\nextends: [builtin, builtin/playwright]\nservers:\n  \
                 playwright:\n    env: {{ PLAYWRIGHT_MCP_CONFIG: {{ literal: {config:?} }} }}\n{SAVE}"
            ),
        );
        for (role, grants) in ROLES {
            let text = format!("---\ndescription: Uses a browser.\ngrants: {{ {grants} }}\n---\nYou use a browser.\n");
            place.write(&format!("shared-agent-rules/roles/{role}.md"), &text);
        }
        let git = Command::new("git").args(["init", "--quiet"]).current_dir(place.root()).status().unwrap();
        assert!(git.success());
        Some(place)
    }

    /// A program that starts exactly the package the composition names, and writes down what it is sent.
    fn put_npx(&self, program: &Path) {
        let npx = self.beside.path().join("npx");
        let (log, program) = (self.beside.path().join("sent.jsonl"), program.display());
        let version = include_str!("../servers/package.json");
        let version: Value = serde_json::from_str(version).unwrap();
        let version = version["dependencies"]["@playwright/mcp"].as_str().unwrap();
        let script = format!(
            "#!/bin/sh\n[ \"$1 $2\" = '-y @playwright/mcp@{version}' ] || exit 9\nshift 2\n\
             tee -a '{}' | node '{program}' \"$@\"\n",
            log.display()
        );
        std::fs::write(&npx, script).unwrap();
        std::fs::set_permissions(&npx, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn root(&self) -> &Path {
        self.repository.path()
    }

    /// What the server was sent, one message a line.
    pub fn sent(&self) -> String {
        std::fs::read_to_string(self.beside.path().join("sent.jsonl")).unwrap_or_default()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolecast"));
        let path = std::env::var("PATH").unwrap_or_default();
        command.args(args).current_dir(self.root()).env("NO_COLOR", "1");
        command.env("PATH", format!("{}:{path}", self.beside.path().display()));
        command
    }

    /// Runs the program: exit code, and all it said.
    pub fn run(&self, args: &[&str]) -> (i32, String) {
        let out = self.command(args).output().unwrap();
        let said = [out.stdout, out.stderr].concat();
        (out.status.code().unwrap(), String::from_utf8(said).unwrap())
    }

    pub fn serve(&self, role: Option<&str>) -> Gateway {
        let args: Vec<&str> = ["serve"].into_iter().chain(role.iter().flat_map(|role| ["--role", role])).collect();
        Gateway::start(self.command(&args))
    }

    /// Every file of the working folder with its bytes, but for what the gateway keeps.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let all = walkdir::WalkDir::new(self.root()).sort_by_file_name().into_iter();
        let own = all.filter_entry(|entry| !entry.path().ends_with(".rolecast")).map(Result::unwrap);
        let files = own.filter(|entry| entry.file_type().is_file());
        files.map(|entry| (entry.path().to_owned(), std::fs::read(entry.path()).unwrap())).collect()
    }

    /// What git sees that it was not told of.
    pub fn untracked(&self) -> String {
        let arguments = ["status", "--porcelain", "--untracked-files=all"];
        let out = Command::new("git").args(arguments).current_dir(self.root()).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    }

    /// Lines of the record.
    pub fn record(&self) -> Vec<Value> {
        let entries = std::fs::read_dir(self.root().join(".rolecast/log")).unwrap().flatten();
        let logs = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "jsonl"));
        let text: String = logs.map(|path| std::fs::read_to_string(path).unwrap()).collect();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
