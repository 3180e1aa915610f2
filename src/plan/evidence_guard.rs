//! What the guard was seen to do for everybody, held against all that rests on it. That it did what it should proves no
//! single grant, whose own records say that; that it did not takes the ground from all of them.

use super::*;

impl Known<'_> {
    /// Whether something of it was seen to be broken.
    pub(super) fn guard_broken(&self) -> bool {
        self.seen_of_guard().is_some_and(|(_, seen)| seen.lines.iter().any(|l| l.verdict.value == Verdict::Broken))
    }

    /// Holds it against the lines of this host; the record that counts first is the one that counts.
    pub(super) fn guard<'l>(&self, lines: impl Iterator<Item = &'l mut Line>, sink: &mut Sink) {
        let Some((file, all)) = self.seen_of_guard() else { return };
        let first = all.lines.iter().find(|l| l.verdict.value == Verdict::Broken);
        let span = first.and_then(|l| l.verdict.span);
        let by = By { version: &all.version, date: &all.date, file, span };
        let named = || all.lines.iter().flat_map(|seen| seen.about.iter().map(move |what| (what.value.as_str(), seen)));
        for line in lines {
            for (what, seen) in named() {
                match seen.verdict.value {
                    _ if !self.rests(line, what) => {}
                    Verdict::Broken if line.lowered.is_none() => {
                        by.lower(line, Holds::Advised, &seen.seen, seen.verdict.span);
                    }
                    // Of the thresholds there is nothing else to be seen.
                    Verdict::Held if what == "context" => {
                        Entry { version: by.version, date: by.date, file, seen }.put(line);
                    }
                    _ => {}
                }
            }
        }
        let broken: Vec<&str> =
            named().filter(|(_, seen)| seen.verdict.value == Verdict::Broken).map(|(what, _)| what).collect();
        if !broken.is_empty() {
            let names = ticked(&broken);
            let said = format!("{} {} was seen to break what is claimed of the guard", self.adapter.title, all.version);
            sink.push(
                by.place(Diagnostic::new(Code::EvidenceBroken, said))
                    .note(format!("{names}: what rests on it is turned down in the ledger"))
                    .help("see `rolecast explain`; `rolecast verify --accept` looks again"),
            );
        }
    }

    fn seen_of_guard(&self) -> Option<(&HostEvidence, &GuardSeen)> {
        self.evidence.iter().find_map(|file| Some((file, file.seen.guard.as_ref()?)))
    }

    /// Whether a line holds only while the guard does this. No line is about copies of the conversation.
    fn rests(&self, line: &Line, what: &str) -> bool {
        let hook = self.adapter.hook.as_ref();
        let own = |claim: &Claim| claim.conditions.iter().all(|name| line.conditions.contains(name));
        // Not what something else than the hook guards.
        let guarded = line.guarantee == Some(Guarantee::Guarded)
            && hook
                .and_then(|hook| hook.everybody.as_ref())
                .is_some_and(|claim| !claim.conditions.is_empty() && own(claim));
        match (what, &line.subject) {
            ("edited" | "missing", Subject::Role { .. } | Subject::Budget { .. }) => guarded,
            ("targets", Subject::Role { capability, .. }) => guarded && capability == "agent.spawn",
            ("context", Subject::Budget { budget, .. }) => {
                budget == "context"
                    && self.policy.settings.guard.context
                    && hook.is_some_and(|hook| hook.context.is_some())
            }
            _ => false,
        }
    }
}
