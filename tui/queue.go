package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/fault"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

// doneMsg is a command and, once it has ended, what became of it.
type doneMsg struct {
	command command.Value
	outcome command.Outcome
	snap    core.Snapshot // taken afterwards
	err     error
	asker   pane.Dialog // that waits for it; may be nil
	reader  action.Pane // the pane that something was read for, or none
	undoing bool
}

// silent reports whether the user is told of a command only by what asked for it.
func silent(c command.Value) bool {
	_, here := c.(command.Here)
	return here || command.Reads(c)
}

// commandTime is how long a command of the user may take.
const commandTime = 10 * time.Second

// runner carries out commands.
type runner interface {
	Do(ctx context.Context, c command.Value) (command.Outcome, error)
	Snapshot() core.Snapshot
}

// commandQueue brings the user's commands to the core in the order of the keys.
// Those that write a small file and can be undone are quick: they run one after
// the other, and whatever changes the bot waits for those before it. The others may
// take seconds, and wait only for those of their own lane.
type commandQueue struct {
	ctx     context.Context
	core    runner
	waiting []doneMsg // oldest first
	busy    map[command.Lane]bool
	held    []tea.Msg // input that depends on a change under way, oldest first
}

// add runs a command once it is its turn.
func (q *commandQueue) add(job doneMsg) tea.Cmd {
	if !command.LaneOf(job.command).Waits() {
		return q.start(job)
	}
	q.waiting = append(q.waiting, job)
	return q.advance()
}

// start runs a command next to the program; a panic in it becomes its error.
func (q *commandQueue) start(job doneMsg) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(q.ctx, commandTime)
		defer cancel()
		job.err = fault.Guard(fmt.Sprintf("%T", job.command), func() (err error) {
			job.outcome, err = q.core.Do(ctx, job.command)
			return err
		})()
		job.snap = q.core.Snapshot()
		return job
	}
}

// ended frees the lane of a command and starts what waited for it.
func (q *commandQueue) ended(c command.Value) tea.Cmd {
	delete(q.busy, command.LaneOf(c))
	return q.advance()
}

func (q *commandQueue) advance() tea.Cmd {
	var cmds []tea.Cmd
	for _, job := range q.ready() {
		cmds = append(cmds, q.start(job))
	}
	return tea.Batch(cmds...)
}

// ready takes out the commands that may start now.
func (q *commandQueue) ready() (out []doneMsg) {
	taken := maps.Clone(q.busy)
	q.waiting = slices.DeleteFunc(q.waiting, func(job doneMsg) bool {
		lane := command.LaneOf(job.command)
		starts := !taken[lane] && !taken[command.LaneQuick]
		if taken[lane] = true; starts {
			q.busy[lane] = true
			out = append(out, job)
		}
		return starts
	})
	return out
}

// changing reports whether a quick command is running or waits.
func (q *commandQueue) changing() bool {
	return q.busy[command.LaneQuick] || slices.ContainsFunc(q.waiting, func(job doneMsg) bool {
		return command.LaneOf(job.command) == command.LaneQuick
	})
}

// hold keeps input back, for no longer than commandTime, if it must wait or follows input
// that does: keys pressed without waiting do the same as with waiting.
func (q *commandQueue) hold(msg tea.Msg, waits func(tea.Msg) bool) bool {
	if len(q.held) == 0 && !waits(msg) {
		return false
	}
	q.held = append(q.held, msg)
	return true
}

// release takes out the oldest input that was held and need not wait any longer.
func (q *commandQueue) release(waits func(tea.Msg) bool) (msg tea.Msg, ok bool) {
	if len(q.held) == 0 || waits(q.held[0]) {
		return nil, false
	}
	msg = q.held[0]
	q.held = q.held[1:]
	return msg, true
}

// drop forgets the input that is held.
func (q *commandQueue) drop() { q.held = nil }
