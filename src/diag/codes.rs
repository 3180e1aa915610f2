//! Every diagnostic code once: identity, default level, title and explanation.

use super::Severity;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = ($id:literal, $severity:ident, $title:literal);)+) => {
        /// The identity of a kind of diagnostic. The doc text of each is its public explanation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[doc = $doc])+ $name),+ }

        impl Code {
            /// All codes in the order of the catalogue.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The stable `kebab-case` identity.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => $id),+ }
            }

            /// The level a diagnostic of this code has by itself.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity),+ }
            }

            /// One line for lists.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title),+ }
            }

            /// Why it is reported and what to do, in Markdown.
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc, "\n"),+)),+ }
            }
        }
    };
}

codes! {
    /// A source is not well-formed YAML, or goes over the limits set for sources (1 MiB, 20,000 nodes,
    /// 24 levels, one document).
    YamlSyntax = ("yaml-syntax", Error, "a source is not well-formed YAML");
    /// A key that the schema does not know. Unknown keys are never ignored: a misspelt restriction would
    /// silently not exist.
    UnknownKey = ("unknown-key", Error, "a key that the schema does not know");
    /// The same key twice in one mapping; one of the two would be lost.
    DuplicateKey = ("duplicate-key", Error, "the same key twice in one mapping");
    /// A key that must be there is missing.
    MissingKey = ("missing-key", Error, "a required key is missing");
    /// A value of the wrong kind, or outside the values allowed here.
    InvalidValue = ("invalid-value", Error, "a value of the wrong kind or out of range");
    /// A file that is no acceptable text: not UTF-8, larger than 1 MiB, or with a NUL byte or control
    /// characters in it. It is not read any further.
    Encoding = ("encoding", Error, "a file is not acceptable text");
    /// Characters that cannot be seen, or that change the order in which the text is seen (bidirectional
    /// overrides, tag characters, spaces without width). An agent would read what a reviewer cannot.
    HiddenText = ("hidden-text", Warning, "characters that a reviewer cannot see");
    /// A role or rule file without front matter, or with one that is not closed. The file must start
    /// with a `---` line and a second `---` line must end the YAML.
    FrontMatter = ("front-matter", Error, "a Markdown source has no complete front matter");
    /// A source cannot be read: it is missing, not a regular file, a link that leads out of the root, or
    /// not permitted.
    SourceUnreadable = ("source-unreadable", Error, "a source cannot be read");
    /// A file or folder in the policy folder that is not read, or roles that stand where nothing reads them.
    /// What looks like a source is an error: the restriction written in it would not exist. The rest is a
    /// warning.
    UnreadFile = ("unread-file", Error, "a file of the policy folder is not read");
    /// A section stands in two YAML files of one policy folder. Together the files are one document.
    DuplicateSection = ("duplicate-section", Error, "a section stands in two files");
    /// The policy says no version, or one that this program does not know.
    PolicyVersion = ("policy-version", Error, "the policy's version is missing or unknown");
    /// The policy folder has no YAML file.
    PolicyMissing = ("policy-missing", Error, "the policy folder holds no policy");
    /// Policies extend each other in a circle.
    ExtendsLoop = ("extends-loop", Error, "policies extend each other in a circle");
    /// A path in a policy is absolute, has `..` or leads out of the root.
    PathOutside = ("path-outside", Error, "a path leaves the root");
    /// `without` names a role or rule that is not inherited; the misspelt one would stay.
    WithoutNothing = ("without-nothing", Error, "`without` names nothing that is inherited");
    /// A layer loosens what inherited policies may only see tightened: hard limits, a reason that must be
    /// recorded, what a session may load at its start, how much history roles are given.
    LoosensInherited = ("loosens-inherited", Error, "an inherited bound is loosened");
    /// A budget's target is greater than its limit.
    BudgetOrder = ("budget-order", Error, "a target is over its limit");
    /// Context thresholds are out of order.
    ContextOrder = ("context-order", Error, "context thresholds are out of order");
    /// The policy selects no host, so that nothing would be rendered and every check would pass.
    NoHosts = ("no-hosts", Error, "the policy selects no host");
    /// No adapter has this id.
    UnknownHost = ("unknown-host", Error, "unknown host");
    /// No role has this name.
    UnknownRole = ("unknown-role", Error, "unknown role");
    /// No capability has this name. A grant or denial of something unknown would silently mean nothing.
    UnknownCapability = ("unknown-capability", Error, "unknown capability");
    /// A capability of the policy's own is not `family.verb`, or its name is taken.
    CapabilityName = ("capability-name", Error, "a name cannot be a capability");
    /// An adapter is inconsistent in itself.
    AdapterInvalid = ("adapter-invalid", Error, "an adapter is inconsistent");
    /// A role's file name is not a name that every host takes.
    RoleName = ("role-name", Error, "a name cannot be a role's");
    /// Two roles have names that some host writes alike; one would replace the other there.
    DuplicateRole = ("duplicate-role", Error, "two roles are one name");
    /// A role without text starts an agent that knows nothing.
    RoleEmpty = ("role-empty", Error, "a role has no text");
    /// A role that is granted nothing cannot even read: it can only answer from what it is told.
    RoleGrantsNothing = ("role-grants-nothing", Warning, "a role is granted nothing");
    /// A text has template expressions of ours, but its file does not say `template: true`: agents would
    /// read the braces.
    TemplateOff = ("template-off", Warning, "a text looks like a template and is none");
    /// A rule's file name is not a name that every host takes.
    RuleName = ("rule-name", Error, "a name cannot be a rule's");
    /// A rule without text.
    RuleEmpty = ("rule-empty", Error, "a rule has no text");
    /// A grant is scoped by something its capability does not take.
    ScopeKind = ("scope-kind", Error, "a grant has a scope its capability does not take");
    /// A scope that is empty grants nothing, or would be read as everything.
    ScopeEmpty = ("scope-empty", Error, "a scope is empty");
    /// A command under `commands.forbid` that hosts would read in different ways, or that stands there twice. Taken
    /// are plain words, from the program on; `*` may stand as the last word.
    CommandPattern = ("command-pattern", Error, "not a command to forbid");
    /// A path pattern that not every host understands, or that leaves the root.
    GlobInvalid = ("glob-invalid", Error, "not a path pattern");
    /// A role grants and denies the same capability.
    DenyMeetsGrant = ("deny-meets-grant", Error, "a capability is both granted and denied");
    /// A waiver without a reason.
    WaiverReason = ("waiver-reason", Error, "a waiver gives no reason");
    /// A waiver that nothing needs: the denial holds without it, or there is none. Left in place it would
    /// hide the day it is lost.
    WaiverUnneeded = ("waiver-unneeded", Error, "a waiver is not needed");
    /// A role is given the whole history without saying why.
    ContextReason = ("context-reason", Error, "the whole history is given without a reason");
    /// A server's name has characters that some host changes.
    ServerName = ("server-name", Error, "a name cannot be a server's");
    /// A server has neither or both of `command` and `url`.
    ServerTransport = ("server-transport", Error, "a server needs either `command` or `url`");
    /// A secret is written down in the policy. Policies are committed; name an environment variable instead.
    LiteralSecret = ("literal-secret", Error, "a secret is written down in the policy");
    /// An exception for a text that looks like a secret gives no reason, or nothing needs it. Left in place it would
    /// hide the day a secret takes the text's place.
    SecretException = ("secret-exception", Error, "an exception for a secret is not in order");
    /// A server is declared and no host is given it: none of its tools is named, and no composed tool is made from it.
    /// An agent has the tools that the policy names, so that without one there is nothing to have.
    ServerUnused = ("server-unused", Warning, "no host is given a server");
    /// A host cannot be given a server as it is declared: it has no such transport, it cannot hand on a variable of the
    /// environment under another name, or it would take a part of a text for a reference. Written as near as the
    /// host allows it would be another server.
    ServerNotExpressible = ("server-not-expressible", Error, "a host cannot be given a server as declared");
    /// A time-out of the policy cannot be written for a host, which keeps its own.
    ServerTimeout = ("server-timeout", Note, "a host keeps its own time-out");
    /// Servers that a host reads today would no longer be read: the file that is rendered makes the host ignore
    /// the one they stand in.
    ServersShadowed = ("servers-shadowed", Warning, "a rendered file hides servers of the user");
    /// A tool covers a capability that it does not confer.
    CoversNotConferred = ("covers-not-conferred", Error, "a tool covers what it does not confer");

    /// A name that a host would cut, refuse or split; a tool under another name is a tool nobody checked.
    NameUnusable = ("name-unusable", Error, "a host would change a name");
    /// Two tools become one name on a host.
    NameCollision = ("name-collision", Error, "two tools become one name on a host");
    /// A host cannot hold what a role denies. The compilation stops rather than render a role that only
    /// looks limited; a waiver with a reason, or leaving the host out, is a decision somebody made.
    DenyNotHeld = ("deny-not-held", Error, "a host cannot hold a denial");
    /// A file of evidence is not as `verify --accept` writes it.
    EvidenceInvalid = ("evidence-invalid", Error, "a file of evidence is not as it was written");
    /// Evidence about a role, form, capability, rule or budget that is not there. It counts for nothing.
    EvidenceNamesNothing = ("evidence-names-nothing", Warning, "evidence about something that is not there");
    /// Evidence about another plan: the tools of the role, its scope or the claim changed since. It counts for
    /// nothing, and the claims stand on what was known before. A warning when it said that something is broken.
    EvidenceOutdated = ("evidence-outdated", Note, "evidence about another plan");
    /// A host was seen not to do what is claimed of it. The ledger says what was seen instead; a denial that this
    /// misses stops the compilation.
    EvidenceBroken = ("evidence-broken", Warning, "a host was seen to break a claim");
    /// A template names something that does not exist, or does too much work.
    Template = ("template", Error, "a template cannot be rendered");

    /// A text arrives more than once at a host, which pays for it each time. The layout search found no
    /// better one for this set of hosts and these files of the user.
    TextRepeated = ("text-repeated", Warning, "a text arrives more than once");
    /// A text reaches nobody on a host.
    TextNever = ("text-never", Error, "a text does not arrive");
    /// A host takes no instruction file, so that only its roles can be given the rules.
    MainUntold = ("main-untold", Warning, "a host's main agent is given no rule");
    /// A file of the user that a host reads today would no longer be read after the render.
    UserFileUnread = ("user-file-unread", Error, "a file of the user would no longer be read");
    /// A file of the user that a host does not read today would be read after the render.
    UserFileGained = ("user-file-gained", Note, "a file of the user would newly be read");
    /// A host has no file that it alone reads at start. Its notes stand in its roles only, or another host
    /// is given them too.
    CardHomeless = ("card-homeless", Warning, "no file can carry a host's notes alone");
    /// A rule for some paths is before the agent all the time.
    ScopedAlways = ("scoped-always", Warning, "a rule for paths is always before the agent");
    /// A host takes roles rendered for another one, with that host's tools.
    RolesBorrowed = ("roles-borrowed", Error, "a host takes another host's roles");
    /// The always-on text of a host is over the target of `budgets.instructions`.
    InstructionsOverTarget = ("instructions-over-target", Warning, "always-on text is over its target");
    /// The always-on text of a host is over the limit of `budgets.instructions`.
    InstructionsOverLimit = ("instructions-over-limit", Error, "always-on text is over its limit");
    /// A text is over what the host takes; the rest would be cut or ignored without a word.
    HostLimit = ("host-limit", Error, "a text is over what a host takes");
    /// What the templates of an adapter make is not usable: no JSON where entries are wanted, or two
    /// different texts for one file.
    RenderFailed = ("render-failed", Error, "a render is not usable");
    /// A host reads the front matter of a file line by line, and would take what is rendered there for something
    /// else without a word: a list for a name, a word for no `true`, a text for its first part.
    FrontMatterUnread = ("front-matter-unread", Error, "a host would not read front matter as it is meant");
    /// A file of the repository does not say what the policy says: it was edited, its source moved, it is
    /// missing, or nothing asks for it any more.
    Drift = ("drift", Error, "a file does not say what the policy says");
    /// Something of the user is in the way of a render, which then writes nothing.
    OutputConflict = ("output-conflict", Error, "something of the user is in the way");
    /// An output cannot be read or written: a directory stands there, a link leads out of the root.
    OutputBlocked = ("output-blocked", Error, "an output cannot be read or written");
    /// A file that is not ours, and that a host loads or runs at every start, demands documentation, memory
    /// or taxonomy tools there. Every session then pays for a search that its task may not need, whatever the
    /// policy says about looking things up late.
    ForeignSessionStart = ("foreign-session-start", Warning, "a foreign file demands discovery at every start");
    /// A file beside the rendered roles is not JSON as its host reads it. The host does not say so: another role,
    /// which may do more, takes its place.
    RoleUnread = ("role-unread", Warning, "a host cannot read a role of the user");

    /// A composed tool cannot be what it says: its name is not one that every host and model takes, or is taken by
    /// a tool of the gateway itself; it confers nothing; it has no description, or hints that contradict each other.
    ComposedTool = ("composed-tool", Error, "a composed tool cannot be");
    /// The primitive of a composed tool is not there: no such server, or the server has no such tool.
    ComposedPrimitive = ("composed-primitive", Error, "the primitive of a tool is not there");
    /// An argument of a composed tool is used nowhere, has a name or type that cannot be, or allows what its
    /// primitive does not.
    ComposedArgument = ("composed-argument", Error, "an argument of a tool cannot be");
    /// A binding of a composed tool names an argument or parameter that is not there, or two bindings write the
    /// same place.
    ComposedBinding = ("composed-binding", Error, "a binding of a tool cannot be");
    /// A parameter that the primitive of a composed tool requires is bound to nothing, or only to an argument that may
    /// be left out: calls would fail.
    ComposedUnbound = ("composed-unbound", Error, "a required parameter is bound to nothing");
    /// An entry of `primitives:` cannot be what it says: its name is that of a server or the gateway, its file is not below
    /// the root, its embedder is no program, or a call of its web interface is no method and path of that interface.
    PrimitiveSource = ("primitive-source", Error, "a primitive cannot be");
    /// A line of a file of documents is no document: not one JSON object with `id`, `text` and `metadata`, an id that
    /// stands twice, a text that is empty or too long, or metadata that no filter could ask for. Nothing of the file is
    /// loaded.
    StoreDocument = ("store-document", Error, "a line is no document for a store");
    /// A program as a tool cannot be started as it is declared: it names no program, has no time, or has a placeholder for a
    /// parameter that is not there.
    ToolProgram = ("tool-program", Error, "the program of a tool cannot be");
    /// A value of the run time has no source that can give it.
    RuntimeSource = ("runtime-source", Error, "nothing can give a value of the run time");
    /// A tool is bound to a value of the run time that `runtime:` does not declare. It would be missing in every
    /// call.
    RuntimeUnknown = ("runtime-unknown", Error, "a value of the run time is not declared");

    /// An audit could not list the tools of a server: it does not start, does not answer in time, needs a variable
    /// that is not set, or answers what is not the protocol. Nothing is known of its tools; the other servers are
    /// audited all the same.
    ServerSilent = ("server-silent", Error, "the tools of a server cannot be listed");
    /// A server writes text to its standard output that is no message of the protocol. Clients differ in what they
    /// make of it; some end the session.
    ServerNoise = ("server-noise", Warning, "a server writes to its standard output what is no message");
    /// The specification gives a hint that is not explicit the worst meaning but for the first (`readOnlyHint` false,
    /// `destructiveHint` true, `idempotentHint` false, `openWorldHint` true), and hosts differ in what they take for
    /// granted: whether a person is asked then depends on the host.
    HintsMissing = ("hints-missing", Warning, "a tool does not state all four hints");
    /// A hint of a server and the policy contradict each other. Where the server says more than the policy it is an
    /// error: a role would be given what its grants do not cover. Where the hint promises more than the policy
    /// believes it is a warning: hosts that go by hints run such a tool without asking.
    HintContradicts = ("hint-contradicts", Error, "a hint and the policy contradict each other");
    /// A tool that is called read-only, by its hint or by the policy, has a parameter that writes a file, turns a look
    /// into a change, or takes code. An error where the policy does not say so, else a warning about the hint.
    SchemaContradicts = ("schema-contradicts", Error, "a read-only tool has parameters that change something");
    /// One tool looks and changes, by the value of one parameter. No host can give a role only one half of it, so it
    /// confers everything that any of its values does; an error where the policy says less. Better are
    /// narrow tools; `legacy: { superseded-by: [...] }` keeps the wide one and names them.
    MegaTool = ("mega-tool", Warning, "one tool both looks and changes");
    /// A tool that is kept as `legacy` is given to a role although its successors cover the same grants, or names a
    /// successor that does not exist.
    LegacyTool = ("legacy-tool", Warning, "a legacy tool is used where its successors would do");
    /// A tool lists or searches, and takes no limit, page or cursor: one call can fill the context.
    ListUnbounded = ("list-unbounded", Warning, "a list or search takes no limit");
    /// A tool answers with a text of any length and no part of it can be asked for.
    TextUnbounded = ("text-unbounded", Warning, "a text can be read only as a whole");
    /// A tool answers with an image or other media, and no parameter chooses between a file and the media itself,
    /// which then go into the context.
    MediaInline = ("media-inline", Warning, "media come without a choice of how");
    /// A server offers a tool that the policy does not classify. No role is granted it, but hosts that cannot list
    /// single tools give it to every role all the same, and nobody knows what it confers.
    ToolUnclassified = ("tool-unclassified", Error, "a tool is not classified");
    /// The policy classifies a tool that the server does not offer (any more).
    ToolGone = ("tool-gone", Error, "a classified tool does not exist");
    /// A role is granted a capability that only a tool served which does not exist.
    GrantUnserved = ("grant-unserved", Error, "a grant rests on a tool that does not exist");
    /// A tool's name is not of the form that the specification gives (1 to 128 of `A-Za-z0-9_-.`), or the server lists it
    /// twice.
    ToolName = ("tool-name", Warning, "a tool's name is not of the protocol's form");
    /// The definitions and instructions of a server are before the model in every session, used or not; together
    /// they are over the target of `budgets.instructions`. Tokens are estimated at four bytes each.
    DefinitionsCost = ("definitions-cost", Warning, "the definitions of a server cost more than always-on text may");
    /// An argument, environment value or address hands a server a place outside of the repository. Servers stand
    /// outside of every sandbox that a host has: what they are given, every role that has their tools can reach.
    ServerReachesOut = ("server-reaches-out", Warning, "a server is given a place outside of the root");
    /// Tools take paths, and nothing but the server itself keeps those inside of the repository.
    ToolTakesPath = ("tool-takes-path", Note, "a tool takes paths that only the server checks");
    /// A description or the instructions hold what a reviewer does not see: characters without width, that reorder text,
    /// tags, or HTML comments.
    DescriptionHides = ("description-hides", Error, "a server's text hides something from its reader");
    /// A description or the instructions give the model orders beyond the use of the tool itself: over other
    /// instructions, other tools, the person or the session.
    DescriptionOrders = ("description-orders", Warning, "a server's text gives the model orders");
    /// A server is not what it was when it was pinned: a tool was added, is gone, or has another schema, description or
    /// other hints. Look at what changed; then `rolecast audit SERVER --accept` pins what is there now.
    ContractChanged = ("contract-changed", Error, "a server is not what was pinned");
    /// Nothing is pinned of a declared server, so that a change would not be noticed and nothing can be checked
    /// without starting it.
    ContractUnpinned = ("contract-unpinned", Note, "a server is not pinned");
    /// It is had only through the gateway, which shows nothing of it.
    GatewayUnpinned = ("gateway-unpinned", Warning, "a server is had only through the gateway, and is not pinned");
    /// A packet is for a role that the policy does not have.
    PacketRole = ("packet-role", Error, "a packet is for an unknown role");
    /// The whole conversation is handed over where the role does not ask for it, or without a reason.
    PacketHistory = ("packet-history", Error, "the full history goes along without a reason");
    /// A part that `delegation.packet` asks for is missing, says nothing, stands there twice or out of order.
    PacketPart = ("packet-part", Error, "a part of a packet is missing or empty");
    /// The packet promises the role a capability that it does not have: the role would fail, or look for
    /// another way to do it.
    PacketCapability = ("packet-capability", Error, "a packet promises what the role does not have");
    /// Encoded media, output of a tool in one long piece (over 40 lines or 4 KiB), or what looks like a
    /// secret. Media and output cost context that a path and a line would not; a secret has then been seen.
    PacketPasted = ("packet-pasted", Error, "something is pasted that does not belong into a packet");
    /// The packet is over the target of `budgets.delegation-packet`, and its head does not say why.
    PacketSize = ("packet-size", Error, "a packet is over its target without a reason");
}
