package process

// CollectOrphans ends and reaps the processes that carry a mark and whose
// command is gone: SIGTERM, a moment, SIGKILL. The mark is what Env.Mark was,
// also that of an earlier run of the program, which may have been killed
// without a chance to collect. The processes of commands that still run are left
// alone, and so is what was started in our own session by other means than
// Start; the empty mark is nobody's. It also reaps dead processes that this
// program inherited as their reaper. n is how many were ended. An error is one
// line that names what does not end.
//
// It blocks for 4 s at most and only for as long as there is something to wait
// for. It waits for processes by their ids alone: os/exec owns the children that
// it has started. Where the system cannot tell (not Linux) it does nothing.
func CollectOrphans(mark string) (n int, err error) {
	if mark == "" {
		return 0, nil
	}
	return collect(0, func(own string) bool { return under(own, mark) && !living.has(own) })
}
