//! `cycler` and `joiner`, which remember where they are, and the groups of `groupby`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use minijinja::value::{Enumerator, Object, ObjectRepr, Rest, Value};
use minijinja::{Environment, Error, ErrorKind, State};

use crate::render::jinja::fault::fault;

/// Adds the functions that make them.
pub fn add_to(env: &mut Environment<'_>) {
    env.add_function("cycler", |items: Rest<Value>| match items.is_empty() {
        true => Err(fault("`cycler` needs at least one item")),
        false => Ok(Value::from_object(Cycler { items: items.to_vec(), at: AtomicUsize::new(0) })),
    });
    env.add_function("joiner", |separator: Option<String>| {
        let separator = separator.unwrap_or_else(|| ", ".to_owned());
        Value::from_object(Joiner { separator, used: AtomicUsize::new(0) })
    });
}

/// What `groupby` found: a pair that has names too.
#[derive(Debug)]
pub struct Group {
    /// What all items have in common.
    pub grouper: Value,
    /// The items.
    pub list: Value,
}

impl Object for Group {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match (key.as_usize(), key.as_str()) {
            (Some(0), _) | (_, Some("grouper")) => Some(self.grouper.clone()),
            (Some(1), _) | (_, Some("list")) => Some(self.list.clone()),
            _ => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(2)
    }
}

/// Goes through its items again and again.
#[derive(Debug)]
struct Cycler {
    items: Vec<Value>,
    at: AtomicUsize,
}

impl Cycler {
    fn current(&self) -> Value {
        self.items.get(self.at.load(Ordering::Relaxed) % self.items.len()).cloned().unwrap_or_default()
    }
}

impl Object for Cycler {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        (key.as_str() == Some("current")).then(|| self.current())
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        _: &[Value],
    ) -> Result<Value, Error> {
        match method {
            "next" => {
                let item = self.current();
                self.at.fetch_add(1, Ordering::Relaxed);
                Ok(item)
            }
            "reset" => {
                self.at.store(0, Ordering::Relaxed);
                Ok(Value::from(()))
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}

/// Is nothing the first time, and a separator ever after.
#[derive(Debug)]
pub struct Joiner {
    separator: String,
    used: AtomicUsize,
}

impl Object for Joiner {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, _: &[Value]) -> Result<Value, Error> {
        let first = self.used.fetch_add(1, Ordering::Relaxed) == 0;
        Ok(Value::from(if first { "" } else { self.separator.as_str() }))
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<joiner>")
    }
}
