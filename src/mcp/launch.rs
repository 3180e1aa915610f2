//! What a declared server needs to be started or reached.

use std::path::{Path, PathBuf};

use super::problem::Problem;
use crate::model::policy::{EnvValue, Map, Server};
use crate::resolve::policy::Value;

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

/// Names with their values, and what of these must not be shown.
pub type References = (Vec<(String, String)>, Vec<String>);

/// Values of the environment or of headers, and which of them must not be shown.
///
/// # Errors
/// The variable that is not set.
pub fn references<'a>(
    values: impl IntoIterator<Item = (&'a String, &'a Value)>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<References, Problem> {
    let mut secrets = Vec::new();
    let mut secret = |name: &str| {
        let text = variable(name).ok_or_else(|| Problem::MissingVariable(name.to_owned()))?;
        secrets.push(text.clone());
        Ok(text)
    };
    let mut all = Vec::new();
    for (key, value) in values {
        let text = match value {
            Value::Literal(text) => text.text.clone(),
            Value::Variable(name) => secret(&name.text)?,
            Value::Bearer(name) => format!("Bearer {}", secret(&name.text)?),
        };
        all.push((key.clone(), text));
    }
    Ok((all, secrets))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::Sp;

    fn declared(yaml: &[(&str, EnvValue)]) -> Map<EnvValue> {
        yaml.iter().map(|(name, value)| (Sp::bare((*name).to_owned()), value.clone())).collect()
    }

    fn user(name: &str) -> Option<String> {
        let all = [
            ("PATH", "/bin"),
            ("HOME", "/home/me"),
            ("AWS_SECRET_KEY", "not for servers"),
            ("MY_TOKEN", "a-long-secret"),
        ];
        all.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    fn server(env: &[(&str, EnvValue)], headers: &[(&str, EnvValue)], url: Option<&str>) -> Server {
        Server {
            command: url.is_none().then(|| Sp::bare("some-server".to_owned())),
            url: url.map(|url| Sp::bare(url.to_owned())),
            args: Vec::new(),
            env: declared(env),
            headers: declared(headers),
            risk: None,
            timeout: None,
            enabled: None,
            tools: Map::default(),
            via: None,
            not_secret: Map::default(),
        }
    }

    #[test]
    fn a_program_is_given_what_it_needs_to_run_what_is_declared_and_nothing_else() {
        let env = [
            ("TOKEN", EnvValue::Env(Sp::bare("MY_TOKEN".to_owned()))),
            ("HOME", EnvValue::Literal(Sp::bare("data".to_owned()))),
        ];
        let launch = Launch::of("s", &server(&env, &[], None), Path::new("."), &user).unwrap_or_else(|_| panic!());
        let Transport::Stdio { env, .. } = launch.transport else { panic!() };
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(env, [("PATH", "/bin"), ("TOKEN", "a-long-secret"), ("HOME", "data")]);
        assert_eq!(launch.secrets, ["a-long-secret"]);
    }

    #[test]
    fn headers_are_resolved_and_a_variable_that_is_not_set_is_named() {
        let headers = [("Authorization", EnvValue::Bearer(Sp::bare("MY_TOKEN".to_owned())))];
        let remote = server(&[], &headers, Some("https://example.org/mcp"));
        let launch = Launch::of("s", &remote, Path::new("."), &user).unwrap_or_else(|_| panic!());
        let Transport::Http { headers, .. } = launch.transport else { panic!() };
        assert_eq!(headers, [("Authorization".to_owned(), "Bearer a-long-secret".to_owned())]);
        let missing = server(&[("TOKEN", EnvValue::Env(Sp::bare("GONE".to_owned())))], &[], None);
        let problem = Launch::of("s", &missing, Path::new("."), &user).err();
        assert_eq!(problem, Some(Problem::MissingVariable("GONE".into())));
    }
}
