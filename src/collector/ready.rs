//! Readiness for systemd: one datagram to `$NOTIFY_SOCKET`, nothing when there is none.
#![allow(clippy::disallowed_methods)] // This file talks to the service manager's socket.

/// Tells the service manager, e.g. `READY=1`. `socket` is the value of `NOTIFY_SOCKET`. Best effort: a service manager
/// that does not listen is none of the collector's trouble.
#[cfg(unix)]
pub fn notify(socket: &str, state: &str) -> std::io::Result<()> {
    use std::os::unix::net::UnixDatagram;
    let from = UnixDatagram::unbound()?;
    #[cfg(target_os = "linux")]
    if let Some(name) = socket.strip_prefix('@') {
        use std::os::linux::net::SocketAddrExt;
        let to = std::os::unix::net::SocketAddr::from_abstract_name(name.as_bytes())?;
        from.connect_addr(&to)?;
        from.send(state.as_bytes())?;
        return Ok(());
    }
    from.send_to(state.as_bytes(), socket)?;
    Ok(())
}

/// There is no systemd here.
#[cfg(not(unix))]
pub fn notify(_socket: &str, _state: &str) -> std::io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use super::*;

    #[test]
    fn the_service_manager_hears_that_we_are_ready() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        notify(path.to_str().unwrap(), "READY=1").unwrap();
        let mut bytes = [0; 64];
        let count = socket.recv(&mut bytes).unwrap();
        assert_eq!(&bytes[..count], b"READY=1");
        assert!(notify(dir.path().join("none").to_str().unwrap(), "READY=1").is_err());
    }
}
