//! The PCIe links of a world: ports, switches and directions, numbered as in `pcie::link`.

use lanetwin_pcie::link::{
    Arbitration, Attach, Credits, Direction, DllpMode, Dllps, Drain, EndpointId, EndpointSpec, Errors,
    LinkId, Outage, Pace, PairLatency, PortWeight, Recoveries, Skp, SwitchId,
};
use lanetwin_pcie::spec::constants::DLLP_BYTES;
use lanetwin_pcie::spec::extension::recovery_interval;
use lanetwin_pcie::spec::timing::{SkpSchedule, ack_coalescing, ack_latency_limit, update_fc_coalescing};
use lanetwin_pcie::spec::{AddressWidth, Mps};
use lanetwin_plan::{ComponentPlan, End, LinkPlan, Variant};
use lanetwin_ports::{LATENCY, LinksBuilder, Params, Way};
use lanetwin_units::{Generation, LinkRate, Span, Ticks, Width};
use std::collections::{BTreeMap, BTreeSet};

/// Endpoints of the PCIe ports of devices, each with that of the root port above it.
pub(super) type Endpoints = BTreeMap<End, (EndpointId, EndpointId)>;

/// All links of a variant, before they are built.
pub(super) fn links(variant: &Variant) -> (LinksBuilder, Endpoints) {
    let mut links = LinksBuilder::new();
    // no model sets relaxed ordering in completions
    links.strictly_ordered();
    let switches = switches(variant, &mut links);
    let ports = endpoints(variant, &mut links);
    let attach = |end: End| match switches.get(&end.component) {
        Some(switch) => Attach::Switch(*switch),
        None => Attach::Endpoint(ports[&end]),
    };
    for link in &variant.links {
        let name = |end: End| variant.machine[end.component].name.as_str();
        let params = |end: End| &variant.machine[end.component].params;
        let id = links.link(
            (&link.name, name(link.from), name(link.to)),
            (attach(link.from), attach(link.to)),
            direction(link, params(link.from), params(link.to)),
            direction(link, params(link.to), params(link.from)),
        );
        for down in &link.down {
            let then = down.then.map(|then| pace(link, then));
            links.outage(Outage { link: id, from: down.at, until: down.at + down.lasts, then });
        }
    }
    let has_errors = |link: &LinkPlan| link.bit_error_ratio > 0.0 || !link.down.is_empty();
    if variant.links.iter().any(has_errors) {
        let roots: BTreeSet<EndpointId> = variant.links.iter().map(|link| ports[&link.root_port]).collect();
        links.messages(roots.into_iter().collect());
    }
    for (component, switch) in &switches {
        tell_switch(variant, *component, *switch, &mut links);
    }
    let above = |end: &End| {
        let link = variant.links.iter().find(|link| link.from == *end || link.to == *end);
        ports[&link.expect("an endpoint is the end of a link").root_port]
    };
    let endpoints = ports.iter().map(|(end, endpoint)| (*end, (*endpoint, above(end)))).collect();
    (links, endpoints)
}

/// The switches of the machine, by their index in it.
fn switches(variant: &Variant, links: &mut LinksBuilder) -> BTreeMap<usize, SwitchId> {
    let switch = |(i, component): (usize, &ComponentPlan)| {
        let spec = component.model.switch(&component.params)?;
        Some((i, links.switch(spec)))
    };
    variant.machine.iter().enumerate().filter_map(switch).collect()
}

/// An endpoint for every port at the end of a link, except those of switches.
fn endpoints(variant: &Variant, links: &mut LinksBuilder) -> BTreeMap<End, EndpointId> {
    let mut endpoints = BTreeMap::new();
    for end in variant.links.iter().flat_map(|link| [link.from, link.to]) {
        let component = &variant.machine[end.component];
        if component.is_switch() {
            continue;
        }
        let bits = component.params.choice("port.address-bits");
        let addresses = if bits == "32" { AddressWidth::Bits32 } else { AddressWidth::Bits64 };
        endpoints.insert(end, links.endpoint(endpoint_spec(component), addresses));
    }
    endpoints
}

/// Sets the weights of a switch's ports and the latencies of pairs of ports; the ports are identified by their links.
fn tell_switch(variant: &Variant, component: usize, switch: SwitchId, links: &mut LinksBuilder) {
    let ComponentPlan { params, model, .. } = &variant.machine[component];
    let arbitration = model.switch(params).map(|spec| spec.arbitration);
    let is_its = |link: &LinkPlan| link.from.component == component || link.to.component == component;
    let own: Vec<(LinkId, &LinkPlan)> =
        (0..).map(LinkId).zip(&variant.links).filter(|(_, l)| is_its(l)).collect();
    for &(from, incoming) in &own {
        if arbitration == Some(Arbitration::Weighted) && incoming.weight != 1 {
            links.weight(PortWeight { switch, link: from, weight: incoming.weight });
        }
        for &(to, outgoing) in own.iter().filter(|(to, _)| *to != from) {
            let way = Way::Between(incoming.width, outgoing.width);
            let parameter = (model.latency_parameter)(params, way);
            if parameter != LATENCY {
                let latency = params.time(parameter);
                links.latency(PairLatency { switch, from, to, latency });
            }
        }
    }
}

fn endpoint_spec(component: &ComponentPlan) -> EndpointSpec {
    let params = &component.params;
    let rate = params.rate("port.ingest-rate");
    let drain = if (component.model.drains_itself)(params) {
        Drain::ByDevice
    } else {
        Drain::ByLink {
            latency: params.time("port.drain"),
            per_tlp: params.time("port.ingest"),
            payload_rate: (rate > 0).then(|| LinkRate::bytes_per_second(rate)),
        }
    };
    EndpointSpec { lookahead: params.time("issue"), drain }
}

/// One direction of a link, from the port that transmits to the port that receives.
fn direction(link: &LinkPlan, transmitter: &Params, receiver: &Params) -> Direction {
    let (generation, width) = (link.generation, link.width);
    let mps = Mps::from_bytes(link.mps.into()).expect("a checked plan has a legal MPS");
    let rate = LinkRate::pcie(generation, width);
    let dllp = span(rate.ticks_for(DLLP_BYTES));
    let ack = span(ack_latency_limit(generation, width, mps));
    let schedule = SkpSchedule::new(generation, link.clocking);
    let skp = Skp { period: schedule.period().0, duration: if link.skp { schedule.length().0 } else { 0 } };
    Direction {
        rate,
        payload_max: link.mps,
        propagation: link.flight(),
        credits: credits(receiver, dllp + link.flight()),
        replay_buffer: Some(transmitter.size("port.replay-buffer").0 as u32),
        ack_latency: ack + dllp + link.flight(),
        skp: (link.skp || link.dllp == DllpMode::Lump).then_some(skp),
        dllps: Dllps {
            mode: link.dllp,
            ack_every: ack_coalescing(generation, width, mps) as u32,
            update_every: update_fc_coalescing(generation, width, mps) as u32,
            delay: ack,
        },
        errors: errors(link, ack, dllp),
    }
}

/// The rate of a link that has come back slower. Its SKP ordered sets keep their period, and take the share of the
/// wire that they have at the new rate.
fn pace(link: &LinkPlan, (generation, width): (Generation, Width)) -> Pace {
    let share = SkpSchedule::new(generation, link.clocking);
    let period = SkpSchedule::new(link.generation, link.clocking).period().0;
    let skp = u128::from(share.length().0) * u128::from(period) / u128::from(share.period().0);
    Pace { rate: LinkRate::pcie(generation, width), skp: if link.skp { skp as u64 } else { 0 } }
}

/// Cost of bit errors; the latency of a NAK is the receiver's time plus that of a DLLP.
fn errors(link: &LinkPlan, ack: Span, dllp: Span) -> Errors {
    let recoveries = recovery_interval(link.generation, link.width, link.bit_error_ratio)
        .filter(|_| link.recovery > Span::ZERO)
        .map(|interval| Recoveries { interval, lasts: link.recovery });
    Errors {
        bit_error_ratio: link.bit_error_ratio,
        nak_latency: link.nak.unwrap_or(ack) + dllp,
        retrain: link.recovery,
        recoveries,
    }
}

/// Credits that a port advertises as a receiver; a returned credit takes `flight` in addition to the port's own time.
fn credits(receiver: &Params, flight: Span) -> Credits {
    let finite = |name: &str| match receiver.count(name) {
        0 => None,
        n => Some(n as u32),
    };
    Credits {
        header: [
            finite("port.posted-header-credits"),
            finite("port.non-posted-header-credits"),
            finite("port.completion-header-credits"),
        ],
        data: [
            finite("port.posted-data-credits"),
            finite("port.non-posted-data-credits"),
            finite("port.completion-data-credits"),
        ],
        latency: receiver.time("port.credit-update") + flight,
    }
}

fn span(ticks: Ticks) -> Span {
    Span::from_ps(ticks.as_ps_ceil().as_ps())
}

#[cfg(test)]
mod tests;
