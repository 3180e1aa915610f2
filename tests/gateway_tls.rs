//! Remote servers over HTTPS: whom the program trusts, and what it says of those it does not. Which authorities a machine
//! trusts is told by `SSL_CERT_FILE`, as users have it; that is so on Linux only.
#![cfg(target_os = "linux")]

#[path = "support/gateway.rs"]
mod support;

use std::net::SocketAddr;
use std::process::Command;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::response::Response;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use serde_json::{Value, json};
use support::{Gateway, Repo};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::server::TlsStream;

const SECRET: &str = "a-long-secret-token";

/// An authority that no machine trusts unless it is told to.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// What a server needs whose certificate is for `name`.
    fn vouches(&self, name: &str, change: fn(&mut CertificateParams)) -> Arc<ServerConfig> {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let config = versions.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap();
        Arc::new(config)
    }

    fn written(&self, repo: &Repo) {
        repo.write("authority.pem", &self.0.pem());
    }
}

/// A listener that speaks TLS; whoever does not get through the handshake is not heard of.
struct Secure(TcpListener, TlsAcceptor);

impl axum::serve::Listener for Secure {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, from) = self.0.accept().await.unwrap();
            if let Ok(stream) = self.1.accept(stream).await {
                return (stream, from);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

type Seen = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

/// A server until it is dropped; with `moved`, it sends every call there.
struct Remote {
    port: u16,
    seen: Seen,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Remote {
    fn start(tls: Option<Arc<ServerConfig>>, moved: Option<String>) -> Self {
        let seen = Seen::default();
        let kept = Arc::clone(&seen);
        let app = Router::new().fallback(move |headers: HeaderMap, body: Bytes| {
            let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
            kept.lock().unwrap().push((headers, asked.clone()));
            let answer = answer(&asked, moved.as_deref());
            async move { answer }
        });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                let serving = async {
                    match tls {
                        Some(tls) => axum::serve(Secure(listener, TlsAcceptor::from(tls)), app).await.unwrap(),
                        None => axum::serve(listener, app).await.unwrap(),
                    }
                };
                tokio::select! {
                    () = serving => {}
                    _ = stopped => {}
                }
            });
        });
        Self { port, seen, stop: Some(stop), thread: Some(thread) }
    }

    fn seen(&self) -> Vec<(HeaderMap, Value)> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

fn answer(asked: &Value, moved: Option<&str>) -> Response {
    let result = match asked["method"].as_str() {
        Some("initialize") => {
            json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "s", "version": "1" } })
        }
        Some("tools/list") => {
            json!({ "tools": [{ "name": "tell", "description": "Tells.", "inputSchema": { "type": "object" } }] })
        }
        Some("tools/call") if moved.is_some() => {
            let response = Response::builder().status(307).header("location", moved.unwrap());
            return response.body(Body::empty()).unwrap();
        }
        Some("tools/call") => json!({ "content": [{ "type": "text", "text": "told in secret" }] }),
        _ => return Response::builder().status(202).body(Body::empty()).unwrap(),
    };
    let message = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
    Response::builder().header("content-type", "application/json").body(Body::from(message.to_string())).unwrap()
}

fn repo(address: &str) -> Repo {
    Repo::new(&format!(
        "version: 1\nhosts: {{ claude-code: {{}} }}\nservers:\n  far:\n    url: {address}\n    headers: {{ Authorization: {{ bearer: FAR_TOKEN }} }}\n    via: gateway\n    tools: {{ tell: {{ confers: [docs.search] }} }}\nprimitives:\n  web:\n    api:\n      base: {address}\n      headers: {{ Authorization: {{ bearer: FAR_TOKEN }} }}\n      calls: {{ look: {{ post: /look, description: Look. }} }}\ntools:\n  look:\n    description: Look.\n    primitive: web/look\n    confers: [docs.search]\n"
    ))
}

/// The program on a machine that trusts what `authority.pem` of the repository says.
fn command(repo: &Repo, arguments: &[&str]) -> Command {
    let mut command = repo.command(arguments);
    command.env("FAR_TOKEN", SECRET).env("SSL_CERT_FILE", repo.path().join("authority.pem")).env_remove("SSL_CERT_DIR");
    command
}

/// What `audit` says of the server, and whether it pinned something.
fn audited(repo: &Repo) -> (bool, String) {
    let done = command(repo, &["audit", "--accept"]).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(!said.contains(SECRET), "{said}");
    // Lines are broken where the page ends.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    (repo.read("shared-agent-rules/rolecast.lock").contains("pins"), said)
}

fn serve(repo: &Repo) -> Gateway {
    Gateway::start(command(repo, &["serve", "--role", "reader"]))
}

#[test]
fn a_server_that_an_authority_of_the_machine_vouches_for_is_audited_served_and_told_the_secret() {
    let authority = Authority::new("one");
    let remote = Remote::start(Some(authority.vouches("localhost", |_| {})), None);
    let repo = repo(&format!("https://localhost:{}/mcp", remote.port));
    authority.written(&repo);
    let (pinned, said) = audited(&repo);
    assert!(pinned, "{said}");
    let mut gateway = serve(&repo);
    assert_eq!(gateway.call("tell", json!({})), (false, "told in secret".to_owned()));
    gateway.call("look", json!({}));
    drop(gateway);
    let seen = remote.seen();
    assert!(
        seen.iter().any(|(_, asked)| asked["method"] == "tools/call")
            && seen.iter().any(|(_, asked)| *asked == json!({}))
    );
    assert!(seen.iter().all(|(headers, _)| headers["authorization"] == format!("Bearer {SECRET}")));
}

#[test]
fn a_certificate_that_does_not_hold_is_refused_in_words_that_help_and_nothing_is_sent() {
    let (authority, stranger) = (Authority::new("one"), Authority::new("another"));
    let expired = |params: &mut CertificateParams| params.not_after = date_time_ymd(2020, 1, 1);
    let early = |params: &mut CertificateParams| params.not_before = date_time_ymd(4000, 1, 1);
    for (tls, why) in [
        (stranger.vouches("localhost", |_| {}), "is not trusted on this machine"),
        (authority.vouches("elsewhere.test", |_| {}), "is for another name than the one in its address"),
        (authority.vouches("localhost", expired), "has expired: its owner is to renew it"),
        (authority.vouches("localhost", early), "is not valid yet: is the clock of this machine right?"),
    ] {
        let remote = Remote::start(Some(tls), None);
        let repo = repo(&format!("https://localhost:{}/mcp", remote.port));
        authority.written(&repo);
        let (pinned, said) = audited(&repo);
        assert!(!pinned && said.contains(why), "{why}: {said}");
        if why.contains("trusted") {
            assert!(
                said.contains("install the certificate of its authority") && said.contains("`SSL_CERT_FILE`"),
                "{said}"
            );
        }
        let mut gateway = Gateway::start(command(&repo, &["serve", "--role", "reader"]));
        let (failed, text) = gateway.call("look", json!({}));
        assert!(failed && text.contains(why) && !text.contains(SECRET), "{text}");
        assert!(remote.seen().is_empty(), "{why}");
    }
}

#[test]
fn what_was_trusted_when_it_was_pinned_is_not_called_when_it_is_not_any_more() {
    let authority = Authority::new("one");
    let remote = Remote::start(Some(authority.vouches("localhost", |_| {})), None);
    let repo = repo(&format!("https://localhost:{}/mcp", remote.port));
    authority.written(&repo);
    assert!(audited(&repo).0);
    let before = remote.seen().len();
    Authority::new("another").written(&repo);
    let mut gateway = serve(&repo);
    let (failed, text) = gateway.call("tell", json!({}));
    assert!(failed && text.starts_with("server `far`: no connection: its certificate is not trusted"), "{text}");
    assert_eq!(remote.seen().len(), before);
}

#[test]
fn nothing_is_carried_from_https_to_http() {
    let authority = Authority::new("one");
    let elsewhere = Remote::start(None, None);
    let other = format!("http://localhost:{}/mcp", elsewhere.port);
    let remote = Remote::start(Some(authority.vouches("localhost", |_| {})), Some(other));
    let repo = repo(&format!("https://localhost:{}/mcp", remote.port));
    authority.written(&repo);
    assert!(audited(&repo).0);
    let mut gateway = serve(&repo);
    let (failed, text) = gateway.call("tell", json!({}));
    assert!(failed && text.contains("it redirects (HTTP 307): declare the final address"), "{text}");
    assert!(elsewhere.seen().is_empty());
}

#[test]
fn one_protocol_is_not_taken_for_the_other() {
    let authority = Authority::new("one");
    let plain = Remote::start(None, None);
    let repo = repo(&format!("https://localhost:{}/mcp", plain.port));
    authority.written(&repo);
    let (pinned, said) = audited(&repo);
    assert!(!pinned && said.contains("speaks no TLS; is its address one with `http://`?"), "{said}");
    assert!(plain.seen().is_empty());
    let secure = Remote::start(Some(authority.vouches("localhost", |_| {})), None);
    let repo = self::repo(&format!("http://localhost:{}/mcp", secure.port));
    authority.written(&repo);
    let (pinned, said) = audited(&repo);
    assert!(!pinned && said.contains("no connection: "), "{said}");
    assert!(secure.seen().is_empty());
}

#[test]
fn a_machine_that_trusts_nobody_reaches_what_needs_no_trust_and_is_told_what_it_lacks() {
    let authority = Authority::new("one");
    let plain = Remote::start(None, None);
    // No such file is there.
    let repo = repo(&format!("http://localhost:{}/mcp", plain.port));
    let (pinned, said) = audited(&repo);
    assert!(pinned, "{said}");
    let secure = Remote::start(Some(authority.vouches("localhost", |_| {})), None);
    let repo = self::repo(&format!("https://localhost:{}/mcp", secure.port));
    let (pinned, said) = audited(&repo);
    assert!(!pinned && said.contains("this machine trusts no authority"), "{said}");
}
