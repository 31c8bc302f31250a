//! The secret in the link: who has it may use the page.

use std::fs;
#[cfg(unix)]
use std::fs::File;
use std::io;
use std::path::Path;

use tcplab_recording::make_private_directories;

/// Random bytes in a token: nobody guesses 128 bits.
const BYTES: usize = 16;

/// A token as the link has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

impl Token {
    /// The user's token, in this file; a new one where there is none. So a page that is open finds
    /// a server that was started again.
    pub(crate) fn of_user(file: &Path) -> io::Result<Token> {
        if let Ok(text) = fs::read_to_string(file)
            && let Some(token) = Token::parse(text.trim())
        {
            return Ok(token);
        }
        let token = Token::random()?;
        token.keep(file)?;
        Ok(token)
    }

    /// A token that nobody has.
    pub(crate) fn random() -> io::Result<Token> {
        let bytes = random_bytes()?;
        Ok(Token(format!("{:032x}", u128::from_be_bytes(bytes))))
    }

    fn parse(text: &str) -> Option<Token> {
        let is_token = text.len() == 2 * BYTES && text.bytes().all(|it| it.is_ascii_hexdigit());
        is_token.then(|| Token(text.into()))
    }

    fn keep(&self, file: &Path) -> io::Result<()> {
        if let Some(parent) = file.parent() {
            make_private_directories(parent)?;
        }
        let draft = file.with_extension(format!("{}", std::process::id()));
        write_private(&draft, self.0.as_bytes())?;
        fs::rename(draft, file)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the token; the time that it takes says nothing of where they differ.
    pub(crate) fn is(&self, given: &str) -> bool {
        let differs = self.0.bytes().zip(given.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        self.0.len() == given.len() && differs == 0
    }
}

#[cfg(unix)]
fn random_bytes() -> io::Result<[u8; BYTES]> {
    use std::io::Read;
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Two values of SipHash under keys that the standard library asks the system for.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere a file is read")]
fn random_bytes() -> io::Result<[u8; BYTES]> {
    use std::hash::{BuildHasher, RandomState};
    let keys = RandomState::new();
    let halves = [1_u8, 2].map(|half| u128::from(keys.hash_one(half)));
    Ok((halves[0] << 64 | halves[1]).to_be_bytes())
}

#[cfg(unix)]
fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut wanted = File::options();
    wanted.write(true).create(true).truncate(true).mode(0o600).open(file)?.write_all(bytes)
}

#[cfg(not(unix))]
fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(file, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_kept_private_and_found_again() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("deep/token");
        let token = Token::of_user(&file).unwrap();
        assert_eq!(Token::of_user(&file).unwrap(), token);
        assert!(token.is(token.as_str()) && !token.is("") && !token.is(&token.as_str()[1..]));
        assert_ne!(Token::random().unwrap(), token);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        // What is none is replaced.
        fs::write(&file, "short").unwrap();
        assert_ne!(Token::of_user(&file).unwrap(), token);
    }
}
