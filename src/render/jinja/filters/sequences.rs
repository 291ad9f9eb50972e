//! Filters of lists and maps; what they return, a template can change.

use minijinja::value::{Kwargs, Tuple, Value, ValueKind};
use minijinja::{Environment, Error, State, filters};

use crate::render::jinja::fault::fault;
use crate::render::jinja::python;
use crate::render::jinja::python::{
    Arguments, Dict, Given, Group, Joiner, List, add, check_text, defined, items_of, pairs_of,
    split_arguments,
};

/// Adds the filters.
pub fn add_to(env: &mut Environment<'_>) {
    env.add_filter("length", length);
    env.add_filter("count", length);
    env.add_filter("list", list);
    env.add_filter("join", join);
    env.add_filter("first", first);
    env.add_filter("last", last);
    env.add_filter("sum", sum);
    env.add_filter("reverse", reverse);
    env.add_filter("items", items);
    env.add_filter("batch", batch);
    env.add_filter("slice", slice);
    env.add_filter("sort", sort);
    env.add_filter("unique", unique);
    env.add_filter("dictsort", dict_sort);
    env.add_filter("groupby", group_by);
    env.add_filter("pprint", |value: Value| python::pretty(&value));
    env.add_filter("default", default);
    env.add_filter("d", default);
    env.add_filter("attr", attr);
    env.add_test("sequence", |value: Value| value.as_str().is_some() || value.len().is_some());
    env.add_test("callable", is_callable);
}

fn length(state: &State<'_, '_>, value: Value) -> Result<usize, Error> {
    defined(state, &value)?;
    if value.is_undefined() {
        return Ok(0);
    }
    value.len().ok_or_else(|| fault(format!("a {} has no length", value.kind())))
}

fn list(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    items_of(state, &value).map(List::value)
}

/// Returns what a dotted path leads to: `a.b.0`.
fn at_path(value: &Value, path: &Value) -> Value {
    let Some(path) = path.as_str() else { return value.get_item(path).unwrap_or_default() };
    path.split('.').fold(value.clone(), |value, part| match part.parse::<usize>() {
        Ok(index) => value.get_item_by_index(index).unwrap_or_default(),
        Err(_) => value.get_attr(part).unwrap_or_default(),
    })
}

/// `join(d='', attribute=None)`.
fn join(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["d", "attribute"])?;
    let (separator, attribute) = (args.text("d", ""), args.get("attribute"));
    let mut out = String::new();
    for (at, item) in items_of(state, &value)?.iter().enumerate() {
        if at > 0 {
            out.push_str(&separator);
        }
        let item = attribute.map_or_else(|| item.clone(), |path| at_path(item, path));
        defined(state, &item)?;
        out.push_str(&python::string(&item));
        check_text(out.len())?;
    }
    Ok(Value::from(out))
}

fn first(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    Ok(items_of(state, &value)?.into_iter().next().unwrap_or_default())
}

fn last(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    Ok(items_of(state, &value)?.pop().unwrap_or_default())
}

/// `sum(attribute=None, start=0)`.
fn sum(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["attribute", "start"])?;
    let (attribute, start) = (args.get("attribute"), args.get("start").cloned());
    let start = start.unwrap_or_else(|| Value::from(0));
    items_of(state, &value)?.iter().try_fold(start, |total, item| {
        let item = attribute.map_or_else(|| item.clone(), |path| at_path(item, path));
        add(total, item)
    })
}

fn reverse(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        return Ok(Value::from(text.chars().rev().collect::<String>()));
    }
    let mut items = items_of(state, &value)?;
    items.reverse();
    Ok(List::value(items))
}

fn items(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    if value.is_undefined() {
        defined(state, &value)?;
        return Ok(List::value(Vec::new()));
    }
    if value.kind() != ValueKind::Map {
        return Err(fault("`items` needs a map"));
    }
    let pairs = pairs_of(state, &value)?;
    Ok(List::value(pairs.into_iter().map(|(key, value)| Value::from(Tuple::from([key, value]))).collect()))
}

/// `batch(linecount, fill_with=None)`.
fn batch(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["linecount", "fill_with"])?;
    args.required("linecount")?;
    let (count, fill) = (args.size("linecount", 1)?, args.get("fill_with"));
    let items = items_of(state, &value)?;
    let chunks = items.chunks(count.clamp(1, items.len().max(1))).map(|chunk| {
        let mut chunk = chunk.to_vec();
        if let Some(fill) = fill {
            let missing = count.saturating_sub(chunk.len());
            chunk.extend(std::iter::repeat_n(fill.clone(), missing));
        }
        List::value(chunk)
    });
    Ok(List::value(chunks.collect()))
}

/// `slice(slices, fill_with=None)`: so many columns, the first ones longer.
fn slice(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["slices", "fill_with"])?;
    let (count, fill) = (args.size("slices", 0)?, args.get("fill_with").cloned());
    let items = items_of(state, &value)?;
    if count == 0 {
        return Err(fault("`slice` needs a number of columns"));
    }
    let (each, longer) = (items.len() / count, items.len() % count);
    let mut rest = items.as_slice();
    let columns = (0..count).map(|at| {
        let (column, left) = rest.split_at(each + usize::from(at < longer));
        rest = left;
        let mut column = column.to_vec();
        column.extend(fill.clone().filter(|_| at >= longer && longer > 0));
        List::value(column)
    });
    Ok(List::value(columns.collect()))
}

/// Returns whether a value can be called; data and texts cannot.
fn is_callable(value: Value) -> bool {
    matches!(value.kind(), ValueKind::Plain)
        || value.downcast_object_ref::<Joiner>().is_some()
        || is_macro(&value)
}

fn is_macro(value: &Value) -> bool {
    value.to_string().starts_with("<macro ")
}

/// Hands a list that minijinja made over as one that can change.
fn changeable(state: &State<'_, '_>, value: &Value) -> Result<Value, Error> {
    items_of(state, value).map(List::value)
}

fn sort(state: &mut State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["reverse", "case_sensitive", "attribute"])?;
    let named: Kwargs = args.given().collect();
    let items = items_of(state, &value)?;
    let sorted = filters::sort(state, Value::from(items), named)?;
    changeable(state, &sorted)
}

fn unique(state: &mut State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["case_sensitive", "attribute"])?;
    let named: Kwargs = args.given().collect();
    let items = items_of(state, &value)?;
    let unique = filters::unique(state, Value::from(items), named)?;
    changeable(state, &unique)
}

fn dict_sort(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["case_sensitive", "by", "reverse"])?;
    defined(state, &value)?;
    let named: Kwargs = args.given().collect();
    let sorted = filters::dictsort(&value, named)?;
    changeable(state, &sorted)
}

/// `groupby(attribute, default=None, case_sensitive=False)`.
fn group_by(state: &State<'_, '_>, value: Value, args: Given) -> Result<Value, Error> {
    let args = Arguments::read(args, &["attribute", "default", "case_sensitive"])?;
    args.required("attribute")?;
    let attribute = args.text("attribute", "");
    let named: Kwargs = args.given().filter(|(name, _)| *name != "attribute").collect();
    let items = items_of(state, &value)?;
    let groups = filters::groupby(Value::from(items), Some(&attribute), named)?;
    let groups = groups.try_iter()?.map(|group| {
        let part = |name: &str| group.get_attr(name).unwrap_or_default();
        let list = part("list").try_iter()?.collect();
        Ok(Value::from_object(Group { grouper: part("grouper"), list: List::value(list) }))
    });
    groups.collect::<Result<Vec<_>, Error>>().map(List::value)
}

/// `default(default_value='', boolean=False)`.
fn default(value: Value, args: Given) -> Result<Value, Error> {
    let args = args.into_values();
    let (plain, named) = split_arguments(&args);
    let by_name = |name: &str| named.as_ref().and_then(|named| named.get::<Value>(name).ok());
    let other = plain.first().cloned().or_else(|| by_name("default_value"));
    let boolean = plain.get(1).cloned().or_else(|| by_name("boolean"));
    let replaced =
        value.is_undefined() || (boolean.is_some_and(|boolean| boolean.is_true()) && !value.is_true());
    Ok(if replaced { other.unwrap_or_else(|| Value::from("")) } else { value })
}

/// An attribute, not an item: maps of data have none.
fn attr(value: Value, name: String) -> Value {
    if value.downcast_object_ref::<Dict>().is_some() {
        return Value::UNDEFINED;
    }
    value.get_attr(&name).unwrap_or_default()
}
