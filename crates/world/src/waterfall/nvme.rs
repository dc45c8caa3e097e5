//! The waterfall of an NVMe command: driver and drive say when it was where, the links how it came from one to the
//! other.
//!
//! ```text
//!  driver: submit ─ doorbell ═ drive: queue for a fetch ═ entry ═ [data ═] firmware ─ medium ═ answer ═ driver: interrupt, complete
//! ```
//!
//! `═` is a way over links, hop by hop: of the doorbell, of the request for the entry and its completion, of the
//! request for the last data of a write and its completion, and of what tells the host (an MSI-X write, or the entry
//! itself if it is polled for), whose queue contains the data of a read.

use super::{Course, Followed, Operation, within};
use crate::loads::{NvmeLoad, NvmePath, WorldLoad, shown};
use crate::wire::World;
use lanetwin_kernel::ComponentId;
use lanetwin_models::roles::ServedRead;
use lanetwin_models::roles::nvme::{CommandRecord, NvmeController, NvmeHost, RequestRecord};
use lanetwin_pcie::link::EndpointId;
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{Attributes, Journey};
use lanetwin_units::Instant;

/// Lets the drivers and drives of all loads say when they did what, or no longer.
pub(super) fn set_recording(world: &mut World, on: bool) {
    let further = world.loads.iter().flat_map(|load| &load.further).map(|path| path.driver);
    let mut drivers: Vec<ComponentId> = further.collect();
    let all: Vec<NvmeLoad> = world.loads.iter().filter_map(|load| load.nvme).collect();
    drivers.extend(all.iter().map(|load| load.driver));
    for driver in drivers {
        world.kernel.role::<dyn NvmeHost>(driver).into_iter().for_each(|driver| driver.record(on));
    }
    for NvmeLoad { drive, .. } in all {
        world.kernel.role::<dyn NvmeController>(drive).into_iter().for_each(|drive| drive.record(on));
    }
}

/// What is known of a command.
struct Known {
    request: RequestRecord,
    command: CommandRecord,
    polled: bool,
    /// Whether doorbells are shadowed in memory.
    shadowed: bool,
    driver: String,
    drive: String,
    host: String,
    endpoint: EndpointId,
    /// Where the doorbell of the command's queue is.
    tail: u32,
}

/// What became of an operation of a load whose device is an NVMe drive; none if something of it was not recorded.
pub(super) fn followed(
    world: &mut World,
    load: &WorldLoad,
    median: &Operation,
    served: Vec<ServedRead>,
    journeys: &[Journey],
) -> Option<Followed> {
    let NvmeLoad { driver, drive } = load.nvme?;
    let component = world.kernel.role::<dyn NvmeHost>(driver)?;
    let (polled, shadowed) = (component.polls(), component.shadows_doorbells());
    let (port, request, endpoint) = on_path(world, load, (driver, load.endpoint?), median)?;
    let tail = world.kernel.role::<dyn NvmeHost>(driver)?.tail_doorbell((request.command >> 16) as u16);
    let controller = world.kernel.role::<dyn NvmeController>(drive)?;
    let name = controller.name_of(port, request.command);
    let commands = controller.take_record();
    let its =
        |c: &&CommandRecord| c.name == name && c.fetched >= request.submitted && c.answered <= request.looked;
    let command = commands.iter().find(its).copied()?;
    let journeys: Vec<&Journey> = journeys
        .iter()
        .filter(|j| [j.user.from, j.user.to].contains(&endpoint) && within(j, median.asked, median.told))
        .collect();
    let root = journeys.first().map(|j| if j.user.from == endpoint { j.user.to } else { j.user.from })?;
    let host = host_of(world, root);
    let known = Known {
        request,
        command,
        polled,
        shadowed,
        driver: shown(&load.asked),
        drive: drive_name(world, drive),
        host,
        endpoint,
        tail,
    };
    let course = Course {
        links: world.links(),
        record: None,
        served,
        marks: Vec::new(),
        cursor: median.asked,
        seen: Followed::default(),
    };
    course.follow_command(&known, &journeys)
}

/// The path that an operation took: the number of the drive's port, what its driver says of the request, and the port's
/// place on the links.
fn on_path(
    world: &mut World,
    load: &WorldLoad,
    (driver, endpoint): (ComponentId, EndpointId),
    median: &Operation,
) -> Option<(u16, RequestRecord, EndpointId)> {
    let first = std::iter::once(NvmePath { driver, endpoint, port: load.port });
    first.chain(load.further.iter().copied()).find_map(|path| {
        let requests = world.kernel.role::<dyn NvmeHost>(path.driver)?.take_record();
        let request = requests.into_iter().find(|r| (r.handle, r.asked) == (median.handle, median.asked))?;
        Some((path.port, request, path.endpoint))
    })
}

/// The name of the component that a root port belongs to.
fn host_of(world: &mut World, root: EndpointId) -> String {
    let links = world.links();
    let wiring = links.wiring();
    let at = wiring.links.iter().position(|link| {
        link.ends.iter().any(|end| matches!(end, lanetwin_pcie::link::Attach::Endpoint(e) if *e == root))
    });
    let Some(link) = at else { return "host".into() };
    let near = wiring.links[link]
        .ends
        .iter()
        .position(|end| matches!(end, lanetwin_pcie::link::Attach::Endpoint(e) if *e == root));
    let egress = lanetwin_pcie::link::EgressId((2 * link + near.unwrap_or(0)) as u16);
    links.egress_name(egress).1.to_owned()
}

fn drive_name(world: &World, drive: ComponentId) -> String {
    world.drives.iter().find(|(_, id)| *id == drive).map_or_else(|| "drive".into(), |(name, _)| name.clone())
}

impl Course<'_> {
    fn follow_command(mut self, known: &Known, journeys: &[&Journey]) -> Option<Followed> {
        let Known { request, command, driver, drive, host, .. } = known;
        self.spend(request.begun, format!("{driver}: queue for the core"));
        self.spend(request.submitted, format!("{driver}: submit"));
        let doorbell = first(
            journeys,
            |j| {
                j.user.to == known.endpoint
                    && j.user.kind == TlpKind::MWr
                    && j.user.address == u64::from(known.tail)
            },
            request.submitted,
        );
        // with a shadow, the controller may have found the command without a doorbell of its own
        let rung = doorbell.filter(|j| !known.shadowed || j.arrival.as_ps_ceil() <= command.asked);
        match rung {
            Some(doorbell) => {
                self.along(doorbell, format!("{host}: doorbell"));
                self.spend(command.asked, format!("{drive}: queue for a fetch"));
            }
            None if known.shadowed => {
                self.spend(command.asked, format!("{drive}: shadow doorbell, queue for a fetch"));
            }
            None => return None,
        }
        self.round_trip(journeys, known.endpoint, command.fetch, (command.asked, command.fetched), drive);
        if let Some((data, asked)) = command.data {
            self.spend(asked, format!("{drive}: data pointer"));
            self.round_trip(journeys, known.endpoint, data, (asked, command.arrived), drive);
        }
        self.spend(command.begun, format!("{drive}: queue for a firmware engine"));
        self.spend(command.worked, format!("{drive}: firmware engine"));
        self.spend(command.submitted, format!("{drive}: firmware, without an engine"));
        self.spend(command.done, format!("{drive}: medium"));
        self.spend(command.answered, format!("{drive}: answer"));
        let answer = first(
            journeys,
            |j| j.user.from == known.endpoint && j.user.kind == TlpKind::MWr && tells(j, known),
            command.answered,
        )?;
        self.along(answer, format!("{drive}: issue"));
        let notice = if known.polled { "poll" } else { "interrupt" };
        self.spend(request.looked, format!("{driver}: {notice}"));
        self.spend(request.completing, format!("{driver}: queue for the core"));
        self.spend(request.told, format!("{driver}: complete"));
        Some(self.seen)
    }

    /// A train, after the time that its sender takes to offer it.
    fn along(&mut self, journey: &Journey, sending: String) {
        self.spend(journey.ready.as_ps_ceil(), sending);
        self.travel(journey);
    }

    /// The last request of a read of host memory by the drive, and the completion that it waited for.
    fn round_trip(
        &mut self,
        journeys: &[&Journey],
        drive: EndpointId,
        handle: u32,
        (asked, arrived): (Instant, Instant),
        name: &str,
    ) {
        let of = |from_drive: bool, kind: TlpKind| {
            journeys.iter().filter(move |j| {
                (j.user.from == drive) == from_drive
                    && j.user.kind == kind
                    && j.user.handle == handle
                    && within(j, asked, arrived)
            })
        };
        let answer =
            of(false, TlpKind::CplD).filter(|j| j.arrival.as_ps_ceil() <= arrived).max_by_key(|j| j.arrival);
        let Some(answer) = answer else { return };
        let asks_for = |j: &&&Journey| {
            let first = j.user.address;
            (first..first + u64::from(j.user.count) * u64::from(j.user.bytes)).contains(&answer.user.address)
        };
        let Some(request) = of(true, TlpKind::MRd).filter(asks_for).max_by_key(|j| j.arrival) else { return };
        self.along(request, format!("{name}: issue"));
        self.inside(request, answer.ready.as_ps_ceil());
        self.travel(answer);
    }
}

/// The first of these trains that was sent at this time or later.
fn first<'j>(journeys: &[&'j Journey], is: impl Fn(&Journey) -> bool, from: Instant) -> Option<&'j Journey> {
    let sent = journeys.iter().filter(|j| j.ready.as_ps_ceil() >= from && is(j));
    sent.min_by_key(|j| j.ready).copied()
}

/// Whether it tells the host of a command: the interrupt of its queue, or, if that is polled, its completion entry.
fn tells(journey: &Journey, known: &Known) -> bool {
    let signals = journey.user.attributes.has(Attributes::SIGNAL);
    if known.polled {
        !signals
            && journey.user.handle == known.command.name
            && journey.user.bytes == 16
            && journey.user.count == 1
    } else {
        signals && journey.user.handle == known.request.command >> 16
    }
}
