package script

import (
	"fmt"
	"strings"

	"ollimbot/core/clean"
	"ollimbot/core/pattern"
)

// reply is one thing that the offline engine can answer to.
type reply struct {
	when  pattern.Pattern
	lines []string
}

// cancelForm finds the id of a reminder that the user wants gone.
var (
	cancelForm = pattern.Lazily(`(?i)\b(?:cancel|delete|remove) (?:the )?reminder ([0-9a-f]{8})\b`)
	listForm   = pattern.Lazily(`(?i)\b(list|show|what|which|any|pending)\b.*\breminders\b`)
	remindForm = pattern.Lazily(`(?i)\bremind me\b`)
)

// conversation answers the user, or a foreground task, in the main session.
func (t *turn) conversation(r reading) []step {
	steps := []step{{verb: vWait, wait: t.between(250, 800)}}
	if n := len(r.Updates); n > 0 {
		steps = append(steps, step{verb: vSay, text: t.updates(r.Updates)})
	}
	switch {
	case r.Tag == "routine" || r.Tag == "reminder":
		return append(steps, t.foreground(r)...)
	case strings.HasPrefix(r.Tag, "fork-") && r.Body == "", r.Tag == "system":
		return append(steps, t.inFork(r)...)
	case r.Body == "" && len(r.Updates) > 0:
		return steps // nobody has said a word
	case r.Body == "" && r.Images > 0:
		return append(steps, step{verb: vSay, text: sayPicture})
	case cancelForm().MatchString(r.Body):
		id := cancelForm().FindStringSubmatch(r.Body)[1]
		return append(steps, step{verb: vCall, text: "cancel_reminder", input: object(map[string]any{"reminder_id": id})},
			step{verb: vSay, text: sayCancelled})
	case remindForm().MatchString(r.Body):
		return append(steps, t.remind(r.Body)...)
	case listForm().MatchString(r.Body):
		return append(steps, step{verb: vCall, text: "list_reminders", input: object(map[string]any{})},
			step{verb: vSay, text: sayListed})
	}
	for _, a := range replies {
		if a.when().MatchString(r.Body) {
			return append(steps, step{verb: vSay, text: strings.ReplaceAll(t.pick(a.lines), "{model}", t.s.model())})
		}
	}
	return append(steps, t.otherwise(r)...)
}

// updates mentions what happened in the background, newest last.
func (t *turn) updates(list []string) string {
	if len(list) == 1 {
		return fmt.Sprintf(sayOneUpdate, clean.Cut(clean.Line(list[0]), 300))
	}
	var b strings.Builder
	fmt.Fprintf(&b, sayUpdates, len(list))
	for _, u := range list {
		b.WriteString("\n- " + clean.Cut(clean.Line(u), 300))
	}
	return b.String()
}

// foreground speaks for a routine or reminder of the main session.
func (t *turn) foreground(r reading) []step {
	steps := []step{{verb: vSay, text: addressed(r.Body)}}
	if r.Late {
		steps = append(steps, step{verb: vSay, text: sayLate})
	}
	if r.Chain && wantsFollow().MatchString(r.Body) {
		return append(steps, t.followUp(r)...)
	}
	return append(steps, step{verb: vSay, text: t.pick(sayEncourage)})
}

// remind sets a reminder where the user said when; otherwise it asks.
func (t *turn) remind(body string) []step {
	d, ok := delay(body)
	if !ok {
		return []step{{verb: vSay, text: sayWhen}}
	}
	what := minutes().ReplaceAllString(gist(body[remindForm().FindStringIndex(body)[0]:]), "")
	what = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(what), "to "))
	if what == "" {
		what = "what you asked for"
	}
	args := map[string]any{
		"prompt": "Remind me to " + what + ".", "delay_minutes": max(1, int(d.Minutes())), "description": capital(clean.Cut(what, 60)),
	}
	return []step{{verb: vCall, text: "add_reminder", input: object(args)}, {verb: vSay, text: fmt.Sprintf(t.pick(sayReminded), yours(what))}}
}

// otherwise is honest about what an engine without a model cannot do, and
// still leaves the user with a next step.
func (t *turn) otherwise(r reading) []step {
	what := yours(gist(r.Body))
	line := fmt.Sprintf(t.pick(sayNoted), what)
	if strings.HasSuffix(strings.TrimSpace(r.Body), "?") {
		line = t.pick(sayQuestion)
	}
	if before := t.lastAsked(); before != "" && t.rng.IntN(3) == 0 {
		line += " " + fmt.Sprintf(sayBefore, clean.Cut(clean.Line(yours(before)), 80))
	}
	return []step{{verb: vThink, text: fmt.Sprintf(thinkMain, what)}, {verb: vSay, text: line}}
}
