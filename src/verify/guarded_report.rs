//! Judges what the guard did in its runs. Pure: the runs are over.

use crate::model::guard::words::{EDITED, FOREIGN, MISSING, REFUSED, WHOLE};

use super::judge::shown;
use super::report::{About, Finding, Verdict};

/// The trial without the program, by its name in reports.
const MISSING_PROGRAM: &str = "missing";

/// What one run showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ran {
    /// What was answered to the call for a copy of the conversation.
    pub copied: Option<String>,
    /// What was answered to the call that starts the role.
    pub started: Option<String>,
    /// Whether the role was started.
    pub role: bool,
    /// What was answered to the role's call for an agent of the host's own.
    pub foreign: Option<String>,
    /// What was answered to a call of the role after that, which every role has.
    pub reading: Option<String>,
    /// Whether an agent was started by either of these calls.
    pub spawned: bool,
    /// Whether the main agent was told of its context.
    pub told: bool,
    /// Whether the role was told of its own.
    pub role_told: bool,
}

impl Ran {
    /// Whether nothing came of the run: what was not called can be neither refused nor told.
    fn silent(&self) -> bool {
        !self.role && [&self.copied, &self.started, &self.foreign].iter().all(|answer| answer.is_none())
    }
}

/// The runs.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a> {
    /// Everything as it is rendered.
    pub plain: &'a Ran,
    /// The compiled file of the guard is edited.
    pub edited: &'a Ran,
    /// The program is not on the path.
    pub away: &'a Ran,
}

/// Whether the hook was seen to refuse where its program is missing: then it stands in a file that the host read.
pub fn hooked(findings: &[Finding]) -> bool {
    let is = |f: &Finding| matches!(&f.about, About::Guard { what } if what == MISSING_PROGRAM);
    findings.iter().any(|f| is(f) && f.verdict == Verdict::Held)
}

impl Runs<'_> {
    /// One finding for each thing; whether the host has a call for a copy, whether the context was tried, and whether the
    /// guard is told which agent calls.
    pub fn findings(&self, copies: bool, context: bool, named: bool) -> Vec<Finding> {
        let mut all = Vec::new();
        let mut add = |what: &str, claim: &str, (verdict, seen): (Verdict, String)| {
            all.push(Finding::new(About::Guard { what: what.to_owned() }, claim.to_owned(), verdict, seen));
        };
        if copies {
            add("history", "a copy of the conversation is refused to everybody", self.history());
        }
        if named {
            add("targets", "a role starts none but the repository's agents", self.targets());
        }
        if context {
            add("context", "the main agent is told of a threshold that it passed", self.context());
        }
        match named {
            true => {
                add("edited", "where its file is edited, roles are refused and the main agent is not", self.broken())
            }
            false => add("edited", "where its file is edited, nothing is refused", self.open()),
        }
        add(MISSING_PROGRAM, "where the program is missing, everybody is refused", self.missing());
        all
    }

    fn history(&self) -> (Verdict, String) {
        match &self.plain.copied {
            None => (Verdict::Unclear, "the call was never answered".to_owned()),
            Some(answer) => refused(answer, WHOLE, self.plain.spawned),
        }
    }

    fn targets(&self) -> (Verdict, String) {
        match &self.plain.foreign {
            _ if !self.plain.role => (Verdict::Unclear, not_started(self.plain)),
            None => (Verdict::Unclear, "the call was never answered".to_owned()),
            // A role that has no such tool starts nobody.
            Some(answer) if !answer.contains(REFUSED) && !self.plain.spawned => {
                (Verdict::Untried, format!("it did not come to the guard: {}", shown(answer)))
            }
            Some(answer) => refused(answer, FOREIGN, self.plain.spawned),
        }
    }

    fn context(&self) -> (Verdict, String) {
        let run = self.plain;
        match (run.told, run.role_told) {
            (true, true) => (Verdict::Held, "the line is in a request of each to the model".to_owned()),
            _ if run.silent() => (Verdict::Unclear, "no call was ever answered".to_owned()),
            (false, _) => (Verdict::Broken, "the line is in no request of the main agent to the model".to_owned()),
            // Where the figure is that of the call before, a role with one call to make is not told, and that breaks nothing.
            (true, false) => (
                Verdict::Held,
                "the line is in a request of the main agent to the model, and in none of the role".to_owned(),
            ),
        }
    }

    fn broken(&self) -> (Verdict, String) {
        let run = self.edited;
        // A role that can start nobody has still something that is refused.
        let came = |answer: &&String| answer.contains(REFUSED);
        match run.foreign.as_ref().filter(came).or(run.reading.as_ref().filter(came)).or(run.foreign.as_ref()) {
            _ if run.silent() => (Verdict::Unclear, "no call was ever answered".to_owned()),
            _ if !run.role => (Verdict::Broken, format!("the main agent is refused: {}", not_started(run))),
            None => (Verdict::Unclear, "the role's call was never answered".to_owned()),
            Some(answer) if !answer.contains(REFUSED) && !run.spawned => {
                (Verdict::Untried, format!("the role's call did not come to the guard: {}", shown(answer)))
            }
            Some(answer) => {
                let (verdict, seen) = refused(answer, EDITED, run.spawned);
                (verdict, format!("{seen}; the main agent started the role"))
            }
        }
    }

    /// Of a host that names no agent: nobody is known to be limited.
    fn open(&self) -> (Verdict, String) {
        match &self.edited.started {
            _ if self.edited.role => (Verdict::Held, "the main agent started the role".to_owned()),
            None => (Verdict::Unclear, "the call was never answered".to_owned()),
            Some(answer) if answer.contains(REFUSED) => (Verdict::Better, format!("refused: {}", shown(answer))),
            Some(_) => (Verdict::Unclear, not_started(self.edited)),
        }
    }

    fn missing(&self) -> (Verdict, String) {
        match &self.away.started {
            None => (Verdict::Unclear, "the call was never answered".to_owned()),
            Some(answer) => refused(answer, MISSING, self.away.role || self.away.spawned),
        }
    }
}

fn not_started(run: &Ran) -> String {
    format!("the role was not started: {}", shown(run.started.as_deref().unwrap_or("nothing")))
}

/// A call that is to be refused by the guard in these `words`, and whether it did something.
fn refused(answer: &str, words: &str, done: bool) -> (Verdict, String) {
    match (done, answer.contains(words)) {
        (true, _) => (Verdict::Broken, "an agent was started".to_owned()),
        (false, true) => (Verdict::Held, format!("refused: {}", shown(answer))),
        (false, false) => {
            (Verdict::Unclear, format!("no agent was started, and for another reason: {}", shown(answer)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(plain: &Ran, edited: &Ran, away: &Ran) -> Vec<Verdict> {
        Runs { plain, edited, away }.findings(true, true, true).iter().map(|f| f.verdict).collect()
    }

    #[test]
    fn what_the_guard_refused_is_held_and_what_ran_is_broken() {
        use Verdict::{Better, Broken, Held, Unclear, Untried};
        let no = |why: &str| Some(format!("rolecast: {why}"));
        let plain =
            Ran { copied: no(WHOLE), role: true, foreign: no(FOREIGN), told: true, role_told: true, ..Ran::default() };
        let edited = Ran { foreign: no(EDITED), ..plain.clone() };
        let away = Ran { started: no(MISSING), ..Ran::default() };
        assert_eq!(verdicts(&plain, &edited, &away), [Held; 5]);
        let open = Ran { spawned: true, told: false, ..plain.clone() };
        let ran = Ran { role: true, ..away.clone() };
        assert_eq!(verdicts(&open, &open, &ran), [Broken; 5]);
        // Refused, and for a reason that proves nothing of what was tried.
        assert_eq!(verdicts(&edited, &plain, &edited), [Held, Unclear, Held, Unclear, Unclear]);
        let other = Some("no such tool".to_owned());
        let without = Ran { copied: other.clone(), foreign: other.clone(), ..plain.clone() };
        let silent = Ran { started: other, ..Ran::default() };
        assert_eq!(verdicts(&without, &without, &silent), [Unclear, Untried, Held, Untried, Unclear]);
        // That the role is not told is said, and breaks nothing.
        let alone = Ran { role_told: false, ..plain.clone() };
        assert_eq!(verdicts(&alone, &edited, &away)[2], Held);
        assert_ne!(
            Runs { plain: &alone, edited: &edited, away: &away }.context().1,
            Runs { plain: &plain, edited: &edited, away: &away }.context().1
        );
        assert_eq!(verdicts(&Ran { told: false, ..plain.clone() }, &edited, &away)[2], Broken);
        // A role that can start nobody is refused something else.
        let reads = Ran { reading: no(EDITED), ..without.clone() };
        assert_eq!(verdicts(&plain, &reads, &away)[3], Held);
        // A program that never asks its model shows nothing.
        let nothing = Ran::default();
        assert_eq!(verdicts(&nothing, &nothing, &nothing), [Unclear; 5]);
        // Where agents have no name, an edited file stops nobody.
        let nameless = |edited: &Ran| {
            let findings = Runs { plain: &plain, edited, away: &away }.findings(false, false, false);
            findings.iter().map(|f| f.verdict).collect::<Vec<_>>()
        };
        assert_eq!(nameless(&plain), [Held, Held]);
        assert_eq!(nameless(&silent), [Unclear, Held]);
        assert_eq!(nameless(&away), [Better, Held]);
        // An edited file that stops the main agent too is no proof of what is said.
        assert_eq!(verdicts(&plain, &silent, &away)[3], Broken);
    }
}
