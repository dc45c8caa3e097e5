//! Commands that are handed in: connections, capsules, responses, the Keep Alive Timer.

use super::{ONE, TWO};
use crate::rig::{namespace, subsystem};
use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::logic::{
    Capsule, ConnectFault, Connection, ControllerChoice, ControllerConfig, DataLocation, Effect, Health,
    HostEffect, LbaFormat, Place, PropertySize, Refused, Subsystem, Telemetry, Token,
};
use lanetwin_nvme::spec::admin::IdentifyStructure;
use lanetwin_nvme::spec::feature::Feature;
use lanetwin_nvme::spec::identify::IdentifyController;
use lanetwin_nvme::spec::pointer::{SglDescriptor, SglType};
use lanetwin_nvme::spec::registers::{ACQ, CAP, CC, CSTS, ControllerStatus, NSSR, RESET_WORD, VERSION, VS};
use lanetwin_nvme::spec::{
    AdminOpcode, Command, CommandDword0, CompletionEntry, ControllerId, DataTransfer, IoOpcode, Nsid, SqId,
    Status,
};
use lanetwin_units::{Instant, Span};

const IO: SqId = SqId(1);
/// CC.EN with the sizes of entries that there are.
const ENABLE: u64 = 1 | 6 << 16 | 4 << 20;

/// A subsystem and its front, which has no memory.
struct Fabric {
    subsystem: Subsystem,
    now: Instant,
    effects: Vec<Effect>,
    responses: Vec<(SqId, CompletionEntry)>,
    /// The places of data, as they were asked for.
    places: Vec<(Place, u32)>,
    content: Vec<u8>,
    /// Parts that the medium has; it answers when it is told to.
    medium: Vec<Token>,
    expired: Vec<ControllerId>,
}

fn connection(queue: SqId, entries: u32, data_location: DataLocation) -> Connection {
    Connection { queue, entries, data_location, flow_control: true, port: 0 }
}
/// A command with this descriptor and identifier.
fn capsule(mut command: Command, cid: u16, descriptor: SglDescriptor, data_bytes: u32) -> Capsule {
    let dword0 = CommandDword0::from_raw(command.dword0().raw() & 0xff | u32::from(cid) << 16);
    command.set_dword0(dword0.with_data_transfer(DataTransfer::SGL).unwrap());
    let (low, high) = descriptor.to_halves();
    command.set_prp1(low);
    command.set_prp2(high);
    Capsule { command, data_bytes }
}
/// One that has no data.
fn without_data(command: Command, cid: u16) -> Capsule {
    capsule(command, cid, SglDescriptor::by_transport(0), 0)
}

impl Fabric {
    fn new(controller: ControllerConfig) -> Self {
        let controllers = vec![controller.clone(), ControllerConfig { id: TWO, ..controller }];
        let namespaces = vec![namespace(1, 1 << 20, &[LbaFormat::B512], &[1, 2])];
        Self {
            subsystem: Subsystem::new(&subsystem(controllers, namespaces)).unwrap(),
            now: Instant::ZERO,
            effects: Vec::new(),
            responses: Vec::new(),
            places: Vec::new(),
            content: Vec::new(),
            medium: Vec::new(),
            expired: Vec::new(),
        }
    }
    /// With an admin queue and an I/O queue on the first controller.
    fn connected(controller: ControllerConfig, data_location: DataLocation, entries: u32) -> Self {
        let mut fabric = Self::new(controller);
        let admin = connection(SqId::ADMIN, 4, data_location);
        assert_eq!(fabric.subsystem.connect(ControllerChoice::Any, &admin), Ok(ONE));
        fabric.set_property(CC, ENABLE).unwrap();
        let io = connection(IO, entries, data_location);
        assert_eq!(fabric.subsystem.connect(ControllerChoice::One(ONE), &io), Ok(ONE));
        fabric
    }
    fn set_property(&mut self, offset: u32, value: u64) -> Result<(), Status> {
        let set = self.subsystem.set_property(self.now, ONE, (offset, value), &mut self.effects);
        self.carry_out();
        set
    }
    fn status(&self) -> ControllerStatus {
        ControllerStatus::from_raw(self.subsystem.property(ONE, CSTS, PropertySize::Four).unwrap() as u32)
    }
    fn submit(&mut self, queue: SqId, capsule: Capsule) -> Result<(), Refused> {
        let taken = self.subsystem.submit(self.now, ONE, (queue, capsule), &mut self.effects);
        self.carry_out();
        taken
    }
    /// How a command ends that the medium is not asked for, or with which the medium is done at once.
    fn status_of(&mut self, queue: SqId, capsule: Capsule) -> Status {
        self.submit(queue, capsule).unwrap();
        self.finish_medium();
        self.responses.pop().expect("a response").1.status()
    }
    /// Carries out everything but what the medium is asked for.
    fn carry_out(&mut self) {
        let now = self.now;
        while !self.effects.is_empty() {
            match self.effects.remove(0) {
                Effect::Host(effect) => self.carry_out_for_host(effect),
                Effect::Media { token, .. } => self.medium.push(token),
                Effect::Health { token } => {
                    self.subsystem.health(now, token, &Health::default(), &mut self.effects);
                }
                Effect::Telemetry { token } => {
                    self.subsystem.telemetry(now, token, &Telemetry::default(), &mut self.effects);
                }
                Effect::WakeAt { .. } => {}
            }
        }
    }
    fn carry_out_for_host(&mut self, effect: HostEffect) {
        let (now, effects) = (self.now, &mut self.effects);
        match effect {
            HostEffect::Transfer { token, at, bytes, .. } => {
                self.places.push((at, bytes));
                self.subsystem.transferred(now, token, effects);
            }
            HostEffect::Store { token, at, bytes } => {
                self.places.push((at, bytes));
                self.content = self.subsystem.content(token).to_vec();
                self.subsystem.stored(now, token, effects);
            }
            HostEffect::Fetch { token, at, bytes, .. } => {
                self.places.push((at, bytes));
                self.subsystem.fetched(now, token, &vec![0; bytes as usize], effects);
            }
            HostEffect::Respond { queue, entry, .. } => self.responses.push((queue, entry)),
            HostEffect::KeepAliveExpired { controller } => self.expired.push(controller),
            other => panic!("{other:?} is for a host with memory"),
        }
    }
    fn finish_medium(&mut self) {
        while let Some(token) = self.medium.pop() {
            self.subsystem.media_done(self.now, token, Status::SUCCESS, &mut self.effects);
            self.carry_out();
        }
    }
}

#[test]
fn an_association_is_made_enabled_and_identified() {
    let mut fabric = Fabric::new(ControllerConfig::new(ONE));
    let admin = connection(SqId::ADMIN, 4, DataLocation::Messages);
    let connect = |fabric: &mut Fabric, choice, of: &Connection| fabric.subsystem.connect(choice, of);
    let (any, one) = (ControllerChoice::Any, ControllerChoice::One(ONE));
    assert_eq!(connect(&mut fabric, any, &Connection { entries: 1, ..admin }), Err(ConnectFault::Size));
    let nobody = ControllerChoice::One(ControllerId(9));
    assert_eq!(connect(&mut fabric, nobody, &admin), Err(ConnectFault::UnknownController));
    assert_eq!(connect(&mut fabric, any, &admin), Ok(ONE));
    assert_eq!(connect(&mut fabric, one, &admin), Err(ConnectFault::Busy));
    assert_eq!(connect(&mut fabric, any, &admin), Ok(TWO));
    assert_eq!(connect(&mut fabric, any, &admin), Err(ConnectFault::Busy));
    // before it is enabled it takes no command and no I/O queue
    let io = connection(IO, 8, DataLocation::Messages);
    assert_eq!(connect(&mut fabric, one, &io), Err(ConnectFault::NotReady));
    let identify = commands::identify(IdentifyStructure::CONTROLLER, Nsid::NONE);
    let identify = |cid| capsule(identify, cid, SglDescriptor::by_transport(4096), 0);
    assert_eq!(fabric.submit(SqId::ADMIN, identify(1)), Err(Refused::NotReady));
    // properties are what a fabric may see, in the size that they have
    let property = |fabric: &Fabric, at, size| fabric.subsystem.property(ONE, at, size);
    assert!(property(&fabric, CAP, PropertySize::Eight).unwrap() >> 37 & 1 == 1, "the NVM command set");
    assert_eq!(property(&fabric, CAP, PropertySize::Four), Err(Status::INVALID_FIELD));
    assert_eq!(property(&fabric, VS, PropertySize::Four), Ok(VERSION.into()));
    assert_eq!(property(&fabric, ACQ, PropertySize::Eight), Err(Status::INVALID_FIELD));
    assert_eq!(fabric.set_property(ACQ, 0), Err(Status::INVALID_FIELD));
    assert_eq!(fabric.set_property(CC, 1 << 32), Err(Status::INVALID_FIELD));
    assert!(!fabric.status().ready());
    assert_eq!(fabric.set_property(CC, ENABLE), Ok(()));
    assert!(fabric.status().ready());

    assert_eq!(fabric.status_of(SqId::ADMIN, identify(2)), Status::SUCCESS);
    assert_eq!(fabric.places, [(Place::Transport { offset: 0 }, 4096)]);
    let content: [u8; 4096] = fabric.content.clone().try_into().unwrap();
    let told = IdentifyController::from_bytes(content);
    assert_eq!(told.controller(), ONE.0);
    assert_eq!(
        u32::from(told.outstanding()),
        property(&fabric, CAP, PropertySize::Eight).unwrap() as u32 % 65_536 + 1
    );
    assert!(told.sgl().offsets() && told.sgl().transport() && !told.sgl().keyed());
    assert!(!told.admin_commands().doorbell_buffers());
    assert_eq!(connect(&mut fabric, one, &Connection { queue: SqId(999), ..io }), Err(ConnectFault::Queue));
    assert_eq!(connect(&mut fabric, one, &io), Ok(ONE));
    assert_eq!(connect(&mut fabric, one, &io), Err(ConnectFault::Queue));
}

#[test]
fn responses_tell_how_far_a_queue_is_consumed() {
    let mut fabric = Fabric::connected(ControllerConfig::new(ONE), DataLocation::Messages, 3);
    let heads = |fabric: &mut Fabric| {
        let ask = |cid| without_data(commands::flush(Nsid(1)), cid);
        (0..5).for_each(|cid| assert_eq!(fabric.submit(IO, ask(cid)), Ok(())));
        let read = fabric.medium.drain(..).collect::<Vec<_>>();
        for token in read {
            fabric.subsystem.media_done(fabric.now, token, Status::SUCCESS, &mut fabric.effects);
            fabric.carry_out();
        }
        fabric.responses.drain(..).map(|(_, entry)| (entry.cid().0, entry.sq_head())).collect::<Vec<_>>()
    };
    // all five are consumed before the medium is done with the first
    assert_eq!(heads(&mut fabric), [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2)]);
    assert_eq!(heads(&mut fabric)[0], (0, 1));
    let two = Connection { flow_control: false, ..connection(SqId(2), 3, DataLocation::Messages) };
    fabric.subsystem.connect(ControllerChoice::One(ONE), &two).unwrap();
    fabric.submit(SqId(2), without_data(commands::flush(Nsid(1)), 7)).unwrap();
    fabric.finish_medium();
    let (queue, entry) = fabric.responses[0];
    assert_eq!((queue, entry.sqid(), entry.sq_head(), entry.phase()), (SqId(2), SqId(2), 0, false));
}

#[test]
fn data_are_where_the_descriptor_says_or_nowhere() {
    let read = || commands::read(Nsid(1), 0, 2);
    let write = || commands::write(Nsid(1), 0, 2);
    let keyed = |key: u128| {
        let raw = SglDescriptor::of(SglType::KEYED_DATA_BLOCK, 0x5000, 1024).raw();
        SglDescriptor::from_raw(raw | key << 88)
    };
    let block = SglDescriptor::block(0x1000, 1024);
    let (messages, keys) = (DataLocation::Messages, DataLocation::Keys);
    let cases = [
        (messages, write(), SglDescriptor::in_capsule(64, 1024), 1088, Ok(Place::Capsule { offset: 64 })),
        (messages, write(), SglDescriptor::in_capsule(65, 1024), 1088, Err(Status::SGL_OFFSET_INVALID)),
        (messages, write(), SglDescriptor::in_capsule(u64::MAX, 1024), 1088, Err(Status::SGL_OFFSET_INVALID)),
        (messages, write(), SglDescriptor::in_capsule(0, 512), 1024, Err(Status::DATA_SGL_LENGTH_INVALID)),
        (messages, read(), SglDescriptor::in_capsule(0, 1024), 1024, Err(Status::INVALID_FIELD)),
        (messages, write(), SglDescriptor::by_transport(1024), 0, Ok(Place::Transport { offset: 0 })),
        (messages, read(), SglDescriptor::by_transport(1024), 0, Ok(Place::Transport { offset: 0 })),
        (messages, read(), SglDescriptor::by_transport(1023), 0, Err(Status::DATA_SGL_LENGTH_INVALID)),
        (messages, read(), block, 0, Err(Status::SGL_DESCRIPTOR_TYPE_INVALID)),
        (messages, read(), keyed(7), 0, Err(Status::SGL_DESCRIPTOR_TYPE_INVALID)),
        (keys, read(), keyed(7), 0, Ok(Place::Keyed { address: 0x5000, key: 7 })),
        (keys, read(), SglDescriptor::by_transport(1024), 0, Err(Status::SGL_DESCRIPTOR_TYPE_INVALID)),
        (DataLocation::Memory, read(), block, 0, Ok(Place::Memory { address: 0x1000 })),
        (
            DataLocation::Memory,
            read(),
            SglDescriptor::by_transport(1024),
            0,
            Err(Status::SGL_DESCRIPTOR_TYPE_INVALID),
        ),
    ];
    for (data_location, command, descriptor, bytes, expected) in cases {
        let mut fabric = Fabric::new(ControllerConfig::new(ONE));
        let admin = connection(SqId::ADMIN, 4, data_location);
        fabric.subsystem.connect(ControllerChoice::Any, &admin).unwrap();
        fabric.set_property(CC, ENABLE).unwrap();
        let io = connection(IO, 4, data_location);
        fabric.subsystem.connect(ControllerChoice::One(ONE), &io).unwrap();
        let status = fabric.status_of(IO, capsule(command, 1, descriptor, bytes));
        match expected {
            Ok(place) => assert_eq!((status, &fabric.places[..]), (Status::SUCCESS, &[(place, 1024)][..])),
            Err(error) => {
                assert_eq!((status, fabric.places.len()), (error, 0), "{data_location:?} {descriptor:?}")
            }
        }
    }
}

/// Linux gives every Dataset Management a buffer for 256 ranges.
#[test]
fn ranges_may_be_in_a_buffer_that_is_longer() {
    let of = |ranges| commands::deallocate(Nsid(1), ranges);
    let (inside, outside) = (Place::Capsule { offset: 0 }, Place::Transport { offset: 0 });
    for (descriptor, bytes, place) in
        [(SglDescriptor::in_capsule(0, 4096), 4096, inside), (SglDescriptor::by_transport(4096), 0, outside)]
    {
        let mut fabric = Fabric::connected(ControllerConfig::new(ONE), DataLocation::Messages, 4);
        assert_eq!(fabric.status_of(IO, capsule(of(2), 1, descriptor, bytes)), Status::SUCCESS);
        assert_eq!(fabric.places, [(place, 32)], "no more is read than is of use");
        fabric.places.clear();
        let short = SglDescriptor::by_transport(31);
        assert_eq!(fabric.status_of(IO, capsule(of(2), 1, short, 0)), Status::DATA_SGL_LENGTH_INVALID);
        let longer = SglDescriptor::by_transport(2048);
        for command in [commands::read(Nsid(1), 0, 2), commands::write(Nsid(1), 0, 2)] {
            assert_eq!(fabric.status_of(IO, capsule(command, 1, longer, 0)), Status::DATA_SGL_LENGTH_INVALID);
        }
        assert_eq!(fabric.places, []);
    }
}

#[test]
fn parts_and_ranges_have_places_of_their_own() {
    let chunks = ControllerConfig { chunk_bytes: Some(4096), ..ControllerConfig::new(ONE) };
    let mut fabric = Fabric::connected(chunks, DataLocation::Messages, 4);
    let write = capsule(commands::write(Nsid(1), 0, 12), 1, SglDescriptor::in_capsule(100, 6144), 6244);
    assert_eq!(fabric.status_of(IO, write), Status::SUCCESS);
    let parts = [(Place::Capsule { offset: 100 }, 4096), (Place::Capsule { offset: 4196 }, 2048)];
    assert_eq!(std::mem::take(&mut fabric.places), parts);
    let trim = capsule(commands::deallocate(Nsid(1), 3), 2, SglDescriptor::by_transport(48), 0);
    assert_eq!(fabric.status_of(IO, trim), Status::SUCCESS);
    assert_eq!(fabric.places, [(Place::Transport { offset: 0 }, 48)]);
}

#[test]
fn commands_about_queues_in_memory_make_no_sense_without_memory() {
    let mut fabric = Fabric::connected(ControllerConfig::new(ONE), DataLocation::Messages, 4);
    for opcode in [AdminOpcode::CREATE_IO_SQ, AdminOpcode::DELETE_IO_CQ, AdminOpcode::DOORBELL_BUFFER_CONFIG]
    {
        let command = commands::command(opcode.0, Nsid::NONE);
        assert_eq!(fabric.status_of(SqId::ADMIN, without_data(command, 1)), Status::INVALID_OPCODE);
    }
    let by_prp = Capsule { command: commands::flush(Nsid(1)), data_bytes: 0 };
    assert_eq!(fabric.status_of(IO, by_prp), Status::INVALID_FIELD);
    let unknown = commands::command(IoOpcode::VERIFY.0, Nsid(1));
    assert_eq!(fabric.status_of(IO, without_data(unknown, 1)), Status::INVALID_OPCODE);
}

#[test]
fn a_full_queue_refuses_and_loses_nothing() {
    let narrow = ControllerConfig { commands_in_progress: 1, ..ControllerConfig::new(ONE) };
    let mut fabric = Fabric::connected(narrow, DataLocation::Messages, 4);
    let flush = |cid| without_data(commands::flush(Nsid(1)), cid);
    // one is taken, four wait
    (0..5).for_each(|cid| assert_eq!(fabric.submit(IO, flush(cid)), Ok(())));
    assert_eq!(fabric.submit(IO, flush(5)), Err(Refused::Full));
    assert_eq!(fabric.subsystem.in_progress(), (1, true));
    fabric.finish_medium();
    let answered: Vec<u16> = fabric.responses.iter().map(|(_, entry)| entry.cid().0).collect();
    assert_eq!(answered, [0, 1, 2, 3, 4]);
    assert_eq!(fabric.submit(SqId(2), flush(6)), Err(Refused::NoQueue));
}

#[test]
fn a_queue_that_is_disconnected_answers_nothing_more() {
    let narrow = ControllerConfig { commands_per_queue: 2, ..ControllerConfig::new(ONE) };
    let mut fabric = Fabric::connected(narrow, DataLocation::Messages, 8);
    let flush = |cid| without_data(commands::flush(Nsid(1)), cid);
    (0..4).for_each(|cid| assert_eq!(fabric.submit(IO, flush(cid)), Ok(())));
    fabric.subsystem.disconnect(fabric.now, ONE, IO, &mut fabric.effects);
    fabric.carry_out();
    assert_eq!(fabric.submit(IO, flush(5)), Err(Refused::NoQueue));
    // its number is free when the medium is done with what it has
    let again = connection(IO, 4, DataLocation::Messages);
    let connect = |fabric: &mut Fabric| fabric.subsystem.connect(ControllerChoice::One(ONE), &again);
    assert_eq!(connect(&mut fabric), Err(ConnectFault::Queue));
    assert_eq!(fabric.medium.len(), 2);
    fabric.finish_medium();
    assert_eq!(fabric.responses.len(), 0);
    assert_eq!(connect(&mut fabric), Ok(ONE));
    assert_eq!(fabric.status_of(IO, flush(6)), Status::SUCCESS);
}

#[test]
fn the_end_of_the_admin_connection_is_that_of_the_association() {
    let mut fabric = Fabric::connected(ControllerConfig::new(ONE), DataLocation::Messages, 4);
    fabric.submit(IO, without_data(commands::flush(Nsid(1)), 1)).unwrap();
    fabric.subsystem.disconnect(fabric.now, ONE, SqId::ADMIN, &mut fabric.effects);
    fabric.carry_out();
    assert!(!fabric.status().ready());
    fabric.finish_medium();
    assert_eq!(fabric.responses.len(), 0);
    let admin = connection(SqId::ADMIN, 4, DataLocation::Messages);
    assert_eq!(fabric.subsystem.connect(ControllerChoice::Any, &admin), Ok(ONE));
}

#[test]
fn a_reset_by_its_register_keeps_the_admin_connection() {
    let mut fabric = Fabric::connected(ControllerConfig::new(ONE), DataLocation::Messages, 4);
    let features = || without_data(commands::get_features(Feature::NUMBER_OF_QUEUES), 1);
    assert_eq!(fabric.status_of(SqId::ADMIN, features()), Status::SUCCESS);
    fabric.set_property(CC, 0).unwrap();
    assert_eq!(fabric.submit(SqId::ADMIN, features()), Err(Refused::NotReady));
    fabric.set_property(CC, ENABLE).unwrap();
    let flush = without_data(commands::flush(Nsid(1)), 1);
    assert_eq!(fabric.submit(IO, flush), Err(Refused::NoQueue));
    fabric.submit(SqId::ADMIN, features()).unwrap();
    assert_eq!(fabric.responses[0].1.sq_head(), 2, "the host has not begun again");
    // a reset of the subsystem ends the association
    fabric.set_property(NSSR, RESET_WORD.into()).unwrap();
    assert_eq!(fabric.submit(SqId::ADMIN, features()), Err(Refused::NoQueue));
}

#[test]
fn a_host_that_is_not_heard_of_is_given_up() {
    let mut fabric = Fabric::connected(ControllerConfig::new(ONE), DataLocation::Messages, 4);
    let ms = |ms: u64| Instant::ZERO + Span::from_us(1000) * ms;
    fabric.subsystem.set_keep_alive(fabric.now, ONE, 500, &mut fabric.effects);
    fabric.carry_out();
    for at in [400, 899] {
        fabric.now = ms(at);
        fabric.subsystem.wake(fabric.now, &mut fabric.effects);
        fabric.carry_out();
        let keep_alive = commands::command(AdminOpcode::KEEP_ALIVE.0, Nsid::NONE);
        assert_eq!(fabric.status_of(SqId::ADMIN, without_data(keep_alive, 1)), Status::SUCCESS);
    }
    fabric.now = ms(1398);
    fabric.subsystem.wake(fabric.now, &mut fabric.effects);
    fabric.carry_out();
    assert_eq!(fabric.expired, []);
    fabric.now = ms(1399);
    fabric.subsystem.wake(fabric.now, &mut fabric.effects);
    fabric.carry_out();
    assert_eq!(fabric.expired, [ONE]);
    assert!(fabric.status().fatal());
    let flush = without_data(commands::flush(Nsid(1)), 1);
    assert_eq!(fabric.submit(IO, flush), Err(Refused::NotReady));
}

#[test]
fn a_host_may_take_two_minutes_until_it_enables_the_controller() {
    let seconds = |s: u64| Instant::ZERO + Span::from_us(1_000_000) * s;
    for (enables_after, given_up_after) in [(Some(40), 45), (None, 120)] {
        let mut fabric = Fabric::new(ControllerConfig::new(ONE));
        let admin = connection(SqId::ADMIN, 4, DataLocation::Messages);
        assert_eq!(fabric.subsystem.connect(ControllerChoice::Any, &admin), Ok(ONE));
        fabric.subsystem.set_keep_alive(fabric.now, ONE, 5000, &mut fabric.effects);
        fabric.carry_out();
        for second in 1..=given_up_after {
            assert_eq!(fabric.expired, [], "before {second} s");
            fabric.now = seconds(second);
            fabric.subsystem.wake(fabric.now, &mut fabric.effects);
            fabric.carry_out();
            if enables_after == Some(second) {
                fabric.set_property(CC, ENABLE).unwrap();
            }
        }
        assert_eq!(fabric.expired, [ONE]);
    }
}

#[test]
fn an_event_is_told_by_a_response() {
    let mut fabric = Fabric::connected(ControllerConfig::new(ONE), DataLocation::Messages, 4);
    let configure = without_data(commands::set_features(Feature::EVENT_CONFIGURATION, 0x100), 1);
    assert_eq!(fabric.status_of(SqId::ADMIN, configure), Status::SUCCESS);
    let request = commands::command(AdminOpcode::ASYNCHRONOUS_EVENT_REQUEST.0, Nsid::NONE);
    fabric.submit(SqId::ADMIN, without_data(request, 9)).unwrap();
    assert_eq!(fabric.responses.len(), 0);
    fabric.subsystem.attach(fabric.now, Nsid(1), ONE, false, &mut fabric.effects);
    fabric.carry_out();
    assert_eq!(fabric.responses[0].1.cid().0, 9);
}
