//! `explain ROLE` and what `explain` refuses, on the real program.

mod support;

use serde_json::Value;
use support::{FIVE, Repo, triage};

#[test]
fn docs_writer_on_the_five_shipped_hosts() {
    let page = Repo::with(FIVE).page(&["explain", "docs_writer"]);
    insta::assert_snapshot!(page, @"
    docs_writer
    Writes and updates documentation from evidence the parent has already verified.

    Claude Code (claude-code), sub-agent and main agent
      seen on  @anthropic-ai/claude-code 2.1.332, 2026-11-30
      file     `.claude/agents/docs_writer.md`
      file     `.claude/agents/docs_writer.md`, as main agent by `claude --agent docs_writer`
      start    `rolecast run docs_writer --host claude-code`
      list     `Read`, `Grep`, `Glob`, `Edit`, `Write`
      can
        repo.read    no limit, ran         by `Read`
        repo.search  no limit, ran         by `Grep`, `Glob`
        repo.edit    guarded by path,      only `docs/**`, `README.md`, never the policy or rendered files; by `Edit`,
                     ran, if in-root, if   `Write`; a hook that exceeds its time lets the call through
                     on-path
        repo.create  guarded by path,      only `docs/**`, never the policy or rendered files; by `Write`, also through
                     ran, if in-root, if   `Edit`; a hook that exceeds its time lets the call through
                     on-path
      cannot, or must not
        repo.delete, runtime.run, web.*,      enforced absence,     no tool of the role confers it
        docs.search, docs.taxonomy,           ran
        docs.exhaustive, docs.write,
        memory.*, ticket.*, db.*,
        agent.spawn, user.ask, plan.track,
        skill.use, mcp.resources,
        history.read
        shell.run, browser.*                  enforced absence,     HELD, enforced demanded: no tool of the role confers it
                                              ran
        image.view                            advised, ran          not granted, but `Read` confers it; only text forbids it
        policy.edit                           guarded by path,      not granted; `Edit`, `Write` confers it and is refused;
                                              ran, if in-root, if   a hook that exceeds its time lets the call through
                                              on-path
      granted, out of reach
        repo.diff, docs.validate  no tool, ran  `Bash` would do it, and confers `shell.run`, `browser.inspect`,
                                                `browser.capture`, `browser.interact`, `browser.script`, which the role
                                                denies; hand it back to the parent
      where
        if in-root  it is started in the root of the repository; else roles load from a folder below, and the hooks and
                    settings of the project do not (the limits it carries fail open); how: start it in the root, or by
                    `rolecast run`
        if on-path  rolecast is on the PATH of the session; else the hook's command ends with the code that blocks, so every
                    call it watches is refused

    Codex (codex), sub-agent
      seen on  @openai/codex 0.171.0, 2026-11-30
      file     `.codex/agents/docs_writer.toml`
      removed  nothing
      tools    `exec_command`, `write_stdin`, `apply_patch`, `view_image`, `web_search`, `collaboration.spawn_agent`,
               `collaboration.followup_task`, `collaboration.send_message`, `update_plan`, `create_goal`, `get_goal`,
               `update_goal`, `request_user_input`, `request_user_input_async`, `list_mcp_resources`,
               `list_mcp_resource_templates`, `read_mcp_resource`
      always   `exec`, `wait`, `clock.sleep`, `clock.curr_time`, whatever the list says
      can
        repo.read, repo.search    no limit, ran, if     by `exec_command`, also through `write_stdin`,
                                  trusted               `collaboration.spawn_agent`
        repo.diff, docs.validate  no limit, ran, if     by `exec_command`, `write_stdin`, `collaboration.spawn_agent`
                                  trusted
        repo.edit, repo.create    advised by path,      repo.edit only `docs/**`, `README.md`; repo.create only `docs/**`,
                                  ran, if trusted       never the policy or rendered files; by `apply_patch`, also through
                                                        `exec_command`, `write_stdin`, `collaboration.spawn_agent`; the
                                                        scope is only text: nothing that is rendered here can narrow
                                                        `exec_command`, `write_stdin`, `collaboration.spawn_agent`
      cannot, or must not
        repo.delete, runtime.run, web.*,      advised, ran, if      not granted, but `exec_command`, `write_stdin`,
        docs.search, docs.taxonomy,           trusted               `collaboration.spawn_agent` (and others some of it)
        docs.exhaustive, docs.write,                                confers it; only text forbids it
        memory.*, ticket.*, db.*,
        agent.spawn, skill.use,
        mcp.resources, history.read,
        policy.edit
        shell.run, browser.*                  advised, ran, if      NOT HELD, enforced demanded, waived: not granted, but
                                              trusted               `exec_command`, `write_stdin`,
                                                                    `collaboration.spawn_agent` confers it; only text
                                                                    forbids it
        user.ask, plan.track, image.view      advised, ran, if      not granted, but `request_user_input`,
                                              trusted               `request_user_input_async`, `update_plan`,
                                                                    `create_goal`, `get_goal`, `update_goal`, `view_image`
                                                                    (each some of it) confers it; only text forbids it
      where
        if trusted  the project is trusted in Codex; else .codex/config.toml and the roles are ignored with a warning, and
                    the sandbox is read-only; a project marked untrusted loses AGENTS.md too; how: start codex once in the
                    folder and accept it
        waived      `shell.run`: Codex reads only through its shell
        waived      `browser.*`: a Codex sub-agent shares the parent's servers

    Codex (codex), own process
      seen on  @openai/codex 0.171.0, 2026-11-30
      file     no file
      start    `rolecast run docs_writer --host codex`
      removed  `web`, `spawn`
      tools    `exec_command`, `write_stdin`, `apply_patch`, `view_image`, `update_plan`, `create_goal`, `get_goal`,
               `update_goal`, `request_user_input`, `request_user_input_async`, `list_mcp_resources`,
               `list_mcp_resource_templates`, `read_mcp_resource`
      always   `exec`, `wait`, `clock.sleep`, `clock.curr_time`, whatever the list says
      can
        repo.read, repo.search    no limit, ran, if     by `exec_command`, also through `write_stdin`
                                  run
        repo.diff, docs.validate  no limit, ran, if     by `exec_command`, `write_stdin`
                                  run
        repo.edit                 enforced by path,     only `docs/**`, `README.md`, never the policy or rendered files; by
                                  ran, if run, if       `apply_patch`, also through `exec_command`, `write_stdin`;
                                  no-servers, if        `README.md` cannot be opened here and stays shut; `*/**/CLAUDE.md`,
                                  no-allow-rules        `*/**/AGENTS.md` and 4 more cannot be left out here
        repo.create               enforced by path,     only `docs/**`, never the policy or rendered files; by
                                  ran, if run, if       `apply_patch`, also through `exec_command`, `write_stdin`;
                                  no-servers, if        `*/**/CLAUDE.md`, `*/**/AGENTS.md` and 4 more cannot be left out
                                  no-allow-rules        here
      cannot, or must not
        repo.delete, policy.edit              advised, ran, if run  not granted, but `exec_command`, `write_stdin`,
                                                                    `apply_patch` confers it; only text forbids it in
                                                                    `docs/**`, and elsewhere it is refused
        shell.run, browser.*                  advised, ran, if run  NOT HELD, enforced demanded, waived: not granted, but
                                                                    `exec_command`, `write_stdin` confers it; only text
                                                                    forbids it
        runtime.run, web.*, docs.search,      advised, ran, if run  not granted, but `exec_command`, `write_stdin` (and
        docs.taxonomy, docs.exhaustive,                             others some of it) confers it; only text forbids it
        docs.write, memory.*, ticket.*,
        db.*, agent.spawn, skill.use,
        mcp.resources, history.read
        user.ask, plan.track, image.view      advised, ran, if run  not granted, but `request_user_input`,
                                                                    `request_user_input_async`, `update_plan`,
                                                                    `create_goal`, `get_goal`, `update_goal`, `view_image`
                                                                    (each some of it) confers it; only text forbids it
      where
        if run             started by `rolecast run`; else there is no such process
        if no-servers      no MCP server of yours can write files; else it writes where it likes, because servers run
                           outside of the sandbox (the limits it carries fail open)
        if no-allow-rules  no command rule of yours or of the project says `allow`; else what it allows runs outside of the
                           sandbox (the limits it carries fail open)
        waived             `shell.run`: Codex reads only through its shell
        waived             `browser.*`: a Codex sub-agent shares the parent's servers

    GitHub Copilot CLI (copilot), sub-agent
      seen on  @github/copilot 1.0.102, 2026-11-30
      file     `.github/agents/docs_writer.agent.md`
      list     `view`, `search`, `edit`
      tools    `view`, `grep`, `rg`, `glob`, `create`, `apply_patch`, `edit`
      can
        repo.read    no limit, ran         by `view`
        repo.search  no limit, ran         by `grep`, `rg`, `glob`
        repo.edit    guarded by path,      only `docs/**`, `README.md`, never the policy or rendered files; by
                     ran, if in-root, if   `apply_patch`, `edit`; a hook that exceeds its time lets the call through
                     trusted, if on-path
        repo.create  guarded by path,      only `docs/**`, never the policy or rendered files; by `create`, `apply_patch`; a
                     ran, if in-root, if   hook that exceeds its time lets the call through
                     trusted, if on-path
      cannot, or must not
        repo.delete, policy.edit              guarded by path,      not granted; `apply_patch` (and others some of it)
                                              ran, if in-root, if   confers it and is refused; a hook that exceeds its time
                                              trusted, if on-path   lets the call through
        shell.run, browser.*                  enforced absence,     HELD, enforced demanded: no tool of the role confers it
                                              ran
        runtime.run, web.*, docs.search,      enforced absence,     no tool of the role confers it
        docs.taxonomy, docs.exhaustive,       ran
        docs.write, memory.*, ticket.*,
        db.*, agent.spawn, user.ask,
        plan.track, skill.use,
        mcp.resources, history.read
        image.view                            advised, ran          not granted, but `view` confers it; only text forbids it
      granted, out of reach
        repo.diff, docs.validate  no tool, ran  `execute` would do it, and confers `shell.run`, `browser.inspect`,
                                                `browser.capture`, `browser.interact`, `browser.script`, which the role
                                                denies; hand it back to the parent
      where
        if in-root  it is started in the root of the repository; else roles load from a folder below, and the hooks of the
                    project do not (the limits it carries fail open); how: start it in the root, or by `rolecast run`
        if trusted  the folder is trusted in Copilot; else hooks and the workspace's servers do not load; instructions and
                    roles do (the limits it carries fail open); how: `--trust-folder`, or accept the folder once
        if on-path  rolecast is on the PATH of the session; else the hook's command ends with the code that blocks, so every
                    call it watches is refused

    GitHub Copilot CLI (copilot), main agent
      seen on  @github/copilot 1.0.102, 2026-11-30
      file     `.github/agents/docs_writer.agent.md`, as main agent by `copilot --agent docs_writer --trust-folder
               --no-custom-instructions`
      start    `rolecast run docs_writer --host copilot`
      list     `view`, `search`, `edit`
      tools    `view`, `grep`, `rg`, `glob`, `create`, `apply_patch`, `edit`
      always   `skill`, `sql`, whatever the list says
      can
        repo.read    no limit, ran         by `view`
        repo.search  no limit, ran         by `grep`, `rg`, `glob`
        repo.edit    advised by path, ran  only `docs/**`, `README.md`, never the policy or rendered files; by
                                           `apply_patch`, `edit`; the scope is only text: nothing that is rendered here can
                                           narrow it
        repo.create  advised by path, ran  only `docs/**`, never the policy or rendered files; by `create`, `apply_patch`;
                                           the scope is only text: nothing that is rendered here can narrow it
      cannot, or must not
        repo.delete, policy.edit              advised, ran          not granted, but `apply_patch` (and others some of it)
                                                                    confers it; only text forbids it
        shell.run, browser.*                  enforced absence,     HELD, enforced demanded: no tool of the role confers it
                                              ran
        runtime.run, web.*, docs.search,      enforced absence,     no tool of the role confers it
        docs.taxonomy, docs.exhaustive,       ran
        docs.write, memory.*, ticket.*,
        db.*, agent.spawn, user.ask,
        mcp.resources, history.read
        plan.track, skill.use, image.view     advised, ran          not granted, but `sql`, `skill`, `view` (each some of
                                                                    it) confers it; only text forbids it
      granted, out of reach
        repo.diff, docs.validate  no tool, ran  `execute` would do it, and confers `shell.run`, `browser.inspect`,
                                                `browser.capture`, `browser.interact`, `browser.script`, which the role
                                                denies; hand it back to the parent

    Cursor (cursor), sub-agent
      seen on  @cursor/sdk 1.0.32, 2026-11-30
      file     `.cursor/agents/docs_writer.md`
      removed  nothing
      also     `read`, `ls`, `readLints`, `grep`, `glob`, `semSearch`, `edit`, a list the host is not known to obey
      tools    `edit`, `delete`, `applyAgentDiff`, `read`, `ls`, `readLints`, `grep`, `glob`, `semSearch`, `shell`,
               `write_shell_stdin`, `webFetch`, `webSearch`, `mcp`, `task`, `updateTodos`, `readTodos`, `create_plan`,
               `askQuestion`, `browser_navigate`, `browser_tabs`, `browser_snapshot`, `browser_wait_for`,
               `browser_console_messages`, `browser_network_requests`, `browser_take_screenshot`, `browser_click`,
               `browser_type`, `browser_fill_form`, `browser_select_option`, `browser_press_key`, `browser_hover`,
               `computer_use`, `record_screen`
      can
        repo.read                 no limit, docs        by `read`, `ls`, `readLints`, also through `shell`,
                                                        `write_shell_stdin`, `task`
        repo.search               no limit, docs        by `grep`, `glob`, `semSearch`, also through `shell`,
                                                        `write_shell_stdin`, `task`
        repo.diff, docs.validate  no limit, docs        by `shell`, `write_shell_stdin`, `task`
        repo.edit, repo.create    advised by path,      repo.edit only `docs/**`, `README.md`; repo.create only `docs/**`,
                                  docs                  never the policy or rendered files; by `edit`, also through
                                                        `applyAgentDiff`, `shell`, `write_shell_stdin`, `task`; the scope is
                                                        only text: nothing that is rendered here can narrow it
      cannot, or must not
        repo.delete, runtime.run, web.*,      advised, docs  not granted, but `shell`, `write_shell_stdin`, `task` (and
        docs.search, docs.taxonomy,                          others some of it) confers it; only text forbids it
        docs.exhaustive, docs.write,
        memory.*, ticket.*, db.*,
        agent.spawn, mcp.resources,
        history.read, policy.edit
        shell.run, browser.*                  advised, docs  NOT HELD, enforced demanded, waived: not granted, but `shell`,
                                                             `write_shell_stdin`, `task` (and others some of it) confers it;
                                                             only text forbids it
        user.ask, plan.track, image.view      advised, docs  not granted, but `askQuestion`, `updateTodos`, `readTodos`,
                                                             `create_plan`, `read` (each some of it) confers it; only text
                                                             forbids it
        skill.use                             advised, docs  the role keeps every MCP server of the session; one that the
                                                             policy does not know may offer it
      where
        waived  `*`: Cursor's tool list is not proven to be enforced

    Gemini CLI (gemini-cli), sub-agent
      seen on  @google/gemini-cli 0.61.0, 2026-11-30
      file     `.gemini/agents/docs_writer.md`
      list     `read_file`, `list_directory`, `grep_search`, `glob`, `replace`, `write_file`
      always   `complete_task`, whatever the list says
      can
        repo.read    no limit, ran, if     by `read_file`, `list_directory`
                     acknowledged
        repo.search  no limit, ran, if     by `grep_search`, `glob`
                     acknowledged
        repo.edit    advised by path,      only `docs/**`, `README.md`, never the policy or rendered files; by `replace`,
                     ran, if               `write_file`; the scope is only text: nothing that is rendered here can narrow it
                     acknowledged, if
                     session-allows
        repo.create  advised by path,      only `docs/**`, never the policy or rendered files; by `write_file`, also through
                     ran, if               `replace`; the scope is only text: nothing that is rendered here can narrow it
                     acknowledged, if
                     session-allows
      cannot, or must not
        repo.delete, runtime.run, web.*,      enforced absence,     no tool of the role confers it
        docs.search, docs.taxonomy,           ran, if acknowledged
        docs.exhaustive, docs.write,
        memory.*, ticket.*, db.*,
        agent.spawn, user.ask, plan.track,
        skill.use, mcp.resources,
        history.read
        shell.run, browser.*                  enforced absence,     HELD, enforced demanded: no tool of the role confers it
                                              ran, if acknowledged
        image.view, policy.edit               advised, ran, if      not granted, but `read_file`, `replace`, `write_file`
                                              acknowledged          (each some of it) confers it; only text forbids it
      granted, out of reach
        repo.diff, docs.validate  no tool, ran, if      `run_shell_command` would do it, and confers `shell.run`,
                                  acknowledged          `browser.inspect`, `browser.capture`, `browser.interact`,
                                                        `browser.script`, which the role denies; hand it back to the parent
      where
        if acknowledged    the role's file was acknowledged in Gemini since it was last rendered; else the role is not
                           registered, and in headless runs nothing says so; how: start gemini once in the folder and accept
                           the agents it lists
        if session-allows  the session allows the tool, which headless runs do only by a policy or an approval mode; else a
                           listed tool that would ask is missing without a word

    Gemini CLI (gemini-cli), own process
      seen on  @google/gemini-cli 0.61.0, 2026-11-30
      file     no file
      start    `rolecast run docs_writer --host gemini-cli`
      list     `read_file`, `list_directory`, `grep_search`, `glob`, `replace`, `write_file`
      can
        repo.read    no limit, ran, if     by `read_file`, `list_directory`
                     run
        repo.search  no limit, ran, if     by `grep_search`, `glob`
                     run
        repo.edit    enforced by path,     only `docs/**`, `README.md`, never the policy or rendered files; by `replace`,
                     ran, if run, if       `write_file`; a symbolic link inside an allowed folder is followed
                     session-allows
        repo.create  advised by path,      only `docs/**`, never the policy or rendered files; by `write_file`, also through
                     ran, if run, if       `replace`; the scope is only text in part: one rule serves the whole process, and
                     session-allows        other grants open `README.md` too
      cannot, or must not
        repo.delete, runtime.run, web.*,      enforced absence,     no tool of the role confers it
        docs.search, docs.taxonomy,           ran, if run
        docs.exhaustive, docs.write,
        memory.*, ticket.*, db.*,
        agent.spawn, user.ask, plan.track,
        skill.use, mcp.resources,
        history.read
        shell.run, browser.*                  enforced absence,     HELD, enforced demanded: no tool of the role confers it
                                              ran, if run
        image.view                            advised, ran, if run  not granted, but `read_file` confers it; only text
                                                                    forbids it
        policy.edit                           enforced by path,     not granted; `replace`, `write_file` confers it and is
                                              ran, if run           refused; a symbolic link inside an allowed folder is
                                                                    followed
      granted, out of reach
        repo.diff, docs.validate  no tool, ran, if run  `run_shell_command` would do it, and confers `shell.run`,
                                                        `browser.inspect`, `browser.capture`, `browser.interact`,
                                                        `browser.script`, which the role denies; hand it back to the parent
      where
        if run             started by `rolecast run`; else there is no such process; a repository cannot activate a policy
                           file by itself
        if session-allows  the session allows the tool, which headless runs do only by a policy or an approval mode; else a
                           listed tool that would ask is missing without a word
    ");
}

#[test]
fn scopes_waivers_and_a_servers_tools_are_on_the_page_with_their_conditions() {
    let page = triage().page(&["explain", "triage"]);
    insta::assert_snapshot!(page, @"
    triage
    Sorts tickets.

    Claude Code (claude-code), sub-agent and main agent
      seen on  @anthropic-ai/claude-code 2.1.332, 2026-11-30
      file     `.claude/agents/triage.md`
      file     `.claude/agents/triage.md`, as main agent by `claude --agent triage`
      start    `rolecast run triage --host claude-code`
      list     `Read`, `Write`, `WebFetch`, `mcp__tickets__get_ticket`
      can
        repo.read    no limit, ran         by `Read`
        repo.create  guarded by path,      only `triage/**`, never the policy or rendered files; by `Write`; a hook that
                     ran, if in-root, if   exceeds its time lets the call through
                     on-path
        web.fetch    guarded by domain,    only `tracker.example`; by `WebFetch`; a redirect to the same name with or
                     ran, if in-root, if   without `www.` is followed; a hook that exceeds its time lets the call through
                     on-path
        ticket.read  no limit, ran, if     by `mcp__tickets__get_ticket`
                     approved
      cannot, or must not
        repo.search, repo.diff, repo.delete,  enforced absence,     no tool of the role confers it
        docs.*, runtime.run, browser.*,       ran
        memory.*, db.*, agent.spawn,
        user.ask, plan.track, skill.use,
        mcp.resources, history.read
        repo.edit, policy.edit                guarded by path,      not granted; `Write` confers it and is refused; a hook
                                              ran, if in-root, if   that exceeds its time lets the call through
                                              on-path
        shell.run                             enforced absence,     HELD, guarded demanded: no tool of the role confers it
                                              ran
        web.search, image.view                advised, ran          not granted, but `WebFetch`, `Read` (each some of it)
                                                                    confers it; only text forbids it
        ticket.write                          enforced absence,     HELD, enforced demanded: no tool of the role confers it
                                              ran
      where
        if in-root   it is started in the root of the repository; else roles load from a folder below, and the hooks and
                     settings of the project do not (the limits it carries fail open); how: start it in the root, or by
                     `rolecast run`
        if on-path   rolecast is on the PATH of the session; else the hook's command ends with the code that blocks, so
                     every call it watches is refused
        if approved  the servers of `.mcp.json` were accepted in Claude Code since it was last rendered, or the session runs
                     without a person; else they are not connected; how: start `claude` once in the folder and accept them

    Codex (codex), sub-agent
      seen on  @openai/codex 0.171.0, 2026-11-30
      file     `.codex/agents/triage.toml`
      removed  nothing
      tools    `exec_command`, `write_stdin`, `apply_patch`, `view_image`, `web_search`, `collaboration.spawn_agent`,
               `collaboration.followup_task`, `collaboration.send_message`, `update_plan`, `create_goal`, `get_goal`,
               `update_goal`, `request_user_input`, `request_user_input_async`, `list_mcp_resources`,
               `list_mcp_resource_templates`, `read_mcp_resource`, `mcp__tickets__get_ticket`, `mcp__tickets__set_ticket`
      always   `exec`, `wait`, `clock.sleep`, `clock.curr_time`, whatever the list says
      can
        repo.read    no limit, ran, if     by `exec_command`, also through `write_stdin`, `collaboration.spawn_agent`
                     trusted
        repo.create  advised by path,      only `triage/**`, never the policy or rendered files; by `apply_patch`, also
                     ran, if trusted       through `exec_command`, `write_stdin`, `collaboration.spawn_agent`; the scope is
                                           only text: nothing that is rendered here can narrow `exec_command`,
                                           `write_stdin`, `collaboration.spawn_agent`
        web.fetch    advised by domain,    only `tracker.example`; by `exec_command`, `write_stdin`, `web_search`,
                     ran, if trusted       `collaboration.spawn_agent`; the scope is only text: nothing that is rendered
                                           here can narrow it
        ticket.read  no limit, ran, if     by `mcp__tickets__get_ticket`, `mcp__tickets__set_ticket`, also through
                     trusted               `exec_command`, `write_stdin`, `collaboration.spawn_agent`
      cannot, or must not
        repo.search, repo.diff, repo.edit,    advised, ran, if      not granted, but `exec_command`, `write_stdin`,
        repo.delete, docs.*, runtime.run,     trusted               `collaboration.spawn_agent` (and others some of it)
        web.search, browser.*, memory.*,                            confers it; only text forbids it
        db.*, agent.spawn, skill.use,
        mcp.resources, history.read,
        policy.edit
        shell.run                             advised, ran, if      NOT HELD, guarded demanded, waived: not granted, but
                                              trusted               `exec_command`, `write_stdin`,
                                                                    `collaboration.spawn_agent` confers it; only text
                                                                    forbids it
        ticket.write                          advised, ran, if      NOT HELD, enforced demanded, waived: not granted, but
                                              trusted               `exec_command`, `write_stdin`,
                                                                    `collaboration.spawn_agent`, `mcp__tickets__set_ticket`
                                                                    confers it; only text forbids it
        user.ask, plan.track, image.view      advised, ran, if      not granted, but `request_user_input`,
                                              trusted               `request_user_input_async`, `update_plan`,
                                                                    `create_goal`, `get_goal`, `update_goal`, `view_image`
                                                                    (each some of it) confers it; only text forbids it
      where
        if trusted  the project is trusted in Codex; else .codex/config.toml and the roles are ignored with a warning, and
                    the sandbox is read-only; a project marked untrusted loses AGENTS.md too; how: start codex once in the
                    folder and accept it
        waived      `ticket.write`: a Codex sub-agent shares the parent's servers
        waived      `shell.run`: Codex reads only through its shell

    Codex (codex), own process
      seen on  @openai/codex 0.171.0, 2026-11-30
      file     no file
      start    `rolecast run triage --host codex`
      removed  `web`, `spawn`
      tools    `exec_command`, `write_stdin`, `apply_patch`, `view_image`, `update_plan`, `create_goal`, `get_goal`,
               `update_goal`, `request_user_input`, `request_user_input_async`, `list_mcp_resources`,
               `list_mcp_resource_templates`, `read_mcp_resource`, `mcp__tickets__get_ticket`, `mcp__tickets__set_ticket`
      always   `exec`, `wait`, `clock.sleep`, `clock.curr_time`, whatever the list says
      can
        repo.read    no limit, ran, if     by `exec_command`, also through `write_stdin`
                     run
        repo.create  enforced by path,     only `triage/**`, never the policy or rendered files; by `apply_patch`, also
                     ran, if run, if       through `exec_command`, `write_stdin`; `*/**/CLAUDE.md`, `*/**/AGENTS.md` and 1
                     no-servers, if        more cannot be left out here
                     no-allow-rules
        web.fetch    advised by domain,    only `tracker.example`; by `exec_command`, `write_stdin`; the scope is only text:
                     ran, if run           nothing that is rendered here can narrow it
        ticket.read  no limit, ran, if     by `mcp__tickets__get_ticket`, `mcp__tickets__set_ticket`, also through
                     run, if trusted       `exec_command`, `write_stdin`
      cannot, or must not
        repo.search, repo.diff, docs.*,       advised, ran, if run  not granted, but `exec_command`, `write_stdin` (and
        runtime.run, web.search, browser.*,                         others some of it) confers it; only text forbids it
        memory.*, db.*, agent.spawn,
        skill.use, mcp.resources,
        history.read
        repo.edit, repo.delete, policy.edit   advised, ran, if run  not granted, but `exec_command`, `write_stdin`,
                                                                    `apply_patch` confers it; only text forbids it in
                                                                    `triage/**`, and elsewhere it is refused
        shell.run                             advised, ran, if run  NOT HELD, guarded demanded, waived: not granted, but
                                                                    `exec_command`, `write_stdin` confers it; only text
                                                                    forbids it
        ticket.write                          advised, ran, if run  NOT HELD, enforced demanded, waived: not granted, but
                                                                    `exec_command`, `write_stdin`,
                                                                    `mcp__tickets__set_ticket` confers it; only text forbids
                                                                    it
        user.ask, plan.track, image.view      advised, ran, if run  not granted, but `request_user_input`,
                                                                    `request_user_input_async`, `update_plan`,
                                                                    `create_goal`, `get_goal`, `update_goal`, `view_image`
                                                                    (each some of it) confers it; only text forbids it
      where
        if run             started by `rolecast run`; else there is no such process
        if no-servers      no MCP server of yours can write files; else it writes where it likes, because servers run
                           outside of the sandbox (the limits it carries fail open)
        if no-allow-rules  no command rule of yours or of the project says `allow`; else what it allows runs outside of the
                           sandbox (the limits it carries fail open)
        if trusted         the project is trusted in Codex; else .codex/config.toml and the roles are ignored with a
                           warning, and the sandbox is read-only; a project marked untrusted loses AGENTS.md too; how: start
                           codex once in the folder and accept it
        waived             `ticket.write`: a Codex sub-agent shares the parent's servers
        waived             `shell.run`: Codex reads only through its shell
    ");
}

#[test]
fn a_host_fits_on_a_screen_and_no_line_is_wider_than_the_page() {
    let page = Repo::with(FIVE).page(&["explain", "docs_writer"]);
    for host in page.split("\n\n") {
        assert!(host.lines().count() <= 48, "{} lines:\n{host}", host.lines().count());
    }
    for line in page.lines() {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

#[test]
fn every_condition_named_on_a_line_is_explained_below_it() {
    let repo = Repo::with(FIVE);
    for role in ["browser_tester", "docs_writer", "explorer", "implementer", "reviewer"] {
        let page = repo.json(&["explain", role]);
        for line in page["lines"].as_array().expect("lines") {
            for condition in line["conditions"].as_array().expect("conditions") {
                let (host, name) = (line["host"].as_str().expect("host"), condition.as_str().expect("name"));
                let words = &page["conditions"][host][name];
                assert!(words["means"].is_string() && words["else"].is_string(), "{role} {host} {name}");
            }
        }
        // People read the same: the claim, folded by the column, names nothing that has no row below.
        let text = repo.page(&["explain", role]);
        for part in text.split("\n\n") {
            let flat = part.split_whitespace().collect::<Vec<_>>().join(" ");
            for name in ["trusted", "acknowledged", "server-configured", "third-party"] {
                let named = flat.contains(&format!("if {name}"));
                let explained = part.lines().any(|l| l.starts_with(&format!("    if {name}")));
                assert_eq!(named, explained, "{role} {name}:\n{part}");
            }
        }
    }
}

#[test]
fn json_has_one_line_for_each_capability_form_and_host_in_a_stable_order() {
    let repo = Repo::with(FIVE);
    let page = repo.json(&["explain", "docs_writer"]);
    let lines = page["lines"].as_array().expect("lines");
    let tools = page["tools"].as_array().expect("tools");
    let forms: Vec<String> = tools.iter().map(|t| format!("{} {}", t["host"], t["form"])).collect();
    assert_eq!(lines.len(), forms.len() * 35);
    for line in lines {
        let subject = &line["subject"]["role"];
        assert_eq!(subject["role"], "docs_writer");
        assert!(forms.contains(&format!("{} {}", line["host"], subject["form"])));
        assert!(line["evidence"].is_string() && line["version"].is_string() && line["date"].is_string());
    }
    assert_eq!(page, repo.json(&["explain", "docs_writer"]));
    let shell: Vec<&Value> = page["denials"]
        .as_array()
        .expect("denials")
        .iter()
        .filter(|d| d["capability"] == "shell.run" && d["held"] == true)
        .map(|d| &d["host"])
        .collect();
    assert_eq!(shell, ["claude-code", "claude-code", "copilot", "copilot", "gemini-cli", "gemini-cli"]);
}

#[test]
fn host_narrows_the_page_and_not_the_plan() {
    let repo = Repo::with(FIVE);
    let all = repo.page(&["explain", "docs_writer"]);
    let one = repo.page(&["explain", "docs_writer", "--host", "gemini-cli"]);
    assert!(all.ends_with(one.split_once("\n\n").expect("a heading").1));
    let two = repo.json(&["explain", "docs_writer", "--host", "codex", "--host", "cursor"]);
    let hosts: Vec<&Value> = two["tools"].as_array().expect("tools").iter().map(|t| &t["host"]).collect();
    assert_eq!(hosts, ["codex", "codex", "cursor"], "one for each form");
}
