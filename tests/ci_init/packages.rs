//! Answers by path, and keeps what is put there: the packages of Forgejo, the job artifacts of GitLab. Each
//! request has to carry the header that opens it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A running server.
#[derive(Clone)]
pub struct Packages {
    port: u16,
    header: &'static str,
    kept: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl Packages {
    /// Starts one that wants this header, in lower case.
    pub fn start(header: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let server = Self { port, header, kept: Arc::default() };
        let served = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                served.answer(stream);
            }
        });
        server
    }

    pub fn root(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Keeps an answer.
    pub fn keep(&self, path: &str, body: impl Into<Vec<u8>>) {
        self.kept.lock().unwrap().insert(path.to_owned(), body.into());
    }

    /// Returns what was posted to a path.
    pub fn posted(&self, path: &str) -> String {
        let kept = self.kept.lock().unwrap();
        let body = kept.get(&format!("{path}#posted")).cloned().unwrap_or_default();
        String::from_utf8(body).expect("text")
    }

    /// Returns the paths below a folder of what was put there.
    pub fn names_below(&self, folder: &str) -> Vec<String> {
        self.kept
            .lock()
            .unwrap()
            .keys()
            .filter_map(|path| path.strip_prefix(folder).map(str::to_owned))
            .collect()
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                break;
            }
            lines.push(line.trim().to_owned());
        }
        let header = |name: &str| {
            lines.iter().find_map(|line| line.to_lowercase().strip_prefix(name).map(str::to_owned))
        };
        if header("expect:").is_some() {
            let _ = stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        let length = header("content-length:").map_or(0, |text| text.trim().parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        let request = lines.first().cloned().unwrap_or_default();
        let mut words = request.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let path = path.split('?').next().unwrap_or_default().to_owned();
        let mut kept = self.kept.lock().unwrap();
        let opened = lines.iter().any(|line| line.to_lowercase() == self.header);
        let (status, body) = match (opened, method) {
            (false, _) => ("401 Unauthorized", Vec::new()),
            (_, "PUT") if kept.contains_key(&path) => ("409 Conflict", Vec::new()),
            (_, "PUT") => {
                kept.insert(path, body);
                ("201 Created", Vec::new())
            }
            (_, "POST") => {
                kept.insert(format!("{path}#posted"), body);
                ("201 Created", br#"{"id": 1, "html_url": "http://127.0.0.1/1"}"#.to_vec())
            }
            (_, "DELETE") => {
                let before = kept.len();
                kept.retain(|name, _| !name.starts_with(&path));
                (if kept.len() < before { "204 No Content" } else { "404 Not Found" }, Vec::new())
            }
            (_, "GET") => {
                kept.get(&path).map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body.clone()))
            }
            _ => ("405 Method Not Allowed", Vec::new()),
        };
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
    }
}
