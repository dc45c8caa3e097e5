//! A world: the kernel of a machine, and what in it is a link, a load, a drive, a CXL link or an action.
//!
//! How it is built is the matter of [`building`](super::building); what it does, of `measure`.

use super::capture::{Capture, Captured};
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
    /// What sends frames of Ethernet.
    pub(super) ethernet: Vec<ComponentId>,
    /// The loads, in the order of the workload's pairs.
    pub loads: Vec<WorldLoad>,
    /// Where the outside asks instead of loads, in the order of the pairs that it was opened for.
    pub openings: Vec<Opening>,
    /// The host whose cores are the load, if they are; then there are no other loads.
    pub memory: Option<WorldMemory>,
    /// The host whose cores run programs beside the loads, if they do.
    pub programs: Option<WorldMemory>,
    /// The devices with CXL memory: their names, and what they are in the kernel.
    pub devices: Vec<(String, ComponentId)>,
    /// The CXL switches: their names, and what they are in the kernel.
    pub switches: Vec<(String, ComponentId)>,
    /// What joins the paths to each drive that has several: the drive's name, and what it is in the kernel.
    pub paths: Vec<(String, ComponentId)>,
    /// The NVMe drives of the machine: their names, and what they are in the kernel.
    pub drives: Vec<(String, ComponentId)>,
    /// The component that serves the loads' operations: one with memory, if they go over links. None if nobody asks for
    /// anything.
    pub server: Option<ComponentId>,
    /// What is asked of drives beside the loads.
    pub actions: Vec<WorldAction>,
    /// Whether single operations are kept, beside what all of them spent together.
    pub keeps_operations: bool,
    /// What writes down TLPs on the links, if somebody wants them: [`World::capture_tlps`].
    pub(super) capture: Option<Capture>,
}

/// A load, and what it asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorldLoad {
    /// The name of the device that it measures: a card, a drive, a logical unit of one; or of the job of fio that it is
    /// told as.
    pub device: String,
    /// The component that asks, a host or a card: its place in the machine.
    pub host: usize,
    /// Its name.
    pub asker: String,
    /// The component that answers: its place in the machine.
    pub target: usize,
    /// Its own path in the kernel.
    pub path: String,
    /// The load: it counts operations.
    pub id: ComponentId,
    /// The DMA requester that it commands, if it does.
    pub requester: Option<ComponentId>,
    /// The name of what answers it: a card, a disk, or the driver of one.
    pub asked: String,
    /// The PCIe port of the device, if it has one.
    pub endpoint: Option<EndpointId>,
    /// The driver and the drive, if it is an NVMe drive.
    pub nvme: Option<NvmeLoad>,
    /// Behind the first, the paths to a drive that has several, in the order of its ports.
    pub further: Vec<NvmePath>,
    /// Which port of the drive the first path leads to.
    pub port: u16,
}

/// Where the outside can ask what a load could: messages that arrive through the entry are answered at the exit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opening {
    /// Who asks whom: for DMA ([`lanetwin_ports::Message::Dma`]) if a card asks, for blocks
    /// ([`lanetwin_ports::Message::Block`]) if a host does.
    pub pair: Pair,
    /// The way in.
    pub entry: EntryId,
    /// The way out.
    pub exit: ExitId,
    /// What requests can be called: answers find their way back by these names.
    pub handles: Handles,
}

/// A further path to a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NvmePath {
    /// Its driver.
    pub driver: ComponentId,
    /// The place on the links of the port of the drive that it leads to.
    pub endpoint: EndpointId,
    /// The number of that port.
    pub port: u16,
}

/// What stands between a load and an NVMe medium.
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
    /// What it is in the kernel.
    pub host: ComponentId,
    /// Its name.
    pub name: String,
    /// The names of its nodes, in the order of their numbers.
    pub nodes: Vec<String>,
    /// Which of its programs is the one whose latency is told.
    pub told: u32,
}

/// A CXL link in a world.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorldCxl {
    /// Its name.
    pub link: String,
    /// What is at its ends: nearer to the host, farther away.
    pub ends: [String; 2],
    /// What it is in the kernel.
    pub id: ComponentId,
}

/// An action in a world.
#[derive(Clone, PartialEq, Debug)]
pub struct WorldAction {
    /// As it was planned.
    pub plan: ActionPlan,
    /// The driver that asks.
    pub driver: ComponentId,
    /// Its number there.
    pub(super) number: usize,
}

impl World {
    /// Decides TLP by TLP and frame by frame from now on, or in trains. It changes no result.
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

    /// Writes down TLPs on the links from now on: the first `most` of them, by the time of their start.
    ///
    /// # Panics
    /// If time has passed: the TLPs before would be missing.
    pub fn capture_tlps(&mut self, most: usize) {
        assert_eq!(self.kernel.now(), Instant::ZERO, "what is captured begins with the run");
        self.capture = Some(Capture::begin(self.links(), most));
    }

    /// What has been captured so far, if anything is.
    #[must_use]
    pub fn captured(&self) -> Option<Captured> {
        self.capture.as_ref().map(Capture::so_far)
    }

    /// What an NVMe drive tells of itself now, as its Telemetry logs have it; none of another device.
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
