#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tcplab_fuzz_readers::run("index", bytes));
