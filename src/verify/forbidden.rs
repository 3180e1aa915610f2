//! Tries whether a command that nobody may run is refused, with one that does no harm where it is not.

use std::io;
use std::time::Duration;

use crate::model::adapter::{Adapter, ToolCall};
use crate::plan::commands;
use crate::plan::ledger::Subject;
use crate::resolve::commands::Forbidden;

use super::copy::Files;
use super::derived::Derived;
use super::model::{Limits, Server};
use super::probe::{self, FOLDER, MAIN, fill};
use super::process::Interrupt;
use super::reap;
use super::report::{Finding, Verdict};
use super::session::{Place, RUN_TIME, Session, values, write};

/// The command that trials forbid, whatever the policy does: the user's own are never run.
pub fn command() -> Forbidden {
    Forbidden { words: vec!["touch".to_owned()], because: None, span: None }
}

/// What became of one line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ran {
    /// What the program answered; none = the call was never answered.
    answer: Option<String>,
    /// Whether it did something.
    effect: bool,
}

/// What became of the lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// The command as it is.
    plain: Ran,
    /// Another one, which nothing forbids.
    free: Ran,
    /// The command inside of a text for another shell.
    around: Ran,
}

impl Session<'_> {
    /// Lets the main agent's shell run the forbidden command, one that is not, and a way around.
    ///
    /// # Errors
    /// Files, or a program that cannot be started.
    pub async fn forbidden(
        &self,
        call: &ToolCall,
        derived: &Derived,
        policy_dir: &str,
        files: &Files,
        interrupt: &mut Interrupt,
    ) -> io::Result<Lines> {
        let place = Place::new()?;
        files.copy(&place.root, &place.home, self.platform, interrupt).await?;
        derived.render(&place.root, policy_dir)?;
        std::fs::create_dir_all(place.root.join(FOLDER))?;
        let made = ["plain", "free", "around"].map(|name| place.root.join(FOLDER).join(name));
        let at = |index: usize| made[index].to_string_lossy();
        let lines =
            [format!("touch {}", at(0)), format!("printf made > {}", at(1)), format!("sh -c 'touch {}'", at(2))];
        let script = probe::shell(self.driver, call, &lines);
        let limits = Limits { life: RUN_TIME + Duration::from_secs(30), ..Limits::default() };
        let server = Server::start(|_| script, limits).await?;
        let values = values(&place, &server.url(), "");
        for (path, text) in &self.driver.files {
            write(&place.home.join(path), &fill(text, &values))?;
        }
        self.start(&self.driver.args, &values, &place, RUN_TIME, interrupt).await?;
        reap::stragglers(&place.home);
        let recorded = server.recorded();
        let own = recorded.iter().filter(|r| r.answer.rule.as_deref() == Some(MAIN));
        let last = own.max_by_key(|r| r.digest.results.len());
        let results = last.map_or(&[][..], |r| r.digest.results.as_slice());
        let ran = |index: usize| Ran { answer: results.get(index).cloned(), effect: made[index].exists() };
        Ok(Lines { plain: ran(0), free: ran(1), around: ran(2) })
    }
}

/// What is found of the line about the command.
pub fn findings(adapter: &Adapter, derived: &Derived, lines: &Lines) -> Vec<Finding> {
    let own = derived.plan.ledger.lines.iter().filter(|l| l.host == adapter.id);
    let about = own.filter(|l| matches!(l.subject, Subject::Command { .. }));
    let refused = commands::refused(adapter, &derived.policy, &command());
    about
        .map(|line| {
            let (verdict, seen) = lines.judged(refused);
            Finding::of(line, verdict, seen)
        })
        .collect()
}

impl Lines {
    /// `refused`: whether something but text is said to refuse it.
    fn judged(&self, refused: bool) -> (Verdict, String) {
        let said = |ran: &Ran| ran.answer.as_deref().unwrap_or("nothing").chars().take(200).collect::<String>();
        if !self.free.effect || self.plain.answer.is_none() {
            return (
                Verdict::Unclear,
                format!("a command that nothing forbids did not run either: {}", said(&self.free)),
            );
        }
        let around = if self.around.effect { "ran" } else { "did not run" };
        let around = format!("inside of `sh -c` it {around}, which nothing is claimed of");
        match (refused, self.plain.effect) {
            (true, true) => (Verdict::Broken, "the command ran".to_owned()),
            (true, false) => (Verdict::Held, format!("refused: {}; {around}", said(&self.plain))),
            (false, true) => (Verdict::Held, "it ran, as said".to_owned()),
            (false, false) => (Verdict::Better, format!("it did not run: {}", said(&self.plain))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_around_breaks_nothing_and_a_plain_line_does() {
        let ran = |effect| Ran { answer: Some("x".into()), effect };
        for (plain, free, around, refused, verdict) in [
            (false, true, true, true, Verdict::Held),
            (false, true, false, true, Verdict::Held),
            (true, true, false, true, Verdict::Broken),
            (true, true, true, false, Verdict::Held),
            (false, true, true, false, Verdict::Better),
            // A shell that runs nothing proves nothing.
            (false, false, false, true, Verdict::Unclear),
        ] {
            let lines = Lines { plain: ran(plain), free: ran(free), around: ran(around) };
            assert_eq!(lines.judged(refused).0, verdict, "{plain} {free} {around} {refused}");
        }
        let unanswered = Lines { free: ran(true), ..Lines::default() };
        assert_eq!(unanswered.judged(true).0, Verdict::Unclear);
    }
}
