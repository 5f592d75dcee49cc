package plain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/pane/forks"
	"ollimbot/tui/widget/query"
)

// lastLines is how many lines of a tail are printed by default.
const lastLines = 15

// following is a tail whose lines are printed as they arrive.
type following struct {
	id, title, kind string
	cursor          tail.Cursor
}

// runThing returns a run for a list: its title, start and outcome.
func (c *console) runThing(f fork.View) thing {
	text, at := runText(c.snap, f), ""
	if !f.Started.IsZero() {
		at = c.snap.Moment(f.Started)
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(text, flat(f.Title)), ", ")
	return thing{id: f.ID, title: f.Title, line: words.Joined(flat(f.Title), at, rest)}
}

// runs returns the running, waiting and newest runs, and those of the last list.
func (c *console) runs() []fork.View {
	current := map[string]bool{}
	for _, f := range c.snap.Forks {
		current[f.ID] = true
	}
	return slices.Concat(c.snap.Forks, slices.DeleteFunc(slices.Clone(c.listed), func(f fork.View) bool { return current[f.ID] }))
}

// storedRuns is the number of stored runs to read; filteredRuns applies if there is a filter.
const storedRuns, filteredRuns = 250, 20_000

// readRuns reads the stored runs, as far as a filter may need them.
func (c *console) readRuns(q query.Query) bool {
	most := storedRuns
	if q.On() {
		most = filteredRuns
	}
	page, ok := call(c.executor, func(ctx context.Context, most int) (fork.Page, error) { return c.core.Runs(ctx, command.Mark{}, most) }, most)
	c.listed = page.Runs
	return ok
}

// printRuns lists the runs that match a filter, newest first.
func printRuns(c *console, r request) {
	if c.readRuns(query.Parse(r.rest)) {
		runs := kept(c.printer, c.runs(), r.rest, func(f fork.View) query.Facts { return forks.Summarize(c.snap, f).Facts })
		c.list(allRuns.or(c.noneOf(r, textNoRuns)), each(runs, c.runThing))
	}
}

// markSeen marks the failed runs as seen.
func markSeen(c *console) {
	failed := each(c.snap.Failures, func(f fork.View) string { return f.ID })
	if len(failed) == 0 {
		c.answer(textNothingSeen)
		return
	}
	c.do(request{}, command.MarkSeen{Runs: failed})
}

// findRun returns the named run. why returns the reason if the command does not apply to a run.
func findRun(c *console, r request, why func(f fork.View) string) (fork.View, bool) {
	f, ok := pick(c.finder, r, allRuns, c.runs(), func(f fork.View) thing {
		t := c.runThing(f)
		t.off = why(f) != ""
		return t
	})
	if reason := why(f); ok && reason != "" {
		c.fail(f.Title + ": " + reason)
		return f, false
	}
	return f, ok
}

// onRun executes an action of the runs pane on the named run.
func onRun(id action.ID, do func(*console, request, fork.View)) func(*console, request) {
	return func(c *console, r request) {
		if f, ok := findRun(c, r, func(f fork.View) string { return forks.Off(f, id) }); ok {
			do(c, r, f)
		}
	}
}

// follow takes a run, "log" or "off".
func follow(c *console, r request) {
	f := following{core.LogTail, "the log", kindLog, 0}
	switch strings.ToLower(r.rest) {
	case "off":
		c.followed = nil
		c.answer("stopped following")
		return
	case "log":
	default:
		run, ok := findRun(c, r, func(f fork.View) string {
			if f.Live() {
				return ""
			}
			return textFollowEnded
		})
		if !ok {
			return
		}
		f = following{run.ID, run.Title, kindOutput, 0}
	}
	f.cursor = c.core.Tail(f.id, 0).Next
	c.followed = &f
	c.answer(fmt.Sprintf(textFollowed, f.title))
}

// printNewLines prints new lines of the followed tail. If there are too many to listen to, it skips and counts some.
func printNewLines(c *console) {
	f := c.followed
	if f == nil {
		return
	}
	p := c.core.Tail(f.id, f.cursor)
	f.cursor = p.Next
	skipped := max(0, len(p.Lines)-maxLines)
	if n := uint64(skipped) + p.Lost; n > 0 {
		c.say(c.snap.At, f.kind, fmt.Sprintf(textSkipped, words.Grouped(n, "line")))
	}
	for _, l := range p.Lines[skipped:] {
		c.say(l.At, f.kind, tailText(l))
	}
	live := func(v fork.View) bool { return v.ID == f.id && v.Live() }
	if f.id != core.LogTail && !slices.ContainsFunc(c.snap.Forks, live) {
		c.followed = nil
		c.say(c.snap.At, kindOutput, fmt.Sprintf(textFollowOver, f.title))
	}
}

// printOutput takes "RUN last 40 find FILTER".
func printOutput(c *console, r request) {
	rest, find := cutAt(r.rest, "find")
	name, last := cutAt(rest, "last")
	n, ok := howMany(last, lastLines)
	if !ok {
		c.usage(r.Command)
		return
	}
	r.rest = name
	if f, ok := findRun(c, r, func(fork.View) string { return "" }); ok {
		c.answer(c.runThing(f).line)
		printTail(c, f.ID, n, find)
	}
}

// printLog takes "20 FILTER".
func printLog(c *console, r request) {
	n, filter := countFirst(r.rest, lastLines)
	printTail(c, core.LogTail, n, filter)
}

// printTail prints the newest lines that a filter keeps, oldest first.
func printTail(c *console, id string, most int, filter string) {
	lines := kept(c.printer, c.core.Tail(id, 0).Lines, filter, func(l tail.Line) query.Facts {
		return query.Facts{Text: l.Text, Is: []string{string(l.Kind)}, At: c.snap.Local(l.At), Now: c.now()}
	})
	c.missed = "" // words are searched for in lines that may have any
	if len(lines) == 0 {
		c.answer("no matching lines")
	}
	for _, l := range lines[max(0, len(lines)-most):] {
		c.answer(c.snap.Clock(l.At, time.TimeOnly) + " " + clean.Line(tailText(l)))
	}
}
