//! `infra state serve`.

use std::io::{ErrorKind, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use tokio::net::{TcpListener, TcpSocket};

use crate::backends;
use crate::commands::loaded_project::LoadedProject;
use crate::commands::{Context, trust};
use crate::engine::{StackSecrets, Unopened};
use crate::error::{Error, Exit, Kind, Result, io};
use crate::model::{Environment, SecretsSettings};
use crate::project;
use crate::report::{Asking, passphrase_prompt};
use crate::secrets::{KeyPlaces, Keyring, is_sealed};
use crate::state::{
    AuditFile, AuditSink, Limits, Retention, Server, Service, StateStore, StorePlace, TimeLimits, Tls, Users,
    hash_password,
};

/// An ended service must not keep its manager waiting.
const LONGEST_END: Duration = Duration::from_secs(9);

/// Serve states to a team
///
/// Speaks the protocol of OpenTofu's http backend, with locks, fenced writes and versions.
/// Users come from a file (YAML, may be encrypted with SOPS), or one from the variables
/// INFRA_STATE_USERNAME and INFRA_STATE_PASSWORD. Credentials for a bucket come from the
/// environment, or from the secrets of the project around here.
///
/// Examples:
///   infra state serve --store /srv/states --users users.sops.yaml --tls-cert c.pem --tls-key k.pem
///   infra state serve --listen 127.0.0.1:0 --store states --no-auth
///   infra state serve --hash-password
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct ServeArgs {
    /// Where to listen; port 0 is a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8700")]
    listen: String,
    /// A folder, or `s3://bucket/prefix?endpoint=…&region=…`; the project's own by default
    #[arg(long, value_name = "DIR|URL")]
    store: Option<String>,
    /// Who may do what: a YAML file, encrypted or not
    #[arg(long, value_name = "FILE")]
    users: Option<PathBuf>,
    /// The certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Only let clients connect that have a certificate of this authority (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    client_ca: Option<PathBuf>,
    /// Let everybody who can connect use it; only on a loopback address
    #[arg(long, conflicts_with = "users")]
    no_auth: bool,
    /// Append who did what to this file instead of stderr
    #[arg(long, value_name = "FILE")]
    audit_log: Option<PathBuf>,
    /// The largest state, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=4096))]
    max_state: u32,
    /// Memory for all states that are being stored, in MiB; never less than for the largest
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65536))]
    max_memory: u32,
    /// Keep this many versions of a state, whatever their age
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    keep_versions: u32,
    /// Keep all versions that are younger
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    keep_days: u32,
    /// Read a password from stdin, print its hash for a users file, and end
    #[arg(long, exclusive = true)]
    hash_password: bool,
}

/// Runs the command.
pub(super) async fn run(args: &ServeArgs, context: &Context) -> Result<Exit> {
    if args.hash_password {
        return print_hash(context);
    }
    let listener = bind(&args.listen).await?;
    let address = listener.local_addr().map_err(|error| cannot_listen(&args.listen).because(error))?;
    let tls = load_tls(args, context)?;
    let store = open_store(args, context).await?;
    let service = check_users(args, context, address, store).await?;
    let service = service
        .with_limits(limits(args))
        .with_time_limits(TimeLimits::for_unknown_clients())
        .with_audit(audit_sink(args, context)?);
    let scheme = if tls.is_some() { "https" } else { "http" };
    if tls.is_none() && !address.ip().is_loopback() {
        context.terminal.alert("warning: without TLS, passwords and states can be read on the way");
    }
    let server = Server::start_with(listener, service, tls)?;
    context.terminal.note(&format!("`state.url` in infra.yaml: {scheme}://{}/states", server.address()));
    context.terminal.data_line(&format!("listening on {scheme}://{}", server.address()));
    until_told(server, context).await;
    Ok(Exit::OK)
}

fn limits(args: &ServeArgs) -> Limits {
    let bytes = |mebibytes: u32| mebibytes as usize * 1024 * 1024;
    Limits { state: bytes(args.max_state), together: bytes(args.max_memory), ..Limits::default() }
}

/// Serves until a signal comes, then lets requests and writes end; a second signal does not wait.
async fn until_told(server: Server, context: &Context) {
    let mut interrupts = context.interrupts.clone();
    let seen = interrupts.beyond(0).await;
    context.terminal.note("stopping: requests under way are finished");
    tokio::select! {
        ended = tokio::time::timeout(LONGEST_END, server.shutdown()) => {
            if ended.is_err() {
                context.terminal.alert("warning: a request did not end in time");
            }
        }
        _ = interrupts.beyond(seen) => {}
    }
}

async fn bind(listen: &str) -> Result<TcpListener> {
    listen_on(listen).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Error::unavailable(format!("cannot listen on `{listen}`"))
            .because(error)
            .hint("another server has it, maybe an `infra state serve`: `ss -ltnp` tells which process")
            .hint("or take a free port: `--listen 127.0.0.1:0`"),
        _ => cannot_listen(listen).because(error),
    })
}

/// How many connections may wait to be taken up: a burst of strangers must not keep others waiting.
const BACKLOG: u32 = 4096;

/// Listens on the first of the addresses that can be had.
async fn listen_on(listen: &str) -> std::io::Result<TcpListener> {
    let mut last = std::io::Error::new(ErrorKind::InvalidInput, "it names no address");
    for address in tokio::net::lookup_host(listen).await? {
        match bind_to(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn bind_to(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn cannot_listen(listen: &str) -> Error {
    Error::unavailable(format!("cannot listen on `{listen}`"))
        .hint("give an address such as `127.0.0.1:8700`")
}

fn load_tls(args: &ServeArgs, context: &Context) -> Result<Option<Tls>> {
    let here = |file: &PathBuf| context.cwd.join(file);
    match (&args.tls_cert, &args.tls_key) {
        (Some(cert), Some(key)) => {
            Tls::load(&here(cert), &here(key), args.client_ca.as_ref().map(here).as_deref()).map(Some)
        }
        _ => Ok(None),
    }
}

/// Opens the store and, if it is a bucket, finds out whether it can be trusted.
async fn open_store(args: &ServeArgs, context: &Context) -> Result<StateStore> {
    let place = match &args.store {
        Some(store) => StorePlace::parse(store, &context.cwd)?,
        None => own_store(context)?,
    };
    let env = environment_for(&place, context).await?;
    let store = StateStore::open(&place, &env, context.clock)?;
    let unwritable = |error: Error| error.at(&place).hint("make it writable for the user of the server");
    store.check_writable().await.map_err(unwritable)?;
    if place.is_remote()
        && let Some(refusal) = store.probe().await?.refusal(&place)
    {
        return Err(refusal);
    }
    Ok(store.with_retention(Retention::of(Some(args.keep_versions), Some(args.keep_days))))
}

fn own_store(context: &Context) -> Result<StorePlace> {
    let root = project::find_root(&context.cwd).map_err(|_| {
        Error::usage("there is no project here, so the store must be named")
            .hint("`--store DIR`, or a bucket")
    })?;
    let project = project::load(&root)?;
    backends::store_place(&project)
}

/// Returns the environment for a store; a bucket gets credentials from the secrets of the project around
/// here, unless the environment has some.
async fn environment_for(place: &StorePlace, context: &Context) -> Result<Environment> {
    if !place.lacks_credentials(&context.env, context.clock) || project::find_root(&context.cwd).is_err() {
        return Ok(context.env.clone());
    }
    let loaded = LoadedProject::load(context)?;
    let secrets =
        loaded.secrets_of(context, &loaded.stacks.iter().collect::<Vec<_>>(), Unopened::Ends).await?;
    let variables = secrets.values().map(StackSecrets::backend_variables);
    let mut env = backends::store_environment(&context.env, variables);
    if let Some(region) = context.env.get("AWS_REGION") {
        env.set("AWS_REGION", region);
    }
    Ok(env)
}

async fn check_users(
    args: &ServeArgs,
    context: &Context,
    address: SocketAddr,
    store: StateStore,
) -> Result<Service> {
    if args.no_auth {
        if !address.ip().is_loopback() {
            return Err(Error::usage(format!("`--no-auth` would let everybody in on `{address}`"))
                .hint("listen on 127.0.0.1, or name users"));
        }
        return Ok(Service::open(store));
    }
    let users = match &args.users {
        Some(file) => read_users(&context.cwd.join(file), context).await?,
        None => user_of_environment(&context.env)?,
    };
    Service::for_users(store, users)
}

fn user_of_environment(env: &Environment) -> Result<Users> {
    match (env.get("INFRA_STATE_USERNAME"), env.get("INFRA_STATE_PASSWORD")) {
        (Some(name), Some(password)) => {
            Users::one(name, password).map_err(|error| error.at("INFRA_STATE_USERNAME"))
        }
        _ => Err(Error::new(Kind::Usage, "nobody could log in: there is no user")
            .hint("set INFRA_STATE_USERNAME and INFRA_STATE_PASSWORD")
            .hint("or name several with `--users FILE`")
            .hint("or let everybody on this machine in: `--no-auth`")),
    }
}

async fn read_users(file: &Path, context: &Context) -> Result<Users> {
    let bytes = zeroize::Zeroizing::new(std::fs::read(file).map_err(io("read", file))?);
    let plain = if is_sealed(file, &bytes) { unseal(file, &bytes, context).await? } else { bytes };
    let text = std::str::from_utf8(&plain)
        .map_err(|_| Error::invalid("the users file is no UTF-8").at(file.display()))?;
    Users::parse(text).map_err(|error| match error.place().map(str::to_owned) {
        Some(place) => error.at(format!("{}, {place}", file.display())),
        None => error.at(file.display()),
    })
}

async fn unseal(file: &Path, bytes: &[u8], context: &Context) -> Result<zeroize::Zeroizing<Vec<u8>>> {
    let root = project::find_root(&context.cwd).ok();
    let settings = match &root {
        Some(root) => project::load(root)?.secrets,
        None => SecretsSettings::default(),
    };
    let places = KeyPlaces {
        env: &context.env,
        dir: &context.cwd,
        project: root.as_deref(),
        settings: &settings,
        vault_ids: &[],
        password_files: &[],
        trust: trust::key_trust(root.as_deref().unwrap_or(&context.cwd), &settings, context),
        interrupts: &context.interrupts,
    };
    let prompt = passphrase_prompt(context.asking());
    Keyring::load(places, &prompt).await.open_bytes(file, bytes, None).await?.plaintext()
}

/// Returns where audit lines go; a file that was rotated away is made anew.
fn audit_sink(args: &ServeArgs, context: &Context) -> Result<AuditSink> {
    let Some(path) = args.audit_log.as_ref().map(|path| context.cwd.join(path)) else {
        let terminal = context.terminal;
        // It is no narration: being quiet does not silence it.
        return Ok(Box::new(move |line| {
            terminal.alert(line);
            Ok(())
        }));
    };
    let log = AuditFile::open(&path).map_err(io("write", &path))?;
    let (terminal, is_told) = (context.terminal, AtomicBool::new(false));
    Ok(Box::new(move |line| {
        let written = log.add(line);
        // Once for each time that it breaks, not once a request.
        match &written {
            Ok(()) => is_told.store(false, Ordering::Relaxed),
            Err(error) if !is_told.swap(true, Ordering::Relaxed) => terminal.alert(&format!(
                "warning: the audit log `{}` cannot be written, lines are lost: {error}",
                path.display()
            )),
            Err(_) => {}
        }
        written
    }))
}

fn print_hash(context: &Context) -> Result<Exit> {
    let password = match context.asking() {
        Asking::Person(_) => passphrase_prompt(context.asking())("Password:"),
        Asking::Nobody => {
            let mut text = zeroize::Zeroizing::new(String::new());
            let read = std::io::stdin().lock().read_to_string(&mut text);
            read.map_err(|error| Error::usage("the password cannot be read from stdin").because(error))?;
            Some(text)
        }
    };
    let password = password.unwrap_or_default();
    let password = password.trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        return Err(Error::usage("the password is empty"));
    }
    context.terminal.data_line(&hash_password(password)?);
    Ok(Exit::OK)
}
