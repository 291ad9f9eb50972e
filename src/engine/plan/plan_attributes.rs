//! A plan as a person reads it: each resource with the attributes that change.
//!
//! Pure: a plan as `tofu show -json` writes it in, details that are safe to show out. What is left
//! out and what is told follows tofu's own text: a resource that only moves or is imported is told,
//! an ephemeral one and a data source that goes are not, and of what changed outside only what the
//! plan starts from, unless finding that out is the plan. Begin at [`details_in`].

use serde_json::Value;

use super::attribute_diff::AttributeDiff;
use super::plan_changes::action_of;
use super::plan_secrets::PlanSecrets;
use crate::model::{Action, ChangeDetail, ChangeSubject, Mask, PlanMode, Safe, natural_key};

/// Returns what a plan does, the gravest first; then what it does to outputs, then what changed outside.
pub fn details_in(plan: &Value, mode: PlanMode, mask: &dyn Mask) -> Vec<ChangeDetail> {
    let secrets = PlanSecrets::of([plan, &Value::Null], mask);
    let reader = Reader { plan, secrets: &secrets };
    let planned = entries(plan, "resource_changes").filter_map(|entry| reader.resource(entry));
    let outputs = plan["output_changes"].as_object().into_iter().flatten();
    let outputs = outputs.filter_map(|(name, change)| reader.output(name, change));
    let is_told = |entry: &&Value| mode == PlanMode::RefreshOnly || reader.is_relevant(entry);
    let drifted = entries(plan, "resource_drift").filter(is_told);
    let drifted = drifted.filter_map(|entry| reader.drifted(entry, mode));
    let mut details: Vec<ChangeDetail> = planned.chain(outputs).chain(drifted).collect();
    let kind = |one: &ChangeDetail| (one.subject, one.action);
    details.sort_by(|one, other| {
        let by_address = || natural_key(&one.address).cmp(&natural_key(&other.address));
        kind(one).cmp(&kind(other)).then_with(by_address)
    });
    details
}

fn entries<'a>(plan: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    plan[key].as_array().into_iter().flatten()
}

struct Reader<'a> {
    plan: &'a Value,
    secrets: &'a PlanSecrets<'a>,
}

impl Reader<'_> {
    fn resource(&self, entry: &Value) -> Option<ChangeDetail> {
        let change = &entry["change"];
        let action = action_of(change, moves(entry))?;
        let is_data = entry["mode"] == "data";
        if entry["mode"] == "ephemeral" || (is_data && action == Action::Delete) {
            return None;
        }
        let detail = self.detail(ChangeSubject::Resource, self.address(entry), change, action);
        Some(ChangeDetail { notes: self.notes(entry), ..detail })
    }

    fn output(&self, name: &str, change: &Value) -> Option<ChangeDetail> {
        let action = action_of(change, false)?;
        let address = self.secrets.masked(&format!("output.{name}"));
        Some(self.detail(ChangeSubject::Output, address, change, action))
    }

    /// What changed outside is what the plan is about where finding that out is its purpose.
    fn drifted(&self, entry: &Value, mode: PlanMode) -> Option<ChangeDetail> {
        let action = action_of(&entry["change"], mode == PlanMode::RefreshOnly && moves(entry))?;
        let subject = match mode {
            PlanMode::RefreshOnly => ChangeSubject::Resource,
            PlanMode::Normal | PlanMode::Destroy => ChangeSubject::Outside,
        };
        Some(self.detail(subject, self.address(entry), &entry["change"], action))
    }

    fn detail(&self, subject: ChangeSubject, address: Safe, change: &Value, action: Action) -> ChangeDetail {
        let diff = AttributeDiff::of(change, action, self.secrets);
        let notes = Vec::new();
        ChangeDetail {
            subject,
            address,
            action,
            notes,
            attributes: diff.attributes,
            unchanged: diff.unchanged,
        }
    }

    fn address(&self, entry: &Value) -> Safe {
        self.secrets.masked(entry["address"].as_str().unwrap_or_default())
    }

    /// Returns whether the plan uses something that changed outside, as tofu finds out.
    fn is_relevant(&self, entry: &Value) -> bool {
        let change = &entry["change"];
        let is_changed = |name: &Value| {
            let Some(name) = name.as_str() else { return true };
            change["before"].get(name) != change["after"].get(name)
        };
        let of_it =
            entries(self.plan, "relevant_attributes").filter(|used| used["resource"] == entry["address"]);
        of_it.into_iter().any(|used| used["attribute"].get(0).is_none_or(is_changed))
    }

    fn notes(&self, entry: &Value) -> Vec<Safe> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let deposed = text(&entry["deposed"]).map(|id| format!("left over from a failed replacement, {id}"));
        let moved = moves(entry).then(|| text(&entry["previous_address"])).flatten();
        let imported = &entry["change"]["importing"];
        let imported = (!imported.is_null()).then(|| match text(&imported["id"]) {
            Some(id) => format!("imported from {id}"),
            None => "imported".to_owned(),
        });
        let reason = reason(entry).map(str::to_owned);
        let manner = manner(&entry["change"]["actions"]).map(str::to_owned);
        let all = [reason, manner, deposed, moved.map(|from| format!("moved from {from}")), imported];
        all.into_iter().flatten().map(|note| self.secrets.masked(&note)).collect()
    }
}

fn moves(entry: &Value) -> bool {
    !entry["previous_address"].is_null() && entry["previous_address"] != entry["address"]
}

/// Says why tofu does what it does; what attributes force is told with them.
fn reason(entry: &Value) -> Option<&'static str> {
    let words = match entry["action_reason"].as_str().unwrap_or_default() {
        "replace_because_tainted" => "tainted",
        "replace_by_request" => "as requested",
        "replace_by_triggers" => "by `replace_triggered_by`",
        _ if entry["change"]["actions"][0] == "forget" => return None,
        "delete_because_no_resource_config" => "no longer in the configuration",
        "delete_because_no_module" => "its module is no longer in the configuration",
        "delete_because_no_move_target" => "moved to what is not in the configuration",
        "delete_because_wrong_repetition" => "`count` or `for_each` came or went",
        "delete_because_count_index" => "beyond `count`",
        "delete_because_each_key" => "its key is no longer in `for_each`",
        "delete_because_enabled_false" => "`enabled` is false",
        "read_because_config_unknown" => "uses values that are not known yet",
        "read_because_dependency_pending" => "depends on what changes",
        "read_because_check_nested" => "read again to verify a check",
        _ => return None,
    };
    Some(words)
}

/// Says how it is done, where that is not as usual.
fn manner(actions: &Value) -> Option<&'static str> {
    let first = actions.get(0).and_then(Value::as_str)?;
    match (first, actions.as_array()?.len()) {
        ("forget", 1) => Some("no longer managed, left alive"),
        ("forget", _) => Some("the old one is left alive"),
        ("create", 2) => Some("the new one is created first"),
        _ => None,
    }
}
