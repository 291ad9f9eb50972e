//! Turns a TOML file into a tree with places, its keys in the order of the file.
//!
//! Points in time become texts. Begin at [`parse`].

use std::sync::Arc;

use serde_json::{Number, Value};
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use super::lines::Lines;
use crate::error::{Error, Result};
use crate::project::data::node::{DataPlace, MapEntry, Node};

/// Reads a text that is a TOML document.
pub fn parse(file: &Arc<str>, text: &str) -> Result<Node> {
    let lines = Lines::new(file, text);
    let table = DeTable::parse(text).map_err(|error| broken(&lines, &error))?;
    let place = lines.place(0);
    Walk(lines).table(table.into_inner(), place)
}

fn broken(lines: &Lines<'_>, error: &toml::de::Error) -> Error {
    let place = lines.place(error.span().map_or(0, |span| span.start));
    Error::invalid(format!("`{}` is not valid TOML", place.file)).at(&place).detail(error.message())
}

/// The walk over a document.
struct Walk<'a>(Lines<'a>);

impl Walk<'_> {
    fn table(&self, table: DeTable<'_>, place: DataPlace) -> Result<Node> {
        let mut pairs: Vec<_> = table.into_iter().collect();
        pairs.sort_by_key(|(key, _)| key.span().start);
        let entries = pairs.into_iter().map(|(key, value)| {
            let place = self.0.place(key.span().start);
            Ok(MapEntry { key: key.into_inner().into_owned(), place, value: Arc::new(self.value(value)?) })
        });
        Node::map(place, entries.collect::<Result<_>>()?)
    }

    fn value(&self, value: Spanned<DeValue<'_>>) -> Result<Node> {
        let place = self.0.place(value.span().start);
        let scalar = match value.into_inner() {
            DeValue::Table(table) => return self.table(table, place),
            DeValue::Array(items) => {
                let items = items.into_iter().map(|item| self.value(item).map(Arc::new));
                return Node::list(place, items.collect::<Result<_>>()?);
            }
            DeValue::String(text) => Value::String(text.into_owned()),
            DeValue::Integer(number) => integer(&number),
            DeValue::Float(number) => float(&number),
            DeValue::Boolean(value) => Value::Bool(value),
            DeValue::Datetime(time) => Value::String(time.to_string()),
        };
        Ok(Node::scalar(place, scalar))
    }
}

/// Returns the number, or its text where it does not fit.
fn integer(number: &DeInteger<'_>) -> Value {
    i64::from_str_radix(number.as_str(), number.radix())
        .map_or_else(|_| Value::String(number.as_str().to_owned()), Value::from)
}

/// Returns the number, or its text where it is none that can be written down.
fn float(number: &DeFloat<'_>) -> Value {
    let finite = number.as_str().parse::<f64>().ok().and_then(Number::from_f64);
    finite.map_or_else(|| Value::String(number.as_str().to_owned()), Value::Number)
}
