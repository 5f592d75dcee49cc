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

// short names a call: its tool, the begin of what it would do, and how much there
// is where that is not all.
func (c call) short() string {
	what := c.what()
	first, _, _ := strings.Cut(what, "\n")
	head := clean.Cut(strings.TrimSpace(first), callHead)
	switch {
	case what == "":
		return c.tool()
	case c.more():
		return joined(c.tool()+": "+head, c.size())
	}
	return c.tool() + ": " + head
}

// more reports that the short form does not say all of it.
func (c call) more() bool {
	return strings.Contains(c.what(), "\n") || len([]rune(c.what())) > callHead
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

func askText(s *core.Snapshot, c call) string {
	short := c.short()
	if c.more() {
		short += fmt.Sprintf("; waits %d reads it all", c.number)
	}
	return fmt.Sprintf("number %d waits until %s: %s; %s", c.number, s.Clock(c.Until, time.TimeOnly), short, c.answers())
}

// call is the tool call of a number, or the only one where none is given. Without
// one it says which there are.
func (m *session) call(which, kind string) (call, bool) {
	n, err := strconv.Atoi(which)
	var lines []string
	for _, c := range m.diff.calls {
		if err == nil && c.number == n || which == "" && len(m.diff.calls) == 1 && kind == kindError {
			return c, true
		}
		lines = append(lines, askText(&m.s, c))
	}
	m.read(kind, lines, textNoCalls)
	return call{}, false
}

// waits names the calls that wait; with a number it reads that one whole.
func (m *session) waits(rest string) {
	c, ok := m.call(rest, kindApproval)
	if !ok {
		return
	}
	now := time.Now()
	m.say(now, kindApproval, fmt.Sprintf(textCallIs, c.number, c.tool(), m.s.Clock(c.Until, time.TimeOnly), c.size()))
	for _, l := range c.lines() {
		m.write(now, kindApproval, l)
	}
	m.say(now, kindApproval, fmt.Sprintf(textCallEnds, c.number, c.answers()))
}

// verdicts are what can be said of a tool call, and how that is answered.
var verdicts = map[string]struct {
	verdict policy.Verdict
	said    string
}{
	"allow": {policy.Allow, "allowed"}, "always": {policy.Always, "allowed, and its tool from now on"}, "deny": {policy.Deny, "denied"},
}

// settle answers the tool call with a number; without one the only one that waits.
func (m *session) settle(which string) {
	c, ok := m.call(which, kindError)
	if !ok {
		return
	}
	v := verdicts[m.named.Name]
	if _, ok := m.carryOut(command.Answer{ID: c.ID, Verdict: v.verdict}); ok {
		m.answer(kindOK, fmt.Sprintf("number %d is %s", c.number, v.said))
	}
}
