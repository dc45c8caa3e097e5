//! Costs of the software of a target, on the cores of a host or inside an adapter.

use lanetwin_document::fields;
use lanetwin_plan::ComponentPlan;
use lanetwin_ports::{Model, Params, Value};
use lanetwin_units::Span;

/// The values that a host sets for the parameters of a model, and defaults for the others.
pub(super) fn own_settings(model: &Model, host: &ComponentPlan) -> Params {
    let value = |param: &'static lanetwin_ports::Param| {
        let own = host.params.0.get(param.name).copied();
        let default = || fields::default(param.dimension, param.default.expect("software has defaults"));
        (param.name, own.unwrap_or_else(default))
    };
    Params(model.all_params().map(value).collect())
}

/// Gives the driver of a drive behind a target the engine and costs of the target, which submits the commands in
/// place of a program.
pub(super) fn set_engine(params: &mut Params, host: &ComponentPlan) {
    match host.params.0.get("target.software") {
        Some(Value::Choice("spdk")) => {
            params.0.insert("driver.engine", Value::Choice("spdk"));
        }
        _ => {
            params.0.insert("driver.engine", Value::Choice("io_uring"));
            for (own, of) in [
                ("driver.io_uring.submit", "target.nvmet.submit"),
                ("driver.io_uring.complete", "target.nvmet.complete"),
            ] {
                params.0.extend(host.params.0.get(of).map(|value| (own, *value)));
            }
        }
    }
}

/// Gives target and drivers inside an adapter the adapter's times. The time of a command is charged when its capsule
/// arrives, that of its answer with the completion entry of the drive. Nothing waits for interrupts.
pub(super) fn set_engine_within(params: &mut Params, adapter: &ComponentPlan) {
    let none = Value::Time(Span::ZERO);
    let own = |name: &str| adapter.params.0.get(name).copied().unwrap_or(none);
    params.0.extend([
        ("target.software", Value::Choice("spdk")),
        ("target.spdk.command", own("offload.command")),
        ("target.spdk.data", own("offload.data")),
        ("target.spdk.respond", own("offload.complete")),
        ("driver.engine", Value::Choice("spdk")),
        ("driver.spdk.submit", none),
        ("driver.spdk.complete", none),
        ("driver.poll", own("offload.poll")),
        ("driver.numa", none),
        ("driver.ddio", Value::Flag(true)),
    ]);
}

pub(super) fn size(host: &ComponentPlan, name: &str) -> u32 {
    if let Some(Value::Size(bytes)) = host.params.0.get(name) { bytes.0.min(1 << 20) as u32 } else { 4096 }
}
pub(super) fn count(host: &ComponentPlan, name: &str) -> u32 {
    if let Some(Value::Count(count)) = host.params.0.get(name) { *count as u32 } else { 128 }
}
