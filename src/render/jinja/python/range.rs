//! `range(start, stop, step)`: whole numbers at equal distance, none of them stored.
//!
//! It may have as many items as a list; minijinja's own stops at a tenth of that.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr, Rest, Value};
use minijinja::{Environment, Error, State};

use super::defined;
use super::list::MAX_ITEMS;
use super::number::{as_int, int_value};
use crate::render::jinja::fault::fault;

/// Adds the function that makes one.
pub fn add_to(env: &mut Environment<'_>) {
    env.add_function("range", range);
}

/// The numbers from `start` on, as many as there are before `stop`.
#[derive(Debug)]
pub struct Range {
    start: i128,
    stop: i128,
    step: i128,
    len: usize,
}

fn range(state: &State<'_, '_>, args: Rest<Value>) -> Result<Value, Error> {
    let (start, stop, step) = match args.as_slice() {
        [stop] => (0, whole(state, stop)?, 1),
        [start, stop] => (whole(state, start)?, whole(state, stop)?, 1),
        [start, stop, step] => (whole(state, start)?, whole(state, stop)?, whole(state, step)?),
        _ => return Err(fault("`range` takes one to three whole numbers")),
    };
    if step == 0 {
        return Err(fault("the step of `range` must not be 0"));
    }
    let len = length(start, stop, step).filter(|len| *len <= MAX_ITEMS);
    let len = len.ok_or_else(|| fault(format!("`range` has more than {MAX_ITEMS} items")))?;
    Ok(Value::from_object(Range { start, stop, step, len }))
}

fn whole(state: &State<'_, '_>, value: &Value) -> Result<i128, Error> {
    defined(state, value)?;
    as_int(value).ok_or_else(|| fault(format!("`range` takes whole numbers, found a {}", value.kind())))
}

fn length(start: i128, stop: i128, step: i128) -> Option<usize> {
    let way = if step > 0 { stop.checked_sub(start)? } else { start.checked_sub(stop)? };
    let way = u128::try_from(way).unwrap_or(0);
    usize::try_from(way.div_ceil(step.unsigned_abs())).ok()
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            1 => write!(f, "range({}, {})", self.start, self.stop),
            step => write!(f, "range({}, {}, {step})", self.start, self.stop),
        }
    }
}

impl Object for Range {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let at = key.as_usize().filter(|at| *at < self.len)?;
        // Between two numbers that are there, nothing overflows.
        self.step.checked_mul(i128::try_from(at).ok()?)?.checked_add(self.start).map(int_value)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.len)
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_ref(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_as_many_items_as_fit_before_its_end() {
        let lengths = [(0, 5, 1), (0, 5, 2), (5, 0, -2), (5, 0, 1), (0, 0, 1), (1, 2, 100)];

        let lengths = lengths.map(|(start, stop, step)| length(start, stop, step));

        assert_eq!(lengths, [5, 3, 3, 0, 0, 1].map(Some));
        assert_eq!(length(i128::MIN, i128::MAX, 1), None);
    }
}
