//! Stages that a host marks for lines requested from memory.
//!
//! ```text
//!  translation ─ to the other socket ─┬─ DRAM … ───────────────────────────────────────── uncore ─┬─ from the other socket
//!                                     └─ queue for the port's tracker ─ uncore ─ CXL logic ═ link ═┘
//! ```

use crate::marks;

lanetwin_kernel::stages! {
    after marks::STAGES;
    TRANSLATION = "translation",
    TO_SOCKET = "to the other socket",
    PORT_QUEUE = "queue for the port's tracker",
    UNCORE = "uncore",
    CXL_LOGIC = "CXL logic",
    FROM_SOCKET = "from the other socket",
    UNDER_WAY = "line under way",
    CACHED = "found in caches",
}
