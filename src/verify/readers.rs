//! Tries how the host reads a JSON file of ours that holds one thing which plain JSON does not have: whether what the
//! file says still takes effect. A hook is seen by what it refuses where its program is missing, a server by its start.

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::model::adapter::{Loose, ToolCall};
use crate::model::guard::words::MISSING;
use crate::text::eol::BOM;

use super::copy::Files;
use super::derived::Derived;
use super::judge::shown;
use super::model::{Limits, Recorded, Script, Server};
use super::probe::{self, MAIN, ROLE, fill};
use super::process::{Interrupt, Ran, said};
use super::reap;
use super::report::{About, Finding, Verdict};
use super::session::{Place, RUN_TIME, Session, VERSION_TIME, values, write};
use super::tryout::Record;
use super::{All, Problem, slots};

/// All that are tried.
const FORMS: [Loose; 3] = [Loose::Comments, Loose::TrailingCommas, Loose::ByteOrderMark];

/// By what one sees that the file was read.
#[derive(Clone, Copy)]
enum Sign<'a> {
    /// Its hook refuses the start of this role, for the program is missing.
    Hook(&'a str),
    /// Its server is started.
    Server,
}

/// A file, and what is put into it.
struct Case<'a> {
    derived: &'a Derived,
    policy_dir: &'a str,
    file: &'a str,
    form: Loose,
    sign: Sign<'a>,
}

/// What a run showed of what the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shown {
    /// It took effect.
    Effect(String),
    /// It did not.
    Gone(String),
    /// One does not know.
    Unclear(String),
}

/// What was seen of one file with one thing in it.
pub struct Read {
    file: String,
    form: Loose,
    /// Why it is not taken, where the adapter says so.
    refused: Option<String>,
    /// Whether it is seen by a server's start, else by the hook.
    server: bool,
    shown: Shown,
}

impl Read {
    /// What is found. That nothing took effect proves something only where it does from the file as it is rendered:
    /// `connected` = its server was started, `hooked` = its hook refused where the program is missing.
    pub fn finding(&self, connected: bool, hooked: bool) -> Finding {
        let plain = if self.server { connected } else { hooked };
        let claim = match &self.refused {
            Some(otherwise) => format!("not taken: it {otherwise}"),
            None => "taken, and what the file says holds".to_owned(),
        };
        let (verdict, seen) = match (&self.shown, self.refused.is_some()) {
            (Shown::Unclear(seen), _) => (Verdict::Unclear, seen.clone()),
            (Shown::Gone(seen), _) if !plain => {
                (Verdict::Unclear, format!("{seen}, nor from the file as it is rendered"))
            }
            (Shown::Effect(seen), false) | (Shown::Gone(seen), true) => (Verdict::Held, seen.clone()),
            (Shown::Effect(seen), true) => (Verdict::Better, seen.clone()),
            (Shown::Gone(seen), false) => (Verdict::Broken, seen.clone()),
        };
        let about = About::Reader { file: self.file.clone(), with: words(self.form).to_owned() };
        Finding::new(about, claim, verdict, seen)
    }
}

const fn words(form: Loose) -> &'static str {
    match form {
        Loose::Comments => "comments",
        Loose::TrailingCommas => "trailing commas",
        Loose::ByteOrderMark => "a byte order mark",
    }
}

/// The text of an object with that in it; none where it has no place.
fn loosened(text: &str, form: Loose) -> Option<String> {
    match form {
        Loose::Comments => text.find('{').map(|at| format!("{} // a comment\n{}", &text[..=at], &text[at + 1..])),
        Loose::TrailingCommas => {
            let at = text.rfind('}')?;
            let before = text[..at].trim_end();
            (!before.ends_with(['{', ','])).then(|| format!("{before},\n{}", &text[at..]))
        }
        Loose::ByteOrderMark => (!text.starts_with(BOM)).then(|| format!("{BOM}{text}")),
    }
}

impl Session<'_> {
    async fn read(&self, case: &Case<'_>, files: &Files, interrupt: &mut Interrupt) -> io::Result<Shown> {
        let place = Place::new()?;
        files.copy(&place.root, &place.home, self.platform, interrupt).await?;
        match case.sign {
            Sign::Hook(_) => case.derived.render(&place.root, case.policy_dir)?,
            Sign::Server => case.derived.put(&place.root)?,
        }
        let script = self.reading_script(case.sign);
        let limits = Limits { life: RUN_TIME + Duration::from_secs(30), ..Limits::default() };
        let server = Server::start(|_| script, limits).await?;
        let name = if let Sign::Hook(role) = case.sign { role } else { "" };
        let mut values = values(&place, &server.url(), name);
        for (path, text) in &self.driver.files {
            write(&place.home.join(path), &fill(text, &values))?;
        }
        self.acknowledge(&place)?;
        let mut args = &self.driver.args;
        if matches!(case.sign, Sign::Server) {
            let how = &self.driver.servers;
            for (path, text) in &how.files {
                write(&place.home.join(path), &fill(text, &values))?;
            }
            if let Some(accept) = &how.accept {
                values.insert("{server}".to_owned(), case.derived.shared(&self.adapter.id));
                self.start(accept, &values, &place, VERSION_TIME, interrupt).await?;
            }
            args = how.args.as_ref().unwrap_or(args);
        }
        if !loosen(&place.root.join(case.file), case.form)? {
            return Ok(Shown::Unclear("it has no place in the file".to_owned()));
        }
        let ran = self.start(args, &values, &place, RUN_TIME, interrupt).await?;
        reap::stragglers(&place.home);
        let recorded = server.recorded();
        Ok(match case.sign {
            _ if !of(&recorded, MAIN).any(|_| true) => silent(&ran),
            Sign::Hook(_) => hook(&recorded),
            Sign::Server if Record::new(place.record()).listed() => Shown::Effect("its server was started".to_owned()),
            Sign::Server => Shown::Gone("its server was not started".to_owned()),
        })
    }

    fn reading_script(&self, sign: Sign<'_>) -> Script {
        let main: Vec<ToolCall> = match (sign, &self.driver.shell) {
            // A server gets some time to be there.
            (Sign::Server, Some(call)) => {
                return probe::shell(self.driver, call, &["sleep 1", "sleep 1"].map(str::to_owned));
            }
            (Sign::Server, None) => Vec::new(),
            (Sign::Hook(role), _) => {
                let start = probe::start(self.adapter, self.driver, role, ROLE);
                std::iter::once(&start).chain(&self.driver.wait).cloned().collect()
            }
        };
        let rules = [(MAIN, main.as_slice()), (ROLE, &[][..])];
        let rules = rules.map(|(name, calls)| probe::calling(self.driver, name, "", calls)).to_vec();
        Script { rules, otherwise: "ok".to_owned() }
    }
}

fn of<'a>(recorded: &'a [Recorded], rule: &'static str) -> impl Iterator<Item = &'a Recorded> {
    recorded.iter().filter(move |r| r.answer.rule.as_deref() == Some(rule))
}

/// A program that ends without a request has read the file and gave up; one that was ended shows nothing.
fn silent(ran: &Ran) -> Shown {
    let seen = format!("it never asked the model: {}", said(&format!("{} {}", ran.stderr, ran.stdout)));
    match ran.code {
        Some(code) if code != 0 => Shown::Gone(seen),
        _ => Shown::Unclear(seen),
    }
}

fn hook(recorded: &[Recorded]) -> Shown {
    let last = of(recorded, MAIN).max_by_key(|r| r.digest.results.len());
    match last.and_then(|r| r.digest.results.first()) {
        _ if of(recorded, ROLE).any(|_| true) => Shown::Gone("its hook did not run".to_owned()),
        Some(answer) if answer.contains(MISSING) => Shown::Effect("its hook ran".to_owned()),
        Some(answer) => Shown::Unclear(format!("neither its hook nor the role ran: {}", self::shown(answer))),
        None => Shown::Unclear("the call was never answered".to_owned()),
    }
}

/// Puts it into the file; `false` where it has no place.
fn loosen(file: &Path, form: Loose) -> io::Result<bool> {
    let Some(text) = loosened(&std::fs::read_to_string(file)?, form) else { return Ok(false) };
    std::fs::write(file, text).map(|()| true)
}

impl All<'_> {
    /// Tries every such file that the host's hook or its servers stand in.
    pub(super) async fn readers(&self, session: &Session<'_>) -> Result<Vec<Read>, Problem> {
        let guarding = self.guarding(session)?;
        let direct = self.derived.iter().find(|d| !d.through());
        let servers = session.adapter.mcp.as_ref().and_then(|mcp| mcp.output.as_ref());
        let away = session.platform.clone().without("rolecast");
        let outputs = session.adapter.outputs.iter().filter_map(|(name, output)| {
            let reader = output.json.as_ref()?;
            let (derived, sign) = match (&guarding, direct) {
                (Some((derived, role)), _) if derived.asks(&output.file) => (derived, Sign::Hook(role)),
                // Where the host takes its servers from another one's file, its own is not rendered.
                (_, Some(derived)) if servers == Some(name) && derived.writes(&output.file) => (derived, Sign::Server),
                _ => return None,
            };
            Some((output, reader, derived, sign))
        });
        let runs = outputs.flat_map(|(output, reader, derived, sign)| {
            let away = &away;
            FORMS.into_iter().map(move |form| async move {
                let (file, policy_dir) = (output.file.as_str(), self.options.policy_dir);
                let case = Case { derived, policy_dir, file, form, sign };
                let server = matches!(sign, Sign::Server);
                let platform = if server { session.platform } else { away };
                let session = Session { platform, ..*session };
                let run = async |stop: &mut Interrupt| session.read(&case, self.files, stop).await;
                let shown = self.turn(session, &format!("trying `{file}` with {}", words(form)), run).await?;
                let refused = reader.without.contains(&form).then(|| reader.otherwise.clone());
                Ok(Read { file: file.to_owned(), form, refused, server, shown })
            })
        });
        slots::all(runs).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::json::{Refused, offences};

    #[test]
    fn each_form_is_the_only_thing_that_plain_json_does_not_have() {
        let all = Refused { comments: true, commas: true, mark: true };
        for form in FORMS {
            let text = loosened("{\n  \"a\": { \"b\": 1 }\n}\n", form).unwrap();
            assert_eq!(offences(&text, all).len(), 1, "{text}");
            let but = Refused {
                comments: form != Loose::Comments,
                commas: form != Loose::TrailingCommas,
                mark: form != Loose::ByteOrderMark,
            };
            assert_eq!(offences(&text, but), [], "{text}");
        }
        assert_eq!(loosened("{}\n", Loose::TrailingCommas), None);
    }

    #[test]
    fn what_is_lost_unsaid_is_broken_and_what_never_takes_effect_proves_nothing() {
        use Verdict::{Better, Broken, Held, Unclear};
        let (effect, gone) = (Shown::Effect(String::new()), Shown::Gone(String::new()));
        for (shown, refused, server, plain, verdict) in [
            (&effect, false, false, false, Held),
            (&gone, true, false, true, Held),
            (&gone, true, false, false, Unclear),
            (&gone, false, false, true, Broken),
            (&gone, false, false, false, Unclear),
            (&effect, true, false, true, Better),
            (&gone, true, true, true, Held),
            (&gone, true, true, false, Unclear),
            (&gone, false, true, true, Broken),
            (&gone, false, true, false, Unclear),
            (&Shown::Unclear(String::new()), true, false, true, Unclear),
        ] {
            let refused = refused.then(|| "does not start".to_owned());
            let (file, form) = ("f".to_owned(), Loose::Comments);
            let read = Read { file, form, refused, server, shown: shown.clone() };
            // Only its own sign counts.
            let (connected, hooked) = if server { (plain, !plain) } else { (!plain, plain) };
            assert_eq!(read.finding(connected, hooked).verdict, verdict, "{shown:?} {server} {plain}");
        }
    }

    #[test]
    fn a_program_that_gives_up_has_read_the_file_and_one_that_was_ended_shows_nothing() {
        let ran = |code| Ran { code, ..Ran::default() };
        assert!(matches!(silent(&ran(Some(1))), Shown::Gone(_)));
        assert!(matches!(silent(&ran(Some(0))), Shown::Unclear(_)));
        assert!(matches!(silent(&ran(None)), Shown::Unclear(_)));
    }
}
