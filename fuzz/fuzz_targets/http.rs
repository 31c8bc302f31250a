#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tcplab_foreign::show("http", bytes));
