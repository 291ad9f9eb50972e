//! A proxy between a client and a server that breaks requests as it is told to.
//!
//! It understands just enough HTTP to know where a request ends; what it passes on, it
//! passes on byte for byte, since requests to a bucket are signed.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: it is passed on, and so is its answer.
    None,
    /// It is not passed on; the answer is this status with the code of an S3 error.
    Status(u16, &'static str),
    /// The connection ends before it is passed on.
    ResetBefore,
    /// It is passed on and done, but the connection ends instead of an answer.
    LostAnswer,
    /// It is passed on and done, but the answer is 500.
    DeniedAfter,
    /// The answer ends in the middle.
    CutAnswer,
    /// The answer comes late.
    Slow(Duration),
    /// A conditional creation that was refused is reported as done.
    ClaimsCreated,
}

/// A request as the proxy sees it.
#[derive(Debug)]
pub struct Seen {
    pub method: String,
    pub path: String,
    pub is_conditional: bool,
    /// Its number since the proxy began.
    pub number: usize,
}

type Policy = Arc<dyn Fn(&Seen) -> Fault + Send + Sync>;

/// Starts a proxy before a server, which ends with the test program; returns its address.
pub fn faulty(server: SocketAddr, policy: impl Fn(&Seen) -> Fault + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let policy: Policy = Arc::new(policy);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let policy = Arc::clone(&policy);
            // A connection that breaks is the point, not a failure.
            std::thread::spawn(move || drop(serve(stream, server, number, &policy)));
        }
    });
    address
}

/// Serves one request; the answer closes the connection, so the next one is a new one.
fn serve(mut client: TcpStream, server: SocketAddr, number: usize, policy: &Policy) -> std::io::Result<()> {
    let Some((request, seen)) = read_request(&mut client, number)? else { return Ok(()) };
    let fault = policy(&seen);
    match fault {
        Fault::ResetBefore => return reset(&client),
        Fault::Status(status, code) => return client.write_all(&failure(status, code)),
        _ => {}
    }
    let answer = forward(server, &request)?;
    match fault {
        Fault::LostAnswer => reset(&client),
        Fault::DeniedAfter => client.write_all(&failure(500, "InternalError")),
        Fault::CutAnswer => {
            client.write_all(&answer[..answer.len() / 2])?;
            reset(&client)
        }
        Fault::Slow(pause) => {
            std::thread::sleep(pause);
            client.write_all(&answer)
        }
        Fault::ClaimsCreated if seen.is_conditional && answer.starts_with(b"HTTP/1.1 412") => client
            .write_all(b"HTTP/1.1 200 OK\r\nETag: \"0\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
        Fault::None | Fault::ClaimsCreated | Fault::ResetBefore | Fault::Status(..) => {
            client.write_all(&answer)
        }
    }
}

fn read_request(client: &mut TcpStream, number: usize) -> std::io::Result<Option<(Vec<u8>, Seen)>> {
    client.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut bytes = Vec::new();
    let mut part = [0; 65536];
    let end = loop {
        match client.read(&mut part)? {
            0 => return Ok(None),
            length => bytes.extend_from_slice(&part[..length]),
        }
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    while bytes.len() < end + length.unwrap_or(0) {
        match client.read(&mut part)? {
            0 => return Ok(None),
            length => bytes.extend_from_slice(&part[..length]),
        }
    }
    let line = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut words = line.split(' ');
    let mut word = || words.next().unwrap_or_default().to_owned();
    let seen =
        Seen { method: word(), path: word(), is_conditional: head.contains("\r\nif-none-match:"), number };
    // The answer is read to its end, so the server has to end it.
    let close = b"Connection: close\r\n\r\n";
    let mut request = bytes[..end - 2].to_vec();
    request.extend_from_slice(close);
    request.extend_from_slice(&bytes[end..]);
    Ok(Some((request, seen)))
}

fn forward(server: SocketAddr, request: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut server = TcpStream::connect(server)?;
    server.write_all(request)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    Ok(answer)
}

/// Ends a connection without an answer.
fn reset(client: &TcpStream) -> std::io::Result<()> {
    client.shutdown(Shutdown::Both)
}

fn failure(status: u16, code: &str) -> Vec<u8> {
    let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>a fault</Message></Error>");
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Fault\r\nContent-Type: application/xml\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    (head + &body).into_bytes()
}
