//! Pages on this machine.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// Little on it: a picture of it is small.
const PLAIN: &str = "<!doctype html><title>Plain</title><h1>Hello</h1><button>Go</button>\
     <div id=small style='width:40px;height:40px;background:#c00'></div>";
/// No two neighbours of the same colour: a picture of it is large.
const NOISY: &str = "<!doctype html><title>Noisy</title><style>body{margin:0}</style><canvas id=c width=1280 height=720></canvas>\
     <script>const x=c.getContext('2d'),d=x.createImageData(1280,720);let s=1;\
     for(let i=0;i<d.data.length;i++){s^=s<<13;s^=s>>>17;s^=s<<5;d.data[i]=i%4==3?255:s&255}x.putImageData(d,0,0)</script>";
/// Says much and asks for much.
const BUSY: &str = "<!doctype html><title>Busy</title><h1>Busy</h1><script>for(let i=0;i<200;i++)console.log('entry '+i);\
     (async()=>{for(let i=0;i<60;i++)await fetch('/data/'+i);document.body.append('done')})()</script>";
/// A form of ordinary work: text, a table, some colour.
fn table() -> String {
    let row = |n: u32| {
        let cells = (0..10).map(|c| format!("<td style='background:hsl({},60%,90%)'>item {}</td>", n * 40 + c, n * c));
        format!("<tr>{}</tr>", cells.collect::<String>())
    };
    let rows: String = (0..40).map(row).collect();
    format!("<!doctype html><title>Table</title><h1>Orders</h1><table border=1>{rows}</table>")
}

/// Serves the pages until the test program ends; the address.
pub fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    address
}

fn answer(mut stream: TcpStream) {
    let mut first = String::new();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let _ = reader.read_line(&mut first);
    // The rest of the request is read, so that closing does not reset the connection.
    for line in reader.lines().map_while(Result::ok) {
        if line.is_empty() {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or("/");
    let (kind, body) = match path {
        "/plain" => ("text/html", PLAIN.to_owned()),
        "/noisy" => ("text/html", NOISY.to_owned()),
        "/busy" => ("text/html", BUSY.to_owned()),
        "/table" => ("text/html", table()),
        "/data/0" => ("application/json", format!("{:?}", (0..12_000).collect::<Vec<u32>>())),
        path if path.starts_with("/data/") => ("application/json", format!("{path:?}")),
        _ => ("text/plain", String::new()),
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}
