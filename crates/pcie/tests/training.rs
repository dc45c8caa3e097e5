//! Two ports train with each other.

use lanetwin_pcie::logic::ltssm::channel::{Channel, LaneEye};
use lanetwin_pcie::logic::ltssm::link::{Facing, LinkConfig, SimulatedLink, Size};
use lanetwin_units::{Generation, Span, Width};

#[test]
fn a_good_link_comes_up() {
    let channel = Channel::uniform(Width::X4, 1, LaneEye::new(20.0, 3.0));
    let mut link = SimulatedLink::new(LinkConfig::new("slot", Generation::Gen5, channel), 1).unwrap();
    link.wait(Span::from_us(400_000));
    for t in link.take_transitions() {
        println!("{:>14} {:?} {} -> {} Gen{}", t.at.to_string(), t.port, t.from, t.to, t.generation);
    }
    println!(
        "{:x} {:?} {:?}",
        link.read_config(Facing::Downstream, 0x82, Size::Word),
        link.take_codes(),
        link.state(Facing::Upstream)
    );
    println!("{:x}", link.read_config(Facing::Upstream, 0x0, Size::Dword));
    assert!(link.is_active());
}
