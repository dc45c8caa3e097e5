//! CXL links, each a component between the ports that it joins, and their utilisation.

use super::blueprint::{Blueprint, Ids};
use super::names::cxl_link;
use super::world::{World, WorldCxl};
use lanetwin_cxl::logic::{Activity, FlitMode, IoLoad};
use lanetwin_kernel::{Component, ComponentId, Port};
use lanetwin_pcie::spec::Clocking;
use lanetwin_plan::CxlLinkPlan;
use lanetwin_ports::{Builder, CarriesLines, CxlLink, CxlLink256, CxlLinkSpec, CxlLinkUse, Message};
use lanetwin_units::Instant;

/// Utilisation of one direction of a CXL link over a measurement, as shares of the time.
#[derive(Clone, PartialEq, Debug)]
pub struct CxlDirectionUse {
    /// The link.
    pub link: String,
    /// Its two ends, `from → to`.
    pub direction: String,
    /// Slots with messages.
    pub messages: f64,
    /// Slots of data.
    pub data: f64,
    /// Empty slots of flits that carried something in other slots.
    pub empty: f64,
    /// Flits that returned credits.
    pub credits: f64,
    /// Flits of retries, and replayed flits.
    pub retry: f64,
    /// Flits of CXL.io.
    pub io: f64,
    /// Time that messages waited for credits: the sum over both classes.
    pub credit_stall: f64,
    /// Mean number of messages that waited for a flit.
    pub mean_queue: f64,
}

impl CxlDirectionUse {
    /// The share of the time in which the wire carries something.
    #[must_use]
    pub fn busy(&self) -> f64 {
        self.messages + self.data + self.empty + self.credits + self.retry + self.io
    }
    /// The share of the time in which it carries nothing.
    #[must_use]
    pub fn idle(&self) -> f64 {
        (1.0 - self.busy()).max(0.0)
    }
}

impl Blueprint<'_> {
    /// Adds the links, each joined to its ends.
    pub(super) fn add_cxl(&self, ids: &Ids, builder: &mut Builder) -> Vec<WorldCxl> {
        let add = |link: &CxlLinkPlan| {
            let component: Box<dyn Component<Message>> = match link.flits {
                FlitMode::Bytes68 => Box::new(CxlLink::new(&link.name, self.seed, spec(link))),
                FlitMode::Bytes256(_) => Box::new(CxlLink256::new(&link.name, self.seed, spec(link))),
            };
            let id = builder.add_foreseeing(cxl_link(&link.name), component);
            for (end, port) in [(link.host, CxlLink::HOST), (link.device, CxlLink::DEVICE)] {
                builder.join((ids.of(end.component), Port(end.port as u16)), (id, port));
            }
            let name = |component: usize| self.variant.machine[component].name.clone();
            let ends = [name(link.host.component), name(link.device.component)];
            WorldCxl { link: link.name.clone(), ends, id }
        };
        self.variant.cxl.iter().map(add).collect()
    }
}

fn spec(link: &CxlLinkPlan) -> CxlLinkSpec {
    let io = IoLoad { bytes_per_second: link.io };
    CxlLinkSpec {
        flits: link.flits,
        sync_header_bypass: link.clocking == Clocking::Common,
        skp: link.skp,
        flight: link.flight(),
        bit_error_ratio: link.bit_error_ratio,
        io: [io; 2],
        ..CxlLinkSpec::new(link.generation, link.width)
    }
}

impl World {
    /// Counters of both directions of every CXL link up to `now`, the present.
    pub(super) fn cxl_report(&mut self, now: Instant) -> Vec<[CxlLinkUse; 2]> {
        let ids: Vec<ComponentId> = self.cxl.iter().map(|link| link.id).collect();
        let report = |id| {
            let link = self.kernel.role::<dyn CarriesLines>(id).expect("a link carries lines");
            link.usage(now)
        };
        ids.into_iter().map(report).collect()
    }

    /// Utilisation of all of them between two reports.
    pub(super) fn cxl_use(
        &self,
        before: &[[CxlLinkUse; 2]],
        after: &[[CxlLinkUse; 2]],
    ) -> Vec<CxlDirectionUse> {
        let links = self.cxl.iter().zip(before.iter().zip(after));
        let both = links.flat_map(|(link, (before, after))| {
            let [host, device] = &link.ends;
            [(host, device), (device, host)].into_iter().zip(before.iter().zip(after)).map(
                move |((from, to), (before, after))| {
                    usage(&link.link, format!("{from} → {to}"), before, after)
                },
            )
        });
        both.collect()
    }
}

fn usage(link: &str, direction: String, before: &CxlLinkUse, after: &CxlLinkUse) -> CxlDirectionUse {
    let (b, a) = (&before.activity, &after.activity);
    let flits = (after.flits - before.flits).max(1) as f64;
    let ticks = (after.elapsed.0 - before.elapsed.0).max(1) as f64;
    let share = |of: fn(&Activity) -> u64| (of(a) - of(b)) as f64 / flits;
    let slots = after.slots as f64;
    let mut used = CxlDirectionUse {
        link: link.to_owned(),
        direction,
        messages: share(|a| a.message_slots) / slots,
        data: share(|a| a.data_slots) / slots,
        empty: share(|a| a.empty_slots) / slots,
        credits: share(|a| a.credit_flits),
        retry: share(|a| a.retry_flits + a.replayed_flits),
        io: share(|a| a.io_flits),
        credit_stall: (a.stalled_ticks - b.stalled_ticks) as f64 / ticks,
        mean_queue: (a.waited_ticks - b.waited_ticks) as f64 / ticks,
    };
    // A link decides a few flits ahead: the last may start a little after the measurement.
    let over = used.busy().max(1.0);
    let parts = [
        &mut used.messages,
        &mut used.data,
        &mut used.empty,
        &mut used.credits,
        &mut used.retry,
        &mut used.io,
    ];
    parts.into_iter().for_each(|part| *part /= over);
    used
}
