//! Numbers, times and what the standard library puts them into.

use std::collections::{BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};

use tcplab_units::{Bytes, Endpoint, Instant, Offset, Rate, Span};
use tcplab_wire::{ChecksumState, SackBlock, SackBlocks, SeqNumber, SeqUnwrapper, TcpFlags};

use super::{Fold, Folder, Unfolder, folded, unzigzag, zigzag};

/// The bytes that a tree takes for each entry, beside the entry: half of a node may be empty.
const IN_TREE: usize = 16;

/// A type by the number that it is.
macro_rules! numbers {
    ($($type:ty: $to:expr, $from:expr;)*) => {$(
        impl Fold for $type {
            #[inline]
            fn fold(&self, to: &mut Folder) {
                let number: fn($type) -> u64 = $to;
                to.number(number(*self));
            }
            #[inline]
            fn unfold(from: &mut Unfolder<'_>) -> $type {
                let value: fn(u64) -> $type = $from;
                value(from.number())
            }
            fn heap(&self) -> usize {
                0
            }
        }
    )*};
}

numbers! {
    u16: u64::from, |n| n as u16;
    u32: u64::from, |n| n as u32;
    usize: |n| n as u64, |n| n as usize;
    i64: zigzag, unzigzag;
    bool: u64::from, |n| n != 0;
    Span: Span::as_nanos, Span::from_nanos;
    Bytes: Bytes::as_u64, Bytes::new;
    Offset: Offset::as_u64, Offset::new;
    Rate: Rate::bits_per_second, Rate::from_bits_per_second;
    SeqNumber: |seq| seq.as_u32().into(), |n| SeqNumber::new(n as u32);
    TcpFlags: |flags| flags.bits().into(), |n| TcpFlags::from_bits(n as u16);
}

/// Numbers of which there are long lists, mostly of zeros.
macro_rules! listed_numbers {
    ($($type:ty)*) => {$(
        impl Fold for $type {
            #[inline]
            fn fold(&self, to: &mut Folder) {
                to.number((*self).into());
            }
            #[inline]
            fn unfold(from: &mut Unfolder<'_>) -> $type {
                from.number() as $type
            }
            fn heap(&self) -> usize {
                0
            }
            fn fold_list(mut list: &[$type], to: &mut Folder) {
                while let Some(zeros) = list.iter().position(|&number| number != 0) {
                    to.zeros(zeros as u64);
                    to.number(list[zeros].into());
                    list = &list[zeros + 1..];
                }
                to.zeros(list.len() as u64);
            }
            fn unfold_list(count: usize, from: &mut Unfolder<'_>) -> Vec<$type> {
                let mut list = Vec::with_capacity(count);
                while list.len() < count {
                    let zeros = from.zeros((count - list.len()) as u64);
                    list.resize(list.len() + zeros as usize, 0);
                    if list.len() < count {
                        list.push(Fold::unfold(from));
                    }
                }
                list
            }
        }
    )*};
}

listed_numbers! { u8 u64 }

folded! { enum Endpoint { Client, Server } }
folded! { enum ChecksumState { Right, Partial, Wrong, Unknown } }
folded! { SackBlock { left, right } }

impl Fold for Instant {
    #[inline]
    fn fold(&self, to: &mut Folder) {
        to.time((*self != Instant::ZERO).then_some(*self));
    }
    #[inline]
    fn unfold(from: &mut Unfolder<'_>) -> Instant {
        from.time().unwrap_or(Instant::ZERO)
    }
    fn fold_option(time: Option<&Instant>, to: &mut Folder) {
        to.time(time.copied());
    }
    fn unfold_option(from: &mut Unfolder<'_>) -> Option<Instant> {
        from.time()
    }
    fn heap(&self) -> usize {
        0
    }
}

impl Fold for u128 {
    fn fold(&self, to: &mut Folder) {
        to.number(*self as u64);
        to.number((*self >> 64) as u64);
    }
    fn unfold(from: &mut Unfolder<'_>) -> u128 {
        let low = from.number();
        u128::from(low) | u128::from(from.number()) << 64
    }
    fn heap(&self) -> usize {
        0
    }
}

impl Fold for SeqUnwrapper {
    fn fold(&self, to: &mut Folder) {
        self.initial().fold(to);
        self.reference().fold(to);
    }
    fn unfold(from: &mut Unfolder<'_>) -> SeqUnwrapper {
        SeqUnwrapper::new(Fold::unfold(from)).resumed_at(Fold::unfold(from))
    }
    fn heap(&self) -> usize {
        0
    }
}

impl Fold for SackBlocks {
    fn fold(&self, to: &mut Folder) {
        to.number(self.len() as u64);
        for block in self {
            block.fold(to);
        }
    }
    fn unfold(from: &mut Unfolder<'_>) -> SackBlocks {
        (0..from.number()).map(|_| SackBlock::unfold(from)).collect()
    }
    fn heap(&self) -> usize {
        0
    }
}

impl Fold for SocketAddr {
    fn fold(&self, to: &mut Folder) {
        match self.ip() {
            IpAddr::V4(ip) => (false, u128::from(ip.to_bits())),
            IpAddr::V6(ip) => (true, ip.to_bits()),
        }
        .fold(to);
        self.port().fold(to);
    }
    fn unfold(from: &mut Unfolder<'_>) -> SocketAddr {
        let (is_v6, bits) = <(bool, u128)>::unfold(from);
        let ip = if is_v6 { IpAddr::V6(bits.into()) } else { IpAddr::V4((bits as u32).into()) };
        SocketAddr::new(ip, Fold::unfold(from))
    }
    fn heap(&self) -> usize {
        0
    }
}

impl Fold for String {
    fn fold(&self, to: &mut Folder) {
        to.number(self.len() as u64);
        u8::fold_list(self.as_bytes(), to);
    }
    fn unfold(from: &mut Unfolder<'_>) -> String {
        String::from_utf8(Fold::unfold(from)).expect("a text was folded")
    }
    fn heap(&self) -> usize {
        self.capacity()
    }
}

impl<T: Fold> Fold for Option<T> {
    #[inline]
    fn fold(&self, to: &mut Folder) {
        T::fold_option(self.as_ref(), to);
    }
    #[inline]
    fn unfold(from: &mut Unfolder<'_>) -> Option<T> {
        T::unfold_option(from)
    }
    fn heap(&self) -> usize {
        self.as_ref().map_or(0, T::heap)
    }
}

impl<T: Fold> Fold for Box<T> {
    fn fold(&self, to: &mut Folder) {
        (**self).fold(to);
    }
    fn unfold(from: &mut Unfolder<'_>) -> Box<T> {
        Box::new(T::unfold(from))
    }
    fn fold_option(value: Option<&Box<T>>, to: &mut Folder) {
        T::fold_option(value.map(|it| &**it), to);
    }
    fn unfold_option(from: &mut Unfolder<'_>) -> Option<Box<T>> {
        T::unfold_option(from).map(Box::new)
    }
    fn heap(&self) -> usize {
        size_of::<T>() + (**self).heap()
    }
}

impl<T: Fold, const N: usize> Fold for [T; N] {
    fn fold(&self, to: &mut Folder) {
        T::fold_list(self, to);
    }
    fn unfold(from: &mut Unfolder<'_>) -> [T; N] {
        std::array::from_fn(|_| T::unfold(from))
    }
    fn heap(&self) -> usize {
        self.iter().map(T::heap).sum()
    }
}

impl<T: Fold> Fold for Vec<T> {
    fn fold(&self, to: &mut Folder) {
        to.number(self.len() as u64);
        T::fold_list(self, to);
    }
    fn unfold(from: &mut Unfolder<'_>) -> Vec<T> {
        T::unfold_list(from.number() as usize, from)
    }
    fn heap(&self) -> usize {
        self.capacity() * size_of::<T>() + self.iter().map(T::heap).sum::<usize>()
    }
}

/// Other lists, and the bytes allocated for a list beside those of its values.
macro_rules! lists {
    ($($list:ty, $T:ident $(: $bound:ident)?, $own:expr;)*) => {$(
        impl<$T: Fold $(+ $bound)?> Fold for $list {
            fn fold(&self, to: &mut Folder) {
                to.number(self.len() as u64);
                for value in self {
                    value.fold(to);
                }
            }
            fn unfold(from: &mut Unfolder<'_>) -> $list {
                (0..from.number()).map(|_| $T::unfold(from)).collect()
            }
            fn heap(&self) -> usize {
                let own: fn(&$list) -> usize = $own;
                own(self) + self.iter().map($T::heap).sum::<usize>()
            }
        }
    )*};
}

lists! {
    VecDeque<T>, T, |list| list.capacity() * size_of::<T>();
    BTreeSet<T>, T: Ord, |list| list.len() * (IN_TREE + size_of::<T>());
}

/// Tuples.
macro_rules! tuples {
    ($($($T:ident)+;)*) => {$(
        impl<$($T: Fold),+> Fold for ($($T,)+) {
            #[inline]
            fn fold(&self, to: &mut Folder) {
                #[expect(non_snake_case, reason = "a value is called as its type is")]
                let ($($T,)+) = self;
                $($T.fold(to);)+
            }
            #[inline]
            fn unfold(from: &mut Unfolder<'_>) -> ($($T,)+) {
                ($($T::unfold(from),)+)
            }
            fn heap(&self) -> usize {
                #[expect(non_snake_case, reason = "a value is called as its type is")]
                let ($($T,)+) = self;
                0 $(+ $T.heap())+
            }
        }
    )*};
}

tuples! {
    A B;
    A B C;
}
