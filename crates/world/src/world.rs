//! A world: the kernel of a machine, and its links, loads, drives, CXL links and actions.
//!
//! [`building`](super::building) builds it; `measure` runs it.

use super::capture::{Capture, Captured};
use super::stopping::Stopping;
use lanetwin_kernel::{ComponentId, EntryId, ExitId};
use lanetwin_load::Handles;
use lanetwin_models::roles::SendsFrames;
use lanetwin_models::roles::drive::{State, TellsState};
use lanetwin_pcie::link::EndpointId;
use lanetwin_plan::{ActionPlan, Pair};
use lanetwin_ports::{Kernel, Links};
use lanetwin_units::Instant;

/// A machine that runs, with the loads that are measured.
pub struct World {
    /// The kernel.
    pub kernel: Kernel,
    /// The links; see [`Links`].
    pub links: ComponentId,
    /// The CXL links, in the order of writing.
    pub cxl: Vec<WorldCxl>,
    /// The components that send Ethernet frames.
    pub(super) ethernet: Vec<ComponentId>,
    /// The loads, in the order of the workload's pairs.
    pub loads: Vec<WorldLoad>,
    /// The places where requests from outside replace loads, in the order of the pairs for which they were opened.
    pub openings: Vec<Opening>,
    /// The host whose cores are the load, if it is a memory load; then there are no other loads.
    pub memory: Option<WorldMemory>,
    /// The host whose cores run programs beside the loads, if any do.
    pub programs: Option<WorldMemory>,
    /// The devices with CXL memory: names and kernel identifiers.
    pub devices: Vec<(String, ComponentId)>,
    /// The CXL switches: names and kernel identifiers.
    pub switches: Vec<(String, ComponentId)>,
    /// The components that join the paths to drives with several: drive names and kernel identifiers.
    pub paths: Vec<(String, ComponentId)>,
    /// The NVMe drives of the machine: names and kernel identifiers.
    pub drives: Vec<(String, ComponentId)>,
    /// The component that serves the loads' operations: one with memory, if they go over links. `None` without a
    /// load.
    pub server: Option<ComponentId>,
    /// The actions of the workload: commands to drives beside the loads.
    pub actions: Vec<WorldAction>,
    /// Whether single operations are kept, beside the sums over all operations.
    pub keeps_operations: bool,
    /// Seen between the slices of a measurement.
    pub(super) stopping: Stopping,
    /// Records TLPs on the links, if requested by [`World::capture_tlps`].
    pub(super) capture: Option<Capture>,
}

/// A load and its target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorldLoad {
    /// The name of the device that it measures: a card, a drive, a logical unit of one; or the fio job under which it
    /// is reported.
    pub device: String,
    /// Index in the machine of the component that sends requests, a host or a card.
    pub host: usize,
    /// Name of that component.
    pub asker: String,
    /// Index in the machine of the component that serves the requests.
    pub target: usize,
    /// Its own path in the kernel.
    pub path: String,
    /// The load: it counts operations.
    pub id: ComponentId,
    /// The DMA requester that it commands, if there is one.
    pub requester: Option<ComponentId>,
    /// The name of the component that answers it: a card, a disk, or the driver of one.
    pub asked: String,
    /// The PCIe port of the device, if it has one.
    pub endpoint: Option<EndpointId>,
    /// The driver and the drive, if it is an NVMe drive.
    pub nvme: Option<NvmeLoad>,
    /// The paths after the first to a drive with several, in the order of its ports.
    pub further: Vec<NvmePath>,
    /// The number of the drive's port to which the first path leads.
    pub port: u16,
}

/// A pair of ports that replaces a load: requests enter through `entry` and are answered at `exit`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opening {
    /// Initiator and target: DMA ([`lanetwin_ports::Message::Dma`]) if a card initiates, blocks
    /// ([`lanetwin_ports::Message::Block`]) if a host does.
    pub pair: Pair,
    /// The entry for requests.
    pub entry: EntryId,
    /// The exit for answers.
    pub exit: ExitId,
    /// Handles that requests may use; answers are routed by them.
    pub handles: Handles,
}

/// A further path to a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NvmePath {
    /// Its driver.
    pub driver: ComponentId,
    /// The endpoint of the drive's port to which it leads.
    pub endpoint: EndpointId,
    /// The number of that port.
    pub port: u16,
}

/// Driver and drive of a load on an NVMe drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NvmeLoad {
    /// The driver.
    pub driver: ComponentId,
    /// The drive.
    pub drive: ComponentId,
}

/// A host whose cores run programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorldMemory {
    /// Its kernel identifier.
    pub host: ComponentId,
    /// Its name.
    pub name: String,
    /// The names of its nodes, in the order of their numbers.
    pub nodes: Vec<String>,
    /// Index of the program whose latency is reported.
    pub told: u32,
}

/// A CXL link in a world.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorldCxl {
    /// Its name.
    pub link: String,
    /// The components at its ends: the one nearer to the host, then the other.
    pub ends: [String; 2],
    /// Its kernel identifier.
    pub id: ComponentId,
}

/// An action in a world.
#[derive(Clone, PartialEq, Debug)]
pub struct WorldAction {
    /// As it was planned.
    pub plan: ActionPlan,
    /// The driver that sends the command.
    pub driver: ComponentId,
    /// Its number at the driver.
    pub(super) number: usize,
}

impl World {
    /// From now on decides TLP by TLP and frame by frame, or in trains. The results are the same.
    ///
    /// # Panics
    /// If time has passed.
    pub fn decide_one_by_one(&mut self, each: bool) {
        self.links().set_tlp_by_tlp(each);
        for id in self.ethernet.clone() {
            let sends = self.kernel.role::<dyn SendsFrames>(id);
            sends.expect("what has a cable sends frames").set_frame_by_frame(each);
        }
    }

    /// Starts to capture TLPs on the links: the first `most` of them, by the time of their start.
    ///
    /// # Panics
    /// If time has passed: the TLPs before would be missing.
    pub fn capture_tlps(&mut self, most: usize) {
        assert_eq!(self.kernel.now(), Instant::ZERO, "what is captured begins with the run");
        self.capture = Some(Capture::begin(self.links(), most));
    }

    /// The TLPs captured so far, if they are captured.
    #[must_use]
    pub fn captured(&self) -> Option<Captured> {
        self.capture.as_ref().map(Capture::so_far)
    }

    /// The state of an NVMe drive, as its Telemetry logs report it. Returns `None` for another device.
    pub fn state_of_drive(&mut self, name: &str) -> Option<State> {
        let now = self.kernel.now();
        let (_, id) = self.drives.iter().find(|(known, _)| known == name)?;
        self.kernel.role::<dyn TellsState>(*id).map(|drive| drive.state(now))
    }

    /// The links.
    pub fn links(&mut self) -> &mut Links {
        self.kernel.component::<Links>(self.links).expect("the links are links")
    }
}
