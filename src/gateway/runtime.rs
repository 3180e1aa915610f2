//! Values of the run time: from our own process and what the policy declares, never from a model or its session.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::Command;

use crate::mcp;
use crate::model::composed::RuntimeSource;
use crate::process::Group;
use crate::resolve::composed::RuntimeSources;
use crate::system::System;

/// Longest value, in bytes.
const MAX: u64 = 64 << 10;
/// How long a program may take to say a value.
const PATIENCE: Duration = Duration::from_secs(10);

/// The values of one process. One that was found stays; one that was not is looked for again.
pub struct Values {
    sources: RuntimeSources,
    given: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
    system: Box<dyn System + Send + Sync>,
    root: PathBuf,
    known: Mutex<BTreeMap<String, Result<String, String>>>,
}

impl Values {
    /// `given` = what the command line says; `variables` = the user's environment.
    pub fn new(
        sources: RuntimeSources,
        given: BTreeMap<String, String>,
        variables: BTreeMap<String, String>,
        system: Box<dyn System + Send + Sync>,
        root: PathBuf,
    ) -> Self {
        Self { sources, given, variables, system, root, known: Mutex::default() }
    }

    /// Looks for values, so that [`Self::get`] knows them.
    pub async fn prepare(&self, names: &[&str]) {
        for name in names {
            if self.get(name).is_err() {
                let found = self.look(name).await;
                self.known.lock().unwrap_or_else(PoisonError::into_inner).insert((*name).to_owned(), found);
            }
        }
    }

    /// A value that was looked for.
    ///
    /// # Errors
    /// Why there is none; without a value, path or output in it.
    pub fn get(&self, name: &str) -> Result<String, String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(name).cloned().unwrap_or_else(|| Err("it was not looked for".to_owned()))
    }

    async fn look(&self, name: &str) -> Result<String, String> {
        let value = match self.sources.get(name) {
            None => return Err("the policy does not declare it".to_owned()),
            Some(RuntimeSource::Argument) => {
                let given = self.given.get(name).cloned();
                given.ok_or_else(|| format!("start the server with `--runtime {name}=VALUE`"))?
            }
            Some(RuntimeSource::Env(variable)) => {
                let set = self.variables.get(&variable.value).cloned();
                set.ok_or_else(|| format!("the environment variable `{}` is not set", variable.value))?
            }
            Some(RuntimeSource::File(path)) => {
                let bytes = self.system.read(path, MAX);
                text(bytes.map_err(|error| format!("its file cannot be read: {}", error.kind()))?)?
            }
            Some(RuntimeSource::Command(words)) => {
                let words: Vec<&str> = words.iter().map(|word| word.value.as_str()).collect();
                text(self.run(&words).await?)?
            }
        };
        if value.is_empty() { Err("it is empty".to_owned()) } else { Ok(value) }
    }

    async fn run(&self, words: &[&str]) -> Result<Vec<u8>, String> {
        let (program, arguments) = words.split_first().ok_or("no program is named")?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&self.root)
            .env_clear()
            .envs(mcp::base(&|name| self.variables.get(name).cloned()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| format!("its program cannot be started: {}", error.kind()))?;
        let _group = Group::of(child.id());
        let mut stdout = child.stdout.take().ok_or("its program has no output")?.take(MAX + 1);
        let reading = async {
            let mut bytes = Vec::new();
            stdout.read_to_end(&mut bytes).await.map_err(|_| "its program's output cannot be read".to_owned())?;
            drop(stdout);
            let status = child.wait().await.map_err(|_| "its program got lost".to_owned())?;
            Ok::<_, String>((bytes, status))
        };
        let (bytes, status) =
            tokio::time::timeout(PATIENCE, reading).await.map_err(|_| "its program takes too long".to_owned())??;
        if bytes.len() as u64 > MAX {
            return Err("its program says too much".to_owned());
        }
        if status.success() { Ok(bytes) } else { Err("its program failed".to_owned()) }
    }
}

/// One value as text, without the line end.
fn text(bytes: Vec<u8>) -> Result<String, String> {
    let text = String::from_utf8(bytes).map_err(|_| "it is no text".to_owned())?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err("it has control characters".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::system::memory::Memory;
    use crate::yaml::Sp;

    fn look(source: RuntimeSource) -> Result<String, String> {
        let word = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let values = Values::new(
            [("v".to_owned(), source)].into_iter().collect(),
            [word("v", "from the command line")].into(),
            [word("PATH", "/usr/bin:/bin"), word("TOKEN", "from outside"), word("SECRET", "s")].into(),
            Box::new(Memory::new().with("conf/org", "acme\n").with("bad", b"\xff")),
            std::env::temp_dir(),
        );
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(values.prepare(&["v"]));
        assert!(values.get("other").is_err());
        values.get("v")
    }

    fn command(script: &str) -> RuntimeSource {
        RuntimeSource::Command(["sh", "-c", script].map(|w| Sp::bare(w.to_owned())).to_vec())
    }

    #[test]
    fn every_source_gives_its_value() {
        let bare = |text: &str| Sp::bare(text.to_owned());
        assert_eq!(look(RuntimeSource::Argument).unwrap(), "from the command line");
        assert_eq!(look(RuntimeSource::Env(bare("TOKEN"))).unwrap(), "from outside");
        assert_eq!(look(RuntimeSource::File(bare("conf/org"))).unwrap(), "acme");
        assert_eq!(look(command("printf 'a b\n'")).unwrap(), "a b");
        assert_eq!(look(command("echo ${SECRET:-none}")).unwrap(), "none", "only declared variables are handed on");
    }

    #[test]
    fn what_gives_no_value_says_why_and_shows_nothing() {
        let bare = |text: &str| Sp::bare(text.to_owned());
        for (source, why) in [
            (RuntimeSource::Env(bare("UNSET")), "not set"),
            (RuntimeSource::File(bare("missing")), "cannot be read"),
            (RuntimeSource::File(bare("bad")), "no text"),
            (command("echo secret; exit 1"), "failed"),
            (command("printf ''"), "empty"),
            (command("printf 'a\\033b'"), "control characters"),
            (command("head -c 100000 /dev/zero | tr '\\0' x"), "says too much"),
            (RuntimeSource::Command(vec![bare("no-such-program-here")]), "cannot be started"),
        ] {
            let said = look(source).unwrap_err();
            assert!(said.contains(why) && !said.contains("secret"), "{said}");
        }
    }
}
