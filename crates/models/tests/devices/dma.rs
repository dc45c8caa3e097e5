//! The DMA requester, over a wire with a fixed time of flight, below a root complex with a fixed latency.

use crate::rig::*;
use lanetwin_kernel::{ComponentId, Port, Supply, SupplyKind};
use lanetwin_models::dma_requester::DmaRequester;
use lanetwin_models::root_complex::RootComplex;
use lanetwin_pcie::spec::TlpKind::{self, MRd, MWr};
use lanetwin_ports::{
    Attributes, Builder, Done, Kernel, Message, Operation, PcieSite, Status, Tlps, Transfer,
};
use lanetwin_units::{Instant, Span};
use proptest::prelude::*;

const DMA: Port = Port(1);
const FLIGHT: u64 = 50;
const MEMORY: u64 = 100;
/// Card and root complex both promise 10 ns.
const ISSUE: u64 = 10;

struct Bench {
    kernel: Kernel,
    card: ComponentId,
    root: ComponentId,
    answers: Log,
    ways: Ways,
    wire: Log,
}

impl Bench {
    fn new(card: &[(&str, &str)], place: PcieSite, script: &[(u64, Transfer)]) -> Self {
        let mut builder = Builder::new();
        let host = [
            ("issue", "10ns"),
            ("memory.llc-hit", "100ns"),
            ("memory.dram", "100ns"),
            ("completion.split", "mps"),
        ];
        let root = add_at(&mut builder, "root", "root-complex", &host, |site| {
            site.pcie[0] = Some(PcieSite { endpoint: ROOT, ..place });
        });
        let card =
            add_at(&mut builder, "card", "dma-requester", &[&[("issue", "10ns")], card].concat(), |site| {
                site.pcie[0] = Some(place);
            });
        let promised = Span::from_ns(ISSUE);
        let wire = wire(
            &mut builder,
            Span::from_ns(FLIGHT),
            ((root, Port(1)), promised, false),
            ((card, Port(0)), promised),
        );
        let script = script.iter().map(|&(at, transfer)| (ns(at), Message::Dma(transfer))).collect();
        let (answers, ways) = following_peer(&mut builder, (card, DMA), script);
        let mut bench = Self { kernel: builder.seal(), card, root, answers, ways, wire };
        bench.kernel.run_until(Instant::NEVER);
        bench
    }
    /// When each transfer was answered \[ns\], by its handle.
    fn times(&self) -> Vec<(u64, u32)> {
        let time = |&(ps, _, message): &(u64, Port, Message)| match message {
            Message::DmaDone(Done { handle, status: Status::Ok }) => (whole_ns(ps), handle),
            other => panic!("{other:?}"),
        };
        self.answers.borrow().iter().map(time).collect()
    }
    /// What went up the wire: time \[ns\], address, bytes, count.
    fn sent(&self, kind: TlpKind) -> Vec<(u64, u64, u16, u16)> {
        let sent = tlps(&self.wire).into_iter().filter(|(_, tlps)| tlps.kind == kind);
        sent.map(|(at, Tlps { address, bytes, count, .. })| (at, address, bytes, count)).collect()
    }
    /// When the stages of a transfer ended \[ns\], those that took time, first to last.
    fn ends(&self, handle: u32) -> Vec<(String, u64)> {
        let place = self.times().iter().position(|time| time.1 == handle).unwrap();
        ends(&self.kernel, &self.ways.borrow()[place])
    }
    /// When a stage of a transfer ended \[ns\]; none if it took no time.
    fn end(&self, handle: u32, stage: &str) -> Option<u64> {
        self.ends(handle).into_iter().rev().find(|(name, _)| name == stage).map(|(_, at)| at)
    }
}

fn read(handle: u32, address: u64, bytes: u32) -> Transfer {
    Transfer { operation: Operation::Read, bytes, handle, unit: 0, address }
}
fn write(handle: u32, address: u64, bytes: u32) -> Transfer {
    Transfer { operation: Operation::Write, ..read(handle, address, bytes) }
}

/// From a read's first TLP being offered to its last completion.
const THERE_AND_BACK: u64 = FLIGHT + MEMORY + FLIGHT;

#[test]
fn a_read_takes_the_sum_of_its_parts() {
    let card = [("command", "5ns"), ("read.transaction", "1000ns"), ("read.copy", "3ns"), ("done", "7ns")];
    let mut bench = Bench::new(&card, PLACE, &[(1000, read(42, 0x1000, 130))]);
    // a transaction is a time between two, not part of one; 130 B start three cells
    assert_eq!(bench.times(), [(1000 + 5 + ISSUE + THERE_AND_BACK + 3 * 3 + 7, 42)]);
    let stages = [
        ("not asked yet", 1000),
        ("command", 1005),
        ("issue", 1015),
        ("wire", 1065),
        ("memory", 1165),
        ("wire", 1215),
        ("copy", 1224),
        ("completion", 1231),
    ];
    assert_eq!(bench.ends(42), stages.map(|(name, at)| (name.to_owned(), at)));
    assert_eq!(bench.kernel.component::<DmaRequester>(bench.card).unwrap().moved(Operation::Read), (1, 130));
}

#[test]
fn a_write_is_done_when_its_last_tlp_has_departed() {
    let card = [("command", "5ns"), ("done", "7ns"), ("read.copy", "1us")];
    let mut bench = Bench::new(&card, PLACE, &[(1000, write(1, 0x1000, 600))]);
    assert_eq!(bench.times(), [(1000 + 5 + ISSUE + 7, 1)]);
    assert_eq!(bench.sent(MWr), [(1015, 0x1000, 256, 2), (1015, 0x1200, 88, 1)]);
    let traffic = bench.kernel.component::<RootComplex>(bench.root).unwrap().traffic(0);
    assert_eq!((traffic.writes, traffic.write_bytes), (3, 600));
}

#[test]
fn the_end_is_seen_at_the_next_tick() {
    let times = |at| Bench::new(&[("tick", "16ns")], PLACE, &[(at, read(0, 0, 64))]).times()[0].0;
    // 210 ns after the question
    assert_eq!(times(0), 224);
    assert_eq!(times(14), 224);
    assert_eq!(times(15), 240);
}

#[test]
fn reads_wait_for_tags_and_leave_in_trains() {
    let place = PcieSite { tags: 4, mrrs: 128, ..PLACE };
    let bench = Bench::new(&[], place, &[(0, read(0, 0, 128 * 6)), (0, read(1, 0x1000, 128))]);
    let again = ISSUE + THERE_AND_BACK + ISSUE;
    // Each completion frees a tag; the four come back at the same time, one after another.
    assert_eq!(
        bench.sent(MRd),
        [(ISSUE, 0, 128, 4), (again, 512, 128, 1), (again, 640, 128, 1), (again, 0x1000, 128, 1)]
    );
    let done = again + THERE_AND_BACK;
    assert_eq!(bench.times(), [(done, 0), (done, 1)]);
}

/// A transfer waits for what comes last: its last request, which has waited for a tag.
#[test]
fn a_read_waits_for_the_tag_of_its_last_request() {
    let bench = Bench::new(&[], PcieSite { tags: 2, mrrs: 128, ..PLACE }, &[(0, read(0, 0, 128 * 5))]);
    let round = ISSUE + THERE_AND_BACK;
    assert_eq!(
        bench.ends(0)[..2],
        [("queue for a tag".into(), 2 * round), ("issue".into(), 2 * round + ISSUE)]
    );
    assert_eq!(bench.end(0, "wire"), Some(3 * round));
}

/// A train says at most 65,535 TLPs: a longer write goes in several, and only the last of them is the end.
#[test]
fn a_write_longer_than_a_train_ends_once() {
    let bytes = 256 * 65_537;
    let bench = Bench::new(&[], PLACE, &[(0, write(0, 0, bytes))]);
    let step = 65_535 * 256;
    assert_eq!(bench.sent(MWr), [(ISSUE, 0, 256, 65_535), (ISSUE, step, 256, 2)]);
    let marked =
        |attribute| tlps(&bench.wire).iter().map(|(_, t)| t.attributes.has(attribute)).collect::<Vec<_>>();
    assert_eq!([marked(Attributes::NOTIFY), marked(Attributes::LAST)], [[false, true], [false, true]]);
    assert_eq!(bench.times(), [(ISSUE, 0)]);
}

/// With plenty of work, n tags allow n requests in each time that a tag is away.
#[test]
fn tags_bound_the_rate_by_littles_law() {
    let script: Vec<_> = (0..640).map(|i| (0, read(i, u64::from(i) * 64, 64))).collect();
    let bench = Bench::new(&[("outstanding", "1024")], PcieSite { tags: 32, ..PLACE }, &script);
    assert_eq!(bench.times().last().unwrap().0, 640 / 32 * (ISSUE + THERE_AND_BACK));
}

#[test]
fn engines_bound_the_rate() {
    let card = [("write.transaction", "20ns"), ("write.cell", "4ns"), ("engines", "2")];
    let script = [0, 1, 2, 3, 4].map(|i| (0, write(i, 0, 65)));
    let bench = Bench::new(&card, PLACE, &script);
    // 65 B start two cells: an engine is taken for 28 ns
    let times: Vec<_> = bench.times().into_iter().map(|(at, _)| at).collect();
    assert_eq!(times, [10, 10, 38, 38, 66]);
}

/// Copying is after the last completion of a read, one read after another: it is latency and a bound of the rate.
#[test]
fn one_copier_takes_up_reads_as_they_are_complete() {
    let card = [("read.copy", "300ns"), ("transfer", "5ns"), ("done", "7ns")];
    let bench = Bench::new(&card, PLACE, &[(0, read(0, 0, 65)), (20, read(1, 0, 64)), (2000, read(2, 0, 1))]);
    let [first, second] = [0, 20].map(|asked| asked + ISSUE + THERE_AND_BACK);
    let copied = first + 605;
    assert!(copied > second, "the second read waits for the copier");
    let third = 2000 + ISSUE + THERE_AND_BACK + 305;
    assert_eq!(bench.times(), [(copied + 7, 0), (copied + 305 + 7, 1), (third + 7, 2)]);
    let at =
        |handle| ["wire", "queue for the copier", "copy", "completion"].map(|stage| bench.end(handle, stage));
    let waits = [second, copied, copied + 305, copied + 312].map(Some);
    assert_eq!(at(1), waits, "waiting for the copier is after the last completion");
    assert_eq!(at(0), [Some(first), None, Some(copied), Some(copied + 7)]);
}

#[test]
fn a_card_may_write_less_at_once_than_it_is_allowed() {
    let card = [("write.payload", "128B"), ("write.tlp", "20ns"), ("transfer", "5ns"), ("write.cell", "1ns")];
    let bench =
        Bench::new(&card, PLACE, &[(0, write(0, 0, 300)), (0, write(1, 0x40, 128)), (0, read(2, 0, 256))]);
    assert_eq!(bench.sent(MWr)[..2], [(ISSUE, 0, 128, 2), (ISSUE, 256, 44, 1)]);
    // 300 B are three TLPs and five cells; 128 B across a boundary of 128 B are two TLPs
    let begun = 5 + 3 * 20 + 5;
    assert_eq!(bench.sent(MWr)[2..], [(ISSUE + begun, 0x40, 64, 2)]);
    let card = [("write.payload", "2048B")];
    let bench = Bench::new(&card, PLACE, &[(0, write(0, 0, 512))]);
    assert_eq!(bench.sent(MWr), [(ISSUE, 0, 256, 2)], "not more than MPS");
}

/// What is in use is counted to the picosecond, at any instant: what every read held, for as long as it held it.
#[test]
fn supplies_are_the_integrals_of_what_is_in_use() {
    let card = [("read.transaction", "30ns"), ("read.copy", "40ns"), ("outstanding", "3")];
    let place = PcieSite { tags: 2, ..PLACE };
    let reads: Vec<_> = (0..4).map(|handle| (0, read(handle, 0, 64))).collect();
    let mut bench = Bench::new(&card, place, &reads);
    // Begun at 0, 30 and 60; a tag is free when the first is complete. The fourth is let in when the first is copied.
    let trip = ISSUE + THERE_AND_BACK;
    let let_in = trip + 40;
    // the second is complete before the first is copied, and waits for that
    let done = [trip + 40, trip + 40 + 40, 2 * trip + 40, let_in + trip + 40];
    assert_eq!(bench.times().iter().map(|time| time.0).collect::<Vec<_>>(), done);
    let waiting = |ns: u64| SupplyKind::Held { waiting_ps: u128::from(ns) * 1000 };
    let wanted = [
        ("read engines", 4 * 30, 1, SupplyKind::Server),
        ("write engines", 0, 1, SupplyKind::Server),
        ("copier", 4 * 40, 1, SupplyKind::Server),
        // the fourth is ready for its tag when it is let in, with an engine free
        ("tags", 4 * trip, 2, waiting(trip - 60)),
        ("reads in flight", done[0] + done[1] + done[2] + (done[3] - let_in), 3, waiting(let_in)),
        ("writes in flight", 0, 3, waiting(0)),
    ];
    // where each of them was says the same
    let stages = ["queue for a place in flight", "queue for an engine", "queue for a tag"];
    let at = [0, 1, 2, 3].map(|handle| stages.map(|stage| bench.end(handle, stage)));
    let none = [None; 3];
    let (engine, tag) = ([None, Some(30), None], [None, Some(60), Some(trip)]);
    assert_eq!(at, [none, engine, tag, [Some(let_in), None, None]]);
    let reports = bench.kernel.report().into_iter().filter(|(_, _, report)| !report.supplies.is_empty());
    let mut seen = Vec::new();
    for (_, path, report) in reports {
        assert_eq!(path, "card");
        seen.extend(report.supplies);
    }
    for (seen, (name, ns, supply, kind)) in seen.iter().zip(wanted) {
        let wanted = Supply { in_use_ps: u128::from(ns) * 1000, supply, kind };
        assert_eq!((seen.0.as_str(), seen.1), (name, wanted));
    }
    assert_eq!(seen.len(), wanted.len());
}

#[test]
fn reads_and_writes_have_their_own_engines_or_share_them() {
    let time = |shared| {
        let card = [("read.transaction", "500ns"), ("engines.shared", shared)];
        Bench::new(&card, PLACE, &[(0, read(0, 0, 64)), (0, write(1, 0, 64))]).times()
    };
    assert_eq!(time("false"), [(10, 1), (210, 0)]);
    assert_eq!(time("true"), [(210, 0), (510, 1)]);
}

#[test]
fn a_transfer_waits_for_its_turn_to_be_in_flight() {
    let script = [(0, read(0, 0, 64)), (0, read(1, 0, 64)), (0, write(2, 0, 64))];
    let card = [("outstanding", "1"), ("command", "30ns"), ("read.transaction", "250ns")];
    let bench = Bench::new(&card, PLACE, &script);
    // The second read was decoded long ago when the first ends, but its engine is busy up to 280 ns; the write is of
    // the other direction.
    assert_eq!(bench.times(), [(40, 2), (240, 0), (280 + ISSUE + THERE_AND_BACK, 1)]);
    let begun = |bench: &Bench, handle| {
        bench.ends(handle).iter().rev().find(|(name, _)| name == "issue").unwrap().1 - ISSUE
    };
    assert_eq!([2, 0, 1].map(|handle| begun(&bench, handle)), [30, 30, 280]);

    let bench = Bench::new(&card[..2], PLACE, &script);
    assert_eq!([2, 0, 1].map(|handle| begun(&bench, handle)), [30, 30, 240]);
}

#[test]
fn what_cannot_be_moved_is_aborted() {
    let aborted = |bench: &Bench| {
        let done = Message::DmaDone(Done { handle: 3, status: Status::Aborted });
        assert_eq!(*bench.answers.borrow(), [(9_000, Port(0), done)]);
    };
    aborted(&Bench::new(&[], PLACE, &[(9, read(3, 0, 0))]));
}

#[test]
fn a_card_that_is_not_plugged_in_aborts() {
    let mut builder = Builder::new();
    let card = add_at(&mut builder, "card", "dma-requester", &[], |site| site.pcie[0] = None);
    let answers = peer(&mut builder, (card, DMA), vec![(ns(1), Message::Dma(write(3, 0, 64)))]);
    builder.seal().run_until(Instant::NEVER);
    let done = Message::DmaDone(Done { handle: 3, status: Status::Aborted });
    assert_eq!(*answers.borrow(), [(1_000, Port(0), done)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Every byte is asked for and arrives once; no TLP crosses a page or is larger than allowed; all tags come back.
    #[test]
    fn bytes_are_conserved(
        transfers in prop::collection::vec((any::<bool>(), 0_u64..20_000, 1_u32..40_000), 1..20),
        tags in 1_u16..64,
        outstanding in 1_u64..8,
    ) {
        let script: Vec<_> = transfers.iter().enumerate().map(|(i, &(reads, address, bytes))| {
            let make = if reads { read } else { write };
            (i as u64, make(i as u32, address, bytes))
        }).collect();
        let outstanding = outstanding.to_string();
        let place = PcieSite { tags, ..PLACE };
        let mut bench = Bench::new(&[("outstanding", &outstanding)], place, &script);

        let mut handles: Vec<_> = bench.times().into_iter().map(|(_, handle)| handle).collect();
        handles.sort_unstable();
        prop_assert_eq!(handles, (0..transfers.len() as u32).collect::<Vec<_>>());

        let asked = |reads| transfers.iter().filter(|t| t.0 == reads).map(|t| u64::from(t.2)).sum::<u64>();
        let traffic = bench.kernel.component::<RootComplex>(bench.root).unwrap().traffic(0);
        prop_assert_eq!((traffic.read_bytes, traffic.completion_bytes), (asked(true), asked(true)));
        prop_assert_eq!(traffic.write_bytes, asked(false));

        for (kind, limit) in [(MRd, 512), (MWr, 256)] {
            for (_, address, bytes, count) in bench.sent(kind) {
                for i in 0..u64::from(count) {
                    let first = address + i * u64::from(bytes);
                    prop_assert!(bytes <= limit && first / 4096 == (first + u64::from(bytes) - 1) / 4096);
                }
            }
        }
        bench.kernel.inspect("card/tags-in-use", &mut |_, value| assert_eq!(value, "0"));
    }
}
