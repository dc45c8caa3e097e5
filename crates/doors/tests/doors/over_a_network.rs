//! A drive in a box on the network, behind a door: the way there is part of the world, for whatever is asked.

use crate::machine::plan;
use lanetwin_doors::command::{Command, Ended, Kind};
use lanetwin_doors::drive::{Choice, Drive};
use lanetwin_doors::engine::Engine;
use lanetwin_ssd::SparseMemory;
use lanetwin_units::{Instant, Span};

const DATABASES: &str = include_str!("../../../../scenarios/databases.yaml");
const MULTIPATH: &str = include_str!("../../../../scenarios/nvmeof-multipath.yaml");

fn engine(variant: &str, transport: &str) -> Engine {
    let plan = plan(&DATABASES.replace("transport: tcp", &format!("transport: {transport}")));
    let choice = Choice { variant: Some(variant.into()), ..Choice::default() };
    Engine::new(&Drive::choose(&plan, &choice).expect("a drive"), Box::new(SparseMemory::new())).started()
}

fn asked(engine: &mut Engine, now: Instant, command: Command) -> (Instant, Ended, Span, Vec<u8>) {
    engine.ask(now, 0, command);
    let (at, mut replies) = engine.next_replies(now).expect("a reply");
    let reply = replies.remove(0);
    (at, reply.ended, reply.latency, reply.data)
}

#[test]
fn whatever_moves_no_bytes_goes_over_the_network_and_takes_its_time() {
    let size = 64 << 10;
    for transport in ["tcp", "rdma"] {
        let (mut far, mut near) = (engine("nvme-tcp", transport), engine("direct", transport));
        let (mut now, mut here) = (Instant::ZERO, Instant::ZERO);
        let commands = [
            Command::write(0, vec![7; size as usize]),
            Command::flush(),
            Command::of(Kind::WriteZeroes, 0, size / 2),
            Command::of(Kind::Deallocate, (size / 2).into(), size / 4),
            Command::read(0, size),
        ];
        for command in commands {
            let kind = command.request.kind;
            let (at, ended, took, data) = asked(&mut far, now, command.clone());
            let (there, _, direct, same) = asked(&mut near, here, command);
            (now, here) = (at, there);
            assert_eq!(ended, Ended::Well, "{transport} {kind:?}");
            assert_eq!(data, same, "{transport} {kind:?}");
            let longer = took.as_ps().saturating_sub(direct.as_ps());
            assert!((2_000_000..200_000_000).contains(&longer), "{transport} {kind:?}: {direct} {took}");
        }
    }
}

#[test]
fn a_drive_with_several_paths_over_a_network_is_refused() {
    let refused = Drive::choose(&plan(MULTIPATH), &Choice::default()).err().expect("it is refused");
    assert!(refused.to_string().contains("several paths over a network"), "{refused}");
}
