//! Reading packets: any bytes are a packet or an error, never a panic; what was read is what its own encoding reads as.

use lanetwin_pcie::spec::{Dllp, TlpHeader};

crate::input::promise!(|bytes: &[u8]| {
    if let Ok((header, length)) = TlpHeader::decode(bytes) {
        let again = header.encode().expect("a header that was read can be written");
        assert_eq!(TlpHeader::decode(again.as_slice()), Ok((header, length)));
    }
    if let Some(Ok(dllp)) = bytes.first_chunk().map(|&content| Dllp::decode(content)) {
        let again = dllp.encode().expect("a DLLP that was read can be written");
        assert_eq!(Dllp::decode(again), Ok(dllp));
    }
});
