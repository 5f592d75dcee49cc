package plain

import (
	"fmt"
	"slices"
	"strings"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/pane/forks"
)

// lastLines is how many lines of a tail are printed by default.
const lastLines = 15

// following is a tail whose lines are printed as they arrive.
type following struct {
	id, title, kind string
	cursor          tail.Cursor
}

func (c *console) runThing(f fork.View) thing {
	return thing{id: f.ID, title: f.Title, line: runText(c.snap, f)}
}

// findRun is the run that the words name. why says why the command does not apply to a run,
// or nothing.
func findRun(c *console, r request, why func(f fork.View) string) (fork.View, bool) {
	f, ok := pick(c.finder, r, allRuns, c.snap.Forks, func(f fork.View) thing {
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

// findRunFor is findRun for a key of the pane of runs.
func findRunFor(c *console, r request, id action.ID) (fork.View, bool) {
	return findRun(c, r, func(f fork.View) string { return forks.Off(f, id) })
}

func stopRun(c *console, r request) {
	if f, ok := findRunFor(c, r, action.ForksStop); ok {
		c.ask(r, forks.StopQuestion(f, c.snap.At))
	}
}

func repeatRun(c *console, r request) {
	if f, ok := findRunFor(c, r, action.ForksAgain); ok {
		c.do(r, command.FireNow{ID: f.TaskID, Stays: true})
	}
}

func continueRun(c *console, r request) {
	if f, ok := findRunFor(c, r, action.ForksResume); ok {
		c.do(r, command.ResumeFork{Run: f.ID})
	}
}

// follow takes a run, "log" or "off".
func follow(c *console, r request) {
	f := following{core.LogTail, textTheLog, kindLog, 0}
	switch strings.ToLower(r.rest) {
	case "off":
		c.followed = nil
		c.answer(kindOK, textNotFollowed)
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
	c.answer(kindOK, fmt.Sprintf(textFollowed, f.title))
}

// printNewLines prints the lines that have arrived in the tail that is followed. It skips
// some, and counts them, if there are too many to listen to.
func printNewLines(c *console) {
	f := c.followed
	if f == nil {
		return
	}
	p := c.core.Tail(f.id, f.cursor)
	f.cursor = p.Next
	skipped := max(0, len(p.Lines)-maxLines)
	if n := uint64(skipped) + p.Lost; n > 0 {
		c.say(c.snap.At, kindOutput, fmt.Sprintf(textSkipped, words.Grouped(n, "line")))
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

// printOutput takes "RUN last 40 find WORDS".
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
		c.answer(kindOutput, fmt.Sprintf(textOutputOf, flat(runText(c.snap, f))))
		printTail(c, f.ID, kindOutput, n, func(l tail.Line) bool { return words.HoldsAll(l.Text, find) })
	}
}

// printLog takes "20", "errors", "warnings", "find WORDS" in this order.
func printLog(c *console, r request) {
	rest, find := cutAt(strings.ToLower(r.rest), "find")
	most, kinds := lastLines, []tail.Kind(nil)
	for w := range strings.FieldsSeq(rest) {
		n, ok := howMany(w, 0)
		switch {
		case strings.HasPrefix(w, "error"):
			kinds = []tail.Kind{tail.Error}
		case strings.HasPrefix(w, "warn"):
			kinds = []tail.Kind{tail.Warn, tail.Error}
		case ok:
			most = n
		case w != "lines" && w != "last":
			c.usage(r.Command)
			return
		}
	}
	printTail(c, core.LogTail, kindLog, most, func(l tail.Line) bool {
		return (kinds == nil || slices.Contains(kinds, l.Kind)) && words.HoldsAll(l.Text, find)
	})
}

// printTail prints the newest lines that match, oldest first.
func printTail(c *console, id, kind string, most int, matches func(l tail.Line) bool) {
	lines := slices.DeleteFunc(slices.Clone(c.core.Tail(id, 0).Lines), func(l tail.Line) bool { return !matches(l) })
	if len(lines) == 0 {
		c.answer(kind, textNoLines)
	}
	for _, l := range lines[max(0, len(lines)-most):] {
		c.say(l.At, kind, tailText(l))
	}
}
