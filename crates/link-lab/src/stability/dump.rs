//! A configuration space from a dump with a simulated link: the registers of the link come from the simulation, all
//! others from the dump.

use super::findings::{diagnostic, diagnostics};
use super::host::{DEVICE, PORT, Simulated};
use super::link::{LinkRequest, open_link};
use super::ready::{Options, TO_COME_UP};
use lanetwin_document::problem::Diagnostic;
use lanetwin_pcie::logic::ltssm::failure::FailureCode;
use lanetwin_pcie::logic::ltssm::link::SimulatedLink;
use lanetwin_probe::cycle::Watcher;
use lanetwin_probe::drive::{Report, Request, cycle, dumped};
use lanetwin_probe::fake::{Behaviour, Fake};
use lanetwin_probe::registers::{
    ALL, DEVICE_CAPABILITIES, DEVICE_CONTROL, EXPRESS_CAPABILITIES, Home, LINK_CAPABILITIES, LINK_STATUS_2,
    Place,
};
use lanetwin_probe::{Address, Counters, Function, Host, HostError, Problem, Width};
use lanetwin_units::{Generation, Instant, Span};

/// Registers of a link's capability that do not concern the link; they come from the dump.
const OF_THE_DEVICE: [Place; 3] =
    [EXPRESS_CAPABILITIES.place, DEVICE_CAPABILITIES.place, DEVICE_CONTROL.place];

/// A register of the dump, and its place in the simulation.
#[derive(Clone, Copy, Debug)]
struct Mapped {
    place: Place,
    here: u16,
    there: u16,
}

/// The machine of a dump, with a simulated link.
#[derive(Debug)]
struct Fed {
    dump: Fake,
    link: Simulated,
    ends: [(Address, Address); 2],
    mapped: [Vec<Mapped>; 2],
    functions: [Function; 2],
    /// Whether the device has been unreachable since its registers were last reset.
    was_away: bool,
}

impl Fed {
    fn new(dump: Fake, link: Simulated, ends: (Address, Address)) -> Result<Self, HostError> {
        let mut fed_dump = dump;
        let mut fed_link = link;
        let pairs = [(ends.0, PORT), (ends.1, DEVICE)];
        let functions = [Function::find(&mut fed_dump, ends.0)?, Function::find(&mut fed_dump, ends.1)?];
        let mut mapped = [Vec::new(), Vec::new()];
        for (at, (_, there)) in pairs.iter().enumerate() {
            let simulated = Function::find(&mut fed_link, *there)?;
            let both = |place: &Place| {
                let of_link = OF_THE_DEVICE.iter().all(|own| own != place) && place.home != Home::Header
                    || functions[at].bridge && place.offset == 0x3e;
                let (here, there) = (functions[at].offset(place)?, simulated.offset(place)?);
                of_link.then_some(Mapped { place: *place, here, there })
            };
            mapped[at] = ALL.iter().filter_map(both).collect();
        }
        Ok(Self { dump: fed_dump, link: fed_link, ends: pairs, mapped, functions, was_away: false })
    }

    fn end(&self, at: Address) -> Result<usize, HostError> {
        self.ends.iter().position(|(here, _)| *here == at).ok_or(HostError::Gone(at))
    }

    /// The device's response in the simulation: all ones without a response, Request Retry Status if it is not ready.
    fn presence(&mut self) -> Result<u32, HostError> {
        let identity = self.link.read(DEVICE, 0, Width::Dword)?;
        let away = identity == Width::Dword.ones() || identity & 0xffff == 1;
        if away {
            self.was_away = true;
        } else if self.was_away {
            self.dump.reset(&self.functions[1].clone());
            self.was_away = false;
        }
        Ok(identity)
    }
}

impl Host for Fed {
    fn read(&mut self, at: Address, offset: u16, width: Width) -> Result<u32, HostError> {
        let end = self.end(at)?;
        if end == 1 {
            let identity = self.presence()?;
            if self.was_away {
                let shift = 8 * u32::from(offset.min(3));
                return Ok(if offset < 4 { identity >> shift & width.ones() } else { width.ones() });
            }
        }
        let mut value = self.dump.read(at, offset, width)?;
        let there = self.ends[end].1;
        for mapped in self.mapped[end].clone() {
            let size = mapped.place.width.bytes();
            if offset < mapped.here + size && mapped.here < offset + width.bytes() {
                let held = self.link.read(there, mapped.there, mapped.place.width)?;
                for byte in
                    (0..size).filter(|byte| (offset..offset + width.bytes()).contains(&(mapped.here + byte)))
                {
                    let to = 8 * (mapped.here + byte - offset);
                    value = value & !(0xff << to) | (held >> (8 * byte) & 0xff) << to;
                }
            }
        }
        Ok(value)
    }
    fn write(&mut self, at: Address, offset: u16, width: Width, value: u32) -> Result<(), HostError> {
        let end = self.end(at)?;
        if end == 1 {
            self.presence()?;
            if self.was_away {
                return Ok(());
            }
        }
        for (place, written) in self.dump.keep(at, offset, width, value) {
            if place == DEVICE_CONTROL.place && written & 0x8000 != 0 {
                self.dump.reset(&self.functions[end].clone());
            }
        }
        let there = self.ends[end].1;
        for mapped in self.mapped[end].clone() {
            let size = mapped.place.width.bytes();
            if mapped.here >= offset && mapped.here + size <= offset + width.bytes() {
                let part = value >> (8 * (mapped.here - offset)) & mapped.place.width.ones();
                self.link.write(there, mapped.there, mapped.place.width, part)?;
            }
        }
        Ok(())
    }
    fn size(&mut self, at: Address) -> Result<u16, HostError> {
        self.dump.size(at)
    }
    fn now(&self) -> Instant {
        self.link.now()
    }
    fn wait(&mut self, span: Span) {
        self.link.wait(span);
    }
    fn name(&self) -> String {
        "fake, its link simulated".into()
    }
    fn power_cycle(&mut self, _device: Address) -> Result<(), HostError> {
        self.was_away = true;
        self.link.power_cycle(DEVICE)
    }
    fn direct_width(&mut self, _port: Address, lanes: u8) -> Result<(), HostError> {
        self.link.direct_width(PORT, lanes)
    }
    fn counters(&mut self, at: Address) -> Option<Counters> {
        let end = self.end(at).ok()?;
        let there = self.ends[end].1;
        self.link.counters(there)
    }
    fn state(&mut self, _port: Address) -> Option<String> {
        self.link.state(PORT)
    }
    fn take_causes(&mut self, _port: Address) -> Vec<FailureCode> {
        self.link.take_causes(PORT)
    }
}

/// Cycles the link of a dump. Its registers come from a simulated link with the speed, width and retimers of the dump,
/// over lanes with wide open eyes.
///
/// # Errors
/// `LC015`, and reasons for a refusal.
pub fn cycle_dump(
    text: &str,
    device: Option<&str>,
    options: &Options,
    request: &Request,
    watch: &mut Watcher<'_>,
) -> Result<Report, Vec<Diagnostic>> {
    let wish = request.wish().map_err(|found| diagnostics(&found))?;
    let (spaces, ends) = dumped(text, device).map_err(|found| diagnostics(&found))?;
    let mut dump = Fake::new(spaces, Behaviour::Obliging);
    let refused = |said: String| vec![diagnostic(&Problem::NoTraining { rate: said }.at(ends.1))];
    let config = config_of(&mut dump, ends, options).ok_or_else(|| refused("a rate of this dump".into()))?;
    let link = SimulatedLink::new(config, options.seed).map_err(|error| refused(format!("{error:?}")))?;
    let mut link = Simulated { link };
    link.link.set_power(true);
    link.link.wait(TO_COME_UP);
    let mut machine = Fed::new(dump, link, ends).map_err(|error| refused(error.to_string()))?;
    let name = ends.1.to_string();
    let done = cycle(&mut machine, &name, ends, &wish, None, &mut |_| Ok(()), watch);
    let (series, complete) = done.map_err(|found| diagnostics(&found))?;
    let mut report = Report::new(name, "");
    report.series.push(series);
    report.complete = complete;
    report.add_power();
    Ok(report)
}

/// The link that a dump describes.
fn config_of(
    dump: &mut Fake,
    (port, device): (Address, Address),
    options: &Options,
) -> Option<lanetwin_pcie::logic::ltssm::link::LinkConfig> {
    let (above, below) = (Function::find(dump, port).ok()?, Function::find(dump, device).ok()?);
    let ends = [above.read(dump, LINK_CAPABILITIES).ok()??, below.read(dump, LINK_CAPABILITIES).ok()??];
    let speed = ends.iter().map(|end| end.max_speed()).min()?;
    let lanes = ends.iter().map(|end| end.max_width()).min()?;
    let second = above.read(dump, LINK_STATUS_2).ok()??;
    let retimers = usize::from(second.retimer()) + usize::from(second.two_retimers());
    let wanted = LinkRequest {
        width: lanetwin_units::Width::from_lanes(u64::from(lanes))?,
        utilisation: options.utilisation,
        seed: options.seed,
    };
    Some(open_link("dump", Generation::from_number(u64::from(speed))?, retimers.min(2), wanted))
}
