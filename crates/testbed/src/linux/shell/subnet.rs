//! Which addresses the shells take, so that shells inside shells find one another.

use std::net::Ipv4Addr;

/// The first two bytes of all addresses.
const NETWORK: [u8; 2] = [10, 98];

/// A row of /24 networks that belongs to one shell and to those inside it: `10.98.N.0` and the
/// next ones, as many as the lowest set bit of N says (all 256 for 0).
///
/// So every block is one prefix, and one route in the namespace that a shell joins leads to it and
/// to all shells inside it. The first shell that joins gets the upper half of what its host has,
/// the second a quarter, and so on: eight shells in a row, or eight beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    first: u8,
}

impl Block {
    /// All of them: that of a shell which joins nothing.
    pub(crate) const WHOLE: Block = Block { first: 0 };

    /// Whether an address is one of a shell.
    pub(crate) fn has(address: Ipv4Addr) -> bool {
        address.octets()[..2] == NETWORK
    }

    /// That of the shell whose near end has this address.
    pub(crate) fn of(near: Ipv4Addr) -> Option<Block> {
        match near.octets() {
            [a, b, first, 1] if [a, b] == NETWORK => Some(Block { first }),
            _ => None,
        }
    }

    /// Those that it can give away, the largest first.
    pub(crate) fn parts(self) -> impl Iterator<Item = Block> {
        // Of its own networks it uses the first.
        (0..8)
            .rev()
            .map(|bit| 1_u8 << bit)
            .filter(move |bit| u16::from(*bit) < self.len())
            .map(move |bit| Block { first: self.first | bit })
    }

    /// A number of its own.
    pub(crate) fn number(self) -> u8 {
        self.first
    }

    /// The addresses of the near and the far end.
    pub(crate) fn ends(self) -> [Ipv4Addr; 2] {
        let [a, b] = NETWORK;
        [1, 2].map(|host| Ipv4Addr::new(a, b, self.first, host))
    }

    /// The network that its ends are in: its address, and the length of the prefix.
    pub(crate) fn network(self) -> (Ipv4Addr, u8) {
        (self.prefix().0, 24)
    }

    /// All its networks: the first address, and the length of the prefix.
    pub(crate) fn prefix(self) -> (Ipv4Addr, u8) {
        let [a, b] = NETWORK;
        (Ipv4Addr::new(a, b, self.first, 0), 24 - self.len().trailing_zeros() as u8)
    }

    fn len(self) -> u16 {
        if self.first == 0 { 256 } else { 1 << self.first.trailing_zeros() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_halved_and_never_overlap() {
        let numbers = |block: Block| block.parts().map(Block::number).collect::<Vec<_>>();
        assert_eq!(numbers(Block::WHOLE), [128, 64, 32, 16, 8, 4, 2, 1]);
        assert_eq!(numbers(Block { first: 128 }), [192, 160, 144, 136, 132, 130, 129]);
        assert_eq!(numbers(Block { first: 64 }), [96, 80, 72, 68, 66, 65]);
        assert!(numbers(Block { first: 255 }).is_empty());
        let mut seen = vec![0];
        let mut open = vec![Block::WHOLE];
        while let Some(block) = open.pop() {
            let inside = u16::from(block.first)..u16::from(block.first) + block.len();
            for part in block.parts() {
                let end = u16::from(part.first) + part.len();
                assert!(inside.contains(&u16::from(part.first)) && end <= inside.end);
                seen.push(part.first);
                open.push(part);
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..=255).collect::<Vec<u8>>(), "each network is that of one shell");
    }

    #[test]
    fn addresses_and_prefixes() {
        let block = Block::of(Ipv4Addr::new(10, 98, 192, 1)).unwrap();
        assert_eq!(block.prefix(), (Ipv4Addr::new(10, 98, 192, 0), 18));
        assert_eq!(block.ends()[1], Ipv4Addr::new(10, 98, 192, 2));
        assert_eq!(Block::WHOLE.prefix(), (Ipv4Addr::new(10, 98, 0, 0), 16));
        assert_eq!(Block { first: 129 }.prefix().1, 24);
        assert_eq!(Block::of(Ipv4Addr::new(10, 99, 0, 1)), None);
        assert_eq!(Block::of(Ipv4Addr::new(10, 98, 0, 2)), None);
    }
}
