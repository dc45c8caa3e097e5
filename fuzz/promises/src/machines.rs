//! What programs write about a machine, each in its own format: any bytes are answered, and the record of what was
//! read is read again as the same machine with the same findings.

use lanetwin_probe::inventory::{Inventory, diagnose, read, record};

crate::input::promise!(|bytes: &[u8]| {
    let Ok(snapshot) = read(bytes) else { return };
    let inventory = Inventory::of(&snapshot);
    let written = record(&snapshot);
    let again = read(written.as_bytes()).expect("a record is read");
    assert_eq!(Inventory::of(&again), inventory);
    assert_eq!(diagnose(&Inventory::of(&again)), diagnose(&inventory));
    assert_eq!(record(&again), written, "a record is a record of itself");
});
