//! What goes into the planner and what comes out.

use std::sync::Arc;

use crate::model::adapter::{Adapter, Agent};
pub use crate::model::user_file::UserFile;

/// When a rule is before the agent; the planner needs no more of the activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// From the start.
    Always,
    /// When files that match are touched.
    Paths,
    /// When the agent follows the trigger line.
    OnDemand,
}

/// One rule of the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleInfo {
    /// Its name, also in paths.
    pub id: String,
    /// When it is before the agent.
    pub activation: Kind,
    /// Whether it is for the main agent.
    pub main: bool,
    /// Whether it is for sub-agents.
    pub roles: bool,
}

/// One selected host.
#[derive(Debug, Clone, Copy)]
pub struct HostInput<'a> {
    /// What the host reads and what may carry text to it.
    pub adapter: &'a Adapter,
    /// Whether there are host notes for it.
    pub wants_card: bool,
    /// Whether roles are rendered for it.
    pub has_roles: bool,
}

/// What is to be delivered, to whom, and what stands there already.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    /// The selected set.
    pub hosts: Vec<HostInput<'a>>,
    /// The rules in their order; the result names them by their index.
    pub rules: &'a [RuleInfo],
    /// The roles' names in the policy.
    pub roles: &'a [String],
    /// Files of the user. Our own blocks and whole files are not among them, whatever stands on disk.
    pub user: &'a [UserFile],
}

/// The plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Files with instruction text of ours, by path; then the files of scoped rules, by carrier and rule.
    pub files: Vec<PlannedFile>,
    /// One for each host, in the order of the input.
    pub hosts: Vec<HostDelivery>,
    /// Rules (by index) that need a file of their own, `.rolecast/rules/ID.md`: on-demand ones, and those a line points to.
    pub pointed: Vec<usize>,
    /// What is not as it should be, or hangs on something we do not own.
    pub findings: Vec<Finding>,
}

/// A file and what of ours is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// Relative to the root.
    pub path: String,
    /// How we own it.
    pub own: Own,
    /// Our texts, in this order.
    pub parts: Vec<Part>,
    /// Selected hosts that take it, by themselves or through an import line, in the order of the input. Thousands of rules have
    /// the same ones.
    pub hosts: Arc<[String]>,
}

/// How a planned file is owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Own {
    /// Between our markers.
    Block,
    /// The whole file.
    Whole {
        /// Whose carrier it is.
        host: Arc<str>,
        /// Template below that host's templates.
        template: Option<Arc<str>>,
    },
    /// A value in an `entries` output.
    Entry {
        /// Whose output it is.
        host: String,
        /// Which output.
        output: String,
    },
}

/// A text of ours in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A line that includes another file.
    Import {
        /// The line.
        line: String,
        /// The included file, relative to the root.
        target: String,
    },
    /// The shared text.
    Shared,
    /// A host's card.
    Card {
        /// Whose.
        host: String,
    },
    /// A scoped rule.
    Rule {
        /// Index of the rule.
        rule: usize,
    },
}

/// How the texts come to one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostDelivery {
    /// Which host.
    pub host: String,
    /// How the shared text comes to the main agent; none = not at all, or there is none.
    pub shared: Option<Route>,
    /// How the card comes to the main agent; none = not at all, or there is none.
    pub card: Option<Route>,
    /// The scoped rules.
    pub scoped: Vec<Scoped>,
    /// Settings that make the host read our files.
    pub switches: Vec<Switch>,
    /// What every role's body must carry, besides the rules that are for roles only.
    pub body: Body,
    /// How often each rule arrives, by its index.
    pub arrivals: Vec<Reach>,
    /// How often the card arrives.
    pub card_arrivals: Reach,
}

/// The way of a text to a main agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The file with the text.
    pub file: String,
    /// How the host comes to it.
    pub how: How,
    /// Conditions of the reads on the way, by their names in the adapter.
    pub conditions: Vec<String>,
}

/// How a host comes to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// It reads it by itself.
    Direct,
    /// It reads a link to it.
    Linked {
        /// The link.
        from: String,
    },
    /// Another file that it takes includes it.
    Imported {
        /// That file.
        by: String,
    },
    /// A setting of ours names it.
    Switched {
        /// Output with the setting.
        output: String,
        /// Pointer of the setting.
        pointer: String,
    },
}

/// How one scoped rule comes to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scoped {
    /// Index of the rule.
    pub rule: usize,
    /// To the main agent.
    pub main: ScopedRoute,
    /// To sub-agents.
    pub roles: ScopedRoute,
}

/// The way of a scoped rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopedRoute {
    /// It is not for these agents, or there is no way.
    None,
    /// By the host's own path rules.
    Native {
        /// Index in [`Delivery::files`].
        file: usize,
    },
    /// By a line on the card that points to the rule's file.
    CardLine,
    /// By such a line in every role's body.
    BodyLine,
}

/// A setting that makes a host read a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// Output with the setting.
    pub output: String,
    /// Pointer of the setting.
    pub pointer: String,
    /// File to name there.
    pub file: String,
}

/// What every role's body must carry because the sub-agent does not get it otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Body {
    /// The shared text.
    pub shared: bool,
    /// The card, without its lines for path rules.
    pub card: bool,
    /// Lines for path rules: those whose [`Scoped::roles`] is [`ScopedRoute::BodyLine`].
    pub path_lines: bool,
}

/// How often a text arrives, at least and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// At least.
    pub min: u32,
    /// At most.
    pub max: u32,
}

impl Range {
    /// Always this often.
    pub const fn exactly(n: u32) -> Self {
        Self { min: n, max: n }
    }
}

/// How often a text arrives at whom, as long as the conditions on its way hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reach {
    /// Main agent.
    pub main: Range,
    /// Each role's sub-agent; nothing when the host has no roles.
    pub roles: Range,
}

/// A text in a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// The shared text.
    Shared,
    /// A host's card.
    Card {
        /// Whose.
        host: String,
    },
    /// The user's own text in a file.
    User {
        /// The file.
        file: String,
        /// Its size in bytes.
        bytes: u64,
    },
    /// Scoped rules, by index; they all fare alike.
    Rules {
        /// Which.
        rules: Vec<usize>,
    },
}

/// Something a person should know about the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A text arrives more than once.
    Repeated {
        /// At which host.
        host: String,
        /// At whom.
        agent: Agent,
        /// Which text.
        text: Text,
        /// How often.
        times: u32,
        /// Files it comes through, as the host takes them.
        via: Vec<String>,
    },
    /// A text does not arrive.
    Never {
        /// At which host.
        host: String,
        /// At whom.
        agent: Agent,
        /// Which text.
        text: Text,
    },
    /// The host takes no instruction file at all: only its roles carry the rules.
    MainUntold {
        /// Which host.
        host: String,
    },
    /// A file of the user that the host reads today would no longer be read.
    UserUnread {
        /// Which host.
        host: String,
        /// Which file.
        file: String,
        /// Our files whose existence does that.
        because: Vec<String>,
    },
    /// A file of the user that the host does not read today would be read.
    UserGained {
        /// Which host.
        host: String,
        /// Which file.
        file: String,
    },
    /// Rules for the main agent only also come to sub-agents.
    MainOnlyReachesRoles {
        /// At which host.
        host: String,
        /// Which rules, by index.
        rules: Vec<usize>,
    },
    /// No file carries the card to this host's main agent; role bodies carry it.
    NoCardCarrier {
        /// Which host.
        host: String,
        /// Carriers there would be, but that other hosts read too, or that the user owns.
        taken: Vec<String>,
    },
    /// A host also loads the card of another one.
    ForeignCard {
        /// Who loads it.
        host: String,
        /// Whose it is.
        card: String,
    },
    /// A path rule is before the agent all the time.
    ScopedAlways {
        /// At which host.
        host: String,
        /// Carrier of the rules.
        carrier: String,
    },
    /// A text arrives only as long as something we do not own stays as it is.
    Perhaps {
        /// At which host.
        host: String,
        /// Which text.
        text: Text,
        /// Files that must not come into being.
        without: Vec<String>,
        /// Files of the user that must go on including or linking.
        with: Vec<String>,
        /// Conditions that must hold.
        conditions: Vec<String>,
    },
    /// A host takes a role file rendered for another one, because no file of its own has the same name or its own does not win.
    BorrowedRoles {
        /// Who takes it.
        host: String,
        /// For whom it is rendered.
        from: String,
        /// The file.
        file: String,
    },
}
