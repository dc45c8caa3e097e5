#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lanetwin_promises::flits::holds(bytes));
