//! The walk over a document in the order of the MAC, telling a visitor where each leaf stands.
//!
//! Changes nothing itself. A document that is nested beyond reason is refused.

use super::{Comment, Document, Item, ListEntry, Value};
use crate::error::{Error, Result};
use crate::secrets::sops::refusal::refused;
use crate::secrets::sops::selection::LeafPlace;

/// How deep maps and lists may be nested.
const DEEPEST: usize = 200;

/// What happens to the leaves.
pub trait Visitor {
    /// Visits a value without parts; never null.
    fn value(&mut self, value: &mut Value, place: &LeafPlace) -> Result<()>;

    /// Visits a comment.
    fn comment(&mut self, comment: &mut Comment, place: &LeafPlace) -> Result<()>;

    /// Visits a comment or a value without parts in a list.
    fn entry(&mut self, entry: &mut ListEntry, place: &LeafPlace) -> Result<()> {
        match entry {
            ListEntry::Comment(comment) => self.comment(comment, place),
            ListEntry::Value(value) => self.value(value, place),
        }
    }
}

/// Walks over all documents.
pub fn walk(documents: &mut [Document], visitor: &mut impl Visitor) -> Result<()> {
    for document in documents {
        map(document, &mut LeafPlace::default(), visitor)?;
    }
    Ok(())
}

fn map(items: &mut [Item], place: &mut LeafPlace, visitor: &mut impl Visitor) -> Result<()> {
    enter(place)?;
    for item in items {
        match item {
            Item::Comment(comment) => {
                activate(place, comment);
                visitor.comment(comment, place)?;
            }
            Item::Pair(name, value) => {
                place.path.push(name.clone());
                inner(value, place, visitor).map_err(|error| named(error, place))?;
                place.path.pop();
                forget(place);
            }
        }
    }
    place.comments.pop();
    Ok(())
}

fn list(entries: &mut [ListEntry], place: &mut LeafPlace, visitor: &mut impl Visitor) -> Result<()> {
    enter(place)?;
    for entry in entries {
        match entry {
            ListEntry::Value(value @ (Value::Null | Value::Map(_) | Value::List(_))) => {
                inner(value, place, visitor)?;
                forget(place);
            }
            ListEntry::Comment(comment) => {
                activate(place, comment);
                visitor.entry(entry, place)?;
            }
            ListEntry::Value(_) => {
                visitor.entry(entry, place)?;
                if matches!(entry, ListEntry::Value(_)) {
                    forget(place);
                }
            }
        }
    }
    place.comments.pop();
    Ok(())
}

fn inner(value: &mut Value, place: &mut LeafPlace, visitor: &mut impl Visitor) -> Result<()> {
    match value {
        Value::Null => Ok(()),
        Value::Map(items) => map(items, place, visitor),
        Value::List(entries) => list(entries, place, visitor),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Time(_) | Value::Text(_) => {
            visitor.value(value, place)
        }
    }
}

fn enter(place: &mut LeafPlace) -> Result<()> {
    place.comments.push(Vec::new());
    if place.comments.len() > DEEPEST {
        return Err(refused(format!("the document is nested deeper than {DEEPEST} levels")));
    }
    Ok(())
}

fn activate(place: &mut LeafPlace, comment: &Comment) {
    if let Some(level) = place.comments.last_mut() {
        level.push(comment.text.clone());
    }
}

fn forget(place: &mut LeafPlace) {
    if let Some(level) = place.comments.last_mut() {
        level.clear();
    }
}

/// Says at which key it went wrong; the innermost place is told first and stays.
fn named(error: Error, place: &LeafPlace) -> Error {
    if error.has_fact("key") {
        return error;
    }
    error.fact("key", path_text(&place.path))
}

/// Writes a path the way `set` takes it.
fn path_text(path: &[String]) -> String {
    path.iter().map(|name| format!("[\"{name}\"]")).collect()
}
