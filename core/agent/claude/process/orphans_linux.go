package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	termMoment = 300 * time.Millisecond // that an orphan has for an orderly end
	huntLimit  = 3 * time.Second        // until those that do not end are reported
	buryAfter  = time.Second            // that a dead child must have lain unreaped
	firstPause = 2 * time.Millisecond   // between two looks at first
	lastPause  = 50 * time.Millisecond  // and at last
)

// BecomeSubreaper makes this program the parent of processes whose own parent
// has died. Whoever calls it calls CollectOrphans from time to time: nobody
// else reaps them then.
func BecomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the reaper of orphans: %w", err)
	}
	return nil
}

// attributes are those of a command: a session of its own, and an end with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// collect ends what owns says is ours and reaps the dead. The group is for
// systems without marks.
func collect(_ int, owns func(mark string) bool) (int, error) {
	session, err := unix.Getsid(0)
	if err != nil {
		return 0, fmt.Errorf("read our session: %w", err)
	}
	h := hunt{owns: owns, held: make(map[int]*orphan), session: session}
	defer h.release()
	n, err := h.run(time.Now())
	bury(session)
	return n, err
}

// hunt is one search for processes with a mark.
type hunt struct {
	owns    func(mark string) bool
	held    map[int]*orphan // by process id: found and not gone yet
	n       int             // ended so far
	session int             // ours
}

// run looks until two looks in a row find nobody: between the two halves of an
// exec a process shows no environment.
func (h *hunt) run(start time.Time) (int, error) {
	calm := 0
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		passed := time.Since(start)
		sig := unix.SIGTERM
		if passed >= termMoment {
			sig = unix.SIGKILL
		}
		h.look(sig)
		h.drop()
		if calm++; len(h.held) > 0 {
			calm = 0
		}
		if calm == 2 {
			return h.n, nil
		}
		if passed >= huntLimit {
			return h.n, fmt.Errorf(msgLeft, h.names())
		}
		time.Sleep(pause)
	}
}

// look finds who is there and sends them the signal, each one once.
func (h *hunt) look(sig unix.Signal) {
	for pid := range pids() {
		if !h.marked(pid) {
			continue
		}
		o := h.held[pid]
		if o == nil {
			if o = h.hold(pid); o == nil {
				continue
			}
			h.held[pid] = o
		}
		if o.sent != sig && h.marked(pid) {
			o.sent = sig
			o.signal(sig)
		}
	}
}

// marked reads a process's mark anew. The number of a process is nothing to
// rely on: it may have passed to another.
func (h *hunt) marked(pid int) bool {
	mark, ok := markOf(pid)
	return ok && h.owns(mark)
}

// drop lets go of those that are gone.
func (h *hunt) drop() {
	for pid, o := range h.held {
		if o.gone(func(parent int) bool { return h.held[parent] != nil }) {
			o.close()
			delete(h.held, pid)
			h.n++
		}
	}
}

func (h *hunt) release() {
	for _, o := range h.held {
		o.close()
	}
}

func (h *hunt) names() string {
	var names []string
	for pid := range h.held {
		names = append(names, strconv.Itoa(pid))
	}
	return strings.Join(names, ", ")
}

// orphan is one process that was found. The descriptor stands for this very
// process whatever becomes of its number; old kernels have none.
type orphan struct {
	pid   int
	start uint64 // when it began, in the kernel's ticks
	fd    int    // -1 where there is none
	sent  unix.Signal
}

// hold takes hold of a process. What Start has started is in another session
// than ours, and so is all that comes of it: a process with the mark in our own
// was started by other means, and whoever did that waits for it.
func (h *hunt) hold(pid int) *orphan {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		fd = -1
	}
	o := &orphan{pid: pid, fd: fd}
	s, ok := statOf(pid)
	if !ok || s.session == h.session {
		o.close()
		return nil
	}
	o.start = s.start
	return o
}

func (o *orphan) close() {
	if o.fd >= 0 {
		_ = unix.Close(o.fd)
		o.fd = -1
	}
}

// signal fails only where the process is gone or not ours to end; the next look
// tells.
func (o *orphan) signal(sig unix.Signal) {
	if o.fd >= 0 {
		_ = unix.PidfdSendSignal(o.fd, sig, nil, 0)
		return
	}
	_ = unix.Kill(o.pid, sig)
}

// gone reports whether the process has ended, and reaps it if that is ours to
// do. A dead one whose parent is hunted too is not gone: it will be handed to
// us.
func (o *orphan) gone(hunted func(parent int) bool) bool {
	s, ok := statOf(o.pid)
	if !ok || s.start != o.start {
		return true
	}
	if !s.dead() {
		return false
	}
	if s.parent != os.Getpid() {
		return !hunted(s.parent)
	}
	reap(o.pid)
	s, ok = statOf(o.pid)
	return !ok || s.start != o.start
}

// reap takes a dead child off the process table. It never blocks: a process
// that has died but for one of its threads cannot be reaped yet.
func reap(pid int) {
	for {
		_, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// bury reaps the dead that this program inherited. A dead process shows no mark,
// so that they are known by three things: we are the parent, they come from
// another session than ours, and nobody has reaped them for a while. os/exec
// waits for the children that it has started and reaps them at once.
func bury(session int) {
	lying := strays(session, nil)
	for start := time.Now(); len(lying) > 0; lying = strays(session, lying) {
		if time.Since(start) >= buryAfter {
			for pid := range lying {
				reap(pid)
			}
			return
		}
		time.Sleep(5 * firstPause)
	}
}

// strays are the dead of other sessions whose parent we are, by when they began;
// where before is given, only those that are in it too.
func strays(session int, before map[int]uint64) map[int]uint64 {
	out := make(map[int]uint64)
	look := func(pid int) {
		s, ok := statOf(pid)
		if ok && s.dead() && s.parent == os.Getpid() && s.session != session {
			out[pid] = s.start
		}
	}
	if before == nil {
		for pid := range pids() {
			look(pid)
		}
		return out
	}
	for pid, start := range before {
		if look(pid); out[pid] != start {
			delete(out, pid)
		}
	}
	return out
}
