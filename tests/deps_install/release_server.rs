//! A release server on a free port of this machine, which can misbehave on demand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// How a path is answered.
#[derive(Clone)]
pub enum Answer {
    /// With all of the bytes.
    Whole(Vec<u8>),
    /// With the length of all and the first half of the bytes.
    Half(Vec<u8>),
    /// With a status and nothing else.
    Status(u16),
}

/// A running server; it ends with the test's runtime.
pub struct ReleaseServer {
    pub url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl ReleaseServer {
    /// Starts a server that knows these paths; any other is answered with the status.
    pub async fn start(answers: BTreeMap<String, Answer>, otherwise: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A client that hangs up early is what some tests are about.
                let _ = serve(stream, &answers, otherwise, &log).await;
            }
        });
        Self { url, seen }
    }

    /// Returns how many requests for files with this ending came.
    pub fn requests_for(&self, ending: &str) -> usize {
        self.seen.lock().expect("no test panicked").iter().filter(|path| path.ends_with(ending)).count()
    }
}

async fn serve(
    stream: TcpStream,
    answers: &BTreeMap<String, Answer>,
    otherwise: u16,
    seen: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let path = read_path(&mut stream).await?;
    let answer = answers.get(&path).cloned().unwrap_or(Answer::Status(otherwise));
    seen.lock().expect("no test panicked").push(path);
    let (status, length, body) = match answer {
        Answer::Whole(bytes) => (200, bytes.len(), bytes),
        Answer::Half(bytes) => (200, bytes.len(), bytes[..bytes.len() / 2].to_vec()),
        Answer::Status(status) => (status, 0, Vec::new()),
    };
    let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&body).await?;
    stream.shutdown().await
}

/// Reads a request to the end of its head and returns its path.
async fn read_path(stream: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut first = String::new();
    stream.read_line(&mut first).await?;
    let mut line = String::new();
    while stream.read_line(&mut line).await? > 2 {
        line.clear();
    }
    Ok(first.split(' ').nth(1).unwrap_or_default().to_owned())
}
