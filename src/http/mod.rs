//! The optional local HTTP API: shapes on the wire. No decisions.
//!
//! Off unless `cmem serve` runs. It listens on 127.0.0.1 only, and a request must name that place as its host and may
//! come from no other origin, so that neither a web page nor a rebound name reaches it (A099). On Linux only the
//! processes of the same user are served. Writing needs the token of this run besides (A100). Answers are made of
//! memories, never of settings.
//!
//! A thread a connection, one request each, HTTP/1.1: there is one user, and the event stream is all that stays open. A
//! framework was not taken; what is needed of HTTP here is a few lines (`wire`), and the questions are the hub's
//! (`api`).

mod api;
mod wire;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::config::{Dirs, Env, Settings};
use crate::memory::Clock;

use wire::{Answer, Request};

/// Connections at once; more are turned away.
const CONNECTIONS: usize = 32;
/// How long a client may take to say what it wants, or to take an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the server answers from.
pub struct House {
    /// Directories.
    pub dirs: Dirs,
    /// Settings.
    pub settings: Settings,
    /// Environment, for projects.
    pub env: Env,
    /// Clock.
    pub clock: Box<dyn Clock>,
    /// Zone of dates.
    pub zone: TimeZone,
    /// What a writer must show.
    pub token: String,
}

/// Listens on 127.0.0.1; port 0 takes a free one.
pub fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

/// Serves until the process ends.
pub fn serve(listener: &TcpListener, house: House) -> io::Result<()> {
    let address = listener.local_addr()?;
    let house = Arc::new(house);
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let (house, open) = (house.clone(), open.clone());
        if open.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS {
            open.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let counted = Counted(open);
        std::thread::spawn(move || {
            let _counted = counted;
            // A client that goes away is its own business.
            let _ = connection(stream, address, &house);
        });
    }
    Ok(())
}

/// One fewer when it goes, also while unwinding.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn connection(mut stream: TcpStream, address: SocketAddr, house: &House) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let ours = stream.peer_addr().is_ok_and(|peer| wire::same_user(peer, address));
    let request = match Request::read(&mut stream) {
        Ok(request) => request,
        Err(why) => return Answer::fault(400, why).write(&mut stream),
    };
    if !ours || !request.is_local(address.port()) {
        return Answer::fault(403, "only this machine's user is served, under the name 127.0.0.1").write(&mut stream);
    }
    if request.path == "/api/stream" && request.method == "GET" {
        return api::stream(&mut stream, house);
    }
    api::answer(&request, house).write(&mut stream)
}
