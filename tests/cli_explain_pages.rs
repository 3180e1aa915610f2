//! The pages of the whole policy and of rendered files, on the real program.

mod support;

use serde_json::Value;
use support::{FIVE, Repo, triage};

#[test]
fn the_policy_on_one_page() {
    insta::assert_snapshot!(triage().page(&["explain"]), @"
    hosts
      claude-code  Claude Code  seen on @anthropic-ai/claude-code 2.1.332, 2026-11-30
      codex        Codex        seen on @openai/codex 0.171.0, 2026-11-30

    roles: capabilities out of the role's hands, by how hard, and grants it has no tool for
      role    host         form         denied                             unreachable  known from, if
      triage  claude-code  sub-agent    27 enforced, 2 guarded, 2 advised  0            ran, if in-root, if on-path, if
                                                                                        approved
      triage  claude-code  main agent   27 enforced, 2 guarded, 2 advised  0            ran, if in-root, if on-path, if
                                                                                        approved
      triage  codex        sub-agent    31 advised                         0            ran, if trusted
      triage  codex        own process  31 advised                         0            ran, if run, if no-servers, if
                                                                                        no-allow-rules, if trusted

    budgets
      tool-result, shell tools: target 12 KiB, limit 32 KiB
        claude-code  enforced by size, ran, if       `bashOutputMaxChars` in `.claude/settings.json` = 12288 characters for
                     in-root                         `tool-result.target`
        codex        enforced by size, ran, if       `tool_output_token_limit` in `.codex/config.toml` = 6770 tokens for
                     trusted                         `tool-result.limit`; results of calls nested in `exec` reach its script
                                                     uncut, only what the script returns is cut
      tool-result, mcp tools: target 12 KiB, limit 32 KiB
        claude-code  advised by size, ran            text only: the host has no setting for it
        codex        enforced by size, ran, if       `tool_output_token_limit` in `.codex/config.toml` = 6770 tokens for
                     trusted                         `tool-result.limit`; results of calls nested in `exec` reach its script
                                                     uncut, only what the script returns is cut
      search: target 20, limit 100
        claude-code, codex  advised by size, ran  text only: the host has no setting for it
      instructions: target 12 KiB, limit 32 KiB
        claude-code, codex  guarded by size, ran  the compilation refuses to render more than the limit; text of your own is
                                                  not in it

    servers: what a session has of them, by host
      tickets
        get_ticket        claude-code  no limit, ran, if approved, if      `mcp__tickets__get_ticket`, safe; in `.mcp.json`;
                                       trusted                             runs without asking
        get_ticket        codex        no limit, ran, if trusted           `mcp__tickets__get_ticket`, safe; in
                                                                           `.codex/config.toml`; runs without asking
        set_ticket        claude-code  prompted by approval, ran, if       `mcp__tickets__set_ticket`, dangerous; in
                                       approved                            `.mcp.json`; a person is asked first
        set_ticket        codex        prompted by approval, ran, if       `mcp__tickets__set_ticket`, dangerous; in
                                       trusted                             `.codex/config.toml`; a person is asked first
        every other tool  claude-code  denied, prompted by approval, ran,  tools of the server that the policy does not name
                                       if approved, if default-mode
        every other tool  codex        denied, enforced absence, ran, if   tools of the server that the policy does not name
                                       trusted                             are left out in `.codex/config.toml`

    where, on claude-code
      if in-root       it is started in the root of the repository; else roles load from a folder below, and the hooks and
                       settings of the project do not (the limits it carries fail open); how: start it in the root, or by
                       `rolecast run`
      if on-path       rolecast is on the PATH of the session; else the hook's command ends with the code that blocks, so
                       every call it watches is refused
      if approved      the servers of `.mcp.json` were accepted in Claude Code since it was last rendered, or the session
                       runs without a person; else they are not connected; how: start `claude` once in the folder and accept
                       them
      if trusted       the folder's dialog was accepted in Claude Code; else what the repository allows is not obeyed, and
                       the tool asks; how: start `claude` once in the folder and accept it
      if default-mode  the session asks before it uses tools, as it does unless a mode or a rule of yours says otherwise;
                       else the tool runs without asking (the limits it carries fail open)

    where, on codex
      if trusted         the project is trusted in Codex; else .codex/config.toml and the roles are ignored with a warning,
                         and the sandbox is read-only; a project marked untrusted loses AGENTS.md too; how: start codex once
                         in the folder and accept it
      if run             started by `rolecast run`; else there is no such process
      if no-servers      no MCP server of yours can write files; else it writes where it likes, because servers run outside
                         of the sandbox (the limits it carries fail open)
      if no-allow-rules  no command rule of yours or of the project says `allow`; else what it allows runs outside of the
                         sandbox (the limits it carries fail open)

    findings: none
    ");
}

#[test]
fn delivery_names_the_file_of_every_text_with_times_and_bytes() {
    insta::assert_snapshot!(triage().page(&["explain", "--delivery"]), @"
    Claude Code (claude-code)
      main agent
        core        always  38  arrives once through `AGENTS.md`, included by `CLAUDE.md`
        web         paths   17  arrives once through `.claude/rules/web.md`, when such files are touched
        host notes  always  49  arrives once through `CLAUDE.md`
      sub-agents
        core        always  38   arrives once through `AGENTS.md`, included by `CLAUDE.md`
        web         paths   17   arrives once through `.claude/rules/web.md`, when such files are touched
        host notes  always  49   arrives once through `CLAUDE.md`
        triage      role    617  its own file `.claude/agents/triage.md`

    Codex (codex)
      main agent
        core        always  38  arrives once through `AGENTS.md`
        web         paths   17  arrives once by a line among the host notes, if trusted
        host notes  always  97  arrives once through `.codex/config.toml`, if trusted
      sub-agents
        core        always  38   arrives once through `AGENTS.md`
        web         paths   17   arrives once by a line in the role
        host notes  always  37   arrives once in the role
        triage      role    697  its own file `.codex/agents/triage.toml`
      where
        if trusted  the project is trusted in Codex; else .codex/config.toml and the roles are ignored with a warning, and
                    the sandbox is read-only; a project marked untrusted loses AGENTS.md too; how: start codex once in the
                    folder and accept it

    on demand: one line arrives, and names the file with the bytes

    files
      file                       ours                       bytes  for
      .claude/agents/triage.md   whole file                 617    claude-code
      .claude/rules/web.md       whole file                 158    claude-code
      .claude/settings.json      entries                    768    claude-code
                                 `permissions/allow`,
                                 `permissions/ask`,
                                 `hooks/PreToolUse`,
                                 `bashOutputMaxChars`
      .codex/agents/triage.toml  whole file                 697    codex
      .codex/config.toml         entries                    363    codex
                                 `mcp_servers/tickets`,
                                 `developer_instructions`,
                                 `tool_output_token_limit`
      .codex/hooks.json          entries                    350    codex
                                 `hooks/PreToolUse`
      .mcp.json                  entries                    66     claude-code
                                 `mcpServers/tickets`
      .rolecast/guard.json       whole file                 2,596  claude-code, codex
      .rolecast/rules/web.md     whole file                 31     claude-code, codex
      AGENTS.md                  block                      47     claude-code, codex
      CLAUDE.md                  block                      61     claude-code
    ");
}

#[test]
fn cost_counts_the_users_own_text_beside_ours() {
    insta::assert_snapshot!(triage().page(&["explain", "--cost"]), @"
    bytes that each host is given at every start
      host         shared  notes  frame  ours  your own  together  tokens, estimated  in each role
      claude-code  47      49     112    208   20        228       ~57                0
      codex        47      97     50     194   20        214       ~53                129
      estimated at 4 bytes a token; `in each role` is what every role's file carries besides its own prompt

    `ours` against the budget `instructions`: target 12,288 bytes, limit 32,768 bytes
      claude-code  12,080 under the target; 32,560 under the limit; no cut of its own is known
      codex        12,094 under the target; 32,574 under the limit; the host cuts over 32,768 bytes of instructions, 214 are
                   given
    ");
}

#[test]
fn tools_say_what_they_make_possible_and_who_has_them() {
    insta::assert_snapshot!(triage().page(&["explain", "--tools", "--host", "claude-code"]), @"
    Claude Code (claude-code), seen on @anthropic-ai/claude-code 2.1.332, 2026-11-30
      tool                                            roles that have it  makes possible
      Read                                            triage              repo.read, image.view
      Grep                                            -                   repo.search
      Glob                                            -                   repo.search
      Edit                                            -                   repo.edit, repo.create, policy.edit
      Write                                           triage              repo.edit, repo.create, policy.edit
      NotebookEdit                                    -                   repo.edit
      Bash                                            -                   repo.*, docs.*, shell.run, runtime.run, web.*,
                                                                          browser.*, memory.*, ticket.*, db.*, agent.spawn,
                                                                          mcp.resources, history.read, policy.edit
      PowerShell                                      -                   repo.*, docs.*, shell.run, runtime.run, web.*,
                                                                          browser.*, memory.*, ticket.*, db.*, agent.spawn,
                                                                          mcp.resources, history.read, policy.edit
      Monitor                                         -                   repo.*, docs.*, shell.run, runtime.run, web.*,
                                                                          browser.*, memory.*, ticket.*, db.*, agent.spawn,
                                                                          mcp.resources, history.read, policy.edit
      WebFetch                                        triage              web.*
      WebSearch                                       -                   web.search
      Agent                                           -                   repo.*, docs.*, shell.run, runtime.run, web.*,
                                                                          browser.*, memory.*, ticket.*, db.*, agent.spawn,
                                                                          mcp.resources, history.read, policy.edit
      Workflow                                        -                   repo.*, docs.*, shell.run, runtime.run, web.*,
                                                                          browser.*, memory.*, ticket.*, db.*, agent.spawn,
                                                                          mcp.resources, history.read, policy.edit
      SendMessage                                     -                   repo.*, docs.*, shell.run, runtime.run, web.*,
                                                                          browser.*, memory.*, ticket.*, db.*, agent.spawn,
                                                                          mcp.resources, history.read, policy.edit
      CronCreate                                      -                   repo.*, docs.*, shell.run, runtime.run, web.*,
                                                                          browser.*, memory.*, ticket.*, db.*, agent.spawn,
                                                                          mcp.resources, history.read, policy.edit
      ScheduleWakeup                                  -                   repo.*, docs.*, shell.run, runtime.run, web.*,
                                                                          browser.*, memory.*, ticket.*, db.*, agent.spawn,
                                                                          mcp.resources, history.read, policy.edit
      Skill                                           -                   skill.use
      TaskCreate                                      -                   plan.track
      TaskGet                                         -                   plan.track
      TaskList                                        -                   plan.track
      TaskUpdate                                      -                   plan.track
      AskUserQuestion                                 -                   user.ask
      EnterWorktree                                   -                   repo.create
      ExitWorktree                                    -                   repo.delete
      ListMcpResourcesTool                            -                   mcp.resources
      ReadMcpResourceTool                             -                   mcp.resources
      mcp__claude-in-chrome__tabs_context_mcp         -                   browser.inspect
      mcp__claude-in-chrome__tabs_create_mcp          -                   browser.inspect
      mcp__claude-in-chrome__tabs_close_mcp           -                   browser.inspect
      mcp__claude-in-chrome__navigate                 -                   browser.inspect
      mcp__claude-in-chrome__read_page                -                   browser.inspect
      mcp__claude-in-chrome__get_page_text            -                   browser.inspect
      mcp__claude-in-chrome__find                     -                   browser.inspect
      mcp__claude-in-chrome__resize_window            -                   browser.inspect
      mcp__claude-in-chrome__read_console_messages    -                   browser.inspect
      mcp__claude-in-chrome__read_network_requests    -                   browser.inspect
      mcp__claude-in-chrome__computer                 -                   browser.inspect, browser.capture, browser.interact
      mcp__claude-in-chrome__form_input               -                   browser.interact
      mcp__claude-in-chrome__upload_image             -                   browser.interact
      mcp__claude-in-chrome__file_upload              -                   repo.read, browser.interact
      mcp__claude-in-chrome__gif_creator              -                   browser.capture
      mcp__claude-in-chrome__javascript_tool          -                   browser.inspect, browser.interact, browser.script
      mcp__claude-in-chrome__browser_batch            -                   browser.*
      mcp__claude-in-chrome__shortcuts_execute        -                   browser.*
      mcp__tickets__get_ticket, if approved           triage              ticket.read
      mcp__tickets__set_ticket, if approved           -                   ticket.*
      ToolSearch                                      -                   none of the capabilities
      ReportFindings                                  -                   none of the capabilities
      TaskStop                                        -                   none of the capabilities
      ListAgents                                      -                   none of the capabilities
      CronDelete                                      -                   none of the capabilities
      CronList                                        -                   none of the capabilities
      EnterPlanMode                                   -                   none of the capabilities
      ExitPlanMode                                    -                   none of the capabilities
      mcp__claude-in-chrome__shortcuts_list           -                   none of the capabilities
      mcp__claude-in-chrome__list_connected_browsers  -                   none of the capabilities
      mcp__claude-in-chrome__select_browser           -                   none of the capabilities
      mcp__claude-in-chrome__switch_browser           -                   none of the capabilities
      servers
        tickets  directly  the host leaves out by itself, or asks for, what the policy does not name
      where
        if approved  the servers of `.mcp.json` were accepted in Claude Code since it was last rendered, or the session runs
                     without a person; else they are not connected; how: start `claude` once in the folder and accept them

    servers of the policy; a tool that is not named here is granted to nobody, and where a host cannot leave it out the
    session has it all the same
      tickets/get_ticket  ticket.read
      tickets/set_ticket  ticket.*
    ");
}

#[test]
fn every_page_is_json_too_and_says_the_same_twice() {
    let repo = Repo::with(FIVE);
    for page in [&["explain"][..], &["explain", "--delivery"], &["explain", "--cost"], &["explain", "--tools"]] {
        assert_eq!(repo.json(page), repo.json(page));
    }
    let delivery = repo.json(&["explain", "--delivery"]);
    let hosts = delivery["hosts"].as_array().expect("hosts");
    assert_eq!(hosts.len(), 5);
    for text in hosts.iter().flat_map(|h| h["rules"].as_array().expect("rules")) {
        assert!(text["min"].as_u64() >= Some(1), "{text}");
    }
    let overview = repo.json(&["explain"]);
    let budgets = overview["lines"].as_array().expect("lines").iter().filter(|l| l["subject"]["budget"].is_object());
    assert_eq!(budgets.count(), 5 * 10);
}

#[test]
fn bytes_of_the_cost_page_are_those_of_the_files() {
    let repo = Repo::with(FIVE);
    let cost = repo.json(&["explain", "--cost"]);
    let delivery = repo.json(&["explain", "--delivery"]);
    let file = |path: &str| {
        let files = delivery["files"].as_array().expect("files");
        files.iter().find(|f| f["path"] == path).map(|f| f["bytes"].clone()).expect("rendered")
    };
    for host in cost["hosts"].as_array().expect("hosts") {
        assert_eq!(host["shared"], file("AGENTS.md"));
    }
    assert_eq!(cost["hosts"][2]["notes"], file(".github/copilot-instructions.md"));
}

#[test]
fn a_rendered_file_names_its_sources() {
    insta::assert_snapshot!(triage().page(&["explain", "./.claude/agents/triage.md"]), @r#"
.claude/agents/triage.md
  rendered  the whole file
  for       claude-code
  from      shared-agent-rules/roles/triage.md
  template  <builtin>/templates/claude-code/role.md
"#);
}

/// Places of one line as `path:line how`.
fn places(repo: &Repo, subject: &str) -> Vec<String> {
    let page = repo.json(&["explain", subject]);
    assert_eq!(page["ours"], true, "{page}");
    let text = |v: &Value| v.as_str().expect("text").to_owned();
    let places = page["places"].as_array().expect("places").iter();
    places.map(|p| format!("{}:{} {}", text(&p["path"]), p["line"], text(&p["how"]))).collect()
}

#[test]
fn a_line_is_traced_to_its_source_line() {
    let repo = triage();
    let body = "shared-agent-rules/core.md:7 the same line";
    // The user's text and the begin marker stand above: the rule's heading is line 6.
    let repo = repo.file(
        "AGENTS.md",
        "# Mine\n\nMy own text.\n\n<!-- rolecast:begin -->\n## Core\n\nLook at most at 100 results.\nBe brief.\n<!-- rolecast:end -->\n",
    );
    assert_eq!(places(&repo, "AGENTS.md:6"), ["shared-agent-rules/core.md:2 its front matter"]);
    assert_eq!(places(&repo, "AGENTS.md:8"), ["shared-agent-rules/core.md:6 as a template"]);
    assert_eq!(places(&repo, "AGENTS.md:9"), [body]);
    assert_eq!(places(&repo, ".claude/agents/triage.md:8"), ["shared-agent-rules/roles/triage.md:17 the same line"]);
    assert_eq!(
        places(&repo, ".claude/agents/triage.md:5"),
        [
            "<builtin>/templates/claude-code/role.md:5 the host's template",
            "shared-agent-rules/roles/triage.md:3 planned from its grants and denials",
        ]
    );
    assert_eq!(places(&repo, "AGENTS.md:5"), Vec::<String>::new());
}

#[test]
fn a_line_of_the_users_own_is_not_claimed() {
    let repo = triage().file("AGENTS.md", "# Mine\n\n<!-- rolecast:begin -->\n## Core\n<!-- rolecast:end -->\n");
    insta::assert_snapshot!(repo.page(&["explain", "AGENTS.md:1"]), @r#"
AGENTS.md:1
  # Mine
not rendered: this line is your own
"#);
}

#[test]
fn a_setting_is_traced_to_its_budget_and_foreign_settings_are_not() {
    let repo =
        triage().file(".claude/settings.json", "{\n  \"bashOutputMaxChars\": 12288,\n  \"theme\": \"dark\"\n}\n");
    assert_eq!(
        places(&repo, ".claude/settings.json:2"),
        ["shared-agent-rules/policy.yaml:4 its budget, in the unit of the host"]
    );
    assert_eq!(repo.json(&["explain", ".claude/settings.json:3"])["ours"], false);
}

#[test]
fn an_import_line_says_what_it_includes() {
    insta::assert_snapshot!(triage().page(&["explain", "CLAUDE.md:2"]), @r#"
CLAUDE.md:2
  @AGENTS.md
written in no source: it includes the rendered `AGENTS.md`
"#);
}

#[test]
fn a_line_of_a_settings_file_that_is_not_there_yet_has_no_place() {
    let run = triage().run(&["explain", ".claude/settings.json:2"]);
    assert_eq!(run.code, 2);
    insta::assert_snapshot!(run.err, @r#"
error: `.claude/settings.json` has no line 2
help: it is not there yet; run `rolecast render`
"#);
}
