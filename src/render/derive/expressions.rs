//! Evaluates `derive.yaml`: each name in order, each seeing the data and the names before it.
//!
//! How an expression is evaluated is handed in. Begin at [`evaluate_derivations`].

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::model::{Derivation, Formula, Values};

/// What turns an expression and the values it may use into a value.
pub type Evaluate<'a> = dyn Fn(&str, &Values) -> Result<Value> + 'a;

/// Adds the values that a project derives by itself; a name that is there already is replaced.
///
/// All that fail are told at once, but for those that only lack one that failed before.
pub fn evaluate_derivations(
    derivations: &[Derivation],
    values: &mut Values,
    evaluate: &Evaluate<'_>,
) -> Result<()> {
    let (mut failed, mut failures) = (Vec::new(), Vec::new());
    for derivation in derivations {
        match value(&derivation.formula, &derivation.name, values, evaluate) {
            Ok(value) => drop(values.insert(derivation.name.clone(), value)),
            Err(error) => {
                if !names_one_of(&derivation.formula, &failed) {
                    failures.push(error);
                }
                failed.push(derivation.name.as_str());
            }
        }
    }
    together(failures).map_or(Ok(()), Err)
}

fn together(mut failures: Vec<Error>) -> Option<Error> {
    if failures.len() < 2 {
        return failures.pop();
    }
    let error = Error::invalid(format!("{} values cannot be derived", failures.len()));
    Some(failures.into_iter().fold(error, |error, each| error.detail(each.to_string())))
}

/// Returns whether a formula may read one of these names.
fn names_one_of(formula: &Formula, names: &[&str]) -> bool {
    match formula {
        Formula::Literal(_) => false,
        Formula::Expression { text, .. } => {
            let mut words = text.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
            words.any(|word| names.contains(&word))
        }
        Formula::List(items) => items.iter().any(|item| names_one_of(item, names)),
        Formula::Map(entries) => entries.iter().any(|(_, formula)| names_one_of(formula, names)),
    }
}

fn value(formula: &Formula, key: &str, values: &Values, evaluate: &Evaluate<'_>) -> Result<Value> {
    match formula {
        Formula::Literal(value) => Ok(value.clone()),
        Formula::Expression { text, place } => {
            evaluate(text, values).map_err(|error| failed(key, place, &error))
        }
        Formula::List(items) => {
            let items = items.iter().enumerate();
            items.map(|(index, item)| value(item, &format!("{key}[{index}]"), values, evaluate)).collect()
        }
        Formula::Map(entries) => {
            let entries = entries.iter().map(|(name, formula)| {
                Ok((name.clone(), value(formula, &format!("{key}.{name}"), values, evaluate)?))
            });
            entries.collect::<Result<Map<_, _>>>().map(Value::Object)
        }
    }
}

fn failed(key: &str, place: &str, cause: &Error) -> Error {
    let error =
        Error::new(cause.kind(), format!("`{key}` cannot be derived")).at(place).detail(cause.message());
    let error = cause.body().into_iter().fold(error, Error::detail);
    cause.hints().iter().fold(error, Error::hint)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns a value by its name, or a sum of two names.
    fn lookup(text: &str, values: &Values) -> Result<Value> {
        let one = |name: &str| {
            values.get(name.trim()).cloned().ok_or_else(|| Error::invalid(format!("`{name}` is undefined")))
        };
        match text.split_once('+') {
            Some((left, right)) => {
                Ok((one(left)?.as_i64().unwrap_or(0) + one(right)?.as_i64().unwrap_or(0)).into())
            }
            None => one(text),
        }
    }

    fn expression(text: &str) -> Formula {
        Formula::Expression { text: text.to_owned(), place: "derive.yaml:2:5".to_owned() }
    }

    fn named(name: &str, formula: Formula) -> Derivation {
        Derivation { name: name.to_owned(), formula }
    }

    #[test]
    fn a_name_sees_the_data_and_the_names_before_it() {
        let mut values = Values::from_iter([("a".to_owned(), json!(1))]);
        let derivations =
            [named("b", expression("a+a")), named("c", expression("a+b")), named("a", expression("c"))];

        evaluate_derivations(&derivations, &mut values, &lookup).expect("values");

        assert_eq!(Value::Object(values), json!({"a": 3, "b": 2, "c": 3}));
    }

    #[test]
    fn lists_and_maps_are_evaluated_item_by_item_and_literals_stay() {
        let mut values = Values::from_iter([("a".to_owned(), json!(1))]);
        let inner = Formula::List(vec![expression("a"), Formula::Literal(json!(true))]);
        let derivations = [named("b", Formula::Map(vec![("x".to_owned(), inner)]))];

        evaluate_derivations(&derivations, &mut values, &lookup).expect("values");

        assert_eq!(values["b"], json!({"x": [1, true]}));
    }

    #[test]
    fn all_failures_are_told_at_once_but_those_that_follow_from_others() {
        let derivations =
            [named("b", expression("nope")), named("c", expression("b")), named("d", expression("lob"))];

        let error = evaluate_derivations(&derivations, &mut Values::new(), &lookup).expect_err("undefined");

        assert_eq!(error.message(), "2 values cannot be derived");
        let text = error.to_string();
        assert!(
            text.contains("`b` cannot") && text.contains("`d` cannot") && !text.contains("`c`"),
            "{text}"
        );
    }

    #[test]
    fn a_failure_names_place_key_and_cause() {
        let mut values = Values::new();
        let inner = Formula::List(vec![expression("missing")]);
        let derivations = [named("b", Formula::Map(vec![("x".to_owned(), inner)]))];

        let error = evaluate_derivations(&derivations, &mut values, &lookup).expect_err("undefined");

        let text = "`b.x[0]` cannot be derived\n  at derive.yaml:2:5\n  `missing` is undefined";
        assert_eq!(error.to_string(), text);
    }
}
