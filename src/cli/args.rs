//! What can be written on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// One policy for AI coding agents, compiled into what every host really obeys
#[derive(Debug, Parser)]
#[command(name = "rolecast", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Arguments {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Printed below `--help`.
const EXIT_CODES: &str =
    "Exit codes: 0 clean, 1 drift or findings, 2 usage, 3 the policy is invalid, 4 environment or I/O, 70 internal";

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Policy folder [default: the nearest `shared-agent-rules/` upwards]
    #[arg(long, global = true, value_name = "DIR")]
    pub policy: Option<String>,
    /// Repository root [default: the folder of the policy, else of the git repository]
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<String>,
    /// Format of results
    #[arg(long, global = true, value_enum, default_value_t = FormatChoice::Human)]
    pub format: FormatChoice,
    /// Print errors only
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print more
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
}

/// Format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatChoice {
    /// For people
    Human,
    /// For programs
    Json,
    /// Annotations of a GitHub workflow
    Github,
    /// SARIF 2.1.0
    Sarif,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start in a repository: detect hosts and write the smallest policy
    Init(InitArgs),
    /// Compile the policy and write what every host reads
    Render(RenderArgs),
    /// Compare the repository with the policy; exit 1 when they differ
    Check(CheckArgs),
    /// Tell what holds: for a role, a rendered file, or the whole policy
    Explain(ExplainArgs),
    /// Start a role as a process of its own, the way its limits hold
    Run(RunArgs),
    /// Try what the ledger claims on the host programs of this machine, offline
    Verify(VerifyArgs),
    /// Decide a call of a tool that a host is about to make (hosts run this; the call is read from standard input)
    Guard(GuardArgs),
    /// Serve the tools of a role over MCP on the standard streams: composed, narrowed, bounded and recorded
    Serve(ServeArgs),
    /// Be the MCP server that `verify` adds to a policy
    #[command(hide = true)]
    VerifyServer,
    /// Hold the declared servers against the tools they really offer, and pin them
    Audit(AuditArgs),
    /// List, try and fill the stores and web interfaces that tools are made from
    Primitives(PrimitivesArgs),
    /// Author roles
    Role(RoleArgs),
    /// Read the logs of sessions, and hold them against the policy
    Measure(MeasureArgs),
    /// Run a scenario on a host with your own model, several times, and tell how often it went as asked
    Eval(EvalArgs),
    /// Be a server that a scenario plays
    #[command(hide = true)]
    ScenarioServer(ScenarioServerArgs),
    /// Start or check a delegation packet
    Packet(PacketArgs),
    /// List the hosts and what is known of them
    Hosts(HostsArgs),
    /// Print the JSON Schema of a file format
    Schema(SchemaArgs),
    /// Print a completion script
    Completions(CompletionsArgs),
}

/// `init`
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Hosts to select [default: those detected]
    #[arg(long = "host", value_name = "HOST")]
    pub hosts: Vec<String>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// `render`
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Write only the files of this host (planning stays on the whole set); without a policy, select it
    #[arg(long = "host", value_name = "HOST")]
    pub hosts: Vec<String>,
    /// Print what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Overwrite what was edited by hand or is not ours
    #[arg(long)]
    pub force: bool,
}

/// `check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Look at what is staged (`index`) or committed (`HEAD`) instead of the working tree
    #[arg(long, value_name = "TREE")]
    pub against: Option<Against>,
    /// Line ends and byte order marks count
    #[arg(long)]
    pub strict_eol: bool,
}

/// A tree of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Against {
    /// What is staged
    Index,
    /// What is committed
    #[value(name = "HEAD")]
    Head,
}

/// `explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A role, or a rendered file with or without `:LINE` [default: the whole policy]
    pub subject: Option<String>,
    /// Which file carries each text to whom
    #[arg(long, conflicts_with_all = ["cost", "tools"])]
    pub delivery: bool,
    /// What each host is given at every start, in bytes
    #[arg(long, conflicts_with = "tools")]
    pub cost: bool,
    /// Which roles have each tool
    #[arg(long)]
    pub tools: bool,
    /// Only this host
    #[arg(long = "host", value_name = "HOST")]
    pub hosts: Vec<String>,
}

/// `verify`
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Only this host; it counts as a failure when it is not installed
    #[arg(long = "host", value_name = "HOST")]
    pub hosts: Vec<String>,
    /// Only this role
    #[arg(long = "role", value_name = "ROLE")]
    pub roles: Vec<String>,
    /// Folder with the hosts' npm packages, instead of the path
    #[arg(long, value_name = "DIR")]
    pub host_bin: Option<String>,
    /// Write what was seen into the policy folder, where the ledger reads it
    #[arg(long)]
    pub accept: bool,
}

/// `run`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The role
    pub role: String,
    /// The host [default: the only selected one that can start it]
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Start it with this file as its assignment and without a person; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub packet: Option<String>,
    /// Print the command and what holds, and start nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Flags for the host's own program, passed on unchanged; one that loosens a limit is not noticed
    #[arg(last = true, value_name = "FLAGS")]
    pub flags: Vec<String>,
}

/// `serve`
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The role; without it, the main agent
    #[arg(long, value_name = "ROLE")]
    pub role: Option<String>,
    /// The host that is served: what it has itself is left out, and answers are no larger than it shows whole; several
    /// where they share the entry
    #[arg(long = "host", value_name = "HOST")]
    pub hosts: Vec<String>,
    /// Only tools of this risk
    #[arg(long, value_enum)]
    pub risk: Option<OfRisk>,
    /// A value that the policy takes from here
    #[arg(long = "runtime", value_name = "NAME=VALUE")]
    pub runtime: Vec<String>,
    /// Start every server at once and show its tools as they are
    #[arg(long)]
    pub eager: bool,
    /// Print what would be shown, and serve nothing
    #[arg(long)]
    pub list: bool,
}

/// A risk
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OfRisk {
    /// Reads what the repository or a public source shows
    Safe,
    /// Changes the repository, or reads what is not public
    Restricted,
    /// Runs code, or changes something outside the repository
    Dangerous,
}

/// `audit`
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// Only these servers [default: all that are enabled]
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,
    /// Read a saved answer to `tools/list` instead of starting the server
    #[arg(long, value_name = "FILE")]
    pub from: Option<String>,
    /// Pin what is offered now
    #[arg(long)]
    pub accept: bool,
    /// Print the entries of the policy that would agree with what is offered
    #[arg(long, conflicts_with = "accept")]
    pub suggest: bool,
}

/// `primitives`
#[derive(Debug, Args)]
pub struct PrimitivesArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: PrimitivesCommand,
}

/// What to do with primitives.
#[derive(Debug, Subcommand)]
pub enum PrimitivesCommand {
    /// List them, with the tools that are made from each
    List,
    /// Serve the primitives of one name over MCP as they are, with nothing bound: to try them, not for a role
    Serve {
        /// Its name in `primitives:`
        name: String,
    },
    /// Put documents into a store: one JSON object a line, with `id`, `text` and `metadata`; all or nothing
    Load {
        /// Its name in `primitives:`
        store: String,
        /// The file, or `-` for standard input
        file: String,
        /// Remove documents that are not in the file
        #[arg(long)]
        whole: bool,
    },
}

/// `role`
#[derive(Debug, Args)]
pub struct RoleArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: RoleCommand,
}

/// What to do with roles.
#[derive(Debug, Subcommand)]
pub enum RoleCommand {
    /// Write a new role
    New {
        /// Its name
        name: String,
        /// The role to start from
        #[arg(long, value_name = "ROLE")]
        from: Option<String>,
    },
    /// List the roles
    List,
    /// Print a role's source
    Show {
        /// Its name
        name: String,
    },
}

/// `guard`
#[derive(Debug, Args)]
pub struct GuardArgs {
    /// The host that asks
    #[arg(long, value_name = "HOST")]
    pub host: String,
    /// Tell the model, after a call, of a threshold of its context that it passed; never refuses
    #[arg(long)]
    pub context: bool,
}

/// `measure`
#[derive(Debug, Args)]
pub struct MeasureArgs {
    /// Logs, or folders with logs
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
    /// The sessions of this host on this machine
    #[arg(long = "host", value_name = "HOST")]
    pub hosts: Vec<String>,
    /// Only so many sessions, the last ones
    #[arg(long, value_name = "N")]
    pub last: Option<usize>,
    /// Only sessions written to since a day (`2026-11-30`) or for a time (`7d`, `12h`)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Tokens of the context window, of logs that do not say it
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub window: Option<u64>,
    /// Hold each session against this expectation of the policy; exit 1 when one is broken
    #[arg(long, value_name = "NAME")]
    pub expect: Option<String>,
    /// Propose budgets from what was measured, as a part of a policy
    #[arg(long, conflicts_with = "expect")]
    pub calibrate: bool,
    /// Write every event as a row instead of a report, for other programs to aggregate
    #[arg(long, value_name = "KIND", conflicts_with_all = ["expect", "calibrate", "html"])]
    pub export: Option<ExportKind>,
    /// Where the events go: a file, or a folder for `events.KIND` [default: standard output, but for Parquet]
    #[arg(short, long, value_name = "PATH", requires = "export")]
    pub output: Option<PathBuf>,
    /// Write the report as a page for a browser: one file, without scripts, that loads nothing
    #[arg(long, value_name = "FILE", conflicts_with = "calibrate")]
    pub html: Option<PathBuf>,
}

/// What events are exported as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportKind {
    /// Apache Parquet
    Parquet,
    /// A JSON object a line
    Jsonl,
    /// OpenTelemetry's JSON of logs, as the Collector's `otlpjsonfile` receiver reads
    Otlp,
}

/// `eval`
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The scenario [default: list them]
    pub scenario: Option<String>,
    /// The host; may be given several times
    #[arg(long = "host", value_name = "HOST")]
    pub hosts: Vec<String>,
    /// How often, on each host; every run is a session that you pay for
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub runs: Option<u64>,
    /// Also with another policy: of a revision, of a folder below the root, or `none`
    #[arg(long, value_name = "BASE")]
    pub compare: Option<String>,
    /// In a copy of this repository instead of the scenario's own
    #[arg(long)]
    pub here: bool,
    /// After so many seconds a run is ended and has not passed
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
    /// Agree to the cost
    #[arg(long)]
    pub yes: bool,
    /// Write the rates into the policy folder, where the ledger reads them
    #[arg(long)]
    pub accept: bool,
    /// Folder with the hosts' npm packages, instead of the path
    #[arg(long, value_name = "DIR")]
    pub host_bin: Option<String>,
    /// Let a scripted model on loopback do the task, in an empty home
    #[arg(long, value_name = "FILE", hide = true, conflicts_with = "accept")]
    pub script: Option<String>,
}

/// `scenario-server`
#[derive(Debug, Args)]
pub struct ScenarioServerArgs {
    /// File with the servers
    pub file: String,
    /// Which
    pub server: String,
}

/// `packet`
#[derive(Debug, Args)]
pub struct PacketArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: PacketCommand,
}

/// What to do with packets.
#[derive(Debug, Subcommand)]
pub enum PacketCommand {
    /// Print an empty packet for a role
    New {
        /// The role
        role: String,
    },
    /// Check a packet against the policy
    Check {
        /// The packet, or `-` for standard input
        file: String,
    },
}

/// `hosts`
#[derive(Debug, Args)]
pub struct HostsArgs {
    /// Ask the programs of this machine for their versions, and mark what was verified on others
    #[arg(long)]
    pub installed: bool,
    /// Folder with the hosts' npm packages, instead of the path
    #[arg(long, value_name = "DIR", requires = "installed")]
    pub host_bin: Option<String>,
}

/// `schema`
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Which format [default: list them]
    pub name: Option<String>,
}

/// `completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
