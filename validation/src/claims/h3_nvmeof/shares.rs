//! Why the fabric adds less to a write than to a read: the share of each mechanism, and what they leave.

use super::fabric;
use crate::table;
use lanetwin_plan::Plan;
use lanetwin_stats::results::Results;

pub(super) fn plan() -> Plan {
    table::plan("h3-latency.yaml", include_str!("../../../../scenarios/long/h3-latency.yaml"))
}

/// How much less a fabric adds to a write than to a read of a node, and of what \[us\].
struct Shares {
    /// What the deck says.
    published: f64,
    /// What the model has, both assignments in the mean.
    model: f64,
    /// Of it, that no memory is registered for data in a capsule.
    registration: f64,
    /// Of it, that data cross line and adapters in the other direction.
    data_message: f64,
    /// What a write would add beyond, were its data fetched by an RDMA READ.
    capsule: f64,
}

impl Shares {
    fn of(over: &Results, latency: &Results, node: usize) -> Self {
        let of =
            |variant: &str, workload: &str| mean_of(latency, variant, &format!("{workload}{}", node + 1));
        let assignments = ["lc922-has-three", "stingray-has-three"];
        let added = |value: &dyn Fn(&str, &str) -> f64, workload: &str| {
            let each = assignments.map(|variant| value(variant, workload) - value("direct", workload));
            (each[0] + each[1]) / 2.0 / 1e3
        };
        let difference =
            |value: &dyn Fn(&str, &str) -> f64| added(value, "read-4k") - added(value, "write-4k");
        let without = |variant: &str, workload: &str| (of("fabric", workload) - of(variant, workload)) / 1e3;
        Self {
            published: difference(&|variant, workload| {
                fabric::latency_row(variant, workload, node).published
            }),
            model: difference(&|variant, workload| {
                table::value(over, fabric::latency_row(variant, workload, node))
            }),
            registration: without("no-registration", "read") - without("no-registration", "write"),
            data_message: without("fast-line", "read") - without("fast-line", "write"),
            capsule: -without("fetched", "write"),
        }
    }
    fn told(&self, node: usize) -> String {
        let Self { published, model, registration, data_message, capsule } = self;
        format!(
            "node {}: {published:.1} us in the deck, {model:.2} us here; registration and its invalidation {registration:.3} us, the data message {data_message:.3} us, the rest of hosts and adapters \
             {:.2} us, not explained {:.1} us; without data in the capsule a write would add {capsule:.1} us more",
            node + 1,
            model - registration - data_message,
            published - model,
        )
    }
}

/// The mean latency of a workload of one case \[ns\].
fn mean_of(results: &Results, variant: &str, workload: &str) -> f64 {
    let mut rows = results.rows.iter().filter(|row| {
        row.device.is_none()
            && (&*row.variant, &*row.workload, &*row.metric) == (variant, workload, "latency")
    });
    rows.next().unwrap_or_else(|| panic!("{variant} has {workload}")).value
}

pub(super) fn told(over: &Results, latency: &Results) -> String {
    let nodes = [0, 1].map(|node| Shares::of(over, latency, node).told(node));
    format!("The fabric adds less to a write than to a read: {}.", nodes.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_in_the_capsule_save_a_write_its_fetch_and_a_registration() {
        let (latency, _) = table::ran(&plan());
        for node in ["1", "2"] {
            let of = |variant: &str, workload: &str| mean_of(&latency, variant, &format!("{workload}{node}"));
            assert!(of("no-registration", "read") < of("fabric", "read"), "a read registers");
            assert_eq!(of("no-registration", "write"), of("fabric", "write"), "a write does not");
            assert_eq!(of("fetched", "read"), of("fabric", "read"), "what is fetched is data of writes");
            assert!(
                of("fetched", "write") > of("fabric", "write") + 2_000.0,
                "an RDMA READ is a round trip and an interrupt"
            );
        }
    }
}
