package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/visible"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
)

// verdict is an answer to a tool call, and its confirmation text.
type verdict struct {
	verdict policy.Verdict
	text    string
}

// verdicts maps the answer commands to their verdicts.
var verdicts = map[string]verdict{
	"allow": {policy.Allow, "allowed"}, "always": {policy.Always, "allowed, and %s from now on"}, "deny": {policy.Deny, "denied"},
}

func (c *console) callThing(a policy.Approval) thing {
	return callThing(c.snap, a, c.numbers.of(allCalls, a.ID))
}

// printCalls lists the pending calls. It prints the call with a number, or the only one, in full, and asks whether to
// allow it.
func printCalls(c *console, r request) {
	if r.rest == "" && len(c.snap.Approvals) != 1 {
		c.list(allCalls, each(c.snap.Approvals, c.callThing))
		return
	}
	a, ok := pick(c.finder, r, allCalls, c.snap.Approvals, c.callThing)
	if !ok {
		return
	}
	number := c.numbers.of(allCalls, a.ID)
	text := strings.Trim(a.Text, "\n")
	c.whole(clean.Line(fmt.Sprintf(textCallIs, number, words.Joined(c.snap.Clock(a.Until, time.TimeOnly), callSize(text)), a.Question)))
	for i, l := range callLines(text) { // numbered, so that none can imitate a line of the program
		c.whole(strconv.Itoa(i+1) + ": " + l)
	}
	if c.readOnly != "" {
		return
	}
	c.asked = &question{
		do:  func() { give(c, a, verdicts["allow"]) },
		not: func() { give(c, a, verdicts["deny"]) },
	}
	c.whole(fmt.Sprintf(textCallEnds, number, callAnswers(a, number)))
}

// answerCall answers the named tool call, or the only pending one. Words that name no call may name a file.
func answerCall(c *console, r request) {
	_, err := strconv.Atoi(r.rest)
	files := waitingFiles(c)
	switch named := r.rest != "" && err != nil; {
	case r.Name == "always", !named && len(c.snap.Approvals) > 0, len(files) == 0:
	case len(c.snap.Approvals) > 0 && len(command.Pick(each(c.snap.Approvals, c.callThing), thing.named, r.rest)) > 0:
	default:
		map[string]func(*console, request, []waiting){"allow": grant, "deny": refuse}[r.Name](c, r, files)
		return
	}
	if a, ok := pick(c.finder, r, allCalls, c.snap.Approvals, c.callThing); ok {
		give(c, a, verdicts[r.Name])
	}
}

// give gives the answer to a call.
func give(c *console, a policy.Approval, v verdict) {
	if _, ok := c.carryOut(command.Answer{ID: a.ID, Verdict: v.verdict}); ok {
		text := v.text
		switch scope := a.Scope(); {
		case v.verdict != policy.Always:
		case scope == "":
			text = verdicts["allow"].text
		default:
			text = fmt.Sprintf(text, scope)
		}
		c.answer(fmt.Sprintf("number %d is %s", c.numbers.of(allCalls, a.ID), text))
	}
}

// callLength is the length of a call's short form, in characters.
const callLength = 300

// shortCall is a question with its text on one line. A long text is cut: its head, its tail and its size are there.
func shortCall(a policy.Approval) (short string, more bool) {
	if a.Text == "" {
		return a.Question, false
	}
	short, cut := visible.Excerpt(strings.ReplaceAll(a.Text, "\n", " ⏎ "), callLength)
	if short = a.Question + " " + short; cut {
		return words.Joined(short, callSize(a.Text)), true
	}
	return short, strings.Contains(a.Text, "\n")
}

// callSize describes the length of a call. It is printed before the text, so that no line of the text can imitate the
// end.
func callSize(text string) string {
	if text == "" {
		return ""
	}
	return words.Joined(words.Grouped(uint64(strings.Count(text, "\n")+1), "line"), words.Grouped(uint64(len([]rune(text))), "character"))
}

// callLines returns all lines of a call. Unlike a message, it is never cut: long lines are split.
func callLines(text string) (lines []string) {
	if text == "" {
		return nil
	}
	for l := range strings.SplitSeq(text, "\n") {
		runes := []rune(strings.TrimRight(l, " "))
		if len(runes) == 0 {
			lines = append(lines, textBlank)
		}
		for part := range slices.Chunk(runes, maxWidth) {
			lines = append(lines, string(part))
		}
	}
	return lines
}

func callThing(s *core.Snapshot, a policy.Approval, number int) thing {
	short, more := shortCall(a)
	if more { // before the answers
		short += fmt.Sprintf("; approvals %d reads all of it", number)
	}
	line := fmt.Sprintf("%s, waits until %s; %s", short, s.Clock(a.Until, time.TimeOnly), callAnswers(a, number))
	return thing{id: a.ID, title: a.Label, line: line}
}

// callAnswers returns the commands that answer a call.
func callAnswers(a policy.Approval, number int) string {
	if a.Scope() == "" {
		return fmt.Sprintf("allow %d or deny %d", number, number)
	}
	return fmt.Sprintf("allow %d, always %d or deny %d", number, number, number)
}
