//! Turns the documents of a YAML file into trees with places.
//!
//! Values are read by YAML 1.2; anchors, aliases and `<<` work as in makejinja's reader. A key
//! that is given twice, a tag of a program's own and a key that is no word are errors.
//! Begin at [`parse`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use granit_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Tag};
use serde_json::Value;

use super::{scalar, yaml_1_1};
use crate::error::{Error, Result};
use crate::project::data::node::{Budget, DataPlace, MapEntry, Node};
use crate::project::data::{DataWarning, fault};

/// The documents of a file, and what makejinja would read otherwise.
#[derive(Debug, Default)]
pub struct Documents {
    /// One tree a document.
    pub roots: Vec<Arc<Node>>,
    /// What makejinja would read otherwise.
    pub warnings: Vec<DataWarning>,
}

/// Reads all documents of a text.
pub fn parse(file: &Arc<str>, text: &str) -> Result<Documents> {
    let mut builder = Builder::new(file);
    // Comments are nothing here, and there may be hundreds of lines of them in a row.
    let options = granit_parser::options! { emit_comments: false };
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(|error| broken(file, text, &error))?;
        builder.event(event, span.start)?;
    }
    Ok(builder.documents)
}

fn broken(file: &Arc<str>, text: &str, error: &ScanError) -> Error {
    let place = place(file, *error.marker());
    let line = text.lines().nth(error.marker().line().saturating_sub(1)).unwrap_or_default();
    let indentation = &line[..line.len() - line.trim_start().len()];
    let tab = indentation.contains('\t').then_some("YAML is indented with spaces, not with tabs");
    Error::invalid(format!("`{file}` is not valid YAML")).at(place).detail(error.info()).hint_if(tab)
}

fn place(file: &Arc<str>, marker: Marker) -> DataPlace {
    let column = u32::try_from(marker.col() + 1).unwrap_or(u32::MAX);
    DataPlace { file: Arc::clone(file), line: u32::try_from(marker.line()).unwrap_or(u32::MAX), column }
}

/// A list or a map that has begun and not ended.
struct Frame {
    place: DataPlace,
    anchor: usize,
    content: Open,
}

enum Open {
    List(Vec<Arc<Node>>),
    Map(OpenMap),
}

#[derive(Default)]
struct OpenMap {
    entries: Vec<MapEntry>,
    /// What `<<` brought; it comes before the map's own keys, and they win.
    merged: Vec<MapEntry>,
    keys: HashSet<String>,
    pending: Option<Key>,
}

struct Key {
    name: String,
    place: DataPlace,
    merges: bool,
}

struct Builder<'a> {
    file: &'a Arc<str>,
    documents: Documents,
    frames: Vec<Frame>,
    anchors: HashMap<usize, Arc<Node>>,
    budget: Budget,
}

impl<'a> Builder<'a> {
    fn new(file: &'a Arc<str>) -> Self {
        let (documents, budget) = (Documents::default(), Budget::default());
        Self { file, documents, frames: Vec::new(), anchors: HashMap::new(), budget }
    }

    fn event(&mut self, event: Event<'_>, start: Marker) -> Result<()> {
        let place = place(self.file, start);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.budget.take(text.len() + size_of::<Node>(), &place)?;
                if self.wants_key() && tag.is_none() {
                    return self.key(&text, style, place);
                }
                let value = self.value(&text, style, tag.as_deref(), &place)?;
                self.finish(Node::scalar(place, value), anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.open(place, anchor, tag.as_deref(), "seq", Open::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, tag) => {
                self.open(place, anchor, tag.as_deref(), "map", Open::Map(OpenMap::default()))
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => self.alias(anchor, place),
            Event::DocumentEnd => {
                self.anchors.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the next scalar is the key of a map.
    fn wants_key(&self) -> bool {
        matches!(self.frames.last(), Some(Frame { content: Open::Map(map), .. }) if map.pending.is_none())
    }

    fn key(&mut self, text: &str, style: ScalarStyle, place: DataPlace) -> Result<()> {
        let plain = style == ScalarStyle::Plain;
        let merges = plain && text == "<<";
        if plain && !merges {
            self.warn(yaml_1_1::key_differs(text), &place);
        }
        let Some(Frame { content: Open::Map(map), .. }) = self.frames.last_mut() else { return Ok(()) };
        if !merges && !map.keys.insert(text.to_owned()) {
            let first = map.entries.iter().find(|entry| entry.key == text);
            let line = first.map_or(place.line, |entry| entry.place.line);
            return Err(Error::invalid(format!("key `{text}` is given twice in `{}`", self.file))
                .at(place)
                .detail(format!("it stands in line {line} already")));
        }
        map.pending = Some(Key { name: text.to_owned(), place, merges });
        Ok(())
    }

    fn value(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        place: &DataPlace,
    ) -> Result<Value> {
        if let Some(tag) = tag {
            return tagged(text, tag, place);
        }
        if style != ScalarStyle::Plain {
            return Ok(Value::String(text.to_owned()));
        }
        let difference = yaml_1_1::differs(text).map(|difference| match self.is_secret() {
            true => "this value is another one to makejinja".to_owned(),
            false => difference,
        });
        self.warn(difference, place);
        Ok(scalar::read(text))
    }

    /// Returns whether the next value stands below a key whose values are not shown.
    fn is_secret(&self) -> bool {
        self.frames.iter().any(|frame| match &frame.content {
            Open::Map(map) => map.pending.as_ref().is_some_and(|key| fault::is_secret(&key.name)),
            Open::List(_) => false,
        })
    }

    fn warn(&mut self, difference: Option<String>, place: &DataPlace) {
        let Some(difference) = difference else { return };
        let message = format!("{difference}; quote it, or write it so that both agree");
        self.documents.warnings.push(DataWarning { place: place.clone(), message });
    }

    fn open(
        &mut self,
        place: DataPlace,
        anchor: usize,
        tag: Option<&Tag>,
        kind: &str,
        content: Open,
    ) -> Result<()> {
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema_tag(kind)) {
            return Err(strange_tag(tag, &place));
        }
        self.budget.take(size_of::<Frame>(), &place)?;
        self.frames.push(Frame { place, anchor, content });
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let Some(Frame { place, anchor, content }) = self.frames.pop() else { return Ok(()) };
        let node = match content {
            Open::List(items) => Node::list(place, items)?,
            Open::Map(map) if map.merged.is_empty() => Node::map(place, map.entries)?,
            Open::Map(map) => Node::map(place, overlaid(map.merged, map.entries))?,
        };
        self.finish(node, anchor)
    }

    fn alias(&mut self, anchor: usize, place: DataPlace) -> Result<()> {
        let Some(node) = self.anchors.get(&anchor).cloned() else {
            return Err(Error::invalid(format!("an alias in `{}` contains itself", self.file)).at(place));
        };
        match (self.wants_key(), node.as_str()) {
            (true, Some(text)) => self.key(text, ScalarStyle::DoubleQuoted, place),
            _ => self.attach(node),
        }
    }

    fn finish(&mut self, node: Node, anchor: usize) -> Result<()> {
        let node = Arc::new(node);
        if anchor > 0 {
            self.anchors.insert(anchor, Arc::clone(&node));
        }
        self.attach(node)
    }

    /// Puts a finished node where it belongs: a document, a list, or the key that waits for it.
    fn attach(&mut self, node: Arc<Node>) -> Result<()> {
        let Some(frame) = self.frames.last_mut() else {
            self.documents.roots.push(node);
            return Ok(());
        };
        let map = match &mut frame.content {
            Open::List(items) => {
                items.push(node);
                return Ok(());
            }
            Open::Map(map) => map,
        };
        let Some(key) = map.pending.take() else {
            return Err(Error::invalid(format!("a key in `{}` must be a text", self.file)).at(&node.place));
        };
        if !key.merges {
            map.entries.push(MapEntry { key: key.name, place: key.place, value: node });
            return Ok(());
        }
        let merged = merged(&node, &key.place)?;
        self.budget.take(merged.len() * size_of::<MapEntry>(), &key.place)?;
        map.merged.extend(merged);
        Ok(())
    }
}

/// Returns the entries that `<<` brings: of a map, or of a list of maps of which the first wins.
fn merged(node: &Node, place: &DataPlace) -> Result<Vec<MapEntry>> {
    use crate::project::data::node::Content::{List, Map};
    match &node.content {
        Map(entries) => Ok(entries.clone()),
        List(items) if items.iter().all(|item| matches!(item.content, Map(_))) => {
            Ok(items.iter().rev().flat_map(|item| item.entries().iter().cloned()).collect())
        }
        _ => Err(Error::invalid("`<<` must be a map, or a list of maps").at(place)),
    }
}

/// Returns entries in which a key stands once: at its first place, with its last value.
fn overlaid(merged: Vec<MapEntry>, own: Vec<MapEntry>) -> Vec<MapEntry> {
    crate::project::data::Overlay::default().with(merged).with(own).entries
}

fn tagged(text: &str, tag: &Tag, place: &DataPlace) -> Result<Value> {
    let value = match tag.core_suffix() {
        Some("str") => Some(Value::String(text.to_owned())),
        Some("int") => scalar::integer(text),
        Some("float") => scalar::float(text).or_else(|| scalar::float(&format!("{text}.0"))),
        Some("bool") => Some(scalar::read(text)).filter(Value::is_boolean),
        Some("null") => Some(Value::Null),
        _ => return Err(strange_tag(tag, place)),
    };
    value.ok_or_else(|| {
        Error::invalid(format!("a value is not what its tag `{}` says", tag.original())).at(place)
    })
}

fn strange_tag(tag: &Tag, place: &DataPlace) -> Error {
    Error::invalid(format!("`{}` has the tag `{}`, which means nothing here", place.file, tag.original()))
        .at(place)
}
