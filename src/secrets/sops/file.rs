//! A whole SOPS file: opened, changed and written again with the smallest difference.
//!
//! Bytes in, bytes out: nothing here touches the disk or asks for the time. A file that was
//! opened is verified; every change gives new bytes, or `None` if nothing changed.
//! Begin at [`SopsFile::open`] and [`encrypt_new`].

mod recipients;

use jiff::Timestamp;
use zeroize::Zeroizing;

use super::cipher::{Cipher, Ivs};
use super::creation_rules::CreationRule;
use super::format::Format;
use super::keys::{DataKey, Group, Which, foreign_key, needed, unwrap_data_key, wrap_data_key};
use super::mac;
use super::mac::MacScope;
use super::metadata::Metadata;
use super::refusal::{about_file, refused};
use super::seal::{Memory, Scheme, open, seal};
use super::selection::Selection;
use super::stores;
use super::stores::Layout;
use super::tree::{Document, Item, TreePath, Value};
use crate::error::{Error, Kind, Result};
use crate::secrets::identities::Identities;
pub use recipients::{RecipientChange, updated_keys};

/// A file as it lies on the disk, and how it is laid out when it is written.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The path that messages show.
    pub name: &'a str,
    /// Its format.
    pub format: Format,
    /// Its content, perhaps plain.
    pub bytes: &'a [u8],
    /// The indents to write with.
    pub layout: Layout,
}

/// Shows everything but the content.
impl std::fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.name)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

/// An encrypted file, opened and verified.
pub struct SopsFile {
    name: String,
    format: Format,
    layout: Layout,
    sealed: Vec<Document>,
    documents: Vec<Document>,
    metadata: Metadata,
    key: DataKey,
    memory: Memory,
}

/// Shows nothing that was encrypted.
impl std::fmt::Debug for SopsFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SopsFile")
            .field("name", &self.name)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

impl SopsFile {
    /// Decrypts a file and verifies its MAC.
    pub fn open(input: Input<'_>, identities: &Identities<'_>) -> Result<Self> {
        Self::open_parts(input, identities).map_err(|error| about_file("decrypt", input.name, &error))
    }

    fn open_parts(input: Input<'_>, identities: &Identities<'_>) -> Result<Self> {
        let (sealed, metadata) = split(input)?;
        let key = unwrap_data_key(&metadata.groups, metadata.threshold, identities)?;
        let cipher = Cipher::new(&key);
        let (mut documents, mut memory) = (sealed.clone(), Memory::default());
        let computed = open(&mut documents, &cipher, &metadata.scheme, &mut memory)?;
        mac::verify(&cipher, &computed, &metadata.mac, &metadata.last_modified)?;
        let Input { name, format, layout, .. } = input;
        Ok(Self { name: name.to_owned(), format, layout, sealed, documents, metadata, key, memory })
    }

    /// Returns the decrypted documents.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Returns what `sops -d` prints.
    pub fn plaintext(&self) -> Result<Zeroizing<Vec<u8>>> {
        let written = stores::write(self.format, &self.documents, self.layout);
        written.map(Zeroizing::new).map_err(|error| about_file("show", &self.name, &error))
    }

    /// Returns the recipients of the file, group by group.
    pub fn recipients(&self) -> Vec<Vec<&str>> {
        self.metadata.groups.iter().map(Group::recipients).collect()
    }

    /// Takes an edited plaintext; returns `None` if nothing changed.
    pub fn edited(&self, plaintext: &[u8], now: Timestamp) -> Result<Option<Vec<u8>>> {
        if self.plaintext()?.as_slice() == plaintext {
            return Ok(None);
        }
        let documents = stores::load(self.format, plaintext);
        let changed = documents.and_then(|documents| self.changed(documents, now));
        changed.map_err(|error| about_file("encrypt", &self.name, &error))
    }

    /// Puts a JSON value at a path; returns `None` if it was there already.
    pub fn set(&self, path: &TreePath, json: &str, now: Timestamp) -> Result<Option<Vec<u8>>> {
        let value = parse_json(json)?;
        self.with_first_document(now, |document| path.set(document, value))
    }

    /// Takes away what is at a path.
    pub fn unset(&self, path: &TreePath, now: Timestamp) -> Result<Option<Vec<u8>>> {
        self.with_first_document(now, |document| path.unset(document))
    }

    fn with_first_document(
        &self,
        now: Timestamp,
        change: impl FnOnce(&mut Document) -> Result<()>,
    ) -> Result<Option<Vec<u8>>> {
        let mut documents = self.documents.clone();
        if documents.is_empty() {
            documents.push(Document::new());
        }
        let changed = change(&mut documents[0]).and_then(|()| self.changed(documents, now));
        changed.map_err(|error| about_file("change", &self.name, &error))
    }

    /// Encrypts new documents with the same key, reusing what did not change.
    fn changed(&self, mut documents: Vec<Document>, now: Timestamp) -> Result<Option<Vec<u8>>> {
        refuse_reserved(self.format, &documents)?;
        let cipher = Cipher::new(&self.key);
        let computed = seal(&mut documents, &cipher, &self.metadata.scheme, &self.memory)?;
        if documents == self.sealed {
            return Ok(None);
        }
        let mut metadata = self.metadata.clone();
        metadata.set_mac(&computed, now, |mac, time| cipher.seal(mac, time, &mut Ivs::default()))?;
        join(self.format, self.layout, documents, &metadata).map(Some)
    }
}

/// Encrypts a plain file by a rule.
pub fn encrypt_new(input: Input<'_>, rule: &CreationRule, now: Timestamp) -> Result<Vec<u8>> {
    encrypt_parts(input, rule, now).map_err(|error| about_file("encrypt", input.name, &error))
}

fn encrypt_parts(input: Input<'_>, rule: &CreationRule, now: Timestamp) -> Result<Vec<u8>> {
    if is_encrypted(input) {
        return Err(refused("it is encrypted already"));
    }
    let mut documents = stores::load(input.format, input.bytes)?;
    if documents.is_empty() {
        return Err(refused("it holds no document"));
    }
    refuse_reserved(input.format, &documents)?;
    if let Some(foreign) = rule.groups.iter().flat_map(|group| &group.foreign).next() {
        return Err(foreign_key(foreign));
    }
    let mut groups: Vec<Group> =
        rule.groups.iter().map(|group| Group::of_recipients(&group.recipients)).collect();
    let threshold = if groups.len() > 1 { needed(&groups, rule.threshold) } else { rule.threshold };
    let key = DataKey::random()?;
    wrap_data_key(&mut groups, threshold, &key, Which::All)?;
    let mut metadata = Metadata::new(scheme_for(input.format, rule), groups, threshold);
    let cipher = Cipher::new(&key);
    let computed = seal(&mut documents, &cipher, &metadata.scheme, &Memory::default())?;
    metadata.set_mac(&computed, now, |mac, time| cipher.seal(mac, time, &mut Ivs::default()))?;
    join(input.format, input.layout, documents, &metadata)
}

/// Returns how a new file is encrypted; a binary one always as a whole, whatever the rule picks.
fn scheme_for(format: Format, rule: &CreationRule) -> Scheme {
    match format {
        Format::Binary => Scheme { selection: Selection::everything(), scope: MacScope::All },
        Format::Yaml | Format::Json | Format::Dotenv | Format::Ini => {
            Scheme { selection: rule.selection.clone(), scope: rule.mac_scope }
        }
    }
}

/// Tells whether a file has SOPS metadata.
pub fn is_encrypted(input: Input<'_>) -> bool {
    let documents = stores::load_encrypted(input.format, input.bytes);
    let metadata = documents.and_then(|documents| stores::split_metadata(input.format, documents));
    metadata.is_ok_and(|(_, metadata)| metadata.is_some())
}

/// Returns for whom a file is encrypted, group by group, without opening it.
pub fn recipients_of(input: Input<'_>) -> Result<Vec<Vec<String>>> {
    let (_, metadata) = split(input)?;
    let owned = |group: &Group| group.recipients().into_iter().map(str::to_owned).collect();
    Ok(metadata.groups.iter().map(owned).collect())
}

/// Reads an encrypted file into its documents and its metadata.
fn split(input: Input<'_>) -> Result<(Vec<Document>, Metadata)> {
    let documents = match stores::load_encrypted(input.format, input.bytes) {
        Ok(documents) => documents,
        Err(_) if input.format == Format::Binary => return Err(no_metadata(input.bytes)),
        Err(error) => return Err(error),
    };
    let (documents, metadata) = stores::split_metadata(input.format, documents)?;
    let metadata = metadata.ok_or_else(|| no_metadata(input.bytes))?;
    Ok((documents, Metadata::read(metadata)?))
}

/// Writes a file, and refuses one that would not read back: nobody could decrypt it.
fn join(format: Format, layout: Layout, documents: Vec<Document>, metadata: &Metadata) -> Result<Vec<u8>> {
    let values = stores::to_json(&documents);
    let documents = stores::join_metadata(format, documents, metadata.to_stored());
    let written = stores::write_encrypted(format, &documents, layout)?;
    let again = stores::load_encrypted(format, &written)
        .and_then(|documents| stores::split_metadata(format, documents))
        .map(|(documents, _)| stores::to_json(&documents));
    if again.is_ok_and(|again| again == values) { Ok(written) } else { Err(unwritable(format)) }
}

/// Says that a format has no way to write what is asked of it, such as a quote in a quoted name.
fn unwritable(format: Format) -> Error {
    refused(format!("it holds a name or a text that {} cannot keep", format.name()))
        .hint("rename it, or use YAML or JSON")
}

/// Says why there is nothing to decrypt with: a plain file, or one that lost its end.
fn no_metadata(bytes: &[u8]) -> Error {
    let mark = b"ENC[AES256_GCM,";
    if bytes.windows(mark.len()).any(|window| window == mark) {
        return refused("it has encrypted values, but its `sops` metadata is missing or cut off")
            .hint("take the file from version control");
    }
    refused("it is not encrypted: it has no `sops` metadata")
        .hint("encrypt it with `infra secrets encrypt FILE`")
}

/// Refuses names that the metadata needs for itself.
fn refuse_reserved(format: Format, documents: &[Document]) -> Result<()> {
    let reserved = |name: &str| match format {
        Format::Dotenv => name.starts_with("sops_"),
        Format::Yaml | Format::Json | Format::Ini | Format::Binary => name == "sops",
    };
    let mut names = documents.iter().flatten().filter_map(|item| match item {
        Item::Pair(name, _) => Some(name),
        Item::Comment(_) => None,
    });
    match names.find(|name| reserved(name)) {
        Some(name) => Err(refused(format!("the name `{name}` is reserved for the metadata of sops"))),
        None => Ok(()),
    }
}

/// Reads the value of `set`; the text itself is never repeated.
fn parse_json(json: &str) -> Result<Value> {
    let wrapped = Zeroizing::new(format!("{{\"value\":{json}\n}}"));
    let loaded = stores::load(Format::Json, wrapped.as_bytes()).ok();
    let item = loaded.into_iter().flatten().flatten().collect::<Vec<_>>();
    match <[Item; 1]>::try_from(item) {
        Ok([Item::Pair(_, value)]) => Ok(value),
        Ok([Item::Comment(_)]) | Err(_) => Err(Error::new(Kind::Usage, "the value is no JSON")
            .hint(r#"quote a text: `'"text"'`; numbers, true, lists and objects stand as they are"#)),
    }
}
