//! Declared calls of a web interface: method, host and path are the policy's.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{self, Receiver};

use serde_json::{Value, json};

use super::support::{Host, Repo, printed, said};

/// A web interface; what it was asked is told line by line.
fn interface() -> (u16, Receiver<(String, Vec<String>, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, asked) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let mut lines = Vec::new();
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                    break;
                }
                lines.push(line.trim().to_owned());
            }
            let length = lines.iter().find_map(|l| l.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            reader.read_exact(&mut body).unwrap();
            let first = lines.first().cloned().unwrap_or_default();
            let (status, more, text) = match &first {
                f if f.contains("/gone") => {
                    ("404 Not Found", "", "no such ticket; you sent a-long-secret-token".to_owned())
                }
                f if f.contains("/moved") => ("302 Found", "Location: http://127.0.0.1:1/\r\n", String::new()),
                _ => ("200 OK", "", json!({ "asked": first }).to_string()),
            };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n{more}Content-Length: {}\r\n\r\n",
                text.len()
            );
            let _ = reader.get_mut().write_all((head + &text).as_bytes());
            let _ = tell.send((first, lines, String::from_utf8_lossy(&body).into_owned()));
        }
    });
    (port, asked)
}

fn policy(port: u16) -> String {
    format!(
        r#"
version: 1
hosts: {{ claude-code: {{}} }}
runtime: {{ organisation: argument }}
primitives:
  tickets:
    api:
      base: http://127.0.0.1:{port}/v2/
      headers: {{ Authorization: {{ bearer: TICKETS_TOKEN }} }}
      timeout: {{ call: 10 }}
      calls:
        search:
          get: /orgs/{{org}}/issues
          description: Search issues.
          parameters:
            org: {{ type: string }}
            q: {{ type: string, description: Words }}
            page: {{ type: integer, required: false }}
        comment:
          post: /issues/{{id}}/comments
          description: Comment.
          parameters: {{ id: {{ type: string }}, text: {{ type: string }} }}
tools:
  search_tickets:
    description: Search the tickets of the organisation.
    primitive: tickets/search
    arguments: {{ q: {{ type: string }} }}
    bind: {{ org: {{ runtime: organisation }}, q: {{ argument: q }} }}
    confers: [docs.search]
  comment_ticket:
    description: Comment on a ticket.
    primitive: tickets/comment
    arguments: {{ id: {{ type: string }}, text: {{ type: string }} }}
    bind: {{ id: {{ argument: id }}, text: {{ argument: text }} }}
    confers: [ticket.write]
"#
    )
}

const WRITER: &str = "---\ndescription: Writes.\ngrants: { docs.search: {}, ticket.write: {} }\n---\nYou write.\n";

fn host(repo: &Repo) -> Host {
    repo.write("shared-agent-rules/roles/writer.md", WRITER);
    let mut command = repo.command(&["serve", "--role", "writer", "--runtime", "organisation=rome/x"]);
    command.env("TICKETS_TOKEN", "a-long-secret-token");
    Host::start(command)
}

#[test]
fn a_call_goes_where_the_policy_says_with_what_the_model_may_say() {
    let (port, asked) = interface();
    let repo = Repo::new(&policy(port));
    let mut host = host(&repo);
    host.data("search_tickets", &json!({ "q": "a&page=9#/../x" }));
    let (first, lines, _) = asked.recv().unwrap();
    assert_eq!(first, "GET /v2/orgs/rome%2Fx/issues?q=a%26page%3D9%23%2F..%2Fx HTTP/1.1");
    assert!(lines.iter().any(|l| l.eq_ignore_ascii_case("authorization: Bearer a-long-secret-token")));
    host.data("comment_ticket", &json!({ "id": "../../admin", "text": "ok" }));
    let (first, _, body) = asked.recv().unwrap();
    assert_eq!(first, "POST /v2/issues/..%2F..%2Fadmin/comments HTTP/1.1");
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), json!({ "text": "ok" }));
    for hostile in [
        json!({ "q": "x", "org": "milan" }),
        json!({ "q": "x", "page": 2 }),
        json!({ "q": "x", "base": "http://evil.example" }),
        json!({ "q": "x", "url": "http://evil.example" }),
        json!({ "q": "x", "headers": { "Host": "evil.example" } }),
    ] {
        let (failed, text) = host.call("search_tickets", &hostile);
        assert!(failed && text.contains("unknown argument"), "{text}");
    }
    assert!(asked.try_recv().is_err(), "nothing was sent");
    let hints = host.tool("comment_ticket")["annotations"].clone();
    assert_eq!((&hints["readOnlyHint"], &hints["openWorldHint"]), (&json!(false), &json!(true)));
}

#[test]
fn a_failure_is_told_without_what_the_headers_hold() {
    let (port, _asked) = interface();
    let repo = Repo::new(&policy(port));
    let mut host = host(&repo);
    for (id, words) in [("gone", "HTTP 404"), ("moved", "redirects")] {
        let (failed, text) = host.call("comment_ticket", &json!({ "id": id, "text": "x" }));
        assert!(failed && text.contains(words) && !text.contains("a-long-secret-token"), "{text}");
    }
    drop(host);
    let mut bare = repo.serve(&["--role", "writer", "--runtime", "organisation=r"]);
    let (failed, text) = bare.call("search_tickets", &json!({ "q": "x" }));
    assert!(failed && text.contains("`TICKETS_TOKEN` is not set"), "{text}");
}

#[test]
fn a_call_that_cannot_be_is_reported() {
    for (from, to, words) in [
        ("get: /orgs/{org}", "get: /orgs/{orgs}", "did you mean `org`?"),
        ("base: http://127.0.0.1", "base: ftp://127.0.0.1", "no address of a web interface"),
        ("{ bearer: TICKETS_TOKEN }", "{ literal: a }", "a secret is written down"),
        ("post: /issues", "post: /../issues", "leads upwards"),
        ("org: { type: string }", "org: { type: string, required: false }", "may be left out"),
        ("primitive: tickets/comment", "primitive: tickets/coment", "did you mean `comment`?"),
    ] {
        let text = policy(1);
        assert!(text.contains(from), "{from}");
        let done = Repo::new(&text.replace(from, to)).run(&["check"]);
        assert_eq!(done.status.code(), Some(3), "{to}");
        let text = printed(&done) + &said(&done);
        assert!(text.contains(words), "{to}: {text}");
    }
}
