//! Which values that a stack takes from others may be written down: none that is sensitive, none
//! that holds a secret, none that another stack only passed on.

use std::collections::BTreeMap;

use serde_json::Value;

use super::last_record::last_record;
use crate::engine::calls::Stop;
use crate::engine::session::Session;
use crate::engine::variables::{Inputs, outputs_of};
use crate::model::StackRun;
use crate::secrets::redactor::Redactor;
use crate::tofu::collect_literals;

/// Returns the values that may be remembered.
pub(super) async fn memorable(session: &Session, run: &StackRun, inputs: &Inputs) -> BTreeMap<String, Value> {
    // What nobody can judge is not remembered.
    let Ok(passed_on) = passed_on(session, run).await else { return BTreeMap::new() };
    let masks = [session.mask(), passed_on];
    let plain = inputs.plain().filter(|(_, value)| masks.iter().all(|mask| !is_masked(mask, value)));
    plain.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn is_masked(mask: &Redactor, value: &Value) -> bool {
    let mut literals = Vec::new();
    collect_literals(value, &mut literals);
    let whole = value.to_string();
    *mask.line(&whole) != *whole || literals.iter().any(|text| *mask.line(text) != **text)
}

/// Returns what hides the values that the stacks which feed this one took without being allowed to
/// remember them: their outputs may hold them, and no longer say that they are sensitive.
async fn passed_on(session: &Session, run: &StackRun) -> Result<Redactor, Stop> {
    let mut values = Vec::new();
    for from in run.inputs.values() {
        let Some(record) = last_record(session, session.stack(&from.stack)?).await else { continue };
        for taken in record.unremembered() {
            let outputs = outputs_of(session, &taken.stack).await?;
            let value = outputs.get(&taken.output).and_then(|output| output.get("value"));
            value.into_iter().for_each(|value| collect_literals(value, &mut values));
        }
    }
    Ok(Redactor::new(values.iter().map(|value| value.as_bytes()))?)
}
