//! A controller of NVMe: any register writes, doorbells, submission queue entries, lists and answers are taken without
//! a panic, and effects stay within what the configuration allows.

use crate::input::Piece;
use arbitrary::{Arbitrary, Result, Unstructured};
use lanetwin_nvme::logic::{
    Capsule, Connection, ControllerChoice, ControllerConfig, DataLocation, Effect, Health, HostEffect,
    LbaFormat, NamespaceConfig, Place, Subsystem, SubsystemConfig, Telemetry,
};
use lanetwin_nvme::spec::registers::{ACQ, AQA, ASQ, CC, DOORBELLS};
use lanetwin_nvme::spec::{Command, ControllerId, Nsid, SqId, Status};
use lanetwin_units::{Instant, Span};

/// What happens next.
enum Step {
    /// A dword among the properties, or the first doorbells.
    Write {
        second: bool,
        register: u8,
        value: u32,
    },
    /// A doorbell of one of the first queues, with a small value.
    Ring {
        second: bool,
        doorbell: u8,
        value: u8,
    },
    /// An effect is resumed, with these bytes if it wants any.
    Resume {
        which: u16,
        how: u8,
        bytes: Piece,
    },
    /// Commands are fetched that may well mean something.
    Commands {
        which: u16,
        commands: Vec<Likely>,
    },
    Wait {
        us: u16,
    },
    Reset {
        second: bool,
    },
    Enable {
        second: bool,
        weighted: bool,
    },
    Attach {
        nsid: u8,
        second: bool,
        attached: bool,
    },
    Fail {
        nsid: u8,
        failed: bool,
    },
    /// A front makes a queue.
    Connect {
        second: bool,
        queue: u8,
        entries: u8,
        data_location: u8,
    },
    /// A front hands a command in.
    Submit {
        second: bool,
        queue: u8,
        command: Likely,
        data_bytes: u16,
    },
    Disconnect {
        second: bool,
        queue: u8,
    },
    /// A front writes a property.
    Property {
        second: bool,
        offset: u8,
        value: u32,
    },
}

/// A command near those that there are.
struct Likely {
    opcode: u8,
    flags: u8,
    cid: u16,
    nsid: u8,
    pointers: [u64; 2],
    aligned: bool,
    dwords: [u32; 3],
    small: bool,
}

impl<'a> Arbitrary<'a> for Likely {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let (opcode, flags, cid, nsid) = u.arbitrary()?;
        let (pointers, aligned, dwords, small) = u.arbitrary()?;
        Ok(Self { opcode, flags, cid, nsid, pointers, aligned, dwords, small })
    }
}

impl<'a> Arbitrary<'a> for Step {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let second = bool::arbitrary(u)?;
        Ok(match u.int_in_range(0..=23)? {
            0 => Self::Write { second, register: u.arbitrary()?, value: u.arbitrary()? },
            1..=3 => Self::Ring { second, doorbell: u.arbitrary()?, value: u.arbitrary()? },
            4..=7 => Self::Resume { which: u.arbitrary()?, how: u.arbitrary()?, bytes: u.arbitrary()? },
            8..=10 => Self::Commands { which: u.arbitrary()?, commands: u.arbitrary()? },
            11 => Self::Wait { us: u.arbitrary()? },
            12 => Self::Reset { second },
            13 => Self::Enable { second, weighted: u.arbitrary()? },
            14 => Self::Attach { nsid: u.arbitrary()?, second, attached: u.arbitrary()? },
            15..=16 => Self::Connect {
                second,
                queue: u.arbitrary()?,
                entries: u.arbitrary()?,
                data_location: u.arbitrary()?,
            },
            17..=20 => {
                let (queue, command, data_bytes) = (u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
                Self::Submit { second, queue, command, data_bytes }
            }
            21 => Self::Disconnect { second, queue: u.arbitrary()? },
            22 => Self::Property { second, offset: u.arbitrary()?, value: u.arbitrary()? },
            _ => Self::Fail { nsid: u.arbitrary()?, failed: u.arbitrary()? },
        })
    }
}

impl Likely {
    fn bytes(&self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[0] = self.opcode;
        bytes[1] = self.flags;
        bytes[2..4].copy_from_slice(&self.cid.to_le_bytes());
        let nsid = if self.nsid == 0xff { u32::MAX } else { u32::from(self.nsid % 5) };
        bytes[4..8].copy_from_slice(&nsid.to_le_bytes());
        for (at, pointer) in self.pointers.iter().enumerate() {
            let pointer = if self.aligned { pointer & !0xfff } else { *pointer };
            bytes[24 + 8 * at..32 + 8 * at].copy_from_slice(&pointer.to_le_bytes());
        }
        for (at, dword) in self.dwords.iter().enumerate() {
            let dword = if self.small { dword & 0x0007_000f } else { *dword };
            bytes[40 + 4 * at..44 + 4 * at].copy_from_slice(&dword.to_le_bytes());
        }
        bytes
    }
}

fn subsystem(commands_in_progress: u8) -> Subsystem {
    let controller = |id| ControllerConfig {
        commands_in_progress: u32::from(commands_in_progress).max(1),
        io_queues: 6,
        vectors: 5,
        fetch_burst: 3,
        queue_entries: 64,
        error_entries: 2,
        chunk_bytes: Some(8192),
        ..ControllerConfig::new(ControllerId(id))
    };
    let namespace = |nsid, formats: &[LbaFormat]| NamespaceConfig {
        nsid: Nsid(nsid),
        bytes: 1 << 20,
        formats: formats.to_vec(),
        format: 0,
        attached: vec![ControllerId(1), ControllerId(2)],
        zero_after_deallocate: false,
    };
    let config = SubsystemConfig {
        nqn: "nqn.2026-01.test:drive".into(),
        serial: "S1".into(),
        model: "Test Drive".into(),
        firmware: "1.0".into(),
        vendor: 0,
        namespaces: vec![
            namespace(1, &[LbaFormat::B512, LbaFormat::B4096]),
            namespace(3, &[LbaFormat::B4096]),
        ],
        controllers: vec![controller(1), controller(2)],
        volatile_write_cache: true,
        atomic_write_blocks: 1,
        access_ports: 0,
    };
    Subsystem::new(&config).expect("the configuration is in its ranges")
}

fn id(second: bool) -> ControllerId {
    ControllerId(1 + u16::from(second))
}
/// One of the queues, or one that there cannot be.
fn sqid(queue: u8) -> SqId {
    SqId(u16::from(queue % 8))
}
/// A status that a medium may give.
fn status(how: u8) -> Status {
    if how.is_multiple_of(3) { Status::UNRECOVERED_READ_ERROR } else { Status::SUCCESS }
}

crate::input::promise!(|input: &[u8]| {
    let mut input = Unstructured::new(input);
    let Ok(commands) = u8::arbitrary(&mut input) else { return };
    let mut subsystem = subsystem(commands % 40);
    let (mut now, mut effects, mut pending) = (Instant::ZERO, Vec::new(), Vec::new());
    while !input.is_empty() {
        let Ok(step) = Step::arbitrary(&mut input) else { break };
        match step {
            Step::Write { second, register, value } => {
                let offset = if register < 0x60 {
                    u32::from(register)
                } else {
                    DOORBELLS + u32::from(register - 0x60)
                };
                subsystem.write_register(now, id(second), offset, value, &mut effects);
            }
            Step::Ring { second, doorbell, value } => {
                let offset = DOORBELLS + 4 * u32::from(doorbell % 16);
                subsystem.write_register(now, id(second), offset, value.into(), &mut effects);
            }
            Step::Resume { which, how, bytes } if !pending.is_empty() => {
                let effect: Effect = pending.swap_remove(usize::from(which) % pending.len());
                resume(&mut subsystem, now, effect, how, &bytes.0, &mut effects);
            }
            Step::Commands { which, commands } if !pending.is_empty() => {
                let effect: Effect = pending.swap_remove(usize::from(which) % pending.len());
                let mut bytes: Vec<u8> = commands.iter().flat_map(Likely::bytes).collect();
                bytes.resize(bytes.len().max(256), 0);
                resume(&mut subsystem, now, effect, 1, &bytes, &mut effects);
            }
            Step::Wait { us } => {
                now += Span::from_us(us.into());
                subsystem.wake(now, &mut effects);
            }
            Step::Reset { second } => subsystem.reset(now, id(second), &mut effects),
            Step::Enable { second, weighted } => {
                for (offset, value) in [
                    (CC, 0),
                    (AQA, 0x000f_000f),
                    (ASQ, 0x1000),
                    (ACQ, 0x2000),
                    (CC, 1 | u32::from(weighted) << 11 | 6 << 16 | 4 << 20),
                ] {
                    subsystem.write_register(now, id(second), offset, value, &mut effects);
                }
            }
            Step::Attach { nsid, second, attached } => {
                subsystem.attach(now, Nsid(nsid.into()), id(second), attached, &mut effects);
            }
            Step::Fail { nsid, failed } => subsystem.set_failed(Nsid(nsid.into()), failed),
            Step::Connect { second, queue, entries, data_location } => {
                let data_location = [DataLocation::Memory, DataLocation::Messages, DataLocation::Keys]
                    [usize::from(data_location % 3)];
                let flow_control = entries.is_multiple_of(2);
                let connection = Connection {
                    queue: sqid(queue),
                    entries: entries.into(),
                    data_location,
                    flow_control,
                    port: 0,
                };
                let _ = subsystem.connect(ControllerChoice::One(id(second)), &connection);
            }
            Step::Submit { second, queue, command, data_bytes } => {
                let command = Command::from_bytes(command.bytes());
                let capsule = Capsule { command, data_bytes: data_bytes.into() };
                let _ = subsystem.submit(now, id(second), (sqid(queue), capsule), &mut effects);
            }
            Step::Disconnect { second, queue } => {
                subsystem.disconnect(now, id(second), sqid(queue), &mut effects);
            }
            Step::Property { second, offset, value } => {
                let property = (u32::from(offset % 0x40), value.into());
                let _ = subsystem.set_property(now, id(second), property, &mut effects);
            }
            Step::Resume { .. } | Step::Commands { .. } => {}
        }
        for effect in effects.drain(..) {
            check(&subsystem, &effect);
            if let Effect::Host(HostEffect::Fetch { .. })
            | Effect::Host(HostEffect::Transfer { .. })
            | Effect::Media { .. }
            | Effect::Host(HostEffect::Store { .. })
            | Effect::Health { .. }
            | Effect::Telemetry { .. } = effect
            {
                pending.push(effect);
            }
        }
        // two controllers, each with its commands in parts of 8 KiB of 2 MiB, and 256 ranges
        assert!(pending.len() < 2 * 40 * 260 + 64, "{} effects", pending.len());
    }
});

fn resume(
    subsystem: &mut Subsystem,
    now: Instant,
    effect: Effect,
    how: u8,
    bytes: &[u8],
    effects: &mut Vec<Effect>,
) {
    match effect {
        Effect::Host(HostEffect::Fetch { token, .. })
        | Effect::Host(HostEffect::Transfer { token, .. })
        | Effect::Host(HostEffect::Store { token, .. })
            if how == 0 =>
        {
            subsystem.failed(now, token, effects);
        }
        Effect::Host(HostEffect::Fetch { token, .. }) if how == 2 => {
            subsystem.fetched_contiguous(now, token, effects)
        }
        Effect::Host(HostEffect::Fetch { token, bytes: wanted, .. }) => {
            let mut full = bytes.to_vec();
            full.resize((wanted as usize).min(1 << 16), bytes.last().copied().unwrap_or(0));
            subsystem.fetched(now, token, &full, effects);
        }
        Effect::Host(HostEffect::Transfer { token, .. }) => subsystem.transferred(now, token, effects),
        Effect::Host(HostEffect::Store { token, .. }) => subsystem.stored(now, token, effects),
        Effect::Media { token, .. } => subsystem.media_done(now, token, status(how), effects),
        Effect::Health { token } => subsystem.health(now, token, &Health::default(), effects),
        Effect::Telemetry { token } if how == 0 => subsystem.failed(now, token, effects),
        Effect::Telemetry { token } => {
            let state = Telemetry { areas: [bytes.to_vec(), Vec::new(), vec![0; 600]] };
            subsystem.telemetry(now, token, &state, effects);
        }
        other => panic!("{other:?} is not resumed"),
    }
}

/// What an effect says of itself is so.
fn check(subsystem: &Subsystem, effect: &Effect) {
    match *effect {
        Effect::Host(HostEffect::Transfer { token, bytes, at, .. })
        | Effect::Host(HostEffect::Store { token, bytes, at }) => {
            // a later call of the same step may have reset the controller: then there are no pieces
            let pieces: Vec<_> = subsystem.segments(token).collect();
            if !pieces.is_empty() {
                match at {
                    Place::Memory { address } => assert!(pieces.len() == 1 && pieces[0].address == address),
                    Place::Scattered { pieces: count } => assert_eq!(pieces.len(), count as usize),
                    other => panic!("{other:?} has no pieces"),
                }
                assert_eq!(pieces.iter().map(|piece| piece.bytes).sum::<u32>(), bytes);
            }
        }
        Effect::Media { request, .. } if request.blocks > 0 => {
            let size = subsystem.block_bytes(request.nsid).expect("only namespaces that there are");
            assert!(request.slba < (1 << 20) / 512 && size >= 512, "{request:?}");
        }
        Effect::Host(HostEffect::Fetch { bytes, .. }) => assert!(bytes > 0 && bytes <= 1 << 16),
        _ => {}
    }
}
