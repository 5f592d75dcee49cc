package plain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/tui/pane/chat"
)

// callHead is how much of a call its short form says, in characters.
const callHead = 80

// taken is the tool of a call, as people know it, and everything that the call would
// do, with its line breaks; empty for a tool that takes nothing.
func taken(a policy.Approval) (tool, text string) {
	tool, _, _ = strings.Cut(a.Label, "(")
	text = strings.TrimRight(clean.Text(chat.CallText(a)), "\n ")
	if inner, ok := strings.CutPrefix(text, tool+"("); ok {
		text = strings.TrimSuffix(inner, ")")
	}
	if text == tool {
		text = ""
	}
	return tool, strings.Trim(text, "\n")
}

// shortCall names a call: its tool, the begin of what it would do, and how much there
// is where that is not all.
func shortCall(a policy.Approval) (short string, more bool) {
	tool, text := taken(a)
	first, _, _ := strings.Cut(text, "\n")
	head := clean.Cut(strings.TrimSpace(first), callHead)
	switch {
	case text == "":
		return tool, false
	case head == strings.TrimSpace(text):
		return tool + ": " + head, false
	}
	return words.Joined(tool+": "+head, callSize(text)), true
}

// callSize is how much there is to read of a call. It is said before its text, so that
// no line of that can pass for the end.
func callSize(text string) string {
	return words.Joined(words.Grouped(uint64(strings.Count(text, "\n")+1), "line"), words.Grouped(uint64(len([]rune(text))), "character"))
}

// callLines are all of what a call would do. Unlike a message, nothing of it is cut:
// a line that is too long to be heard in one go becomes several.
func callLines(text string) (lines []string) {
	for l := range strings.SplitSeq(text, "\n") {
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

// call is a tool call that waits.
func (n numbers) call(s *core.Snapshot, a policy.Approval) thing {
	number := n.of(allCalls, a.ID)
	short, more := shortCall(a)
	line := fmt.Sprintf("%s, waits until %s; %s", short, s.Clock(a.Until, time.TimeOnly), callAnswers(number))
	if more {
		line += fmt.Sprintf("; waits %d reads it all", number)
	}
	return thing{id: a.ID, title: a.Label, line: line}
}

// callAnswers are the words that settle a call.
func callAnswers(number int) string {
	return fmt.Sprintf("allow %d, always %d or deny %d", number, number, number)
}

// call is the tool call that the words name.
func (m *session) call(rest string) (policy.Approval, bool) {
	return pick(m, allCalls, m.s.Approvals, func(a policy.Approval) thing { return m.numbers.call(&m.s, a) }, rest)
}

// waits names the calls that wait; with a number it reads that one whole.
func (m *session) waits(rest string) {
	if rest == "" {
		m.list(kindApproval, allCalls, each(m.s.Approvals, func(a policy.Approval) thing { return m.numbers.call(&m.s, a) }))
		return
	}
	a, ok := m.call(rest)
	if !ok {
		return
	}
	now, number := time.Now(), m.numbers.of(allCalls, a.ID)
	tool, text := taken(a)
	m.say(now, kindApproval, fmt.Sprintf(textCallIs, number, tool, m.s.Clock(a.Until, time.TimeOnly), callSize(text)))
	for _, l := range callLines(text) {
		m.write(now, kindApproval, l)
	}
	m.say(now, kindApproval, fmt.Sprintf(textCallEnds, number, callAnswers(number)))
}

// verdicts are what can be said of a tool call, and how that is answered.
var verdicts = map[string]struct {
	verdict policy.Verdict
	said    string
}{
	"allow": {policy.Allow, "allowed"}, "always": {policy.Always, "allowed, and its tool from now on"}, "deny": {policy.Deny, "denied"},
}

// settle answers the tool call that the words name; without them the only one that waits.
func (m *session) settle(rest string) {
	a, ok := m.call(rest)
	if !ok {
		return
	}
	v := verdicts[m.named.Name]
	if _, ok := m.carryOut(command.Answer{ID: a.ID, Verdict: v.verdict}); ok {
		m.answer(kindOK, fmt.Sprintf("number %d is %s", m.numbers.of(allCalls, a.ID), v.said))
	}
}
