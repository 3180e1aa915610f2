//! What a finding says beyond its verdict: what evidence needs to know.

use crate::model::evidence::{Holds, Verdict};
use crate::model::scalar::Guarantee;
use crate::plan::ledger::{Line, State};

use super::judge::Case;
use super::report::Finding;

impl Case<'_> {
    /// Adds to a finding about `line` what holds instead, and whether a call was tried at all.
    pub(super) fn detailed(&self, line: &Line, capability: &str, mut finding: Finding) -> Finding {
        let offered = self.offered().any(|n| self.confers(n, capability));
        match finding.verdict {
            Verdict::Broken => finding.holds = Some(self.holds(line, capability, offered)),
            Verdict::Held => {
                let refuses = line.guarantee.is_some_and(|g| g > Guarantee::Hidden || g == Guarantee::Prompted);
                finding.listed = line.state == State::Denied && refuses && self.tried(capability).is_empty();
            }
            _ => {}
        }
        finding
    }

    fn holds(&self, line: &Line, capability: &str, offered: bool) -> Holds {
        match line.state {
            State::Denied if offered => Holds::Advised,
            State::Denied => Holds::Hidden,
            // A limit that does not limit leaves the grant; one that shuts everything takes it away.
            State::Granted if offered && self.tried(capability).iter().any(|t| t.effect) => Holds::Advised,
            State::Granted | State::Unreachable => Holds::Unreachable,
        }
    }
}
