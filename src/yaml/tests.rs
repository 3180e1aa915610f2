mod explore {
    use super::super::*;
    use crate::model::{adapter::Adapter, policy::PolicyFile, role::RoleFile, rule::RuleFile};
    fn show<T: DeserializeOwned>(text: &str) {
        let mut sources = crate::diag::SourceMap::default();
        let id = sources.add("x.yaml", text);
        let t = std::time::Instant::now();
        let raw = serde_saphyr::from_str_with_options::<T>(text, options()).err();
        let e = t.elapsed();
        match parse::<T>(text, id, 0) {
            Ok(_) => println!("=== OK {:?}", &text[..text.len().min(200)]),
            Err(d) => println!("=== {:?} {e:?}\n{}", raw.as_ref().map(|r| (r.without_snippet().to_string(), r.location())), crate::diag::render::render(crate::diag::render::Format::Human, [&*d], &sources, Default::default())),
        }
    }
    #[test]
    fn explore() {
        for t in ["version: one\n", "version: yes\n", "version: -1\n", "version: 99999999999999999999999\n", "version:\n", "version: [1]\n", "version: {a: 1}\n", "hosts: [codex]\n", "hosts: codex\n", "hosts:\n", "hosts: { codex: 3 }\n", "hosts: { codex: }\n", "hosts: { codex: {x: 1} }\n", "extends: builtin\n", "extends: [1]\n", "extends: [~]\n", "extends: [[a]]\n", "budgts: {}\n", "budgets:\n  tool-result:\n    target: 12KB\n", "budgets:\n  tool-result: {target: [1]}\n", "budgets:\n  tool-result: 12KiB\n", "budgets:\n  search: {target: 20, target: 30}\n", "version: 1\nversion: 1\n", "context: { hand-off: 120% }\n", "context: { hand-off: 75 }\n", "browser:\n  record-reason: yes\n", "browser:\n  record-reason: \"true\"\n", "browser:\n  record-reason: [true]\n", "browser:\n  escalate-for: [tracing, storage-stat]\n", "browser:\n  order: host\n", "delegation: { context: ful }\n", "servers:\n  a:\n    env: { T: literal }\n", "servers:\n  a:\n    env: { T: {env: A, literal: b} }\n", "servers:\n  a:\n    env: { T: {envv: A} }\n", "tools:\n  ü: x\n", "tools:\n  s:\n    description: d\n    primitive: a/b\n    arguments: {}\n", "tools:\n  s: { description: d }\n", "hosts: {a: {}, a: {}}\n", "? [a, b]\n: c\n", "1: 2\n", "hosts: {1: {}}\n", "hosts: {[a]: {}}\n", "<<: {version: 1}\n", "a: &a {version: 1}\n<<: *a\n", "version: !!str 1\n", "version: !foo 1\n", "extends: [!secret x]\n", "version: 1\n---\nversion: 1\n", "version: 1\n\thosts: {}\n", "hosts:\n\tcodex: {}\n", "hosts: {codex: {}\n", "extends: [a, b\nversion: 1\n", "version: \"1\n", "version: 1\n hosts: {}\n", "hosts:\n  codex: {}\n cursor: {}\n", "version: *x\n", "[1, 2]\n", "text\n", "", "# c\n", "~\n", "version: 1: 2\n", "a: @b\n", "%YAML 1.2\n---\nversion: 1\n", "version: 'it's'\n", "version: \"\\q\"\n", "a: b: c\n", "- a\nversion: 1\n", "\u{feff}budgts: {}\n", "# ü日\nbudgts: {}\n", "version: ü\r\n", "servers:\n  a: &x {command: y}\n  b: *x\n", "servers:\n  a: { timeout: &t {call: no} }\n  b: { timeout: *t }\n", "version: 1_000\n", "version: 0x10\n", "version: 017\n", "version: 1.5\n", "version: 1e3\n", "extends:\n  - |\n    ü\n  - 5\n", "acceptance:\n  a: { out-of-grant-calls: { r: -1 } }\n", "...\n", "version: 1\n...\nfoo\n", "? version\n: 1\n", "version : 1\n", "Version: 1\n"] { show::<PolicyFile>(t); }
        println!("######## rule");
        for t in ["activation: { path: [a] }\n", "title: a\nactivation: paths\n", "title: a\nactivation: { paths: a }\n", "title: a\nactivation: on-demand\n", "title: a\nactivation: {}\n", "title: a\nactivation: { paths: [a], on-demand: b }\n", "title: a\nactivation: [a]\n", "title: a\naudience: main\n", "activation: always\n", "{}\n", "order: 1\n", "title: ~\n", "title: true\n", "title: a\nactivation: { always: x }\n", "title: a\nactivation: 3\n", "title: a\nactivation: alway\n"] { show::<RuleFile>(t); }
        println!("######## role");
        for t in ["description: x\ngrants: [a]\n", "description: x\ndeny: { shell.run: enforce }\n", "description: x\nwaive: { codex: a }\n", "grants: {}\n", "description: x\ngrants: { a: { path: [x] } }\n", "description: x\ngrants: { a: { paths: x } }\n", "description: x\nstop: { a: b }\n","description: x\ntemplate: True\n", "description: [x\n"] { show::<RoleFile>(t); }
        println!("######## adapter");
        for t in ["id: x\n", "id: x\ntitle: y\nevidence: { version: 1, date: 2026-11-30, by: run }\n", "id: x\ntitle: y\nevidence:\n  version: 1\n  date: 2026-11-30\n"] { show::<Adapter>(t); }
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
        for i in 1..9 { bomb += &format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i-1); 9].join(",")); }
        show::<PolicyFile>(&bomb);
        show::<PolicyFile>(&format!("extends: {}", "[".repeat(20000)));
        show::<PolicyFile>(&format!("extends: [{}]", "a,".repeat(30000)));
        show::<PolicyFile>(&format!("extends: [{}]", "a".repeat(1<<20)));
        let mut bomb = String::from("hosts: &a0 {x: {}}\nservers:\n");
        for i in 0..50 { bomb += &format!("  s{i}: *a0\n"); }
        show::<PolicyFile>(&bomb);
    }
}
