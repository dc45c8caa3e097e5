//! Hosts that leave a target on purpose: what becomes of their requests, of connections, of requests for their end.

use crate::remote_paths::{MACHINE, TCP};
use crate::tree::{plan, results};
use lanetwin_kernel::{ComponentId, Reading};
use lanetwin_models::multipath::{Multipath, PathCounts};
use lanetwin_models::nvme_ssd::NvmeSsd;
use lanetwin_models::roce_nic::{RoceNic, Unfinished};
use lanetwin_plan::{Catalogue, check};
use lanetwin_stats::results::Results;
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Granularity, Options, World};
use std::path::Path;

/// From when on the host leaves, and by which port.
const LEAVE: &str = "subsystems.jbof.disconnect=[{at: 3ms, port: port1, removal: REMOVAL}]";
const AT: Instant = Instant::from_ps(3_000_000_000);
/// A disconnect request that is sent again soon.
const SOON: &str = "machine.server.driver.rdma.disconnect-timeout=1ms";

fn leave(removal: &str) -> String {
    LEAVE.replace("REMOVAL", removal)
}
fn at(ms: u64) -> Instant {
    Instant::ZERO + Span::from_us(1_000 * ms)
}

/// A world that has run for some milliseconds of load, and some seconds without.
struct Ran(World);

impl Ran {
    fn of(sets: &[&str]) -> Self {
        let plan = plan("paths.yaml", MACHINE, sets);
        let variant = &plan.variants[0];
        let workload = &variant.workloads[0];
        let mut world = World::new(variant, workload, &workload.cases[0], 1);
        world.kernel.run_until(at(12));
        world.stop();
        world.kernel.run_until(at(2_000));
        Self(world)
    }
    /// What a component tells; 0 if it has not told of it.
    fn told(&mut self, component: &str, name: &str) -> f64 {
        let told = self.0.kernel.report().into_iter().filter(|(_, path, _)| *path == component);
        let mut found = told.flat_map(|(_, _, report)| report.metrics).filter(|own| own.metric.name == name);
        match found.next().map(|own| own.reading) {
            Some(Reading::Level(value)) => value,
            Some(Reading::Count(count)) => count as f64,
            _ => panic!("{component} tells no {name}"),
        }
    }
    fn host(&mut self, name: &str) -> f64 {
        self.told("(nvmeof)/nic1", name)
    }
    fn target(&mut self, name: &str) -> f64 {
        self.told("(target)/port1", name)
    }
    fn counts(&mut self) -> PathCounts {
        let paths = self.0.paths[0].1;
        self.0.kernel.component::<Multipath>(paths).expect("paths").counts()
    }
    /// What is left over in adapters.
    fn left_over(&mut self) -> Vec<Unfinished> {
        let all: Vec<ComponentId> = self.0.kernel.report().into_iter().map(|(id, ..)| id).collect();
        all.into_iter()
            .filter_map(|id| self.0.kernel.component::<RoceNic>(id).map(|nic| nic.unfinished()))
            .collect()
    }
    /// Whatever was asked was answered, once, and the drive did it: again at most so much of it.
    fn loses_and_doubles_nothing(&mut self, most: u64, told: &str) {
        let (asked, answered) = self.0.progress();
        let PathCounts { asked: taken, answered: given, retried, unexpected } = self.counts();
        assert!(asked > 500 && asked == answered, "{told}: {answered} of {asked}");
        assert_eq!((taken, given, unexpected), (asked, asked, 0), "{told}");
        let (now, drive) = (self.0.kernel.now(), self.0.drives[0].1);
        let drive = self.0.kernel.component::<NvmeSsd>(drive).expect("a drive");
        let counters = drive.totals(now).expect("a drive that works").counters;
        let moved = (counters.host_bytes_read + counters.host_bytes_written) / 4096;
        assert!((asked..=asked + most).contains(&moved), "{told}: {moved} by the drive, {asked} asked for");
        assert!(retried <= 16, "{told}: {retried}");
        assert!(self.left_over().iter().all(|left| *left == Unfinished::default()), "{told}");
    }
}

#[test]
fn a_host_that_leaves_under_load_loses_and_doubles_nothing_and_frees_the_target() {
    for transport in [&[][..], &[TCP]] {
        for removal in ["managed", "surprise"] {
            let told = format!("{transport:?}, {removal}");
            let leave = leave(removal);
            let mut ran =
                Ran::of(&[transport, &[&leave, "machine.server.driver.multipath=round-robin"]].concat());
            let flushed = ran.host("commands flushed");
            ran.loses_and_doubles_nothing(flushed as u64, &told);
            if removal == "managed" {
                assert_eq!(flushed, 0.0, "{told}: all was answered first");
            } else {
                assert!((1.0..=16.0).contains(&flushed), "{told}: {flushed}");
                assert!(ran.counts().retried >= flushed as u64, "{told}: {:?}", ran.counts());
            }
            assert_eq!([ran.host("connections ended"), ran.target("connections ended by hosts")], [1.0; 2]);
            assert_eq!(ran.target("connections held"), 0.0, "{told}");
            let took = ran.host("disconnect took");
            // interrupts and cores of two exchanges and of the end; a drive's slowest answer before that
            assert!((0.005..3.0).contains(&took), "{told}: {took} ms");
            let again =
                [ran.host("disconnect requests sent again"), ran.host("disconnect requests unanswered")];
            assert_eq!((again, ran.target("disconnect requests answered again")), ([0.0; 2], 0.0), "{told}");
        }
    }
}

/// A cable that is down for a microsecond, at every one of the last of a disconnect: once the request is lost, once the
/// reply, and each time the connection ends on both sides.
#[test]
fn a_lost_request_is_sent_again_and_a_lost_reply_is_given_again() {
    for transport in [&[][..], &[TCP]] {
        let leave = leave("managed");
        // one request at a time, so that nothing else is on the cable
        let quiet = ["machine.nic1.roce.timeout=2ms", "machine.port1.roce.timeout=2ms"];
        let sets = [transport, &[&leave, SOON], &quiet].concat();
        let mut whole = Ran::of(&sets);
        let took = Span::from_ps((whole.host("disconnect took") * 1e9) as u64);
        let (mut requests, mut replies) = (0, 0);
        // over TCP none is lost, whenever it goes down
        let step = if transport.is_empty() { 1 } else { 4 };
        for back in (1..=16).step_by(step) {
            let from = (AT + took).as_ps() / 1_000_000 - back;
            let down = format!("links.box-net1.down=[{{at: {from}us, for: 1us}}]");
            let mut ran = Ran::of(&[&sets[..], &[&down]].concat());
            let told = format!("{transport:?}, {down}");
            ran.loses_and_doubles_nothing(16, &told);
            assert_eq!(
                [ran.host("connections ended"), ran.target("connections ended by hosts")],
                [1.0; 2],
                "{told}"
            );
            assert_eq!(
                (ran.target("connections held"), ran.host("disconnect requests unanswered")),
                (0.0, 0.0)
            );
            let [again, given] = [
                ran.host("disconnect requests sent again"),
                ran.target("disconnect requests answered again"),
            ];
            assert!(given <= again, "{told}: {again} and {given}");
            requests += u32::from(again > given);
            replies += u32::from(given > 0.0);
            if again > 0.0 {
                assert!(ran.host("disconnect took") > 1.0, "{told}");
            }
        }
        let expected = transport.is_empty();
        assert_eq!(
            (requests > 0, replies > 0),
            (expected, expected),
            "{transport:?}: {requests} and {replies}"
        );
    }
}

#[test]
fn a_request_that_nobody_answers_is_repeated_as_often_as_is_said() {
    for retries in [0, 3] {
        let often = format!("machine.server.driver.rdma.disconnect-retries={retries}");
        let down = "links.box-net1.down=[{at: 2900us, for: 10s}]";
        let keep_alive = "machine.server.driver.keep-alive=100ms";
        let transport = ["machine.nic1.roce.timeout=500us", "machine.nic1.roce.retries=2"];
        let leave = leave("surprise");
        let mut ran = Ran::of(&[&leave, SOON, &often, down, keep_alive, transport[0], transport[1]]);
        let told = format!("{retries}");
        let (asked, answered) = ran.0.progress();
        assert!(asked > 500 && asked == answered, "{told}: {answered} of {asked}");
        assert_eq!(ran.host("disconnect requests sent again"), f64::from(retries), "{told}");
        assert_eq!([ran.host("connections ended"), ran.host("disconnect requests unanswered")], [1.0; 2]);
        // the target learns nothing of it
        assert_eq!(ran.target("connections ended by hosts"), 0.0);
    }
}

#[test]
fn a_host_connects_again_when_it_is_to_and_not_before() {
    for transport in [&[][..], &[TCP]] {
        for policy in ["numa", "round-robin", "queue-depth"] {
            let chosen = format!("machine.server.driver.multipath={policy}");
            let leave = "subsystems.jbof.disconnect=[{at: 3ms, port: port1, for: 4ms}]";
            let more = "workloads.mixed.block.requests=9000";
            let mut ran = Ran::of(&[transport, &[leave, &chosen, more]].concat());
            let told = format!("{transport:?}, {policy}");
            ran.loses_and_doubles_nothing(0, &told);
            let paths = "(paths)/ssd";
            let [left, back] = ["path left at", "path back at"].map(|name| ran.told(paths, name));
            assert!((3.0..3.1).contains(&left) && (7.0..7.2).contains(&back), "{told}: {left}, {back} ms");
            let shares = ["before", "meanwhile", "afterwards"]
                .map(|when| ran.told(paths, &format!("requests by that path {when}")));
            let usual = if policy == "numa" { 100.0 } else { 50.0 };
            assert!(
                (shares[0] - usual).abs() < 8.0 && (shares[2] - usual).abs() < 8.0,
                "{told}: {shares:?} %"
            );
            assert!(shares[1] < 0.01, "{told}: {shares:?} %");
            assert_eq!(ran.target("connections held"), 1.0, "{told}");
        }
    }
}

/// The only path, or all of them: programs are told of an error, as the device has gone.
#[test]
fn where_no_path_is_left_requests_end_with_errors() {
    let all = "subsystems.jbof.disconnect=[{at: 3ms}]";
    let one = ["subsystems.jbof.port=port1", "machine.port2=null", "machine.nic2=null", "machine.tor2=null"];
    let links = ["links.slot2=null", "links.net2=null", "links.box-net2=null", "links.box-slot2=null"];
    for sets in [&[all][..], &[&[all], &one[..], &links].concat()] {
        let mut ran = Ran::of(sets);
        let (asked, answered) = ran.0.progress();
        assert!(asked > 500 && asked == answered, "{sets:?}: {answered} of {asked}");
        let (now, drive) = (ran.0.kernel.now(), ran.0.drives[0].1);
        let drive = ran.0.kernel.component::<NvmeSsd>(drive).expect("a drive");
        let counters = drive.totals(now).expect("a drive that works").counters;
        let moved = (counters.host_bytes_read + counters.host_bytes_written) / 4096;
        assert!(moved > 100 && moved < asked - 100, "{sets:?}: {moved} of {asked}");
        assert_eq!(ran.target("connections held"), 0.0);
    }
}

#[test]
fn trains_change_nothing_where_a_host_leaves() {
    for transport in [&[][..], &[TCP]] {
        let leave = leave("surprise");
        let plan = plan("paths.yaml", MACHINE, &[transport, &[&leave]].concat());
        let ran = |granularity| -> Results { results(&plan, &Options { granularity, ..Options::default() }) };
        let (train, each) = (ran(Granularity::Train), ran(Granularity::Tlp));
        assert_eq!(train.digest, each.digest, "{transport:?}");
    }
}

#[test]
fn what_cannot_be_said_of_a_host_that_leaves_is_told() {
    let codes = |sets: &[&str]| -> Vec<&'static str> {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let found = check(Path::new("paths.yaml"), MACHINE, &sets, &Catalogue::built_in()).diagnostics;
        found.iter().map(|found| found.code).collect()
    };
    let leave = |what: &str| format!("subsystems.jbof.disconnect=[{{at: 3ms, {what}}}]");
    assert_eq!(codes(&[&leave("port: nic1")]), ["FB024"]);
    assert_eq!(codes(&[&leave("host: tor1")]), ["FB017"]);
    assert_eq!(codes(&[&leave("host: box")]), ["FB016"], "the host that offers the drives");
    let one = ["subsystems.jbof.port=port1", "links.box-net2=null"];
    assert_eq!(codes(&[one[0], one[1], &leave("for: 2ms")]), ["FB034"]);
}
