//! Reading flits: any bytes are a flit or an error, never a panic; what was read is what its own encoding reads as.

use lanetwin_cxl::spec::Direction;
use lanetwin_cxl::spec::crc::crc;
use lanetwin_cxl::spec::flit::{Decoder, FlitBytes, ProtocolId};

crate::input::promise!(|input: (bool, bool, &[u8])| {
    let (m2s, mend, bytes) = input;
    let direction = if m2s { Direction::M2s } else { Direction::S2m };
    let mut receiver = Decoder::new(direction);
    for flit in bytes.as_chunks::<68>().0 {
        let mut flit: FlitBytes = *flit;
        if mend {
            // A right protocol ID and a right CRC, so that the rest is looked at.
            flit[..2].copy_from_slice(&ProtocolId::CACHEMEM.0.to_le_bytes());
            let mut slots = [0; 64];
            slots.copy_from_slice(&flit[2..66]);
            flit[66..].copy_from_slice(&crc(&slots).to_le_bytes());
        }
        let mut again = receiver;
        if let Ok(read) = receiver.decode(&flit) {
            let written = read.encode(direction).expect("a flit that was read can be written");
            assert_eq!(again.decode(&written), Ok(read));
            assert_eq!(again, receiver);
        }
    }
});
