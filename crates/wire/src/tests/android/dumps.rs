//! The bytes, as printed.

use crate::tests::hex;

/// Test 1b, packet 4: the keep-alive.
pub(in crate::tests) const KEEP_ALIVE: [u8; 66] =
    hex("001a73f6f36e6cb7f471141508004500003438e5400040067fbfc0a8006ac0a80065a199226b2e4664289b5e\
     ec7e801000e5ec5100000101080a02a260000852be21");

/// Test 2a, packet 404: the FIN of a close without SO_LINGER.
pub(in crate::tests) const FIN_WITHOUT_LINGER: [u8; 66] =
    hex("001a73f6f36e6cb7f471141508004500003431e84000400686bcc0a8006ac0a80065bb8d226bbff67ddcd9f6\
     0831801100e5d45d00000101080a025286ec073190f6");

/// Test 2a, packet 405: the server's answer.
pub(in crate::tests) const ACK_WITHOUT_LINGER: [u8; 66] =
    hex("6cb7f4711415001a73f6f36e080045000034761e400040064286c0a80065c0a8006a226bbb8dd9f60831bff6\
     7ddd8010014b824600000101080a07319124025286ec");

/// Test 2b, packet 740: the FIN with SO_LINGER of 5 s.
pub(in crate::tests) const FIN_WITH_LINGER: [u8; 66] =
    hex("001a73f6f36e6cb7f47114150800450000347d32400040063b72c0a8006ac0a80065cb29226b63d05bdf95a3\
     743b801100e5aa4500000101080a0252ef14073399b4");

/// Test 2b, packet 741: the server's answer.
pub(in crate::tests) const ACK_WITH_LINGER: [u8; 66] =
    hex("6cb7f4711415001a73f6f36e0800450000341fa1400040069903c0a80065c0a8006a226bcb2995a3743b63d0\
     5be08010014b824600000101080a073399ea0252ef14");

/// Test 2c: the RST with SO_LINGER of 0 s.
pub(in crate::tests) const RESET: [u8; 54] =
    hex("001a73f6f36e6cb7f4711415080045000028000040004006b8b0c0a8006ac0a80065dee7226b7f0e59420000\
     000050040000541d0000");

/// Test 3: the urgent byte.
pub(in crate::tests) const URGENT: [u8; 67] =
    hex("001a73f6f36e6cb7f4711415080045000035d8a140004006e001c0a8006ac0a8006593fe226bcfe468995b84\
     f43c803800e58fea00010101080a025bbbc6075f5e7a01");

/// Test 4a: the client's SYN, buffers of 1024 B.
pub(in crate::tests) const SYN_1024: [u8; 74] =
    hex("001a73f6f36e00265acafa1708004500003cdb9240003f0611d2185674f4c0a80065c73c226be7f583e50000\
     0000a002390810440000020405b40402080a026358770000000001030306");

/// Test 4b: the server's SYN-ACK, buffers of 4096 B.
pub(in crate::tests) const SYN_ACK_4096: [u8; 74] =
    hex("00265acafa17001a73f6f36e08004500003c000040004006ec64c0a80065185674f4226bcb1f14b490e5bdf2\
     34b5a0120b504e860000020405b40402080a07f4f0d802799a2501030300");

/// Test 4c, packet 39: the server's window, buffers of 65536 B.
pub(in crate::tests) const GROWN_65536: [u8; 66] =
    hex("00265acafa17001a73f6f36e080045000034936f4000400658fdc0a80065185674f4226bea983bb52c87f4e9\
     b22880107d2c4e7e00000101080a07ebc4350277c46a");

/// Test 4h, packet 92: the client's window, buffers of 65536 B, download.
pub(in crate::tests) const DOWNLOAD_65536: [u8; 66] =
    hex("001a73f6f36e00265acafa17080045000034e03a40003f060d32185674f4c0a80065ca07226b59b54978766c\
     9c4080100600ed5f00000101080a039cab4c0a33d99c");

/// Test 4i, packet 31: the client's window, buffers of 1024 B, download.
pub(in crate::tests) const DOWNLOAD_1024: [u8; 66] =
    hex("001a73f6f36e00265acafa17080045000034bbaa40003f0631c2185674f4c0a800659d34226bd5230a128a53\
     194e8010001b1de500000101080a03a1b42b0a4d05d5");
