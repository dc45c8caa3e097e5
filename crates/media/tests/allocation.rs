//! Which channel, way, die and plane pages go to, and what that makes of them.

mod drives;

use drives::{Dice, amplification, closed_loop, eight_dies, ftl, nand, random, small, tlc};
use lanetwin_media::config::{Allocation, Geometry, Initial, Order, Program};
use lanetwin_media::theory::Die;
use lanetwin_media::{Drive, Kind, Request};
use lanetwin_units::{Bytes, Instant, Span};

/// How long a sequential read and a sequential write of so many pages take, each alone, of a drive of two channels,
/// ways, dies and planes \[ns\].
fn alone(allocation: Allocation, pages: u64) -> (u64, u64) {
    let geometry = Geometry {
        channels: 2,
        chips: 2,
        dies: 2,
        planes: 2,
        blocks: 32,
        pages: 24,
        page: Bytes(16384),
        spare: Bytes(0),
    };
    let mut config = tlc(geometry, geometry.capacity().0 / 2, Initial::Sequential);
    ftl(&mut config).allocation = allocation;
    nand(&mut config).timing.program = Program::ByPage([Span::from_us(400); 4]);
    config.buffer.power_loss_protected = false;
    let time = |kind| {
        let mut drive = Drive::new(&config, 1).expect("no mistakes");
        let bytes = pages * geometry.page.0;
        closed_loop(&mut drive, Instant::ZERO, 1, 1, || Request {
            token: 0,
            kind,
            first: 0,
            bytes,
            tenant: 0,
            part_of: None,
        })
        .as_ps()
            / 1000
    };
    (time(Kind::Read), time(Kind::Write))
}

fn by_address(order: &str) -> Allocation {
    Allocation::Address(Order::of(order).expect("an order"))
}

/// What two successive pages use at once is what the first letter of the order says: data of two channels cross at
/// once, those of two ways or dies one after the other, though the arrays work at once, and two planes share a command.
#[test]
fn the_first_level_of_an_order_is_what_successive_pages_use_at_once() {
    let one = alone(by_address("CWDP"), 1);
    // 16 KiB at 1600 MB/s
    let data = 10_240;
    assert_eq!(alone(by_address("CWDP"), 2), one, "two channels know nothing of each other");
    let [way, die, plane] = ["WCDP", "DWCP", "PDWC"].map(|order| alone(by_address(order), 2));
    assert_eq!(way, die, "a die of another chip is a die");
    // the second command is given while the first page is sensed, and its data leave after those of the first
    assert_eq!(way.0, one.0 + data);
    assert!((one.1 + data..one.1 + data + 1_000).contains(&way.1), "{} and {}", way.1, one.1);
    // one command for both planes, with 5 or 6 cycles and 500 ns more on the bus before the array works
    assert!((one.0 + data + 500..one.0 + data + 1_000).contains(&plane.0), "{} and {}", plane.0, one.0);
    assert!((one.1 + data + 500..one.1 + data + 1_500).contains(&plane.1), "{} and {}", plane.1, one.1);
    // as many pages as there are planes use all of them, whatever the order
    let all = ["CWDP", "PDWC", "WPCD", "DPCW"].map(|order| alone(by_address(order), 16));
    let ends = [all.map(|(read, _)| read), all.map(|(_, write)| write)];
    for times in ends {
        let first = times[0];
        assert!(times.iter().all(|time| time.abs_diff(first) < 5_000), "{times:?}");
    }
}

/// A drive that is filled by address, or plane by plane, programs single pages without padding them to a row.
#[test]
fn a_page_of_one_plane_is_programmed_without_padding() {
    let padded = |allocation| {
        let mut config = eight_dies(Initial::Empty);
        ftl(&mut config).allocation = allocation;
        nand(&mut config).timing.program = Program::ByPage([Span::from_us(400); 4]);
        config.buffer.power_loss_protected = false;
        let mut drive = Drive::new(&config, 1).expect("no mistakes");
        let mut page = 0;
        closed_loop(&mut drive, Instant::ZERO, 200, 1, || {
            page += 1;
            let first = page * 16384;
            Request { token: 0, kind: Kind::Write, first, bytes: 16384, tenant: 0, part_of: None }
        });
        drive.counters().padding_units
    };
    assert_eq!(padded(Allocation::Dies), 200 * 4, "a row is two planes");
    for allocation in [Allocation::Planes, by_address("CWDP"), by_address("PDWC")] {
        assert_eq!(padded(allocation), 0, "{allocation:?}");
    }
}

/// A drive by address collects each plane by itself, among the data that its addresses send there: the drawn state goes
/// on as it was, and the write amplification is that of the analysis for a plane.
#[test]
fn planes_collect_as_the_analysis_says() {
    for allocation in [by_address("CWDP"), by_address("PDWC"), Allocation::Planes] {
        let mut config = small(0.20, Initial::STEADY_STATE);
        ftl(&mut config).allocation = allocation;
        let plane = Die { block: 33 * 4, blocks: 256, low: 3, open: 2, grain: 1 };
        let analysis = plane.steady_state(config.units() as f64 / 8.0).write_amplification();
        let mut drive = Drive::new(&config, 1).expect("no mistakes");
        let (units, mut dice) = (config.units(), Dice(1));
        let before = drive.counters();
        random(&mut drive, Instant::ZERO, Kind::Write, units, units, 64, &mut dice);
        let off = amplification(&before, &drive.counters()) / analysis - 1.0;
        println!("{allocation:?}: {:+.2} % of {analysis:.3}", off * 100.0);
        assert!(off.abs() < 0.02, "{allocation:?} is {:.1} % off", off * 100.0);
    }
}
