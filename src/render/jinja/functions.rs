//! Functions that plugins of makejinja projects usually have, built in: keys and tunnels from files of the
//! project, addresses of a network.
//!
//! Files are read only below the project's root, links resolved. An error names a file only by
//! its usual name: a path that a template hands over may come from the data.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ipnet::IpNet;
use minijinja::value::Value;
use minijinja::{Environment as Jinja, Error};
use serde_json::{Value as Json, json};

use super::fault::{fault, with_hint};
use super::limits::MAX_FILE;
use super::python::{Arguments, Dict, Given, List};
use super::template_access::TemplateAccess;
use crate::render::settings::inside;

/// Adds the functions, the filter `nthhost` and the map `env`.
pub fn add_to(env: &mut Jinja<'_>, template_access: &TemplateAccess) {
    env.add_filter("nthhost", nth_host);
    env.add_function("nthhost", nth_host);
    env.add_global("env", variables(template_access));
    for (name, call) in FUNCTIONS {
        let files = Files { root: template_access.root.clone() };
        env.add_function(*name, move |args: Given| call(&files, args));
    }
}

/// A function that may read files.
type Call = fn(&Files, Given) -> Result<Value, Error>;

const FUNCTIONS: &[(&str, Call)] = &[
    ("age_key", |files, args| {
        let args = Arguments::read(args, &["key_type", "file_path"])?;
        let kind = args.required("key_type")?.to_string();
        age_key(files, &kind, &Asked::new(&args, AGE_KEY)).map(Value::from)
    }),
    ("cloudflare_tunnel_id", |files, args| tunnel_id(files, &path_of(args, TUNNEL)?).map(Value::from)),
    ("cloudflare_tunnel_secret", |files, args| {
        tunnel_secret(files, &path_of(args, TUNNEL)?).map(Value::from)
    }),
    ("github_deploy_key", |files, args| files.read(&path_of(args, "github-deploy.key")?).map(trimmed)),
    ("github_push_token", |files, args| files.read(&path_of(args, "github-push-token.txt")?).map(trimmed)),
    ("talos_patches", |files, args| {
        let args = Arguments::read(args, &["value"])?;
        files.talos_patches(&args.required("value")?.to_string())
    }),
];

const AGE_KEY: &str = "age.key";
const TUNNEL: &str = "cloudflare-tunnel.json";

fn path_of(args: Given, usual: &'static str) -> Result<Asked, Error> {
    Ok(Asked::new(&Arguments::read(args, &["file_path"])?, usual))
}

/// A file that a template asks for, and its default name.
#[derive(Debug)]
struct Asked {
    path: String,
    usual: &'static str,
}

impl Asked {
    fn new(args: &Arguments, usual: &'static str) -> Self {
        Self { path: args.text("file_path", usual), usual }
    }

    /// Returns what an error may call it.
    fn name(&self) -> String {
        if self.path == self.usual { format!("`{}`", self.usual) } else { "the file asked for".to_owned() }
    }

    fn missing(&self) -> Error {
        let hint = "make one with `infra secrets keygen --output age.key`";
        let hint = (self.path == AGE_KEY).then_some(hint);
        with_hint(format!("{} cannot be read: there is no such file", self.name()), hint)
    }
}

fn variables(template_access: &TemplateAccess) -> Value {
    let pairs =
        template_access.env.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    Dict::value(pairs.map(|(name, value)| (Value::from(name), Value::from(value))))
}

/// Returns the nth address of a network, or false for a bad network or a place outside of it.
fn nth_host(network: Value, place: i64) -> Value {
    let found = network.as_str().and_then(|network| nth_address(network, place));
    found.map_or_else(|| Value::from(false), Value::from)
}

fn nth_address(network: &str, place: i64) -> Option<String> {
    let place = u128::try_from(place).ok()?;
    let network: IpNet = match network.contains('/') {
        true => network.parse().ok()?,
        false => IpNet::from(network.parse::<std::net::IpAddr>().ok()?),
    };
    match network {
        IpNet::V4(network) => {
            let size = 1_u64 << (32 - u32::from(network.prefix_len()));
            let place = u32::try_from(place).ok().filter(|place| u64::from(*place) < size)?;
            Some(std::net::Ipv4Addr::from(u32::from(network.network()).checked_add(place)?).to_string())
        }
        IpNet::V6(network) => {
            let bits = 128 - u32::from(network.prefix_len());
            let fits = bits == 128 || place < (1_u128 << bits);
            let address = u128::from(network.network()).checked_add(place).filter(|_| fits)?;
            Some(std::net::Ipv6Addr::from(address).to_string())
        }
    }
}

/// Returns the public or the private key of an age key file.
fn age_key(files: &Files, kind: &str, path: &Asked) -> Result<String, Error> {
    let text = files.read(path)?;
    let found = match kind {
        "public" => after(&text, "# public key: ", "age1"),
        "private" => after(&text, "", "AGE-SECRET-KEY-"),
        _ => return Err(fault("the first argument of `age_key` is `public` or `private`")),
    };
    found.ok_or_else(|| fault(format!("{} has no {kind} age key", path.name())))
}

/// Returns the first word that begins with a mark and stands after a lead.
fn after(text: &str, lead: &str, mark: &str) -> Option<String> {
    let whole = format!("{lead}{mark}");
    let word = &text[text.find(&whole)? + lead.len()..];
    let end = word.char_indices().skip(mark.len()).find(|(_, char)| !char.is_alphanumeric() && *char != '_');
    let word = &word[..end.map_or(word.len(), |(at, _)| at)];
    (word.len() > mark.len()).then(|| word.to_owned())
}

fn tunnel_id(files: &Files, path: &Asked) -> Result<String, Error> {
    let tunnel = files.json(path)?;
    let id = field(&tunnel, "TunnelID", path)?;
    Ok(id.as_str().map_or_else(|| id.to_string(), str::to_owned))
}

fn tunnel_secret(files: &Files, path: &Asked) -> Result<String, Error> {
    let tunnel = files.json(path)?;
    let [account, id, secret] =
        ["AccountTag", "TunnelID", "TunnelSecret"].map(|name| field(&tunnel, name, path));
    let token = json!({"a": account?, "t": id?, "s": secret?});
    Ok(BASE64.encode(token.to_string()))
}

fn field<'a>(json: &'a Json, name: &str, path: &Asked) -> Result<&'a Json, Error> {
    let value = json.get(name).filter(|value| !value.is_null());
    value.ok_or_else(|| fault(format!("{} has no `{name}`", path.name())))
}

fn trimmed(text: String) -> Value {
    Value::from(text.trim())
}

/// The project's files, as far as templates may read them.
#[derive(Clone, Debug)]
struct Files {
    root: PathBuf,
}

impl Files {
    fn read(&self, file: &Asked) -> Result<String, Error> {
        let cannot = |why: &str| fault(format!("{} cannot be read: {why}", file.name()));
        let real = self.resolve(&file.path).map_err(|error| match error {
            Unresolved::Outside => fault(format!("{} is outside of the project", file.name())),
            Unresolved::Missing => file.missing(),
        })?;
        let size = std::fs::metadata(&real).map_err(|_| file.missing())?.len();
        if size > MAX_FILE {
            return Err(cannot(&format!("it is larger than {} MiB", MAX_FILE >> 20)));
        }
        let bytes = std::fs::read(&real).map_err(|error| cannot(&error.kind().to_string()))?;
        String::from_utf8(bytes).map_err(|_| cannot("it is not UTF-8"))
    }

    /// Returns where a path leads; one outside of the project is refused, by links too.
    fn resolve(&self, path: &str) -> Result<PathBuf, Unresolved> {
        let below = inside("file", path).map_err(|_| Unresolved::Outside)?;
        let real = self.root.join(below).canonicalize().map_err(|_| Unresolved::Missing)?;
        let root = self.root.canonicalize().map_err(|_| Unresolved::Outside)?;
        if real.starts_with(&root) { Ok(real) } else { Err(Unresolved::Outside) }
    }

    fn json(&self, file: &Asked) -> Result<Json, Error> {
        serde_json::from_str(&self.read(file)?).map_err(|_| fault(format!("{} is no JSON", file.name())))
    }

    /// Returns the patches of a kind of Talos node, relative to the root.
    fn talos_patches(&self, name: &str) -> Result<Value, Error> {
        let below = format!("templates/config/talos/patches/{name}");
        let Ok(folder) = self.resolve(&below) else { return Ok(List::value(Vec::new())) };
        let mut found: Vec<String> = patches(&folder);
        found.sort();
        Ok(List::value(found.into_iter().map(|file| Value::from(format!("{below}/{file}"))).collect()))
    }
}

/// Why a path leads to no file that may be read.
#[derive(Clone, Copy, Debug)]
enum Unresolved {
    Outside,
    Missing,
}

fn patches(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".yaml.j2"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(path: &str, usual: &'static str) -> Asked {
        Asked { path: path.to_owned(), usual }
    }

    #[test]
    fn the_nth_host_is_counted_from_the_network() {
        assert_eq!(nth_address("10.0.0.5/24", 1).as_deref(), Some("10.0.0.1"));
        assert_eq!(nth_address("10.0.0.0/30", 4), None);
        assert_eq!(nth_address("fd00::/64", 255).as_deref(), Some("fd00::ff"));
        assert_eq!(nth_address("10.0.0.0/33", 1), None);
        assert_eq!(nth_address("::/0", 1).as_deref(), Some("::1"));
    }

    #[test]
    fn files_are_read_only_inside_of_the_project() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("age.key"), "# public key: age1abc\nAGE-SECRET-KEY-1XYZ\n").unwrap();
        let files = Files { root: dir.path().to_owned() };

        assert_eq!(age_key(&files, "public", &asked(AGE_KEY, AGE_KEY)).unwrap(), "age1abc");
        assert_eq!(age_key(&files, "private", &asked(AGE_KEY, AGE_KEY)).unwrap(), "AGE-SECRET-KEY-1XYZ");
        for path in ["../x", "/etc/passwd"] {
            let error = files.read(&asked(path, AGE_KEY)).unwrap_err();
            assert!(error.to_string().contains("outside of the project"), "{error}");
        }
    }

    #[test]
    fn a_tunnels_secret_is_its_token() {
        let dir = tempfile::tempdir().unwrap();
        let json = r#"{"AccountTag":"acc","TunnelSecret":"sec","TunnelID":"id"}"#;
        std::fs::write(dir.path().join(TUNNEL), json).unwrap();
        let files = Files { root: dir.path().to_owned() };

        let token = BASE64.decode(tunnel_secret(&files, &asked(TUNNEL, TUNNEL)).unwrap()).unwrap();

        assert_eq!(token, br#"{"a":"acc","t":"id","s":"sec"}"#);
        assert_eq!(tunnel_id(&files, &asked(TUNNEL, TUNNEL)).unwrap(), "id");
    }
}
