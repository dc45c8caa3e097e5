//! `program:` – an application and its problem size.

use super::words::PROGRAM;
use crate::plan::KernelCase;
use crate::problem::Problem;
use crate::values::{choice, count, size};
use lanetwin_document::fields::{Fields, Said};
use lanetwin_document::node::Node;
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_load::memory::kernels::graph500::Graph500;
use lanetwin_load::memory::kernels::kv::{KeyValue, ValueSize};
use lanetwin_load::memory::kernels::npb::Class;
use lanetwin_load::memory::kernels::{Kernel, Window};
use lanetwin_ports::Value;

/// Keys that only patterns have.
const OF_PATTERNS: [&str; 6] = ["pattern", "mix", "working-set", "delay", "chaser", "hints"];

/// The application under `program`, with its label; `Some(None)` if there is none.
#[expect(clippy::option_option, reason = "what is not understood is not what is not there")]
pub(super) fn read(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Option<(Kernel, String)>> {
    let Some(node) = fields.written("program") else { return Some(None) };
    for key in OF_PATTERNS.into_iter().filter(|key| fields.written(key).is_some()) {
        fields.fault(key, Common::Exclusive { one: "program", other: key }, reports);
    }
    let mut program = Fields::open(node, &fields.at("program"), PROGRAM, &[], reports)?;
    let written: Vec<&'static str> =
        PROGRAM.iter().map(|field| field.name).filter(|key| program.written(key).is_some()).collect();
    let key = match written[..] {
        [only] => only,
        // an unknown key was reported already
        [] if program.has_unknown() => return None,
        [] => {
            let about = "or `mg:`, `graph500:` or `key-value:`, with the size of the problem".into();
            program.fault("cg", Common::Missing { key: "cg".into(), about }, reports);
            return None;
        }
        [one, other, ..] => {
            program.fault(other, Common::Exclusive { one, other }, reports);
            return None;
        }
    };
    let (kernel, label, complete) = kernel(&program, key, reports)?;
    program.record(key, complete);
    let complete = program.finish();
    fields.record("program", complete);
    Some(Some((kernel, label)))
}

/// The application, its label, and its section with all defaults filled in.
fn kernel(program: &Fields<'_>, key: &'static str, reports: &mut Reports) -> Option<(Kernel, String, Node)> {
    let mut fields = program.section(key, reports)?;
    let small = |count: u64| u32::try_from(count).expect("declared as small");
    let (kernel, label) = match key {
        "cg" | "mg" => {
            let word = choice(&mut fields, "class", reports)?;
            let class: Class = word.parse().expect("declared as the letters of classes");
            let kernel = if key == "cg" { Kernel::cg(class) } else { Kernel::mg(class) };
            (kernel, format!("{} class {word}", key.to_uppercase()))
        }
        "graph500" => {
            let scale = count(&mut fields, "scale", reports).map(small);
            let edge_factor = count(&mut fields, "edge-factor", reports).map(small);
            let graph = Graph500 { edge_factor: edge_factor?, ..Graph500::of_scale(scale?) };
            (Kernel::Graph500(graph), format!("Graph500 scale {}", graph.scale))
        }
        _ => {
            let mut number = |key: &str| count(&mut fields, key, reports);
            let (keys, sets, gets) = (number("keys"), number("sets"), number("gets"));
            let (clients, pipeline) = (number("clients"), number("pipeline"));
            let value = size(&mut fields, "value", reports);
            let store = KeyValue {
                keys: keys?,
                values: ValueSize::Fixed(value?.0),
                sets: small(sets?),
                gets: small(gets?),
                clients: small(clients?),
                pipeline: small(pipeline?),
                ..KeyValue::default()
            };
            (Kernel::KeyValue(store), format!("{} keys", store.keys))
        }
    };
    Some((kernel, label, fields.finish()))
}

/// The case of this program with this many threads; reports sizes that make no program.
pub(super) fn case(
    kernel: Kernel,
    threads: &Said<Value>,
    (stretches, steps): (u64, u64),
    fields: &Fields<'_>,
    reports: &mut Reports,
) -> Option<KernelCase> {
    let Value::Count(threads) = threads.value else { unreachable!("declared as a count") };
    let threads = u32::try_from(threads).expect("declared as at most 65 536");
    let window = match (kernel, stretches) {
        (Kernel::KeyValue(_), _) | (_, 0) => Window::Whole,
        (_, stretches) => Window::Stretches {
            count: u32::try_from(stretches).expect("declared as at most 100 000"),
            steps: steps.div_ceil(stretches * u64::from(threads)),
        },
    };
    let wrong = kernel.check(threads, window);
    for bad in &wrong {
        let (parameter, problem) = ("program", bad.to_string());
        let remedy = "change what the message names".into();
        fields.fault("program", Problem::Impossible { parameter, problem, remedy }, reports);
    }
    wrong.is_empty().then_some(KernelCase { kernel, threads, window })
}
