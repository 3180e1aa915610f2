//! Ending everything that a run started.

/// The process group of a child; dropping it ends all its members.
#[derive(Debug)]
pub struct Group {
    #[cfg(unix)]
    leader: Option<i32>,
}

impl Group {
    /// The group that the process `id` leads.
    pub fn of(id: Option<u32>) -> Self {
        #[cfg(unix)]
        return Self { leader: id.and_then(|id| i32::try_from(id).ok()) };
        #[cfg(not(unix))]
        {
            let _ = id;
            Self {}
        }
    }

    /// Its number, where there are groups.
    pub const fn id(&self) -> Option<i32> {
        #[cfg(unix)]
        return self.leader;
        #[cfg(not(unix))]
        None
    }

    /// Asks all members to end.
    pub fn ask(&self) {
        #[cfg(unix)]
        self.signal(nix::sys::signal::Signal::SIGTERM);
    }

    #[cfg(unix)]
    fn signal(&self, signal: nix::sys::signal::Signal) {
        if let Some(leader) = self.leader {
            // An error means that nobody is left.
            let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(leader), signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        self.signal(nix::sys::signal::Signal::SIGKILL);
    }
}
