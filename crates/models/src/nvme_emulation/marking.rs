//! The stages of a command within a DPU.

use crate::nvme_front::known;

lanetwin_kernel::stages! {
    after known::FRONT_STAGES;
    POLL = "poll of the DPU",
    CORE = "queue for a core of the DPU",
    COMMAND = "command in the DPU",
    DATA = "data in the DPU",
    COMPLETE = "completion in the DPU",
    DMA_QUEUE = "queue for DMA between DPU and host",
    DMA = "DMA between DPU and host",
}
