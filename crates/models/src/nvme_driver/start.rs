//! The start of a controller: registers, then admin commands one after the other.
//!
//! ```text
//!  AQA ASQ ACQ CC.EN ─ driver.enable ─► Identify controller ─► Identify each namespace ─► Number of Queues
//!   ─► Interrupt Coalescing, Arbitration, Doorbell Buffer Config, each if it is wanted
//!   ─► for each queue: Create I/O CQ ─► Create I/O SQ ─► ready
//! ```
//!
//! Registers are only written: instead of polling CSTS.RDY the driver waits for `driver.enable`.

use super::buffers::ONE_LIST;
use super::queue::Limits;
use super::shadow::ShadowDoorbells;
use crate::nvme_software::Software;
use lanetwin_nvme::logic::host::{QueuePair, QueuePairConfig, RingPolicy};
use lanetwin_nvme::spec::admin::{
    CreateCqDword11, CreateSqDword11, IdentifyDword10, IdentifyStructure, QueueDword10, QueuePriority,
    SetFeaturesDword10,
};
use lanetwin_nvme::spec::feature::{Feature, InterruptCoalescing, NumberOfQueues};
use lanetwin_nvme::spec::identify::{IdentifyController, IdentifyNamespace, LbaFormatWord};
use lanetwin_nvme::spec::registers::{self, AdminQueueAttributes, ArbitrationMechanism, Configuration};
use lanetwin_nvme::spec::{AdminOpcode, Command, CommandDword0, CqId, SqId};
use lanetwin_ports::{HostMemory, SharedMemory};

/// The admin queue \[entries\].
const ADMIN_ENTRIES: u32 = 32;
/// Size of Identify data \[B\].
const IDENTIFY_BYTES: usize = 4096;
/// More namespaces than these are not looked at.
const MOST_NAMESPACES: u32 = 1024;
/// log2 of the sizes of queue entries \[B\]: 64 and 16.
const ENTRY_SIZES: (u8, u8) = (6, 4);

/// The next step, or the one in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    IdentifyController,
    IdentifyNamespace(u32),
    NumberOfQueues,
    Coalescing,
    Arbitration,
    DoorbellBuffers,
    CreateCompletion(u16),
    CreateSubmission(u16),
    Ready,
    Failed,
}

/// A controller on its way to be ready.
pub(super) struct Start {
    pub(super) admin: QueuePair,
    software: Software,
    /// The admin rings: submission and completion.
    admin_rings: (u64, u64),
    /// Address of the buffer for Identify.
    page: u64,
    /// The rings of each I/O queue: submission and completion.
    rings: Vec<(u64, u64)>,
    /// Priority of each queue, if used.
    priorities: Vec<QueuePriority>,
    /// `None` without shadow doorbells.
    pub(super) shadow: Option<ShadowDoorbells>,
    step: Step,
    namespaces: u32,
    pub(super) limits: Limits,
}

impl Start {
    /// Takes memory for everything.
    pub(super) fn new(software: Software, priorities: Vec<QueuePriority>, memory: &SharedMemory) -> Self {
        let queues = priorities.len() as u16;
        let mut memory = memory.change();
        let sq = memory.allocate(u64::from(ADMIN_ENTRIES) << ENTRY_SIZES.0);
        let cq = memory.allocate(u64::from(ADMIN_ENTRIES) << ENTRY_SIZES.1);
        let page = memory.allocate(IDENTIFY_BYTES as u64);
        let entries = u64::from(software.entries);
        let mut ring = |queue: u16| {
            let (sq, cq) =
                (memory.allocate(entries << ENTRY_SIZES.0), memory.allocate(entries << ENTRY_SIZES.1));
            if software.polled {
                memory.watch(cq, entries << ENTRY_SIZES.1, u32::from(queue) + 1);
            }
            (sq, cq)
        };
        let rings = (0..queues).map(&mut ring).collect();
        let shadow = software.shadow_doorbells.then(|| ShadowDoorbells::new(queues, &mut memory));
        Self {
            admin: pair(0, ADMIN_ENTRIES, (sq, cq), false),
            admin_rings: (sq, cq),
            software,
            page,
            rings,
            priorities,
            shadow,
            step: Step::IdentifyController,
            namespaces: 0,
            limits: Limits::default(),
        }
    }

    /// The regions of host memory that it has taken.
    pub(super) fn regions(&self) -> Vec<u64> {
        let rings = self.rings.iter().chain([&self.admin_rings]).flat_map(|(sq, cq)| [*sq, *cq]);
        let shadow = self.shadow.iter().flat_map(|shadow| [shadow.doorbells, shadow.event_index]);
        rings.chain(shadow).chain([self.page]).collect()
    }

    /// Says which class each queue is of.
    pub(super) fn prioritise(&mut self, priorities: &[QueuePriority]) {
        self.priorities = priorities.to_vec();
    }

    /// The registers to write, in this order, with their values.
    pub(super) fn registers(&self) -> [(u32, u32); 6] {
        let (sq, cq) = self.admin_rings;
        let attributes = AdminQueueAttributes::ZERO
            .with_sq_entries_less_1((ADMIN_ENTRIES - 1) as u16)
            .and_then(|word| word.with_cq_entries_less_1((ADMIN_ENTRIES - 1) as u16));
        let mechanism = match self.software.weighted {
            Some(_) => ArbitrationMechanism::WEIGHTED_ROUND_ROBIN,
            None => ArbitrationMechanism::ROUND_ROBIN,
        };
        let configuration = Configuration::ZERO
            .with_sq_entry(ENTRY_SIZES.0)
            .and_then(|word| word.with_arbitration(mechanism))
            .and_then(|word| word.with_cq_entry(ENTRY_SIZES.1))
            .and_then(|word| word.with_enable(true));
        [
            (registers::AQA, attributes.expect("an admin queue of this size is allowed").raw()),
            (registers::ASQ, sq as u32),
            (registers::ASQ + 4, (sq >> 32) as u32),
            (registers::ACQ, cq as u32),
            (registers::ACQ + 4, (cq >> 32) as u32),
            (registers::CC, configuration.expect("entries of these sizes are allowed").raw()),
        ]
    }

    /// Whether I/O queues can be used.
    pub(super) fn is_ready(&self) -> bool {
        self.step == Step::Ready
    }
    /// Whether the controller refused a command without which it cannot be used.
    pub(super) fn has_failed(&self) -> bool {
        self.step == Step::Failed
    }

    /// The command of the current step. Returns `None` if the controller is ready, or has failed.
    pub(super) fn command(&self) -> Option<Command> {
        match self.step {
            Step::IdentifyController => Some(self.identify(IdentifyStructure::CONTROLLER, 0)),
            Step::IdentifyNamespace(nsid) => Some(self.identify(IdentifyStructure::NAMESPACE, nsid)),
            Step::NumberOfQueues => {
                let less_1 = self.rings.len() as u16 - 1;
                let value = NumberOfQueues::ZERO
                    .with_submission_less_1(less_1)
                    .and_then(|word| word.with_completion_less_1(less_1));
                Some(set_feature(Feature::NUMBER_OF_QUEUES, value.expect("counts fill their fields").raw()))
            }
            Step::Coalescing => {
                let (entries, time) = self.software.coalescing?;
                let value = InterruptCoalescing::ZERO
                    .with_threshold_less_1(entries - 1)
                    .and_then(|word| word.with_time(time));
                Some(set_feature(Feature::INTERRUPT_COALESCING, value.expect("a byte fills its field").raw()))
            }
            Step::Arbitration => Some(set_feature(Feature::ARBITRATION, self.software.weighted?.raw())),
            Step::DoorbellBuffers => self.shadow.as_ref().map(|shadow| {
                let mut command = admin(AdminOpcode::DOORBELL_BUFFER_CONFIG);
                command.set_prp1(shadow.doorbells);
                command.set_prp2(shadow.event_index);
                command
            }),
            Step::CreateCompletion(queue) => {
                let dword11 = CreateCqDword11::ZERO
                    .with_contiguous(true)
                    .and_then(|word| word.with_interrupts(!self.software.polled))
                    .and_then(|word| word.with_vector(queue + 1))
                    .expect("a vector fills its field");
                Some(self.create(
                    AdminOpcode::CREATE_IO_CQ,
                    queue,
                    self.rings[usize::from(queue)].1,
                    dword11.raw(),
                ))
            }
            Step::CreateSubmission(queue) => {
                let dword11 = CreateSqDword11::ZERO
                    .with_contiguous(true)
                    .and_then(|word| word.with_priority(self.priority(queue)))
                    .and_then(|word| word.with_completion_queue(queue + 1))
                    .expect("a queue and its class fill their fields");
                Some(self.create(
                    AdminOpcode::CREATE_IO_SQ,
                    queue,
                    self.rings[usize::from(queue)].0,
                    dword11.raw(),
                ))
            }
            Step::Ready | Step::Failed => None,
        }
    }

    /// The command of the step has ended: on to the next.
    pub(super) fn ended(&mut self, success: bool, memory: &SharedMemory) {
        self.step = if success { self.after(memory) } else { Step::Failed };
    }

    fn after(&mut self, memory: &SharedMemory) -> Step {
        let queues = self.rings.len() as u16;
        match self.step {
            Step::IdentifyController => {
                let controller = self.identified(memory).map(IdentifyController::from_bytes);
                let Some(controller) = controller.filter(|controller| controller.namespaces() > 0) else {
                    return Step::Failed;
                };
                self.namespaces = controller.namespaces().min(MOST_NAMESPACES);
                self.limits.transfer = match controller.transfer_log2() {
                    0 => ONE_LIST,
                    pages => HostMemory::PAGE
                        .checked_shl(pages.into())
                        .map_or(ONE_LIST, |most| most.min(ONE_LIST.into()) as u32),
                };
                Step::IdentifyNamespace(1)
            }
            Step::IdentifyNamespace(nsid) => {
                let namespace = self.identified(memory).map(IdentifyNamespace::from_bytes);
                self.limits.blocks.push(namespace.map_or(0, |namespace| block_bytes(&namespace)));
                if nsid < self.namespaces { Step::IdentifyNamespace(nsid + 1) } else { Step::NumberOfQueues }
            }
            Step::NumberOfQueues => {
                self.first_wanted(&[Step::Coalescing, Step::Arbitration, Step::DoorbellBuffers])
            }
            Step::Coalescing => self.first_wanted(&[Step::Arbitration, Step::DoorbellBuffers]),
            Step::Arbitration => self.first_wanted(&[Step::DoorbellBuffers]),
            Step::DoorbellBuffers => Step::CreateCompletion(0),
            Step::CreateCompletion(queue) => Step::CreateSubmission(queue),
            Step::CreateSubmission(queue) if queue + 1 < queues => Step::CreateCompletion(queue + 1),
            Step::CreateSubmission(_) => Step::Ready,
            same => same,
        }
    }

    /// The first of these steps that is needed, otherwise the first queue.
    fn first_wanted(&self, steps: &[Step]) -> Step {
        let wanted = |step: &&Step| match step {
            Step::Coalescing => self.software.coalescing.is_some(),
            Step::Arbitration => self.software.weighted.is_some(),
            _ => self.shadow.is_some(),
        };
        steps.iter().find(wanted).copied().unwrap_or(Step::CreateCompletion(0))
    }
    /// The class of a queue; under round robin the field is ignored, and zero (Base 2.0 §5.5).
    fn priority(&self, queue: u16) -> QueuePriority {
        let own = self.priorities.get(usize::from(queue)).copied();
        own.filter(|_| self.software.weighted.is_some()).unwrap_or(QueuePriority::URGENT)
    }

    /// The pairs of the queues that have been created.
    pub(super) fn pairs(&self) -> impl Iterator<Item = QueuePair> + '_ {
        let entries = self.software.entries;
        let polled = self.software.polled;
        (1..).zip(&self.rings).map(move |(id, rings)| pair(id, entries, *rings, polled))
    }

    fn identified(&self, memory: &SharedMemory) -> Option<[u8; IDENTIFY_BYTES]> {
        memory.reader().read(self.page, IDENTIFY_BYTES)?.try_into().ok()
    }

    fn identify(&self, structure: IdentifyStructure, nsid: u32) -> Command {
        let dword10 = IdentifyDword10::ZERO.with_structure(structure).expect("a structure has eight bits");
        let mut command = admin(AdminOpcode::IDENTIFY);
        command.set_nsid_number(nsid);
        command.set_prp1(self.page);
        command.set_cdw10(dword10.raw());
        command
    }

    fn create(&self, opcode: AdminOpcode, queue: u16, ring: u64, dword11: u32) -> Command {
        let dword10 = QueueDword10::ZERO
            .with_queue(queue + 1)
            .and_then(|word| word.with_entries_less_1((self.software.entries - 1) as u16))
            .expect("numbers of queues fill their fields");
        let mut command = admin(opcode);
        command.set_prp1(ring);
        command.set_cdw10(dword10.raw());
        command.set_cdw11(dword11);
        command
    }
}

fn pair(id: u16, entries: u32, (sq_address, cq_address): (u64, u64), polled: bool) -> QueuePair {
    QueuePair::new(QueuePairConfig {
        sqid: SqId(id),
        cqid: CqId(id),
        sq_entries: entries,
        cq_entries: entries,
        sq_address,
        cq_address,
        ring_tail: if polled { RingPolicy::OnRequest } else { RingPolicy::Each },
        ring_head: RingPolicy::OnRequest,
    })
}

fn admin(opcode: AdminOpcode) -> Command {
    let mut command = Command::ZERO;
    command.set_dword0(CommandDword0::ZERO.with_opcode(opcode.0).expect("an opcode has eight bits"));
    command
}

fn set_feature(feature: Feature, value: u32) -> Command {
    let dword10 = SetFeaturesDword10::ZERO.with_feature(feature.0).expect("a feature has eight bits");
    let mut command = admin(AdminOpcode::SET_FEATURES);
    command.set_cdw10(dword10.raw());
    command.set_cdw11(value);
    command
}

/// The size of a logical block \[B\]; 0 if the namespace states none.
fn block_bytes(namespace: &IdentifyNamespace) -> u32 {
    let formatted = namespace.formatted_size();
    let index = usize::from(formatted.format_low());
    let word = namespace.formats().get(index * 4..index * 4 + 4).and_then(|word| word.try_into().ok());
    let format = word.map(|word| LbaFormatWord::from_raw(u32::from_le_bytes(word)));
    format.map_or(0, |format| {
        1_u32.checked_shl(format.data_size_log2().into()).filter(|bytes| *bytes >= 512).unwrap_or(0)
    })
}
