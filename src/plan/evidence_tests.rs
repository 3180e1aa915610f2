//! Lines held against evidence, without any host.

use super::*;
use crate::model::evidence::{EvidenceFile, Offered};
use crate::yaml::Sp;

const TODAY: &str = "2026-11-30";

fn line(evidence: EvidenceKind, guarantee: Guarantee) -> Line {
    Line {
        host: "h".into(),
        subject: Subject::Role { role: "r".into(), form: "f".into(), capability: "shell.run".into() },
        state: State::Denied,
        limited_by: Some(LimitedBy::Absence),
        guarantee: Some(guarantee),
        evidence,
        version: "1.0".into(),
        date: "2026-06-01".into(),
        conditions: Vec::new(),
        reason: "why".into(),
        lowered: None,
        measured: Vec::new(),
    }
}

fn put(line: &mut Line, verdict: Verdict, holds: Option<Holds>, day: &str) -> bool {
    let seen = Seen {
        verdict: Sp::bare(verdict),
        about: Vec::new(),
        claim: claim(line),
        scope: Vec::new(),
        holds,
        seen: "it did".into(),
    };
    let file = HostEvidence { path: "e.yaml".into(), shipped: false, seen: EvidenceFile::default() };
    Entry { version: "2.0", date: &Day::new(day).unwrap(), file: &file, seen: &seen }.put(line)
}

#[test]
fn what_held_renews_only_what_was_known_worse_or_earlier() {
    for (kind, day, version) in [
        (EvidenceKind::Docs, "2026-01-01", "2.0"),
        (EvidenceKind::Source, TODAY, "2.0"),
        (EvidenceKind::Ran, TODAY, "2.0"),
        (EvidenceKind::Ran, "2026-01-01", "1.0"),
    ] {
        let mut line = line(kind, Guarantee::Enforced);
        assert!(!put(&mut line, Verdict::Held, None, day));
        assert_eq!((line.evidence, line.version.as_str()), (EvidenceKind::Ran, version), "{kind:?} {day}");
        assert_eq!((line.guarantee, line.reason.as_str()), (Some(Guarantee::Enforced), "why"));
    }
}

#[test]
fn what_proves_nothing_changes_nothing() {
    for verdict in [Verdict::Better, Verdict::Unclear, Verdict::Untried] {
        let mut changed = line(EvidenceKind::Docs, Guarantee::Hidden);
        put(&mut changed, verdict, None, TODAY);
        assert_eq!(changed, line(EvidenceKind::Docs, Guarantee::Hidden));
    }
}

#[test]
fn what_is_broken_goes_down_to_what_was_seen_and_never_up() {
    for (claimed, holds, state, limit, guarantee) in [
        (Guarantee::Enforced, Holds::Hidden, State::Denied, Some(LimitedBy::Absence), Some(Guarantee::Hidden)),
        (Guarantee::Enforced, Holds::Advised, State::Denied, None, Some(Guarantee::Advised)),
        (Guarantee::Prompted, Holds::Hidden, State::Denied, Some(LimitedBy::Absence), Some(Guarantee::Prompted)),
        (Guarantee::Enforced, Holds::Unreachable, State::Unreachable, None, None),
    ] {
        let mut line = line(EvidenceKind::Source, claimed);
        assert!(put(&mut line, Verdict::Broken, Some(holds), TODAY));
        assert_eq!((line.state, line.limited_by, line.guarantee), (state, limit, guarantee), "{claimed:?} {holds:?}");
        assert_eq!(line.reason, "broken on 2.0, 2026-11-30: it did");
        assert_eq!(line.lowered.map(|l| l.by).as_deref(), Some("e.yaml"));
    }
}

#[test]
fn a_claim_names_what_it_rests_on() {
    let mut line = line(EvidenceKind::Ran, Guarantee::Enforced);
    assert_eq!(claim(&line), "denied, limited by absence, enforced");
    line.subject = Subject::Budget { budget: "b".into(), family: "all".into() };
    assert_eq!(claim(&line), "denied, limited by absence, enforced: why");
    line.subject = Subject::Rule { rule: "r".into(), to: "main".into() };
    assert_eq!(claim(&line), "why");
}

#[test]
fn the_evidence_of_the_repository_comes_before_that_of_the_program() {
    use crate::compile::compile;
    use crate::system::memory::Memory;
    let shipped = crate::load::load(&Memory::new(), None, &mut Sink::new());
    let host = shipped.adapters.keys().next().unwrap().clone();
    let policy = format!("version: 1\nhosts: {{ {host}: {{}} }}\nextends: [builtin]\n");
    let dir = "shared-agent-rules";
    let system = Memory::new().with(&format!("{dir}/policy.yaml"), policy);
    let compiled = compile(&system, Some(dir), &[], &mut Sink::new());
    let planned = compiled.plan.unwrap().hosts.remove(0).roles.remove(0).forms.remove(0);
    let about = |version: &str, verdict, holds| RoleSeen {
        role: Sp::bare(planned.role.clone()),
        form: Sp::bare(planned.form.clone()),
        version: version.into(),
        date: Day::new(TODAY).unwrap(),
        tools: planned.tools.iter().map(|t| t.name.clone()).rev().collect(),
        offered: Offered { verdict: Verdict::Held, seen: String::new(), unknown: Vec::new() },
        lines: vec![Seen {
            verdict: Sp::bare(verdict),
            about: vec![Sp::bare("shell.run".into())],
            claim: "denied, limited by absence, enforced".into(),
            scope: Vec::new(),
            holds,
            seen: "it did".into(),
        }],
    };
    let file = |shipped, seen| HostEvidence {
        path: format!("{shipped}.yaml"),
        shipped,
        seen: EvidenceFile { host: Sp::bare(host.clone()), roles: vec![seen], ..EvidenceFile::default() },
    };
    let mut policy = compiled.policy.unwrap();
    let role = policy.roles.iter().find(|r| r.id == planned.role).unwrap().clone();
    let adapter = compiled.loaded.adapters[&host].clone();
    let looked = |policy: &Policy| {
        let mut lines = vec![line(EvidenceKind::Source, Guarantee::Enforced)];
        let mut sink = Sink::new();
        Known::new(&adapter, policy).role(&role, &planned, &mut lines, &mut sink);
        (lines.remove(0), sink.iter().count())
    };
    let (held, broken) = (about("2.0", Verdict::Held, None), about("3.0", Verdict::Broken, Some(Holds::Hidden)));
    policy.evidence.insert(host.clone(), vec![file(false, held.clone()), file(true, broken.clone())]);
    let (line, said) = looked(&policy);
    assert_eq!((line.version.as_str(), line.lowered, said), ("2.0", None, 0), "own evidence that held wins");
    policy.evidence.insert(host.clone(), vec![file(false, broken.clone()), file(true, held.clone())]);
    let (line, said) = looked(&policy);
    assert_eq!((line.version.as_str(), line.guarantee, said), ("3.0", Some(Guarantee::Hidden), 1));
    // What proves nothing leaves the word to the program's.
    policy.evidence.insert(host.clone(), vec![file(false, about("4.0", Verdict::Untried, None)), file(true, held)]);
    assert_eq!(looked(&policy).0.version, "2.0");
}

/// A role whose paths only the guard holds.
const WRITER: &str =
    "---\ndescription: Writes.\ngrants:\n  repo.read: {}\n  repo.edit: { paths: [\"docs/**\"] }\n---\nWrite.\n";

/// The ledger where a run showed this of a thing that the guard does, and how many diagnostics tell of it.
fn after_guard(what: &str, verdict: &str) -> (Vec<Line>, usize) {
    use crate::compile::compile;
    use crate::system::memory::Memory;

    let policy = "version: 1\nhosts: { claude-code: {} }\nextends: [builtin]\n".to_owned();
    let seen = format!(
        "host: claude-code\nguard:\n    version: \"99.0\"\n    date: \"2026-11-30\"\n    lines:\n      - verdict: {verdict}\n        about: [{what}]\n        claim: \"it does\"\n        seen: an agent was started\n"
    );
    let dir = "shared-agent-rules";
    let system = Memory::new()
        .with(&format!("{dir}/policy.yaml"), policy)
        .with(&format!("{dir}/roles/writer.md"), WRITER)
        .with(&format!("{dir}/evidence/claude-code.yaml"), seen);
    let mut sink = Sink::new();
    let plan = compile(&system, Some(dir), &[], &mut sink).plan.unwrap();
    (plan.ledger.lines, sink.iter().filter(|d| d.code == Code::EvidenceBroken).count())
}

#[test]
fn a_guard_that_was_seen_to_fail_takes_the_ground_from_what_rests_on_it() {
    let edit = |lines: &[Line]| {
        let subject = |l: &&Line| matches!(&l.subject, Subject::Role { role, form, capability } if role == "writer" && form == "subagent" && capability == "repo.edit");
        lines.iter().find(subject).unwrap().clone()
    };
    let (held, said) = after_guard("missing", "held");
    assert_eq!((edit(&held).guarantee, edit(&held).lowered, said), (Some(Guarantee::Guarded), None, 0));
    for what in ["missing", "edited"] {
        let (broken, said) = after_guard(what, "broken");
        let line = edit(&broken);
        assert_eq!((line.guarantee, line.version.as_str(), said), (Some(Guarantee::Advised), "99.0", 1), "{what}");
        assert!(line.lowered.is_some() && line.reason.starts_with("broken on 99.0"), "{}", line.reason);
    }
    // Whom else a role starts has nothing to do with where it writes.
    let (targets, said) = after_guard("targets", "broken");
    assert_eq!((edit(&targets).guarantee, said), (Some(Guarantee::Guarded), 1));
    let context = |lines: &[Line]| {
        let subject = |l: &&Line| matches!(&l.subject, Subject::Budget { budget, .. } if budget == "context");
        lines.iter().find(subject).map(|l| (l.version.clone(), l.evidence))
    };
    assert_eq!(context(&after_guard("context", "held").0), Some(("99.0".to_owned(), EvidenceKind::Ran)));
}
