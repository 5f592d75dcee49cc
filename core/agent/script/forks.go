package script

import (
	"fmt"
	"strings"

	"ollimbot/core/clean"
)

// takeFork finds the user's own words in the prompts of interactive forks (spec
// 03.8) and returns them as the body: the topic, the reply, the button's prompt.
// What only the bot says there has no body.
func (r *reading) takeFork(rest string) string {
	rest, _, _ = strings.Cut(rest, "\n\n[stale-fork] ")
	switch r.Tag {
	case "fork-timeout":
		r.Must = strings.Contains(rest, "MUST")
		return ""
	case "system":
		return ""
	case "fork-started":
	default:
		return rest
	}
	_, own, ok := strings.Cut(rest, "\n\n")
	if !ok {
		return rest
	}
	if topic, ok := strings.CutPrefix(own, "Topic: "); ok {
		return upTo(topic, "\n\nRespond to the topic")
	}
	if first, _, _ := strings.Cut(own, "\n"); strings.Contains(first, " clicked a button on your output: ") {
		_, prompt, _ := strings.Cut(own, " clicked a button on your output: ")
		return upTo(prompt, "\n\nAddress their request")
	}
	if strings.HasPrefix(own, "No topic was given") {
		return ""
	}
	return own
}

// upTo is s up to the last occurrence of mark.
func upTo(s, mark string) string {
	if i := strings.LastIndex(s, mark); i >= 0 {
		return s[:i]
	}
	return s
}

// inFork answers what the bot itself says to an interactive fork: a beginning
// without a topic, the idle notices, the Report button.
func (t *turn) inFork(r reading) []step {
	matter := t.lastAsked()
	report := []step{
		{verb: vCall, text: "report_updates", input: object(map[string]any{"message": forkReport(matter)})},
		{verb: vSay, text: sayForkTold},
	}
	switch {
	case r.Tag == "system":
		return report
	case r.Tag == "fork-started":
		return []step{{verb: vSay, text: sayForkHello}}
	case !r.Must:
		return []step{{verb: vSay, text: sayForkIdle}}
	case matter != "":
		return report
	}
	return []step{{verb: vSay, text: sayForkOver}, {verb: vCall, text: "exit_fork", input: object(map[string]any{})}}
}

func forkReport(matter string) string {
	if matter == "" {
		return reportEmpty
	}
	return fmt.Sprintf(reportFork, clean.Cut(yours(gist(matter)), 200))
}

// lastAsked is what the user last wrote in this session, or "".
func (t *turn) lastAsked() string {
	for i := len(t.history) - 1; i >= 0; i-- {
		if asked := strings.TrimSpace(t.history[i].Asked); asked != "" {
			return asked
		}
	}
	return ""
}
