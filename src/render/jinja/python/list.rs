//! A list that a template can change, as Python's: `set _ = list.append(x)`.

use std::cmp::Ordering;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use minijinja::value::{DynObject, Enumerator, Object, ObjectRepr, Value};
use minijinja::{Error, ErrorKind, State};

use super::{items_of, split_arguments, text};
use crate::render::jinja::fault::fault;

/// The most items that a list may have.
pub const MAX_ITEMS: usize = 1_000_000;

/// A list with Python's methods.
#[derive(Debug, Default)]
pub struct List(RwLock<Vec<Value>>);

impl List {
    /// Makes a value of items.
    pub fn value(items: Vec<Value>) -> Value {
        Value::from_object(Self(RwLock::new(items)))
    }

    /// Returns a copy of the items.
    pub fn items(&self) -> Vec<Value> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<Value>) -> Result<T, Error>) -> Result<T, Error> {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn extend(&self, more: Vec<Value>) -> Result<Value, Error> {
        self.change(|items| {
            if items.len() + more.len() > MAX_ITEMS {
                return Err(fault("a list grew too large"));
            }
            items.extend(more);
            Ok(Value::from(()))
        })
    }
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.read().unwrap_or_else(PoisonError::into_inner).len())
    }

    fn call_method(
        self: &Arc<Self>,
        state: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        call(self, state, method, args)
    }

    /// Two lists are compared by a copy, or one that holds itself would wait for itself.
    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<Ordering> {
        let other = other.downcast_ref::<Self>()?;
        Some(self.items().cmp(&other.items()))
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::repr(&Value::from_dyn_object(DynObject::new(Arc::clone(self)))))
    }
}

fn call(list: &List, state: &State<'_, '_>, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (plain, named) = split_arguments(args);
    match (method, plain) {
        ("append", [item]) => list.extend(vec![item.clone()]),
        ("extend", [more]) => list.extend(items_of(state, more)?),
        ("insert", [at, item]) => insert(list, at, item),
        ("pop", _) => pop(list, plain),
        ("remove", [item]) => remove(list, item),
        ("clear", []) => list.change(|items| {
            items.clear();
            Ok(Value::from(()))
        }),
        ("copy", []) => Ok(List::value(list.items())),
        ("reverse", []) => list.change(|items| {
            items.reverse();
            Ok(Value::from(()))
        }),
        ("sort", []) => {
            let reverse = named.and_then(|named| named.get::<Option<bool>>("reverse").ok().flatten());
            sort(list, reverse.unwrap_or(false))
        }
        ("index", [item, ..]) => list
            .items()
            .iter()
            .position(|each| each == item)
            .map(Value::from)
            .ok_or_else(|| fault("the list has no such item")),
        ("count", [item]) => Ok(Value::from(list.items().iter().filter(|each| *each == item).count())),
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

fn insert(list: &List, at: &Value, item: &Value) -> Result<Value, Error> {
    let at = at.as_i64().ok_or_else(|| fault("`insert` expects a whole number"))?;
    list.change(|items| {
        let at = place(at, items.len()).min(items.len());
        items.insert(at, item.clone());
        Ok(Value::from(()))
    })
}

fn pop(list: &List, args: &[Value]) -> Result<Value, Error> {
    let at = args.first().map_or(Some(-1), Value::as_i64);
    let at = at.ok_or_else(|| fault("`pop` expects a whole number"))?;
    list.change(|items| {
        let index =
            if at < 0 { items.len().checked_sub(at.unsigned_abs() as usize) } else { Some(at as usize) };
        match index.filter(|index| *index < items.len()) {
            Some(index) => Ok(items.remove(index)),
            None => Err(fault("`pop` from a place that the list does not have")),
        }
    })
}

fn remove(list: &List, item: &Value) -> Result<Value, Error> {
    let at = list.items().iter().position(|each| each == item);
    let at = at.ok_or_else(|| fault("the list has no such item"))?;
    list.change(|items| {
        items.remove(at);
        Ok(Value::from(()))
    })
}

/// Sorts a copy: comparing may read the list itself.
fn sort(list: &List, reverse: bool) -> Result<Value, Error> {
    let mut sorted = list.items();
    sorted.sort();
    if reverse {
        sorted.reverse();
    }
    list.change(|items| {
        *items = sorted;
        Ok(Value::from(()))
    })
}

/// Returns where a place counted from the end is from the start.
fn place(at: i64, len: usize) -> usize {
    if at < 0 { len.saturating_sub(at.unsigned_abs() as usize) } else { at as usize }
}
