//! The part of a forge that keeps what jobs leave behind: GitHub's runs and artifacts. Archives are sent from
//! another host, which must not see the token.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// The token that opens it.
pub const TOKEN: &str = "tok-artifacts-1f3870be274f6c49";

/// What is known of runs and merges.
#[derive(Default)]
struct Known {
    /// The head of the pull request that each commit came from.
    merged: Vec<(String, String)>,
    /// The successful runs: event, head, and the folder with its artifacts.
    runs: Vec<(String, String, PathBuf)>,
    expired: bool,
    /// What was wrong with a request.
    faults: Vec<String>,
}

/// A running server.
#[derive(Clone)]
pub struct Artifacts {
    port: u16,
    known: Arc<Mutex<Known>>,
}

impl Artifacts {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let server = Self { port, known: Arc::default() };
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

    /// Notes that a commit on the main branch came from a pull request with this head.
    pub fn merged(&self, commit: &str, head: &str) {
        self.known.lock().unwrap().merged.push((commit.to_owned(), head.to_owned()));
    }

    /// Notes a run that succeeded.
    pub fn succeeded(&self, event: &str, head: &str, artifacts: &Path) {
        self.known.lock().unwrap().runs.push((event.to_owned(), head.to_owned(), artifacts.to_owned()));
    }

    /// Lets every artifact expire.
    pub fn expire(&self) {
        self.known.lock().unwrap().expired = true;
    }

    /// Returns what was wrong with the requests so far.
    pub fn faults(&self) -> Vec<String> {
        self.known.lock().unwrap().faults.clone()
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
        let request = lines.next().unwrap_or_default();
        let headers: Vec<String> =
            lines.take_while(|line| !line.is_empty()).map(|line| line.to_lowercase()).collect();
        let path = request.split(' ').nth(1).unwrap_or_default();
        let has = |header: &str| headers.iter().any(|line| line.starts_with(header));
        let mut known = self.known.lock().unwrap();
        if !has("user-agent: infra") {
            known.faults.push(format!("{request}: no user agent"));
        }
        if path.starts_with("/blob/") == has("authorization:") {
            known.faults.push(format!("{request}: a token where none belongs, or none where one does"));
        }
        let (head, body) = match self.found(&known, path) {
            Found::Json(value) => ("200 OK".to_owned(), value.to_string().into_bytes()),
            Found::Bytes(bytes) => ("200 OK".to_owned(), bytes),
            Found::At(url) => (format!("302 Found\r\nLocation: {url}"), Vec::new()),
            Found::Nothing => {
                known.faults.push(format!("{request}: nothing is there"));
                ("404 Not Found".to_owned(), Vec::new())
            }
        };
        let head = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
    }

    fn found(&self, known: &Known, path: &str) -> Found {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let asked = |name: &str| {
            query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default()
        };
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match parts.as_slice() {
            ["repos", "dana", "lab", "actions", "workflows", "infra-review.yaml", "runs"] => {
                assert_eq!(asked("status"), "success");
                let fits = |(event, head, _): &&(String, String, PathBuf)| {
                    event == asked("event") && head == asked("head_sha")
                };
                let position = known.runs.iter().position(|run| fits(&run));
                let runs: Vec<Value> = position.into_iter().map(|id| json!({"id": id})).collect();
                Found::Json(json!({"total_count": runs.len(), "workflow_runs": runs}))
            }
            ["repos", "dana", "lab", "commits", commit, "pulls"] => {
                let pulls = known.merged.iter().filter(|(merged, _)| merged == commit).map(|(merged, head)| {
                    json!({"number": 7, "merged_at": "2026-01-02T03:04:05Z", "merge_commit_sha": merged, "head": {"sha": head}})
                });
                Found::Json(pulls.collect())
            }
            ["repos", "dana", "lab", "actions", "runs", run, "artifacts"] => {
                let artifacts = names(&known.runs[run.parse::<usize>().unwrap()].2);
                let artifacts = artifacts.iter().enumerate().map(|(number, name)| {
                    json!({"id": id_of(run.parse().unwrap(), number), "name": name, "expired": known.expired})
                });
                Found::Json(json!({"artifacts": artifacts.collect::<Vec<_>>()}))
            }
            ["repos", "dana", "lab", "actions", "artifacts", id, "zip"] => {
                Found::At(format!("http://localhost:{}/blob/{id}", self.port))
            }
            ["blob", id] => {
                let id: usize = id.parse().unwrap();
                let folder = &known.runs[id / 100].2;
                Found::Bytes(zipped(&folder.join(&names(folder)[id % 100])))
            }
            _ => Found::Nothing,
        }
    }
}

enum Found {
    Json(Value),
    Bytes(Vec<u8>),
    At(String),
    Nothing,
}

/// An id tells the run and which of its artifacts it is.
fn id_of(run: usize, number: usize) -> usize {
    run * 100 + number
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn zipped(folder: &Path) -> Vec<u8> {
    let archive = tempfile::NamedTempFile::new().unwrap();
    let script = "import shutil, sys; print(shutil.make_archive(sys.argv[1], 'zip', sys.argv[2]))";
    let done = Command::new("python3").args(["-c", script]).arg(archive.path()).arg(folder).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let path = String::from_utf8(done.stdout).unwrap();
    let bytes = std::fs::read(path.trim()).unwrap();
    std::fs::remove_file(path.trim()).unwrap();
    bytes
}
