//! The model beside its kernel, on the same seeds, packet by packet.

use tcplab_quantities::FIDELITY_DOCUMENT;
use tcplab_results::fidelity::Fidelity;

use crate::home::Home;
use crate::image::Images;
use crate::schema::check;

const LINE: &str = "fidelity --random 8 --seed 3 --against linux-6.12 --runs out";

#[test]
fn model_and_kernel_are_compared_packet_by_packet() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    let text = images.run(&home, LINE).answer("fidelity");
    let found: Fidelity = serde_json::from_slice(&home.bytes("out/fidelity.json")).unwrap();
    let document = serde_json::from_slice(&home.bytes("out/fidelity.json")).unwrap();
    check(&FIDELITY_DOCUMENT, &document, "fidelity");
    assert!(found.kernel.as_deref().unwrap().starts_with("linux-6.12 (6.12."), "{found:?}");
    assert_eq!((found.cases.len(), found.goals.len()), (8, 3));
    // Of the kernel's own time, the model's is within 1 % in more than half of the cases, and some
    // trials are the same in every data segment: the kernel judges.
    let time = found.overall("transfer_time").unwrap();
    assert!(time.median.unwrap() < 0.01, "{time:?}");
    let parted: usize = found.cases.iter().map(|case| case.partings.len()).sum();
    assert!(parted < 8, "{text}");
    let same = format!("{} of 8 trials are the same in every data segment", 8 - parted);
    assert!(text.contains(&same), "{text}");
    assert!(home.text("out/fidelity.html").contains("Packet by packet"), "{text}");

    // The kernel's trials are there already.
    let again = images.run(&home, LINE);
    assert!(again.stderr.contains("exists"), "{}", again.stderr);
    let repeated: Fidelity = serde_json::from_slice(&home.bytes("out/fidelity.json")).unwrap();
    assert_eq!(repeated.cases, found.cases);
}

#[test]
fn comparison_needs_a_kernel_and_its_model() {
    let home = Home::new();
    home.refuses(&[
        ("fidelity interruption --against 6.12", "use linux-NAME, such as linux-7.2"),
        ("fidelity interruption --against linux-mine", "there is no model of linux-mine"),
        ("fidelity", "SCENARIO"),
    ]);
}
