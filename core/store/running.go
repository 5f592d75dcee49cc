package store

// Running names the process of the bot that lives in the directory, ours or the
// original program, if there is one. It takes no lock, so that asking can never
// make a bot that just starts believe that another one runs.
func (d *Dir) Running() (pid int, ok bool) {
	pid = d.readPID()
	return pid, pid != 0 && (isBot(pid) || sameProgram(pid))
}
