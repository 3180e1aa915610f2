//! The shipped adapters hold together: whatever they name exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rolecast::diag::SourceId;
use rolecast::model::adapter::{
    Adapter, Carrier, CarrierKind, CarrierOwn, Claim, Form, List, Mcp, Mechanism, Passing, Sense, Verdict,
};
use rolecast::model::capability::BUILTIN;
use rolecast::model::scalar::{EvidenceKind, Guarantee};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn adapters() -> Vec<Adapter> {
    let mut paths: Vec<_> = fs::read_dir(root().join("adapters")).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Adapter {
    let text = fs::read_to_string(path).unwrap();
    let adapter: Adapter =
        rolecast::yaml::parse(&text, SourceId(0), 0).unwrap_or_else(|d| panic!("{}: {d:?}", path.display()));
    assert_eq!(path.file_stem().unwrap().to_str().unwrap(), adapter.id);
    adapter
}

fn list_of<'a>(adapter: &'a Adapter, form: &'a Form) -> &'a List {
    let form = form.same_as.as_ref().map_or(form, |name| &adapter.forms[name]);
    form.list.as_ref().expect("a form that is not another's files has a list")
}

fn claims(adapter: &Adapter) -> Vec<&Claim> {
    let forms = adapter.forms.values();
    let lists = forms.clone().filter_map(|f| f.list.as_ref()).map(|l| &l.claim);
    let narrow = forms.flat_map(|f| &f.narrow).map(|n| &n.claim);
    let servers = adapter.mcp.iter().filter_map(|m| m.unnamed.as_ref());
    lists.chain(narrow).chain(adapter.knobs.iter().map(|k| &k.claim)).chain(servers).collect()
}

fn conditions<'a>(adapter: &'a Adapter) -> BTreeSet<&'a String> {
    let claimed = claims(adapter).into_iter().flat_map(|c| &c.conditions);
    let read = adapter.reads.iter().filter_map(|r| r.condition.as_ref());
    let tools = adapter.tools.values().flat_map(|t| &t.conditions);
    let approvals = |m: &'a Mcp| [&m.approval.safe, &m.approval.restricted, &m.approval.dangerous];
    let approved = adapter.mcp.iter().flat_map(approvals).flatten().flat_map(|a| &a.conditions);
    let servers = adapter.mcp.iter().flat_map(|m| &m.conditions).chain(approved);
    let own = &adapter.commands;
    let commands = own.rules.iter().map(|r| &r.claim).chain(&own.guard).chain(&own.launch);
    claimed
        .chain(commands.flat_map(|c| &c.conditions))
        .chain(read)
        .chain(tools)
        .chain(servers)
        .chain(adapter.borrows.iter().filter_map(|b| b.condition.as_ref()))
        .collect()
}

#[test]
fn the_shipped_hosts_parse_under_their_file_names() {
    let ids: Vec<_> = adapters().into_iter().map(|a| a.id).collect();
    assert_eq!(ids, ["claude-code", "codex", "copilot", "cursor", "gemini-cli", "opencode", "qwen-code", "tsuka"]);
}

#[test]
fn every_capability_exists() {
    let known: BTreeSet<_> = BUILTIN.iter().map(|b| b.name).collect();
    for adapter in adapters() {
        for (name, tool) in &adapter.tools {
            for capability in tool.covers.iter().chain(&tool.confers) {
                assert!(known.contains(capability.as_str()), "{}: {name}: {capability}", adapter.id);
            }
        }
    }
}

#[test]
fn a_tool_confers_something_or_is_inert_and_never_both() {
    for adapter in adapters() {
        for (name, tool) in &adapter.tools {
            assert!(!tool.covers.is_empty() || !tool.confers.is_empty(), "{}: {name} belongs to inert", adapter.id);
            assert!(!adapter.inert.contains(name), "{}: {name} stands twice", adapter.id);
        }
        let once: BTreeSet<_> = adapter.inert.iter().collect();
        assert_eq!(once.len(), adapter.inert.len(), "{}: inert has a name twice", adapter.id);
    }
}

#[test]
fn every_tool_named_by_a_form_exists() {
    for adapter in adapters() {
        let known: BTreeSet<_> = adapter.tools.keys().chain(&adapter.inert).collect();
        for (name, form) in &adapter.forms {
            let selected = form.list.iter().flat_map(|l| l.selectors.values()).flatten();
            let narrowed = form.narrow.iter().flat_map(|n| &n.tools);
            let behind = form.list.iter().flat_map(|l| &l.rules).flat_map(|r| &r.after).flat_map(|a| &a.tools);
            let empty = form.list.iter().flat_map(|l| &l.empty);
            for tool in selected.chain(&form.residue).chain(narrowed).chain(behind).chain(empty) {
                assert!(known.contains(tool), "{}: {name}: {tool}", adapter.id);
            }
        }
    }
}

#[test]
fn every_output_form_and_pointer_named_exists() {
    for adapter in adapters() {
        let named =
            adapter.forms.values().flat_map(|f| &f.outputs).chain(adapter.by_hand.iter().flat_map(|b| &b.after));
        let named = named.chain(adapter.carriers.iter().filter_map(|c| c.output.as_ref())).map(String::as_str);
        let pointers =
            adapter.knobs.iter().map(|k| &k.set).chain(adapter.reads.iter().filter_map(|r| r.needs.as_ref()));
        let pointed = pointers.map(|p| {
            let (output, pointer) = p.split_once(':').expect("OUTPUT:/pointer");
            assert!(pointer.starts_with('/'), "{}: {p}", adapter.id);
            output
        });
        for output in named.chain(pointed) {
            assert!(adapter.outputs.contains_key(output), "{}: output {output}", adapter.id);
        }
        for form in adapter.forms.values().filter_map(|f| f.same_as.as_ref()) {
            assert!(adapter.forms.contains_key(form), "{}: form {form}", adapter.id);
        }
    }
}

#[test]
fn servers_are_written_into_an_output_as_one_entry_each() {
    for adapter in adapters() {
        let Some(mcp) = &adapter.mcp else { panic!("{}: servers are not written", adapter.id) };
        let output = &adapter.outputs[mcp.output.as_ref().unwrap()];
        assert!(output.template.is_some() && output.atomic.iter().any(|p| p.ends_with("/*")), "{}", adapter.id);
        // A text that refers to a variable is one that nobody may write by hand.
        let by_text = [mcp.env, mcp.headers].contains(&Passing::Reference);
        assert_eq!(mcp.reference.is_some(), by_text, "{}", adapter.id);
        if let Some(reference) = mcp.refer("NAME") {
            assert!(mcp.special.iter().any(|s| reference.starts_with(s.as_str())), "{}: {reference}", adapter.id);
        }
    }
}

#[test]
fn no_dangerous_tool_runs_without_asking_and_who_asks_says_how_hard() {
    for adapter in adapters() {
        let known = &adapter.mcp.as_ref().unwrap().approval;
        for approval in [&known.restricted, &known.dangerous].into_iter().flatten() {
            assert_ne!(approval.verdict, Verdict::Allow, "{}", adapter.id);
            assert!(approval.guarantee.is_some(), "{}", adapter.id);
        }
        assert!(known.dangerous.is_some() && known.restricted.is_some(), "{}", adapter.id);
    }
}

#[test]
fn conditions_declared_are_the_conditions_used() {
    for adapter in adapters() {
        let declared: BTreeSet<_> = adapter.conditions.keys().collect();
        assert_eq!(declared, conditions(&adapter), "{}", adapter.id);
    }
}

#[test]
fn hosts_agree_on_what_a_shell_can_do() {
    // Only Codex loads skills through its shell.
    let mut shells: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for adapter in adapters() {
        for (name, tool) in &adapter.tools {
            let all: BTreeSet<_> =
                tool.covers.iter().chain(&tool.confers).filter(|c| *c != "skill.use").cloned().collect();
            if all.contains("shell.run") {
                shells.insert(format!("{}/{name}", adapter.id), all);
            }
        }
    }
    let first = shells["claude-code/Bash"].clone();
    assert!(first.contains("policy.edit") && first.contains("agent.spawn") && first.contains("browser.script"));
    for (tool, all) in &shells {
        assert_eq!(*all, first, "{tool}");
    }
}

#[test]
fn whoever_writes_files_can_write_ours() {
    for adapter in adapters() {
        for (name, tool) in &adapter.tools {
            let all: Vec<_> = tool.covers.iter().chain(&tool.confers).map(String::as_str).collect();
            // Notebooks only, and another checkout.
            let elsewhere =
                ["NotebookEdit", "EnterWorktree", "ExitWorktree", "notebook_edit", "enter_worktree", "exit_worktree"]
                    .contains(&name.as_str());
            let writes = ["repo.edit", "repo.create", "repo.delete"].iter().any(|c| all.contains(c));
            assert!(!writes || elsewhere || all.contains(&"policy.edit"), "{}: {name}", adapter.id);
        }
    }
}

#[test]
fn enforced_rests_on_a_run_wherever_the_host_could_be_run() {
    for adapter in adapters().iter().filter(|a| a.evidence.by == EvidenceKind::Ran) {
        for claim in claims(adapter) {
            let evidence = claim.evidence.unwrap_or(adapter.evidence.by);
            assert!(claim.guarantee != Guarantee::Enforced || evidence == EvidenceKind::Ran, "{}", adapter.id);
        }
    }
}

#[test]
fn words_of_a_list_are_plain_names() {
    // No specifier, wildcard or server-wide word: hosts ignore some of them and read others as everything.
    let plain = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    for adapter in adapters() {
        for form in adapter.forms.values() {
            let list = list_of(&adapter, form);
            let words: Vec<_> = match list.selectors.is_empty() {
                true => adapter.tools.keys().collect(),
                false => list.selectors.keys().collect(),
            };
            for word in words {
                assert!(plain(word), "{}: `{word}`", adapter.id);
            }
        }
    }
}

#[test]
fn a_word_for_an_empty_list_brings_nothing_and_only_allow_lists_need_one() {
    for adapter in adapters() {
        for list in adapter.forms.values().filter_map(|f| f.list.as_ref()) {
            assert!(list.empty.iter().all(|w| adapter.inert.contains(w)), "{}", adapter.id);
            assert!(list.empty.is_empty() || list.sense == Sense::Allow, "{}", adapter.id);
        }
    }
}

#[test]
fn rules_in_a_role_file_have_a_list_of_rules_and_a_dialect() {
    for adapter in adapters() {
        for form in adapter.forms.values() {
            let Some(list) = &form.list else { continue };
            assert_eq!(list.rules.is_some(), list.sense == Sense::Rules, "{}", adapter.id);
            for narrow in form.narrow.iter().filter(|n| n.by == Mechanism::Rules && form.launch.is_none()) {
                assert!(list.rules.is_some() && narrow.globs.is_some(), "{}", adapter.id);
            }
        }
    }
}

#[test]
fn what_a_host_takes_as_its_own_is_out_of_reach_of_every_grant_of_paths() {
    // Whatever else it is, a file that we write or a host reads at the start is in the exclusion.
    for adapter in adapters() {
        assert!(!adapter.configuration.is_empty(), "{}", adapter.id);
        for glob in &adapter.configuration {
            assert!(!glob.starts_with(['/', '~']) && !glob.contains(".."), "{}: {glob}", adapter.id);
        }
    }
}

#[test]
fn a_selector_brings_or_removes_a_tool_that_confers_something() {
    for adapter in adapters() {
        for list in adapter.forms.values().filter_map(|f| f.list.as_ref()) {
            for (word, tools) in &list.selectors {
                assert!(tools.iter().any(|t| adapter.tools.contains_key(t)), "{}: `{word}`", adapter.id);
            }
            assert!(
                list.sense == Sense::Allow || !list.selectors.is_empty(),
                "{}: a deny list needs words",
                adapter.id
            );
        }
    }
}

#[test]
fn every_carrier_is_read_by_its_own_host_or_is_a_card_it_can_import() {
    for adapter in adapters() {
        let imports =
            adapter.import.is_some() && adapter.carriers.iter().any(|c| c.kinds.contains(&CarrierKind::Import));
        for carrier in &adapter.carriers {
            let path = carrier.file.replace("{rule}", "some-rule");
            let read =
                adapter.reads.iter().any(|r| globset::Glob::new(&r.file).unwrap().compile_matcher().is_match(&path));
            let imported = imports && carrier.kinds == [CarrierKind::Card] && carrier.own == CarrierOwn::Whole;
            assert!(read || imported, "{}: {}", adapter.id, carrier.file);
        }
    }
}

#[test]
fn one_file_of_two_hosts_has_one_template() {
    let mut seen: BTreeMap<String, (String, String)> = BTreeMap::new();
    for adapter in adapters() {
        for Carrier { file, template, .. } in &adapter.carriers {
            let Some(template) = template else { continue };
            let text = fs::read_to_string(root().join("templates").join(&adapter.id).join(template)).unwrap();
            let (first, expected) = seen.entry(file.clone()).or_insert_with(|| (adapter.id.clone(), text.clone()));
            assert_eq!(text, *expected, "{file}: {first} and {}", adapter.id);
        }
    }
}

#[test]
fn output_paths_stay_in_the_repository_and_differ() {
    for adapter in adapters() {
        let mut files = BTreeSet::new();
        for output in adapter.outputs.values() {
            let inside = !output.file.starts_with(['/', '~']) && output.file.split('/').all(|part| part != "..");
            assert!(inside, "{}", output.file);
            assert_eq!(output.each.is_some(), output.file.contains("{name}"), "{}", output.file);
            assert!(files.insert(&output.file), "{}", output.file);
        }
    }
}

#[test]
fn what_is_tried_exists_and_can_be_seen() {
    let known: BTreeSet<_> = BUILTIN.iter().map(|b| b.name).collect();
    for adapter in adapters() {
        let Some(driver) = &adapter.verify else { continue };
        for attempt in &driver.attempts {
            let calls = attempt.before.iter().chain([&attempt.call]);
            assert!(calls.into_iter().all(|c| adapter.tools.contains_key(&c.tool)), "{}: {attempt:?}", adapter.id);
            let confers = |c: &String| {
                let tool = &adapter.tools[&attempt.call.tool];
                tool.covers.contains(c) || tool.confers.contains(c)
            };
            assert!(attempt.tries.iter().all(confers), "{}: {attempt:?}", adapter.id);
            assert!(attempt.tries.iter().all(|c| known.contains(c.as_str())), "{}: {attempt:?}", adapter.id);
            let said = format!("{:?}", attempt.call);
            let marks = ["{new}", "{old}", "{own}", "{kept}", "{probe}", "{spawn}"];
            let marks = marks.iter().filter(|m| said.contains(**m)).count();
            // What a search finds is nowhere to be seen: only its refusal counts.
            let expected = usize::from(attempt.tries != ["web.search"]);
            assert_eq!(marks, expected, "{}: one effect to look for: {attempt:?}", adapter.id);
        }
        for tool in driver.wait.iter().chain(&driver.finish).chain(&driver.touch).map(|c| &c.tool) {
            assert!(adapter.tools.contains_key(tool) || adapter.inert.contains(tool), "{}: {tool}", adapter.id);
        }
        for (glob, never) in &driver.never {
            let glob = globset::Glob::new(glob).unwrap().compile_matcher();
            assert!(adapter.tools.keys().any(|t| glob.is_match(t)), "{}: {never:?}", adapter.id);
            assert!(never.beside.iter().all(|t| adapter.tools.contains_key(t)), "{}: {never:?}", adapter.id);
        }
        assert!(driver.acknowledge.iter().all(|a| adapter.outputs.contains_key(&a.output)), "{}", adapter.id);
        assert!(!driver.refusals.is_empty() && !driver.attempts.is_empty(), "{}", adapter.id);
    }
}

#[test]
fn whoever_holds_a_denial_of_the_shell_is_tried_with_one() {
    for adapter in adapters() {
        let Some(driver) = &adapter.verify else { continue };
        for capability in ["shell.run", "repo.edit", "repo.create", "agent.spawn", "policy.edit"] {
            let tried = driver.attempts.iter().any(|a| a.tries.iter().any(|c| c == capability));
            assert!(tried, "{}: {capability}", adapter.id);
        }
    }
}

#[test]
fn every_model_choice_is_answered() {
    for adapter in adapters() {
        assert_eq!(adapter.models.len(), 4, "{}", adapter.id);
    }
}

/// The program carries adapters in another notation than their files.
#[test]
fn what_the_program_carries_is_what_the_files_say() {
    let loaded = rolecast::load::load(&rolecast::system::memory::Memory::new(), None, &mut rolecast::diag::Sink::new());
    for (id, carried) in &loaded.adapters {
        let text = std::fs::read_to_string(format!("{}/adapters/{id}.yaml", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let written = rolecast::yaml::parse::<rolecast::model::adapter::Adapter>(&text, rolecast::diag::SourceId(0), 0);
        assert_eq!(format!("{carried:?}"), format!("{:?}", written.unwrap()));
    }
    assert!(loaded.adapters.len() >= 7);
}

#[test]
fn a_limit_of_domains_says_it_was_run_only_where_a_fetch_is_tried() {
    use rolecast::model::capability::ScopeKind;
    use rolecast::model::scalar::EvidenceKind;
    for adapter in adapters() {
        for (name, form) in &adapter.forms {
            for narrow in form.narrow.iter().filter(|n| n.scope == ScopeKind::Domains) {
                let evidence = narrow.claim.evidence.unwrap_or(adapter.evidence.by);
                let tried = |tool: &String| {
                    let driver = adapter.verify.as_ref();
                    let fetch = |d: &rolecast::model::adapter::Driver| {
                        d.attempts.iter().any(|a| a.call.tool == *tool && a.tries.iter().any(|c| c == "web.fetch"))
                            && !d.never.contains_key(tool)
                    };
                    driver.is_some_and(fetch)
                };
                let all = !narrow.tools.is_empty() && narrow.tools.iter().all(tried);
                assert!(evidence < EvidenceKind::Ran || all, "{}: {name}: {:?}", adapter.id, narrow.scope);
            }
        }
    }
}
