//! What a [`Program`] says of a connection.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use super::{Comparison, Operator, Program, Statement, Term};
use crate::constants::constant;

/// What an expression is worth.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number, also of truth.
    Integer(i64),
    /// The result of a division.
    Real(f64),
    /// A string.
    Text(String),
    /// Several in parentheses.
    Tuple(Vec<Value>),
}

/// What was assigned to names; kept from one piece of code to the next of the same script.
#[derive(Debug, Clone, Default)]
pub struct Names {
    assigned: BTreeMap<String, Value>,
}

/// Why a piece of code did not run through.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// An assertion does not hold: what was compared, with numbers.
    #[error("{assertion} does not hold: {found}{}", .message.as_ref().map(|m| format!(" ({m})")).unwrap_or_default())]
    Broken {
        /// As written.
        assertion: String,
        /// The same with the values found.
        found: String,
        /// What the script says to it.
        message: Option<String>,
    },
    /// This function cannot be called.
    #[error("the function `{0}`")]
    Call(String),
    /// Nothing has this name.
    #[error("`{0}` is not known")]
    UnknownName(String),
    /// The operands are not such that this can be computed.
    #[error("{0}")]
    Impossible(String),
}

/// The statement at which a program stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// Where it begins, in bytes of the program.
    pub at: usize,
    /// What is wrong with it.
    pub trouble: Trouble,
}

impl Program {
    /// Runs all statements; `field` gives the value of a name such as `tcpi_snd_cwnd`, `print`
    /// takes each line that is printed.
    ///
    /// # Errors
    /// The first assertion that does not hold, and what cannot be computed or called.
    pub fn run(
        &self,
        names: &mut Names,
        field: &dyn Fn(&str) -> Option<i64>,
        print: &mut dyn FnMut(String),
    ) -> Result<(), Stopped> {
        self.statements.iter().try_for_each(|(at, statement)| {
            let ran = statement.run(names, field, print);
            ran.map_err(|trouble| Stopped { at: *at, trouble })
        })
    }

    /// The names that are neither assigned before nor constants: what `tcp_info` must have.
    pub fn fields(&self) -> Vec<&str> {
        let mut assigned = Vec::new();
        let mut found = Vec::new();
        for (_, statement) in &self.statements {
            let mut names = Vec::new();
            match statement {
                Statement::Assert { condition, .. } => condition.names(&mut names),
                Statement::Assign { name, value, .. } => {
                    value.names(&mut names);
                    assigned.push(name.as_str());
                }
                Statement::Print(terms) => terms.iter().for_each(|term| term.names(&mut names)),
                Statement::Call(_) | Statement::Ignored => {}
            }
            found.extend(names.into_iter().filter(|name| {
                !assigned.contains(name) && constant(name).is_none() && name.starts_with("tcpi_")
            }));
        }
        found
    }
}

impl Statement {
    fn run(
        &self,
        names: &mut Names,
        field: &dyn Fn(&str) -> Option<i64>,
        print: &mut dyn FnMut(String),
    ) -> Result<(), Trouble> {
        let scope = Scope { names, field };
        match self {
            Statement::Assert { text, condition, message } => {
                if !scope.value(condition)?.is_true() {
                    let message = message.as_ref().and_then(|m| scope.value(m).ok());
                    return Err(Trouble::Broken {
                        assertion: text.clone(),
                        found: scope.shown(condition),
                        message: message.map(|message| message.to_string()),
                    });
                }
            }
            Statement::Assign { name, operator, value } => {
                let mut value = scope.value(value)?;
                if let Some(operator) = operator {
                    value = apply(*operator, scope.named(name)?, value)?;
                }
                names.assigned.insert(name.clone(), value);
            }
            Statement::Print(terms) => {
                let values: Vec<String> = terms
                    .iter()
                    .map(|term| scope.value(term).map(|value| value.to_string()))
                    .collect::<Result<_, _>>()?;
                print(values.join(" "));
            }
            Statement::Call(function) => return Err(Trouble::Call(function.clone())),
            Statement::Ignored => {}
        }
        Ok(())
    }
}

impl Term {
    fn names<'a>(&'a self, found: &mut Vec<&'a str>) {
        match self {
            Term::Value(_) => {}
            Term::Name(name) => found.push(name),
            Term::Not(inner) | Term::Negative(inner) | Term::Inverted(inner) => inner.names(found),
            Term::Chain(first, rest) => {
                first.names(found);
                for (_, term) in rest {
                    term.names(found);
                }
            }
            Term::Compare(first, rest) => {
                first.names(found);
                for (_, term) in rest {
                    term.names(found);
                }
            }
            Term::And(all) | Term::Or(all) | Term::Tuple(all) => {
                for term in all {
                    term.names(found);
                }
            }
        }
    }
}

struct Scope<'a> {
    names: &'a Names,
    field: &'a dyn Fn(&str) -> Option<i64>,
}

impl Scope<'_> {
    fn named(&self, name: &str) -> Result<Value, Trouble> {
        if let Some(value) = self.names.assigned.get(name) {
            return Ok(value.clone());
        }
        let number = constant(name).or_else(|| (self.field)(name));
        number.map(Value::Integer).ok_or_else(|| Trouble::UnknownName(name.to_owned()))
    }

    fn value(&self, term: &Term) -> Result<Value, Trouble> {
        Ok(match term {
            Term::Value(value) => value.clone(),
            Term::Name(name) => self.named(name)?,
            Term::Not(inner) => truth(!self.value(inner)?.is_true()),
            Term::Negative(inner) => {
                apply(Operator::Subtract, Value::Integer(0), self.value(inner)?)?
            }
            Term::Inverted(inner) => {
                apply(Operator::BitXor, Value::Integer(-1), self.value(inner)?)?
            }
            Term::Chain(first, rest) => {
                let mut value = self.value(first)?;
                for (operator, right) in rest {
                    value = apply(*operator, value, self.value(right)?)?;
                }
                value
            }
            Term::Compare(first, rest) => {
                let mut left = self.value(first)?;
                for (comparison, right) in rest {
                    let right = self.value(right)?;
                    if !comparison.holds(&left, &right)? {
                        return Ok(truth(false));
                    }
                    left = right;
                }
                truth(true)
            }
            // Python's: the first that decides is the value.
            Term::And(all) => self.first_that(all, false)?,
            Term::Or(all) => self.first_that(all, true)?,
            Term::Tuple(all) => {
                Value::Tuple(all.iter().map(|term| self.value(term)).collect::<Result<_, _>>()?)
            }
        })
    }

    fn first_that(&self, all: &[Term], decides: bool) -> Result<Value, Trouble> {
        let mut value = truth(!decides);
        for term in all {
            value = self.value(term)?;
            if value.is_true() == decides {
                break;
            }
        }
        Ok(value)
    }

    /// A condition with its values in place of its names: `9 == 10`.
    fn shown(&self, term: &Term) -> String {
        let worth = |term: &Term| {
            self.value(term).map_or_else(|trouble| trouble.to_string(), |value| value.to_string())
        };
        match term {
            Term::Compare(first, rest) => {
                let mut shown = worth(first);
                for (comparison, right) in rest {
                    shown.push_str(&format!(" {} {}", comparison.sign(), worth(right)));
                }
                shown
            }
            Term::And(all) => {
                let broken = all.iter().find(|term| !self.value(term).is_ok_and(|v| v.is_true()));
                broken.map_or_else(|| worth(term), |term| self.shown(term))
            }
            Term::Not(inner) => format!("not {}", self.shown(inner)),
            _ => worth(term),
        }
    }
}

impl Comparison {
    fn holds(self, left: &Value, right: &Value) -> Result<bool, Trouble> {
        match self {
            Comparison::Equal => return Ok(left.order(right) == Some(Ordering::Equal)),
            Comparison::Unequal => return Ok(left.order(right) != Some(Ordering::Equal)),
            _ => {}
        }
        let order = left.order(right).ok_or_else(|| {
            Trouble::Impossible(format!("{left} and {right} have no order between them"))
        })?;
        Ok(match self {
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            _ => order.is_ge(),
        })
    }

    fn sign(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::Unequal => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }
}

impl Value {
    fn is_true(&self) -> bool {
        match self {
            Value::Integer(number) => *number != 0,
            Value::Real(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::Tuple(all) => !all.is_empty(),
        }
    }

    fn order(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(b)),
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (Value::Tuple(a), Value::Tuple(b)) => (a == b).then_some(Ordering::Equal),
            (a, b) => a.real()?.partial_cmp(&b.real()?),
        }
    }

    fn real(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(*number as f64),
            Value::Real(number) => Some(*number),
            Value::Text(_) | Value::Tuple(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(number) => number.fmt(f),
            Value::Real(number) => number.fmt(f),
            Value::Text(text) => text.fmt(f),
            Value::Tuple(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                write!(f, "({})", all.join(", "))
            }
        }
    }
}

fn truth(holds: bool) -> Value {
    Value::Integer(i64::from(holds))
}

fn apply(operator: Operator, left: Value, right: Value) -> Result<Value, Trouble> {
    match (operator, left, right) {
        (Operator::Modulo, Value::Text(format), right) => {
            Ok(Value::Text(formatted(&format, right)))
        }
        (Operator::Divide, left, right) => reals(operator, &left, &right),
        (_, Value::Integer(left), Value::Integer(right)) => integers(operator, left, right),
        (_, left, right) => reals(operator, &left, &right),
    }
}

/// Python's integers are unbounded; ours return an error on overflow.
fn integers(operator: Operator, left: i64, right: i64) -> Result<Value, Trouble> {
    let shift = u32::try_from(right).ok().filter(|shift| *shift < 64);
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        // Towards minus infinity.
        Operator::DivideDown => left
            .checked_div(right)
            .map(|quotient| quotient - i64::from(left % right != 0 && (left < 0) != (right < 0))),
        Operator::Modulo => left
            .checked_rem(right)
            .map(|rest| if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest }),
        Operator::BitAnd => Some(left & right),
        Operator::BitOr => Some(left | right),
        Operator::BitXor => Some(left ^ right),
        Operator::ShiftLeft => shift
            .map(|shift| left << shift)
            .filter(|moved| shift.is_some_and(|s| moved >> s == left)),
        Operator::ShiftRight => shift.map(|shift| left >> shift),
        Operator::Divide => None,
    };
    result.map(Value::Integer).ok_or_else(|| impossible(operator, left, right))
}

fn reals(operator: Operator, left: &Value, right: &Value) -> Result<Value, Trouble> {
    let (Some(a), Some(b)) = (left.real(), right.real()) else {
        return Err(impossible(operator, left, right));
    };
    let result = match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::DivideDown => (a / b).floor(),
        _ => return Err(impossible(operator, left, right)),
    };
    if result.is_finite() {
        Ok(Value::Real(result))
    } else {
        Err(impossible(operator, left, right))
    }
}

fn impossible(operator: Operator, left: impl fmt::Display, right: impl fmt::Display) -> Trouble {
    Trouble::Impossible(format!("cannot compute {operator:?} of {left} and {right}"))
}

/// `'cwnd=%d' % 10`: each conversion takes the next value.
fn formatted(format: &str, values: Value) -> String {
    let mut values = match values {
        Value::Tuple(all) => all.into_iter(),
        one => vec![one].into_iter(),
    };
    let mut text = String::new();
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        match rest.find(|c| c.is_ascii_alphabetic() || *c == '%') {
            Some('%') => text.push('%'),
            Some(_) => text.push_str(&values.next().map(|v| v.to_string()).unwrap_or_default()),
            None => {}
        }
    }
    text
}
