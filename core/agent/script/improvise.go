package script

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
)

func say(format string, args ...any) step {
	return step{verb: vSay, text: fmt.Sprintf(format, args...)}
}

func think(format string, args ...any) step {
	return step{verb: vThink, text: fmt.Sprintf(format, args...)}
}

// call returns a step that calls one of the bot's tools. The arguments must be encodable
// as JSON.
func call(tool string, args map[string]any) step {
	data, err := json.Marshal(args)
	if err != nil {
		data = []byte("{}")
	}
	return step{verb: vCall, text: tool, input: data}
}

// background plays a run without a script: it pings if its text asks for that. If the mode requires
// a report, the Stop hook asks for it.
func (t *turn) background(m message) []step {
	steps := []step{pause(), think(thinkTask, yours(gist(m.body)))}
	if wantsPing().MatchString(m.body) && t.offers("ping_user") {
		args := map[string]any{"message": addressed(m.body)}
		if wantsUrgent().MatchString(m.body) {
			args["critical"] = true
		}
		ping := call("ping_user", args)
		ping.refused = []step{think(thinkRefused)}
		steps = append(steps, think(thinkRegret), ping)
	} else {
		steps = append(steps, think(thinkNoPing))
	}
	return append(steps, pause(), say(sayDone))
}

func (t *turn) offers(tool string) bool {
	return slices.ContainsFunc(t.s.o.Tools, func(o agent.Tool) bool { return o.Name == tool })
}

// obey does what the Stop hook asks for.
func obey(reason string, m message) []step {
	if strings.Contains(reason, "report_updates") {
		text := fmt.Sprintf(reportTask, capital(yours(gist(m.body))))
		return []step{think(thinkForgot), call("report_updates", map[string]any{"message": text})}
	}
	return []step{say("%s", clean.Cut(clean.Line(reason), 200))}
}

// pause returns the time that a model would take to think.
func pause() step { return step{verb: vWait, wait: 800 * time.Millisecond} }

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

var (
	// cancelForm finds the ID of the reminder to cancel.
	cancelForm = lazyregexp.New(`(?i)\b(?:cancel|delete|remove) (?:the )?reminder ([0-9a-f]{8})\b`)
	listForm   = lazyregexp.New(`(?i)\b(list|show|what|which|any|pending)\b.*\breminders\b`)
	remindForm = lazyregexp.New(`(?i)\bremind me\b`)
	// promiseForm finds something that the user promises to do later.
	promiseForm = lazyregexp.New(`(?i)\bI['’]ll [^.!?\n]*\b(?:tomorrow|tonight|later|soon|next week|this (?:evening|weekend))\b`)
)

// conversation answers the user, or a foreground task, in the main session.
func (t *turn) conversation(m message) []step {
	var steps []step
	if offline := t.s.engine.o.Offline; offline != "" && m.tag == "" && !t.saidOffline() {
		steps = append(steps, say("%s", offline))
	}
	if len(m.updates) > 0 { // what happened in the background, newest last
		steps = append(steps, say(sayUpdates, clean.Cut(clean.Line(strings.Join(m.updates, " · ")), 1000)))
	}
	switch {
	case m.tag == "routine" || m.tag == "reminder":
		return append(steps, say("%s", addressed(m.body)), say(sayEncourage))
	case strings.HasPrefix(m.tag, "fork-") && m.body == "", m.tag == "system":
		return append(steps, t.inFork(m)...)
	case m.body == "" && len(m.updates) > 0:
		return steps // no message, only updates
	case m.body == "" && m.images > 0:
		return append(steps, say(sayPicture))
	case cancelForm().MatchString(m.body):
		id := cancelForm().FindStringSubmatch(m.body)[1]
		return append(steps, call("cancel_reminder", map[string]any{"reminder_id": id}), say(sayCancelled))
	case remindForm().MatchString(m.body):
		return append(steps, remind(m.body)...)
	case promiseForm().MatchString(m.body) && t.offers("propose_reminder"):
		return append(steps, promised(promiseForm().FindString(m.body))...)
	case listForm().MatchString(m.body):
		return append(steps, call("list_reminders", map[string]any{}), say(sayListed))
	}
	if t.s.engine.o.Talk != nil {
		more, err := parse(t.s.engine.o.Talk(m.body), false)
		if err != nil {
			t.fault = err.Error()
		}
		return append(steps, more...)
	}
	for _, a := range replies {
		if a.when().MatchString(m.body) {
			return append(steps, say("%s", strings.ReplaceAll(a.line, "{model}", cmp.Or(t.s.current().Model, defaultModel))))
		}
	}
	return append(steps, otherwise(m)...)
}

// saidOffline reports whether the session has already said that no model is connected.
func (t *turn) saidOffline() bool {
	return slices.ContainsFunc(t.history, func(e exchange) bool { return strings.Contains(e.Answered, t.s.engine.o.Offline) })
}

// remind sets a reminder if the user gave a time; otherwise it asks for one.
func remind(body string) []step {
	d, ok := delay(body)
	if !ok {
		return []step{say(sayWhen)}
	}
	what := minutes().ReplaceAllString(gist(body[remindForm().FindStringIndex(body)[0]:]), "")
	what = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(what), "to "))
	if what == "" {
		what = "what you asked for"
	}
	args := map[string]any{
		"prompt": "Remind me to " + what + ".", "delay_minutes": max(1, int(d.Minutes())), "description": capital(clean.Cut(what, 60)),
	}
	return []step{call("add_reminder", args), say(sayReminded, yours(what))}
}

// promised proposes a reminder of the user's words.
func promised(words string) []step {
	args := map[string]any{"words": words}
	if strings.Contains(strings.ToLower(words), "tomorrow") {
		args["delay_minutes"] = 24 * 60
	}
	return []step{call("propose_reminder", args), say(sayPromised)}
}

// otherwise admits what an engine without a model cannot do and offers a next step.
func otherwise(m message) []step {
	what := yours(gist(m.body))
	answer := say(sayNoted, what)
	if strings.HasSuffix(strings.TrimSpace(m.body), "?") {
		answer = say(sayQuestion)
	}
	return []step{think(thinkMain, what), answer}
}

// inFork answers the bot's own messages to an interactive fork: a start without a topic,
// the idle notices, the Report button.
func (t *turn) inFork(m message) []step {
	matter := t.lastAsked()
	told := reportEmpty
	if matter != "" {
		told = fmt.Sprintf(reportFork, clean.Cut(yours(gist(matter)), 200))
	}
	switch {
	case m.tag == "fork-started":
		return []step{say(sayForkHello)}
	case m.tag == "fork-timeout" && !m.mustLeave:
		return []step{say(sayForkIdle)}
	case m.tag == "fork-timeout" && matter == "":
		return []step{say(sayForkOver), call("exit_fork", map[string]any{})}
	}
	return []step{call("report_updates", map[string]any{"message": told}), say(sayForkTold)}
}
