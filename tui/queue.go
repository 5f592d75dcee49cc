package tui

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/fault"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
)

// queue brings the commands of the user to the core in the order of the keys.
// Those that write a small file and can be undone are quick: they run one after
// the other, and what changes the bot waits for those before it. The others may
// take seconds, and wait only for those of their own lane.
type queue struct {
	waiting []doneMsg // oldest first
	busy    map[command.Lane]bool
}

// reads reports that nothing is said of a command beside what has asked for it.
func reads(c command.Value) bool {
	_, here := c.(command.Here)
	return here || command.Reads(c)
}

// changes reports that a quick command is under way, or waits.
func (q *queue) changes() bool {
	return q.busy[command.LaneQuick] || slices.ContainsFunc(q.waiting, func(m doneMsg) bool { return command.LaneOf(m.command) == command.LaneQuick })
}

// command runs a command beside the program, once it is its turn.
func (r *root) command(msg doneMsg) tea.Cmd {
	if !command.LaneOf(msg.command).Waits() {
		return r.begin(msg)
	}
	r.queue.waiting = append(r.queue.waiting, msg)
	return r.advance()
}

// advance begins what need not wait any longer.
func (r *root) advance() tea.Cmd {
	var cmds []tea.Cmd
	for _, m := range r.queue.ready() {
		cmds = append(cmds, r.begin(m))
	}
	return tea.Batch(cmds...)
}

// ready takes out what may begin now.
func (q *queue) ready() (out []doneMsg) {
	taken := maps.Clone(q.busy)
	q.waiting = slices.DeleteFunc(q.waiting, func(m doneMsg) bool {
		lane := command.LaneOf(m.command)
		begins := !taken[lane] && !taken[command.LaneQuick]
		if taken[lane] = true; begins {
			q.busy[lane] = true
			out = append(out, m)
		}
		return begins
	})
	return out
}

// ended makes room for what waited for a command, and then takes the keys that
// were held for it: what they mean depends on what it has come to.
func (r *root) ended(c command.Value) tea.Cmd {
	delete(r.queue.busy, command.LaneOf(c))
	cmds := []tea.Cmd{r.advance()}
	for len(r.held) > 0 && !r.waits(r.held[0]) {
		msg := r.held[0]
		r.held = r.held[1:]
		cmds = append(cmds, r.take(msg))
	}
	return tea.Batch(cmds...)
}

// input takes what the user does, in its order. While a quick change is under
// way, what depends on it is held for that moment, and so is all behind it: keys
// that are pressed without waiting do what they do with waiting.
func (r *root) input(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "ctrl+c" {
		r.held = nil
	} else if len(r.held) > 0 || r.waits(msg) {
		r.held = append(r.held, msg) // for no longer than commandTime
		return nil
	}
	return r.take(msg)
}

// take gives what the user does to whoever it is for.
func (r *root) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return r.key(msg)
	case tea.PasteMsg:
		return r.paste(msg)
	case tea.MouseClickMsg:
		return r.click(msg.Mouse())
	}
	return nil
}

// waits reports whether what the user does depends on a change that is under way, or
// on a page that waits for what it shows.
func (r *root) waits(msg tea.Msg) bool {
	page, ok := r.top().(*dialog.Page)
	loads := ok && page.Loads
	if !loads && !r.queue.changes() {
		return false
	}
	k, pressed := msg.(tea.KeyPressMsg)
	switch {
	case loads || len(r.dialogs) > 0:
		return !pressed || k.String() != "esc"
	case r.panes[r.focus].Capture():
		return false
	case !pressed:
		_, clicked := msg.(tea.MouseClickMsg)
		return clicked
	}
	a, ok := r.keys.ByKey(r.focus, k.String(), *r.snap)
	return ok && (a.Writes || a.ID == action.Palette)
}

// The messages of the dashboard to itself.
type (
	changedMsg struct{}                // the core has something new
	lookMsg    struct{}                // the pause after it is over
	paintMsg   struct{}                // a frame that had to wait
	wakeMsg    struct{}                // the clock, or a toast that ends
	signalMsg  struct{ sig os.Signal } // of the terminal
	doneMsg    struct {                // a command has ended
		command command.Value
		outcome command.Outcome
		snap    core.Snapshot // what has become of it
		err     error
		asker   pane.Dialog // that waits for it
		reader  action.Pane // the pane that something was read for, or none
		undoing bool
	}
)

// commandTime is how long a command of the user may take.
const commandTime = 10 * time.Second

// await waits for a value and makes a message of it. It ends with Run.
func await[T any](ctx context.Context, c <-chan T, message func(T) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		select {
		case v := <-c:
			return message(v)
		case <-ctx.Done():
			return nil
		}
	}
}

// waitChanged waits for the core. After each change the dashboard pauses for a
// frame before it waits again, so that a busy core costs no more than that.
func (r *root) waitChanged() tea.Cmd {
	return await(r.ctx, r.core.Changed(), func(struct{}) tea.Msg { return changedMsg{} })
}

func (r *root) waitSignal() tea.Cmd {
	return await(r.ctx, r.signals, func(s os.Signal) tea.Msg { return signalMsg{s} })
}

// signalled looks at the terminal after it has changed, or after the process
// was stopped and the shell has had it.
func (r *root) signalled(msg signalMsg) urgency {
	switch msg.sig {
	case syscall.SIGTSTP:
		r.suspend()
	case syscall.SIGCONT:
		r.fail(errors.Join(r.screen.Close(), r.screen.Open()))
	}
	r.lookAgain()
	return atOnce
}

// suspend stops the program until the shell lets it go on.
func (r *root) suspend() {
	stopped := false
	if r.o.Remote == nil { // else the bot would stop
		var err error
		stopped, err = r.screen.Suspend()
		r.fail(err)
	}
	if !stopped {
		r.say(notice.Info, textNoShell)
	}
	r.lookAgain()
}

// after gives a message in a while. Other than tea.Tick it ends with Run.
func (r *root) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return await(r.ctx, time.After(d), func(time.Time) tea.Msg { return msg })
}

// wake sets the timer: to the next second while a fork runs, an answer comes, a tool call
// waits or a toast stands, else to the next minute.
func (r *root) wake() {
	now, every := time.Now(), time.Minute
	running := func(f fork.View) bool { return f.State == fork.Running }
	counts := r.snap.Busy || len(r.snap.Approvals) > 0 || slices.ContainsFunc(r.snap.Forks, running)
	if counts && !r.facts.still || len(r.speech.toasts(now)) > 0 {
		every = time.Second
	}
	r.timer.Reset(now.Truncate(every).Add(every).Sub(now))
}

func (r *root) waitTimer() tea.Cmd {
	return await(r.ctx, r.timer.C, func(time.Time) tea.Msg { return wakeMsg{} })
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
