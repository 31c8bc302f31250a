//! Text to [`Program`].

use super::{Comparison, Operator, Program, Statement, SyntaxError, Term, Value};

/// Deeper than any assertion nests, and not too deep for the stack.
const DEEPEST: u32 = 48;

impl Program {
    pub(crate) fn parse(text: &str) -> Result<Program, SyntaxError> {
        let mut reader = Reader { text, at: 0, depth: 0, parentheses: 0 };
        let mut statements = Vec::new();
        loop {
            reader.skip_separators();
            if reader.rest().is_empty() {
                return Ok(Program { statements });
            }
            statements.push((reader.at, reader.statement()?));
            reader.blank();
            if !reader.rest().is_empty() && !reader.rest().starts_with(['\n', ';']) {
                return Err(reader.expected("the statement's end"));
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    /// Inside of parentheses a line's end is a blank.
    parentheses: u32,
}

type Read<T> = Result<T, SyntaxError>;

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, what: String) -> SyntaxError {
        SyntaxError { at: self.at, what }
    }

    fn expected(&self, what: &str) -> SyntaxError {
        let found: String =
            self.rest().lines().next().unwrap_or_default().chars().take(20).collect();
        if self.rest().is_empty() {
            return self.error(format!("expected {what}, found the code's end"));
        }
        self.error(format!("expected {what}, found `{}`", found.trim_end()))
    }

    /// Passes blanks, comments and continued lines.
    fn blank(&mut self) {
        loop {
            let rest = self.rest();
            if rest.starts_with([' ', '\t', '\r'])
                || (self.parentheses > 0 && rest.starts_with('\n'))
            {
                self.at += 1;
            } else if rest.starts_with("\\\n") {
                self.at += 2;
            } else if rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                return;
            }
        }
    }

    fn skip_separators(&mut self) {
        loop {
            self.blank();
            if !self.rest().starts_with(['\n', ';']) {
                return;
            }
            self.at += 1;
        }
    }

    /// Passes `sign` if it is next and not the start of a longer one.
    fn accept(&mut self, sign: &str, unless_before: &[char]) -> bool {
        self.blank();
        let behind = self.rest().strip_prefix(sign);
        let there = behind.is_some_and(|behind| !behind.starts_with(unless_before));
        if there {
            self.at += sign.len();
        }
        there
    }

    fn accept_word(&mut self, word: &str) -> bool {
        self.blank();
        let there = self.name() == word;
        if there {
            self.at += word.len();
        }
        there
    }

    /// The name that is next; empty if none is.
    fn name(&self) -> &'a str {
        let rest = self.rest();
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            return "";
        }
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
        &rest[..len.unwrap_or(rest.len())]
    }

    fn statement(&mut self) -> Read<Statement> {
        let name = self.name();
        if name == "import" || name == "from" {
            self.at += self.rest().find(['\n', ';']).unwrap_or(self.rest().len());
            return Ok(Statement::Ignored);
        }
        if self.accept_word("assert") {
            return self.assert();
        }
        let start = self.at;
        self.at += name.len();
        self.blank();
        if name.is_empty() {
            return Err(self.expected("`assert`, an assignment or `print`"));
        }
        if name == "print" {
            return self.print();
        }
        if self.rest().starts_with('(') {
            self.skip_call()?;
            return Ok(Statement::Call(name.into()));
        }
        for (sign, operator) in [
            ("+=", Operator::Add),
            ("-=", Operator::Subtract),
            ("*=", Operator::Multiply),
            ("//=", Operator::DivideDown),
            ("/=", Operator::Divide),
            ("|=", Operator::BitOr),
            ("&=", Operator::BitAnd),
        ] {
            if self.accept(sign, &[]) {
                let value = self.term()?;
                return Ok(Statement::Assign {
                    name: name.into(),
                    operator: Some(operator),
                    value,
                });
            }
        }
        if self.accept("=", &['=']) {
            return Ok(Statement::Assign {
                name: name.into(),
                operator: None,
                value: self.term()?,
            });
        }
        self.at = start;
        Err(self.expected("`assert`, an assignment or `print`"))
    }

    fn assert(&mut self) -> Read<Statement> {
        self.blank();
        let start = self.at;
        let condition = self.term()?;
        let text = self.text[start..self.at].trim().to_owned();
        let message = if self.accept(",", &[]) { Some(self.term()?) } else { None };
        Ok(Statement::Assert { text, condition, message })
    }

    /// What is printed: `(a, b)`, or as Python 2 writes it `a, b`.
    fn print(&mut self) -> Read<Statement> {
        let in_parentheses = self.accept("(", &[]);
        self.parentheses += u32::from(in_parentheses);
        let is_over = |reader: &mut Self| {
            reader.blank();
            reader.rest().is_empty() || reader.rest().starts_with(['\n', ';', ')'])
        };
        let mut terms = Vec::new();
        while !is_over(self) {
            terms.push(self.term()?);
            if !self.accept(",", &[]) {
                break;
            }
        }
        if in_parentheses && !self.accept(")", &[]) {
            return Err(self.expected("`,` or `)`"));
        }
        self.parentheses -= u32::from(in_parentheses);
        Ok(Statement::Print(terms))
    }

    /// The arguments of a call.
    fn skip_call(&mut self) -> Read<()> {
        let mut open = 0_u32;
        let mut quote = None;
        for (index, c) in self.rest().char_indices() {
            match (quote, c) {
                (Some(end), c) if c == end => quote = None,
                (None, '"' | '\'') => quote = Some(c),
                (None, '(') => open += 1,
                (None, ')') => open = open.saturating_sub(1),
                (None, '\n' | ';') if open == 0 => {
                    self.at += index;
                    return Ok(());
                }
                _ => {}
            }
        }
        if open > 0 || quote.is_some() {
            return Err(self.error("unterminated call: add `)`".into()));
        }
        self.at = self.text.len();
        Ok(())
    }

    /// `a or b`, the weakest of operators.
    fn term(&mut self) -> Read<Term> {
        if self.depth >= DEEPEST {
            return Err(self.error("this is nested too deeply".into()));
        }
        self.depth += 1;
        let term = self.any("or", Term::Or, |r| r.any("and", Term::And, Reader::negation));
        self.depth -= 1;
        term
    }

    fn any(
        &mut self,
        word: &str,
        join: impl Fn(Vec<Term>) -> Term,
        mut part: impl FnMut(&mut Self) -> Read<Term>,
    ) -> Read<Term> {
        let mut parts = vec![part(self)?];
        while self.accept_word(word) {
            parts.push(part(self)?);
        }
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { join(parts) })
    }

    fn negation(&mut self) -> Read<Term> {
        let mut negations = 0_u32;
        while self.accept_word("not") {
            negations += 1;
        }
        let term = self.comparison()?;
        // An even number of negations still makes a truth value of a number.
        Ok(match negations {
            0 => term,
            n if n % 2 == 1 => Term::Not(Box::new(term)),
            _ => Term::Not(Box::new(Term::Not(Box::new(term)))),
        })
    }

    fn comparison(&mut self) -> Read<Term> {
        let first = self.chain(0)?;
        let mut rest = Vec::new();
        'links: loop {
            for (sign, comparison) in [
                ("==", Comparison::Equal),
                ("!=", Comparison::Unequal),
                ("<=", Comparison::LessOrEqual),
                (">=", Comparison::GreaterOrEqual),
                ("<", Comparison::Less),
                (">", Comparison::Greater),
            ] {
                if self.accept(sign, &['<', '>']) {
                    rest.push((comparison, self.chain(0)?));
                    continue 'links;
                }
            }
            break;
        }
        Ok(if rest.is_empty() { first } else { Term::Compare(Box::new(first), rest) })
    }

    /// Operators of the `level`-th strength and all that bind closer.
    fn chain(&mut self, level: usize) -> Read<Term> {
        const LEVELS: [&[(&str, &[char], Operator)]; 6] = [
            &[("|", &['='], Operator::BitOr)],
            &[("^", &['='], Operator::BitXor)],
            &[("&", &['='], Operator::BitAnd)],
            &[("<<", &['='], Operator::ShiftLeft), (">>", &['='], Operator::ShiftRight)],
            &[("+", &['='], Operator::Add), ("-", &['='], Operator::Subtract)],
            &[
                ("*", &['=', '*'], Operator::Multiply),
                ("//", &['='], Operator::DivideDown),
                ("/", &['='], Operator::Divide),
                ("%", &['='], Operator::Modulo),
            ],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.sign() };
        let first = self.chain(level + 1)?;
        let mut rest = Vec::new();
        while let Some((.., operator)) = operators.iter().find(|(s, not, _)| self.accept(s, not)) {
            rest.push((*operator, self.chain(level + 1)?));
        }
        Ok(if rest.is_empty() { first } else { Term::Chain(Box::new(first), rest) })
    }

    fn sign(&mut self) -> Read<Term> {
        if self.accept("+", &[]) {
            return self.operand();
        }
        if self.accept("-", &[]) {
            return Ok(Term::Negative(Box::new(self.operand()?)));
        }
        if self.accept("~", &[]) {
            return Ok(Term::Inverted(Box::new(self.operand()?)));
        }
        self.operand()
    }

    fn operand(&mut self) -> Read<Term> {
        self.blank();
        match self.rest().chars().next() {
            Some('(') => self.parenthesised(),
            Some(quote @ ('"' | '\'')) => self.string(quote),
            Some(c) if c.is_ascii_digit() => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.name();
                self.at += name.len();
                Ok(match name {
                    "True" => Term::Value(Value::Integer(1)),
                    "False" => Term::Value(Value::Integer(0)),
                    _ => Term::Name(name.to_owned()),
                })
            }
            _ => Err(self.expected("a value")),
        }
    }

    fn parenthesised(&mut self) -> Read<Term> {
        self.at += 1;
        self.parentheses += 1;
        let mut parts = vec![self.term()?];
        let mut is_tuple = false;
        while self.accept(",", &[]) {
            is_tuple = true;
            self.blank();
            if self.rest().starts_with(')') {
                break;
            }
            parts.push(self.term()?);
        }
        self.parentheses -= 1;
        self.blank();
        if !self.rest().starts_with(')') {
            return Err(self.expected("`)`"));
        }
        self.at += 1;
        Ok(if is_tuple { Term::Tuple(parts) } else { parts.swap_remove(0) })
    }

    fn string(&mut self, quote: char) -> Read<Term> {
        let body = &self.rest()[1..];
        let Some(len) = body.find([quote, '\n']).filter(|at| body[*at..].starts_with(quote)) else {
            return Err(self.error(format!("unterminated string: add `{quote}`")));
        };
        self.at += len + 2;
        Ok(Term::Value(Value::Text(body[..len].to_owned())))
    }

    fn number(&mut self) -> Read<Term> {
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
        let text = &rest[..len];
        let whole = match text.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        };
        let real = || text.parse().ok().filter(|real: &f64| real.is_finite()).map(Value::Real);
        let value = whole.map(Value::Integer).or_else(real);
        let value = value.ok_or_else(|| self.error(format!("`{text}` is not a number")))?;
        self.at += len;
        Ok(Term::Value(value))
    }
}
