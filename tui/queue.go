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
	"ollimbot/tui/pane"
	"ollimbot/tui/undo"
)

// doneMsg is a command and, once it has ended, its outcome.
type doneMsg struct {
	command command.Value
	outcome command.Outcome
	snap    core.Snapshot // taken afterwards
	err     error
	asker   pane.Dialog // that waits for it; may be nil
	// change is the undo or redo that the command executes, in the direction way; nil if the command is a new change.
	change *undo.Change
	way    undo.Way
}

// loadedMsg delivers the result of a read.
type loadedMsg func() tea.Cmd

// silent reports whether a command shows no message, because the user did not start it.
func silent(c command.Value) bool {
	_, active := c.(command.UserActive)
	_, seen := c.(command.MarkSeen)
	return active || seen
}

// commandTime is how long a command of the user may take.
const commandTime = 10 * time.Second

// runner executes commands and reads.
type runner interface {
	pane.Reader
	Do(ctx context.Context, c command.Value) (command.Outcome, error)
	Snapshot() core.Snapshot
}

// commandQueue passes the user's commands to the core in the order of the keys. Commands that write a small file and
// can be undone are quick: they run one after the other, and every command that changes the bot waits for the earlier
// ones. The others may take seconds, and wait only for those in the same lane.
type commandQueue struct {
	ctx     context.Context
	core    runner
	waiting []doneMsg // oldest first
	busy    map[command.Lane]bool
	held    []tea.Msg // input that depends on a change under way, oldest first
}

// add runs a command once it is its turn.
func (q *commandQueue) add(job doneMsg) tea.Cmd {
	if command.LaneOf(job.command) == command.LaneBeside {
		return q.start(job)
	}
	q.waiting = append(q.waiting, job)
	return q.advance()
}

// start runs a command next to the program.
func (q *commandQueue) start(job doneMsg) tea.Cmd {
	return func() tea.Msg {
		job.err = q.beside(fmt.Sprintf("%T", job.command), func(ctx context.Context) (err error) {
			job.outcome, err = q.core.Do(ctx, job.command)
			return err
		})
		job.snap = q.core.Snapshot()
		return job
	}
}

// load runs a read concurrently with the program, and passes the result to take. A panic is shown as an error.
func (q *commandQueue) load(load pane.Load, take func(pane.Loaded) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		var got pane.Loaded
		err := q.beside("a page", func(ctx context.Context) error {
			got = load(ctx, q.core)
			return nil
		})
		if err != nil {
			got = func(pane.Context) pane.Answer { return pane.Answer{Close: true, Toast: err.Error()} }
		}
		return loadedMsg(func() tea.Cmd { return take(got) })
	}
}

// beside runs do for a limited time; a panic in it becomes its error.
func (q *commandQueue) beside(what string, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(q.ctx, commandTime)
	defer cancel()
	return fault.Guard(what, func() error { return do(ctx) })()
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

// hold delays input, for at most commandTime, if it must wait or follows input that waits, so that fast typing has
// the same effect as slow typing.
func (q *commandQueue) hold(msg tea.Msg, waits func(tea.Msg) bool) bool {
	if len(q.held) == 0 && !waits(msg) {
		return false
	}
	q.held = append(q.held, msg)
	return true
}

// release removes the oldest held input that no longer has to wait.
func (q *commandQueue) release(waits func(tea.Msg) bool) (msg tea.Msg, ok bool) {
	if len(q.held) == 0 || waits(q.held[0]) {
		return nil, false
	}
	msg = q.held[0]
	q.held = q.held[1:]
	return msg, true
}
