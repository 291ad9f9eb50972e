//! The arguments of a call by place or by name, as Python binds them.

use minijinja::Error;
use minijinja::value::{Kwargs, Rest, Value, ValueOrKwargs};

use super::number::as_int;
use super::{split_arguments, text};
use crate::render::jinja::fault::fault;

/// The largest number that a width or a count may be.
const MAX_SIZE: usize = 10_000;

/// What a call gives, those by name last.
pub type Given = Rest<ValueOrKwargs>;

/// Arguments under their names; one that was not given, or is `none`, is not there.
#[derive(Debug)]
pub struct Arguments {
    names: &'static [&'static str],
    values: Vec<Option<Value>>,
}

impl Arguments {
    /// Binds what a call gives to the names that it may give.
    pub fn read(args: Given, names: &'static [&'static str]) -> Result<Self, Error> {
        let args = args.into_values();
        let (plain, named) = split_arguments(&args);
        if plain.len() > names.len() {
            return Err(fault(format!("expected at most {} arguments, found {}", names.len(), plain.len())));
        }
        let mut values: Vec<Option<Value>> = plain.iter().cloned().map(Some).collect();
        values.resize(names.len(), None);
        if let Some(named) = &named {
            take_named(named, names, &mut values)?;
        }
        values.iter_mut().for_each(|value| *value = value.take().filter(|value| !value.is_none()));
        Ok(Self { names, values })
    }

    /// Returns an argument where it was given.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let at = self.names.iter().position(|each| *each == name)?;
        self.values.get(at)?.as_ref()
    }

    /// Returns the arguments that were given, under their names.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.names.iter().zip(&self.values).filter_map(|(name, value)| Some((*name, value.clone()?)))
    }

    /// Returns an argument that must be there.
    pub fn required(&self, name: &str) -> Result<&Value, Error> {
        self.get(name).ok_or_else(|| fault(format!("the argument `{name}` is missing")))
    }

    /// Returns an argument as text, or the default.
    pub fn text(&self, name: &str, default: &str) -> String {
        self.get(name).map_or_else(|| default.to_owned(), text::string)
    }

    /// Returns an argument as a truth, or the default.
    pub fn truth(&self, name: &str, default: bool) -> bool {
        self.get(name).map_or(default, Value::is_true)
    }

    /// Returns an argument as a whole number, or the default.
    pub fn int(&self, name: &str, default: i128) -> Result<i128, Error> {
        let Some(value) = self.get(name) else { return Ok(default) };
        as_int(value).ok_or_else(|| fault(format!("the argument `{name}` must be a whole number")))
    }

    /// Returns an argument as a width or a count of sensible size, or the default.
    pub fn size(&self, name: &str, default: usize) -> Result<usize, Error> {
        let size = usize::try_from(self.int(name, default as i128)?.max(0)).ok();
        size.filter(|size| *size <= MAX_SIZE)
            .ok_or_else(|| fault(format!("the argument `{name}` is too large")))
    }
}

fn take_named(named: &Kwargs, names: &[&str], values: &mut [Option<Value>]) -> Result<(), Error> {
    for name in named.args() {
        let at = names.iter().position(|each| *each == name);
        let place = at.and_then(|at| values.get_mut(at));
        let place = place.ok_or_else(|| fault(format!("there is no argument `{name}`")))?;
        *place = Some(named.peek::<Value>(name)?);
    }
    Ok(())
}
