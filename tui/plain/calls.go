package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/policy"
	"ollimbot/core/words"
)

// call is a tool call that waits, with the number that people answer to.
type call struct {
	policy.Approval
	number int
}

// callHead is how much of a call its short form says, in characters.
const callHead = 80

// lineMark stands for a line break in the label of a call.
const lineMark = " ⏎ "

// tool is the name of what is called, as people know it.
func (c call) tool() string {
	name, _, _ := strings.Cut(c.Label, "(")
	return name
}

// what is everything that the call would do, with its line breaks and without the
// tool's name; empty for a tool that takes nothing.
func (c call) what() string {
	text := c.Text
	if strings.TrimSpace(text) == "" {
		text = strings.ReplaceAll(c.Label, lineMark, "\n")
	}
	text = strings.TrimRight(clean.Text(text), "\n ")
	if text == c.tool() {
		return ""
	}
	if inner, ok := strings.CutPrefix(text, c.tool()+"("); ok {
		text = strings.TrimSuffix(inner, ")")
	}
	return strings.Trim(text, "\n")
}

// short names a call: its tool, the begin of what it would do, and how much more
// there is; whole says that there is no more.
func (c call) short() (text string, whole bool) {
	what := c.what()
	first, _, more := strings.Cut(what, "\n")
	head := strings.TrimSpace(first)
	if len([]rune(head)) > callHead {
		head, more = string([]rune(head)[:callHead])+"...", true
	}
	switch {
	case head == "" && !more:
		return c.tool(), true
	case !more:
		return c.tool() + ": " + head, true
	}
	return joined(c.tool()+": "+head, c.size()), false
}

// size is how much there is to read of a call. It is said before its text, so that
// no line of that can pass for the end.
func (c call) size() string {
	what := c.what()
	return joined(words.Grouped(uint64(strings.Count(what, "\n")+1), "line"), words.Grouped(uint64(len([]rune(what))), "character"))
}

// lines are all of what the call would do. Unlike a message, nothing of it is cut:
// a line that is too long to be heard in one go becomes several.
func (c call) lines() []string {
	var lines []string
	for l := range strings.SplitSeq(c.what(), "\n") {
		runes := []rune(strings.TrimRight(l, " "))
		if len(runes) == 0 {
			lines = append(lines, textBlank)
		}
		for part := range slices.Chunk(runes, maxWords) {
			lines = append(lines, string(part))
		}
	}
	return lines
}

// answers are the words that settle a call.
func (c call) answers() string {
	return fmt.Sprintf("allow %d, always %d or deny %d", c.number, c.number, c.number)
}

func askText(c call, zone *time.Location) string {
	short, whole := c.short()
	if !whole {
		short += fmt.Sprintf("; waits %d reads it all", c.number)
	}
	return fmt.Sprintf("number %d waits until %s: %s; %s", c.number, c.Until.In(zone).Format("15:04:05"), short, c.answers())
}

func settledText(c call, now time.Time) string {
	short, _ := c.short()
	if !c.Until.IsZero() && !now.Before(c.Until) {
		return fmt.Sprintf("number %d was denied, nobody answered: %s", c.number, short)
	}
	return fmt.Sprintf("number %d waits no longer: %s", c.number, short)
}

// approvals tells of tool calls that have come to wait, and that wait no longer.
func (e *snapshotDiff) approvals(s *core.Snapshot) {
	now := make(map[string]call, len(s.Approvals))
	for _, a := range s.Approvals {
		c, known := e.calls[a.ID]
		if !known {
			e.numbers++
			c = call{a, e.numbers}
			e.add(a.Asked, kindApproval, askText(c, e.zone))
		}
		now[a.ID] = c
	}
	for id, c := range e.calls {
		if _, waits := now[id]; !waits {
			e.add(s.At, kindApproval, settledText(c, s.At))
		}
	}
	e.calls = now
}

// find is the tool call of a number, or the only one where none is given.
func (e *snapshotDiff) find(which string) (call, bool) {
	n, err := strconv.Atoi(which)
	for _, c := range e.calls {
		if err == nil && c.number == n || which == "" && len(e.calls) == 1 {
			return c, true
		}
	}
	return call{}, false
}

// waitingText lists the tool calls that wait, by number.
func (e *snapshotDiff) waitingText() string {
	calls := make([]call, 0, len(e.calls))
	for _, c := range e.calls {
		calls = append(calls, c)
	}
	if len(calls) == 0 {
		return textNoCalls
	}
	slices.SortFunc(calls, func(a, b call) int { return a.number - b.number })
	lines := make([]string, len(calls))
	for i, c := range calls {
		lines[i] = askText(c, e.zone)
	}
	return strings.Join(lines, "\n")
}

// waits names the calls that wait; with a number it reads that one whole.
func (m *session) waits(rest string) {
	c, ok := m.diff.find(rest)
	if rest == "" || !ok {
		m.answer(kindApproval, m.diff.waitingText())
		return
	}
	now := time.Now()
	m.say(now, kindApproval, fmt.Sprintf(textCallIs, c.number, c.tool(), c.Until.In(m.diff.zone).Format("15:04:05"), c.size()))
	for _, l := range c.lines() {
		m.write(now, kindApproval, l)
	}
	m.say(now, kindApproval, fmt.Sprintf(textCallEnds, c.number, c.answers()))
}

// settle answers the tool call with a number; without one the only one that waits.
func (m *session) settle(which string, v policy.Verdict) {
	c, ok := m.diff.find(which)
	if !ok {
		m.answer(kindError, m.diff.waitingText())
		return
	}
	if _, ok := m.carryOut(command.Answer{ID: c.ID, Verdict: v}); ok {
		m.answer(kindOK, verdictText(c, v))
	}
}

// verdictText is an answer to a tool call.
func verdictText(c call, v policy.Verdict) string {
	switch v {
	case policy.Allow:
		return fmt.Sprintf("number %d is allowed", c.number)
	case policy.Always:
		return fmt.Sprintf("number %d is allowed, and %s from now on", c.number, c.Tool)
	}
	return fmt.Sprintf("number %d is denied", c.number)
}
