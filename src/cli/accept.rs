//! `verify --accept`: writes what was seen where the ledger reads it.

use crate::compile::Compiled;
use crate::load::EVIDENCE_DIR;
use crate::model::evidence::{Holds, Verdict};
use crate::plan::ledger::Subject;
use crate::system::Writer;
use crate::verify::{About, Accept, HostReport, Report, evidence_text};

use super::exit::Failure;
use super::put;
use super::today::today;
use super::ui::Ui;

/// Writes the evidence of every host that was run, into the policy folder `dir`, and says what the ledger will say.
///
/// # Errors
/// A file cannot be written, or the clock is wrong.
pub fn accept(
    report: &Report,
    compiled: &Compiled,
    roles: &[String],
    dir: &str,
    system: &dyn Writer,
    ui: &Ui,
) -> Result<(), Failure> {
    let (Some(policy), Some(plan)) = (&compiled.policy, &compiled.plan) else { return Ok(()) };
    let day =
        today().ok_or_else(|| Failure::environment("the clock of this machine shows no day between 1970 and 9999"))?;
    let accept = Accept { policy, plan, roles, day: &day };
    for host in &report.hosts {
        let path = format!("{dir}/{EVIDENCE_DIR}/{}.yaml", host.host);
        let own = compiled.loaded.evidence.iter().find(|e| compiled.loaded.sources.get(e.source).path == path);
        let Some(file) = accept.evidence(host, own.map(|e| &e.file)) else {
            let why = host.not_verified.as_deref().unwrap_or("the program does not say what version it is");
            ui.say(&format!("{}: nothing accepted: {why}", host.title));
            continue;
        };
        put::file(system, &path, evidence_text(&file, &host.title).as_bytes())
            .map_err(|e| Failure::environment(format!("cannot write `{path}`: {e}")))?;
        ui.say(&format!("wrote {path}"));
        lowered(host, roles, ui);
    }
    Ok(())
}

/// What the ledger will say of the broken lines.
fn lowered(host: &HostReport, roles: &[String], ui: &Ui) {
    for finding in host.findings.iter().filter(|f| f.verdict == Verdict::Broken) {
        let About::Line(subject) = &finding.about else { continue };
        let subject = match subject {
            Subject::Role { role, form, capability } => format!("`{capability}` of {role} ({form})"),
            Subject::Rule { .. } | Subject::Budget { .. } if !roles.is_empty() => {
                ui.say(&format!(
                    "{}: what is broken of rules and budgets is accepted by a run of all roles",
                    host.title
                ));
                continue;
            }
            Subject::Server { .. } | Subject::Command { .. } => continue,
            Subject::Rule { rule, to } => format!("rule `{rule}` to {to}"),
            Subject::Budget { budget, family } => format!("`{budget}` on {family} results"),
        };
        let now = finding.holds.unwrap_or(Holds::Advised).word();
        ui.say(&format!("{}: from now on the ledger says of {subject}: {now}, not {}", host.title, finding.claim));
    }
}
