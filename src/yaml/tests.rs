use super::*;
use crate::model::rule::RuleFile;
#[test]
fn explore() {
    for t in [
        "title: x\nactivation: on-demand\norder: 1\n",
        "title: x\nactivation: paths\naudience: [main]\n",
        "activation: on-demand\ntitle: x\n",
        "title: x\nactivation: paths\norder: 1\n",
        "activation: on-demand\naudience: title\ntemplate: true\n",
    ] {
        println!("{t:?} -> {:?}", parse::<RuleFile>(t, SourceId(0), 0).map_err(|d| (d.message, d.primary)));
    }
    for t in [
        "activation: {}\ntitle: x\n",
        "title: x\nactivation: {always: x}\n",
        "title: x\nactivation:\n  paths: [ü, b]\n  on-demand: b\n",
        "title: x\nactivation: 3\n",
        "title: x\nactivation: alway\n",
        "title: x\nactivation: [a]\n",
        "title: x\nactivation: {paths: 3}\n",
        "title: x\nactivation: {path: 3}\n",
        "title: x\nactivation: {paths: [ü, b]}\n",
        "title: x\nactivation: ~\n",
        "title: x\nactivation: true\n",
    ] {
        println!(
            "{t:?} -> {:?}",
            parse::<RuleFile>(t, SourceId(0), 0).map_err(|d| (
                d.message,
                d.primary.map(|l| t[l.span.start as usize..l.span.end as usize].to_owned()),
                d.help
            ))
        );
    }
    for t in ["a: literal\nenv: b\n", "a: literal\nenv: b\nc: d\n", "{a: env, b: {env: d}}"] {
        println!(
            "{t:?} -> {:?}",
            parse::<crate::model::policy::Map<crate::model::policy::EnvValue>>(t, SourceId(0), 0)
                .map_err(|d| (d.message, d.primary))
        );
    }
    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct L {
        l: Vec<crate::model::policy::Binding>,
        #[serde(default)]
        k: Option<String>,
    }
    for t in ["l: [runtime, argument]\n", "l:\n - runtime\n - x\n", "l: [runtime, argument, constant, x]\n"] {
        println!("{t:?} -> {:?}", parse::<L>(t, SourceId(0), 0).map_err(|d| (d.message, d.primary)));
    }
    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct S {
        s: Sp<String>,
        t: Sp<Vec<Sp<String>>>,
        m: IndexMap<Sp<String>, Sp<u64>>,
    }
    use indexmap::IndexMap;
    let t = "# ü\ns: |\n  é one\n  two\nt:\n  - \"a ü\"\n  - 'it''s'\n  - plain é text # c\n  - >-\n    fold\n    ed\nm: {ü: 5, \"k 日\": 6}\n";
    let p = parse::<S>(t, SourceId(0), 0).unwrap();
    let sl = |s: Option<Span>| &t[s.unwrap().start as usize..s.unwrap().end as usize];
    println!(
        "{:?} {:?} {:?} {:?}",
        sl(p.s.span),
        sl(p.t.span),
        p.t.iter().map(|x| sl(x.span)).collect::<Vec<_>>(),
        p.m.iter().map(|(k, v)| (sl(k.span), sl(v.span))).collect::<Vec<_>>()
    );
    let t = t.replace('\n', "\r\n");
    let p = parse::<S>(&t, SourceId(0), 0).unwrap();
    let sl = |s: Option<Span>| &t[s.unwrap().start as usize..s.unwrap().end as usize];
    println!(
        "{:?} {:?} {:?} {:?}",
        sl(p.s.span),
        sl(p.t.span),
        p.t.iter().map(|x| sl(x.span)).collect::<Vec<_>>(),
        p.m.iter().map(|(k, v)| (sl(k.span), sl(v.span))).collect::<Vec<_>>()
    );
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for i in 1..9 {
        bomb += &format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(","));
    }
    let n = std::time::Instant::now();
    println!("{:?} {:?}", parse::<serde_json::Value>(&bomb, SourceId(0), 0).map_err(|d| d.message), n.elapsed());
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x]\n");
    for i in 1..15 {
        bomb += &format!("a{i}: &a{i} [*a{0},*a{0}]\n", i - 1);
    }
    let n = std::time::Instant::now();
    println!(
        "{:?} {:?}",
        parse::<serde_json::Value>(&bomb, SourceId(0), 0).map(|v| v.to_string().len()).map_err(|d| d.message),
        n.elapsed()
    );
}
