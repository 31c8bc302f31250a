//! The assertions of `%{ … }%`: the small part of Python that scripts use.
//!
//! Statements (`assert`, assignments, `print`, `import`, which is ignored), comparisons also in
//! chains, arithmetic, bit operations, `and`, `or`, `not`, parentheses, numbers and strings, of
//! which only `%` formatting is done. Names that nothing was assigned to are constants or fields of
//! `tcp_info`, for which the evaluator asks. Calls of other functions stop the program.

mod eval;
mod parse;

pub use eval::{Names, Stopped, Trouble, Value};

/// Statements, read once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// Each with its place, in bytes of the program.
    statements: Vec<(usize, Statement)>,
}

/// Why a program cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// In bytes of the program.
    pub(crate) at: usize,
    pub(crate) what: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Statement {
    Assert {
        /// As written, for the message.
        text: String,
        condition: Term,
        message: Option<Term>,
    },
    /// `name = value`, or with an operator `name += value`.
    Assign {
        name: String,
        operator: Option<Operator>,
        value: Term,
    },
    Print(Vec<Term>),
    /// A call of another function, as written up to its parenthesis.
    Call(String),
    /// `import`: what is imported can only be called.
    Ignored,
}

#[derive(Debug, Clone, PartialEq)]
enum Term {
    Value(Value),
    Name(String),
    Not(Box<Term>),
    Negative(Box<Term>),
    Inverted(Box<Term>),
    /// The first and what follows, left to right.
    Chain(Box<Term>, Vec<(Operator, Term)>),
    /// `a < b <= c`: all hold.
    Compare(Box<Term>, Vec<(Comparison, Term)>),
    And(Vec<Term>),
    Or(Vec<Term>),
    Tuple(Vec<Term>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    DivideDown,
    Modulo,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[cfg(test)]
mod tests;
