//! Who may ask: only the page that has the token, under this server's own name.
//!
//! A page of another site can make a browser send requests here. They are told by `Host` (a name
//! that was bound to this address later, DNS rebinding), by `Origin` and `Sec-Fetch-Site` (another
//! site's page), and they have no token: the browser does not send a `SameSite=Strict` cookie with
//! them.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::Refusal;
use crate::reports::REPORTS;
use crate::token::Token;

/// What pages may do: use what this server has, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
                      connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'self'";
/// How long a browser keeps the token, seconds: a term's lessons.
const COOKIE_AGE: u64 = 120 * 24 * 3_600;

/// Decides on requests.
#[derive(Debug)]
pub(crate) struct Guard {
    token: Token,
    /// The names of this server, each with its port.
    names: Vec<String>,
    cookie: String,
}

impl Guard {
    /// For a server at this address that is called so, too.
    pub(crate) fn new(token: Token, at: SocketAddr, others: &[String]) -> Guard {
        let mut names = vec![at.to_string()];
        if at.ip().is_loopback() {
            names.extend(
                ["localhost", "127.0.0.1", "[::1]"].map(|it| format!("{it}:{}", at.port())),
            );
        }
        names.extend(others.iter().map(|name| format!("{name}:{}", at.port())));
        // Cookies belong to a host, whatever the port.
        Guard { token, names, cookie: format!("tcplab-{}", at.port()) }
    }

    /// The address with the token.
    pub(crate) fn link(&self) -> String {
        format!("http://{}/?token={}", self.names[0], self.token.as_str())
    }

    fn knows(&self, name: &str) -> bool {
        self.names.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Why a request is not answered.
    fn objection(&self, method: &Method, headers: &HeaderMap) -> Option<&'static str> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        if hosts.next().is_some() || !host.is_some_and(|host| self.knows(host)) {
            return Some("this server has another name: open the link that `tcplab ui` printed");
        }
        let origin = headers.get(ORIGIN);
        let is_own = |origin: &HeaderValue| {
            let origin = origin.to_str().ok();
            origin.and_then(|it| it.strip_prefix("http://")).is_some_and(|it| self.knows(it))
        };
        if origin.is_some_and(|origin| !is_own(origin)) {
            return Some("another site's page sent this request");
        }
        let site = headers.get(HeaderName::from_static("sec-fetch-site"));
        let is_read = method == Method::GET || method == Method::HEAD;
        match site.and_then(|site| site.to_str().ok()) {
            None | Some("same-origin") => None,
            // A link was followed, or an address typed.
            Some("none") if is_read => None,
            Some(_) if is_read && is_navigation(headers) => None,
            Some(_) => Some("another site's page sent this request"),
        }
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let bearer = headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok());
        if let Some(given) = bearer.and_then(|it| it.strip_prefix("Bearer ")) {
            return self.token.is(given.trim());
        }
        let cookies = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
        let mut pairs =
            cookies.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
        pairs.any(|(name, value)| name == self.cookie && self.token.is(value))
    }

    /// Where the link leads: the same place without the token, which the browser keeps.
    fn entry(&self, request: &Request) -> Option<Response> {
        let query = request.uri().query()?;
        let given = query.split('&').find_map(|pair| pair.strip_prefix("token="))?;
        if request.method() != Method::GET || !self.token.is(given) {
            return None;
        }
        let Guard { token, cookie, .. } = self;
        let cookie = format!(
            "{cookie}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={COOKIE_AGE}",
            token.as_str()
        );
        let path = request.uri().path();
        // Never `//host`, which is another site.
        let path = format!("/{}", path.trim_start_matches('/'));
        let headers = [(LOCATION, path), (SET_COOKIE, cookie)];
        Some((StatusCode::SEE_OTHER, headers).into_response())
    }
}

fn is_navigation(headers: &HeaderMap) -> bool {
    let mode = headers.get(HeaderName::from_static("sec-fetch-mode"));
    mode.is_some_and(|mode| mode == "navigate")
}

/// Lets a request pass, or answers it.
pub(crate) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let objection = guard.objection(request.method(), request.headers());
    let refused = refused(request.uri().path());
    let mut response = if let Some(why) = objection {
        refused(StatusCode::FORBIDDEN, why)
    } else if let Some(entry) = guard.entry(&request) {
        entry
    } else if request.uri().path().starts_with(REPORTS) {
        // Their addresses have keys of their own.
        next.run(request).await
    } else if !guard.has_token(request.headers()) {
        let why = "no token: open the link that `tcplab ui` printed; programs send it as \
                   `Authorization: Bearer TOKEN`";
        refused(StatusCode::UNAUTHORIZED, why)
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    let policy = HeaderName::from_static("content-security-policy");
    headers.entry(policy).or_insert(HeaderValue::from_static(POLICY));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// How a request for this path is refused: programs get JSON, people read a line.
fn refused(path: &str) -> impl Fn(StatusCode, &'static str) -> Response + use<> {
    let is_of_program = path.starts_with("/api/");
    move |status, why| {
        if is_of_program {
            return Refusal::new(status, why).into_response();
        }
        let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        (status, kind, format!("tcplab: {why}\n")).into_response()
    }
}
