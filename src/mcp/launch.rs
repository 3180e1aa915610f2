//! What a declared server needs to be started or reached.

use std::path::{Path, PathBuf};

use super::problem::Problem;
use crate::model::policy::{EnvValue, Map, Server};

/// The variables of the user that every server is given: what programs need to find files, and nothing that
/// is likely to be a secret.
const BASE: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TMPDIR", // Windows:
    "SystemRoot",
    "ComSpec",
    "PATHEXT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
];

/// What every program is given of the user's variables.
pub fn base(variable: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    BASE.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?))).collect()
}

/// A server as it is started or reached; every reference is resolved.
#[derive(Clone)]
pub struct Launch {
    /// Its name in the policy.
    pub name: String,
    /// How.
    pub transport: Transport,
    /// Values that must not be shown.
    pub secrets: Vec<String>,
}

/// The way to a server.
#[derive(Clone)]
pub enum Transport {
    /// A program of this machine.
    Stdio {
        /// The program; a relative path is below the folder.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// All of its environment.
        env: Vec<(String, String)>,
        /// Its working folder.
        folder: PathBuf,
    },
    /// A remote server.
    Http {
        /// Its address.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

impl Launch {
    /// Resolves the declaration of a server with the variables of the user.
    ///
    /// # Errors
    /// A variable that is not set; neither a program nor an address.
    pub fn of(
        name: &str,
        server: &Server,
        folder: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Problem> {
        let mut secrets = Vec::new();
        let transport = match (&server.command, &server.url) {
            (Some(command), None) => {
                let mut env = base(variable);
                for (key, value) in resolved(&server.env, variable, &mut secrets)? {
                    env.retain(|(name, _)| *name != key);
                    env.push((key, value));
                }
                Transport::Stdio {
                    program: command.value.clone(),
                    args: server.args.iter().map(|arg| arg.value.clone()).collect(),
                    env,
                    folder: folder.to_owned(),
                }
            }
            (None, Some(url)) => {
                Transport::Http { url: url.value.clone(), headers: resolved(&server.headers, variable, &mut secrets)? }
            }
            _ => return Err(Problem::Declaration("it needs either `command` or `url`".to_owned())),
        };
        Ok(Self { name: name.to_owned(), transport, secrets })
    }
}

fn resolved(
    values: &Map<EnvValue>,
    variable: &dyn Fn(&str) -> Option<String>,
    secrets: &mut Vec<String>,
) -> Result<Vec<(String, String)>, Problem> {
    let one = |(key, value): (&crate::yaml::Sp<String>, &EnvValue)| {
        let mut secret = |name: &crate::yaml::Sp<String>| {
            let text = variable(name).ok_or_else(|| Problem::MissingVariable(name.value.clone()))?;
            secrets.push(text.clone());
            Ok(text)
        };
        let text = match value {
            EnvValue::Literal(text) => text.value.clone(),
            EnvValue::Env(name) => secret(name)?,
            EnvValue::Bearer(name) => format!("Bearer {}", secret(name)?),
        };
        Ok((key.value.clone(), text))
    };
    values.iter().map(one).collect()
}
