//! A map that keeps its order and that a template can change, as Python's:
//! `set _ = map.update({…})`.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use minijinja::value::{DynObject, Enumerator, Object, ObjectRepr, Tuple, Value, ValueKind};
use minijinja::{Error, ErrorKind, State};

use super::list::List;
use super::number::{as_float, as_int, int_value};
use super::{items_of, split_arguments, text};
use crate::render::jinja::fault::fault;

/// A map with Python's methods.
#[derive(Debug, Default)]
pub struct Dict(RwLock<Entries>);

/// Keys and values in order, and where each key stands.
#[derive(Clone, Debug, Default)]
struct Entries {
    pairs: Vec<(Value, Value)>,
    places: HashMap<Value, usize>,
}

/// Returns what a key is looked up by: in Python `1`, `1.0` and `True` are the same key.
fn canonical(key: &Value) -> Value {
    match as_float(key) {
        Some(number) if number.fract() == 0.0 => {
            as_int(key).map_or_else(|| int_value(number as i128), int_value)
        }
        _ => key.clone(),
    }
}

impl Entries {
    fn get(&self, key: &Value) -> Option<&Value> {
        self.places.get(&canonical(key)).and_then(|place| self.pairs.get(*place)).map(|(_, value)| value)
    }

    fn set(&mut self, key: Value, value: Value) {
        if let Some((_, old)) = self.places.get(&canonical(&key)).and_then(|place| self.pairs.get_mut(*place))
        {
            *old = value;
            return;
        }
        self.places.insert(canonical(&key), self.pairs.len());
        self.pairs.push((key, value));
    }

    fn remove(&mut self, key: &Value) -> Option<Value> {
        let place = self.places.remove(&canonical(key))?;
        let (_, value) = self.pairs.remove(place);
        self.places.values_mut().filter(|other| **other > place).for_each(|other| *other -= 1);
        Some(value)
    }
}

impl Dict {
    /// Makes a value of pairs; a later one wins.
    pub fn value(pairs: impl IntoIterator<Item = (Value, Value)>) -> Value {
        let mut entries = Entries::default();
        pairs.into_iter().for_each(|(key, value)| entries.set(key, value));
        Value::from_object(Self(RwLock::new(entries)))
    }

    /// Returns a copy of the pairs.
    pub fn pairs(&self) -> Vec<(Value, Value)> {
        self.read().pairs.clone()
    }

    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Entries) -> T) -> T {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Object for Dict {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.read().get(key).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let keys: Vec<Value> = self.read().pairs.iter().map(|(key, _)| key.clone()).collect();
        Enumerator::Values(keys)
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.read().pairs.len())
    }

    fn call_method(
        self: &Arc<Self>,
        state: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        call(self, state, method, args)
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::repr(&Value::from_dyn_object(DynObject::new(Arc::clone(self)))))
    }
}

fn call(dict: &Dict, state: &State<'_, '_>, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (plain, _) = split_arguments(args);
    match (method, plain) {
        ("keys", []) => Ok(List::value(dict.pairs().into_iter().map(|(key, _)| key).collect())),
        ("values", []) => Ok(List::value(dict.pairs().into_iter().map(|(_, value)| value).collect())),
        ("items", []) => {
            let pairs = dict.pairs().into_iter().map(|(key, value)| Value::from(Tuple::from([key, value])));
            Ok(List::value(pairs.collect()))
        }
        ("get", [key]) => Ok(dict.read().get(key).cloned().unwrap_or_else(|| Value::from(()))),
        ("get", [key, other]) => Ok(dict.read().get(key).cloned().unwrap_or_else(|| other.clone())),
        ("copy", []) => Ok(Dict::value(dict.pairs())),
        ("update", _) => update(dict, state, args),
        ("setdefault", [key, rest @ ..]) => Ok(set_default(dict, key, rest)),
        ("pop", [key]) => dict.change(|entries| entries.remove(key)).ok_or_else(no_such_key),
        ("pop", [key, other]) => {
            Ok(dict.change(|entries| entries.remove(key)).unwrap_or_else(|| other.clone()))
        }
        ("clear", []) => {
            dict.change(|entries| *entries = Entries::default());
            Ok(Value::from(()))
        }
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

fn no_such_key() -> Error {
    fault("the map has no such key")
}

fn set_default(dict: &Dict, key: &Value, rest: &[Value]) -> Value {
    let known = dict.read().get(key).cloned();
    known.unwrap_or_else(|| {
        let value = rest.first().cloned().unwrap_or_else(|| Value::from(()));
        dict.change(|entries| entries.set(key.clone(), value.clone()));
        value
    })
}

fn update(dict: &Dict, state: &State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    for each in args {
        let more = pairs_of(state, each)?;
        dict.change(|entries| more.into_iter().for_each(|(key, value)| entries.set(key, value)));
    }
    Ok(Value::from(()))
}

/// Returns the pairs of a map, or of a list of pairs.
pub fn pairs_of(state: &State<'_, '_>, value: &Value) -> Result<Vec<(Value, Value)>, Error> {
    if let Some(dict) = value.downcast_object_ref::<Dict>() {
        return Ok(dict.pairs());
    }
    let keyed = value.kind() == ValueKind::Map;
    if let Some(pairs) = value.as_object().filter(|_| keyed).and_then(DynObject::try_iter_pairs) {
        return Ok(pairs.collect());
    }
    items_of(state, value)?.into_iter().map(|pair| pair_of(state, &pair)).collect()
}

fn pair_of(state: &State<'_, '_>, pair: &Value) -> Result<(Value, Value), Error> {
    match <[Value; 2]>::try_from(items_of(state, pair)?) {
        Ok([key, value]) => Ok((key, value)),
        Err(_) => Err(fault("expected a map or a list of pairs")),
    }
}
