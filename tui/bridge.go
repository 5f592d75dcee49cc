package tui

import (
	"context"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/fault"
	"ollimbot/core/fork"
	"ollimbot/core/notice"
	"ollimbot/tui/screen"
)

// The messages of the dashboard to itself.
type (
	changedMsg struct{}                // the core has something new
	lookMsg    struct{}                // the pause after it is over
	paintMsg   struct{}                // a frame that had to wait
	wakeMsg    struct{ round int }     // the clock, or a toast that ends
	signalMsg  struct{ sig os.Signal } // of the terminal
	doneMsg    struct {                // a command has ended
		command command.Value
		outcome command.Outcome
		snap    core.Snapshot // what has become of it
		err     error
		page    *page  // that the outcome belongs to
		asker   asking // the dialog that waits for it
		undoing bool
	}
)

// commandTime is how long a command of the user may take.
const commandTime = 10 * time.Second

// waitChanged waits for the core. After each change the dashboard pauses for a
// frame before it waits again, so that a busy core costs no more than that.
func (r *root) waitChanged() tea.Cmd {
	changed := r.core.Changed()
	return func() tea.Msg {
		select {
		case <-changed:
			return changedMsg{}
		case <-r.ctx.Done():
			return nil
		}
	}
}

func (r *root) waitSignal() tea.Cmd {
	if r.signals == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case sig := <-r.signals:
			return signalMsg{sig}
		case <-r.ctx.Done():
			return nil
		}
	}
}

// signalled looks at the terminal after it has changed, or after the process
// was stopped and the shell has had it.
func (r *root) signalled(msg signalMsg) urgency {
	switch {
	case screen.Stopping(msg.sig):
		r.suspend()
	case screen.Continued(msg.sig):
		r.fail(r.screen.Reopen())
	}
	if w, h, ok := r.screen.Size(); ok {
		r.w, r.h, r.asked = w, h, time.Time{}
	}
	r.screen.Forget()
	return atOnce
}

// suspend stops the program until the shell lets it go on.
func (r *root) suspend() {
	stopped, err := r.screen.Suspend()
	r.fail(err)
	if !stopped {
		r.say(notice.Info, textNoShell)
	}
	r.handedBack()
}

// after gives a message in a while. Other than tea.Tick it ends with Run.
func (r *root) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return func() tea.Msg {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return msg
		case <-r.ctx.Done():
			return nil
		}
	}
}

// wake sees to it that exactly one timer is running: to the next second while
// a fork runs, an answer comes or a tool call waits, to the end of a toast, else to the next minute.
func (r *root) wake() tea.Cmd {
	now := time.Now()
	at := now.Truncate(time.Minute).Add(time.Minute)
	if r.counting() {
		at = now.Truncate(time.Second).Add(time.Second)
	}
	if end, ok := r.speech.nextEnd(now); ok && end.Before(at) {
		at = end
	}
	if !r.wakeAt.IsZero() && !at.Before(r.wakeAt) {
		return nil
	}
	r.wakeAt = at
	r.round++
	return r.after(max(at.Sub(now), time.Millisecond), wakeMsg{r.round})
}

// counting reports whether something on the screen counts seconds.
func (r *root) counting() bool {
	if r.facts.still {
		return false
	}
	if r.snap.Busy || len(r.snap.Approvals) > 0 {
		return true
	}
	for _, f := range r.snap.Forks {
		if f.State == fork.Running {
			return true
		}
	}
	return false
}

func (r *root) woken(msg wakeMsg) urgency {
	if msg.round != r.round {
		return never
	}
	r.wakeAt = time.Time{}
	r.tickKeys()
	r.refresh()
	return soon
}

// begin runs a command beside the program; a panic in it becomes its error.
func (r *root) begin(msg doneMsg) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(r.ctx, commandTime)
		defer cancel()
		msg.err = fault.Guard(fmt.Sprintf("%T", msg.command), func() (err error) {
			msg.outcome, err = r.core.Do(ctx, msg.command)
			return err
		})()
		msg.snap = r.core.Snapshot()
		return msg
	}
}
