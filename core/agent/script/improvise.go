package script

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/talk/post"
)

func say(format string, args ...any) step {
	return step{verb: vSay, text: fmt.Sprintf(format, args...)}
}

func think(format string, args ...any) step {
	return step{verb: vThink, text: fmt.Sprintf(format, args...)}
}

// call is a step that calls a tool of the bot's, with arguments made of strings,
// numbers and lists, which JSON always takes.
func call(tool string, args map[string]any) step {
	data, err := json.Marshal(args)
	if err != nil {
		data = []byte("{}")
	}
	return step{verb: vCall, text: tool, input: data}
}

// background plays a run: look, think, speak up where it is wanted, report as
// the mode asks, follow up in a chain.
func (t *turn) background(r reading) []step {
	steps := []step{t.pause(), think(thinkTask, yours(gist(r.Body)))}
	if r.Late {
		steps = append(steps, think(thinkLate))
	}
	steps = append(steps, t.look(r)...)
	more, spoke := t.speakUp(r)
	steps = append(steps, more...)
	switch {
	case r.Chain && wantsFollow().MatchString(r.Body):
		steps = append(steps, t.followUp(r)...)
	case r.Of > 0 && !r.Chain:
		steps = append(steps, say(sayLastCheck, r.Check, r.Of))
	}
	if t.reports(r, spoke) {
		steps = append(steps, report(r))
	}
	return append(steps, t.pause(), say(sayDone))
}

// look uses the tools that the body's words call for. Offline none of them
// answers, but permission is asked for as a model would.
func (t *turn) look(r reading) (steps []step) {
	for _, wish := range []struct {
		wanted lazyregexp.Pattern
		tool   string
		key    string
		value  string
	}{
		{wantsTasks, "Bash", "command", "ollim-bot tasks list"},
		{wantsCalendar, "Bash", "command", "ollim-bot cal today"},
		{wantsMail, "Bash", "command", "ollim-bot gmail unread --max 20"},
		{wantsNotes, "Read", "file_path", "USER.md"},
	} {
		// Now and then a model tries what it was told it lacks.
		if wish.wanted().MatchString(r.Body) && (r.offers(wish.tool) || t.rng.IntN(4) == 0) {
			asked := call(wish.tool, map[string]any{wish.key: wish.value})
			asked.verb = vAsk
			steps = append(steps, asked, t.pause())
		}
	}
	return append(steps, say(sayMatter, yours(gist(r.Body))))
}

// offers reports whether the preamble names a tool, or names none at all.
func (r reading) offers(tool string) bool {
	for _, p := range r.Tools {
		if p == tool || strings.HasPrefix(p, tool+"(") {
			return true
		}
	}
	return len(r.Tools) == 0
}

// speakUp decides whether the user hears of it now, and how.
func (t *turn) speakUp(r reading) (steps []step, spoke bool) {
	ping, embed := wantsPing().MatchString(r.Body), wantsEmbed().MatchString(r.Body)
	urgent := wantsUrgent().MatchString(r.Body)
	switch {
	case !ping && !embed:
		return []step{think(thinkNoPing)}, false
	case !r.Ping:
		return []step{think(thinkForbidden)}, false
	case !urgent && r.Busy && t.rng.IntN(4) > 0:
		return []step{think(thinkBusy)}, false
	case !urgent && r.Tokens == 0 && t.rng.IntN(2) == 0:
		return []step{think(thinkEmpty)}, false
	}
	tell := call("discord_embed", embedOf(r))
	if ping {
		args := map[string]any{"message": addressed(r.Body)}
		if urgent {
			args["critical"] = true
		}
		tell = call("ping_user", args)
	}
	tell.refused = []step{think(thinkRefused)}
	return []step{think(thinkRegret), tell}, true
}

// embedOf lays the body's sentences out as a card.
func embedOf(r reading) map[string]any {
	fields := []post.Field{}
	list := sentences(r.Body)
	for i, s := range list[:min(len(list), 4)] {
		fields = append(fields, post.Field{Name: fmt.Sprintf(embedStep, i+1), Value: yours(s)})
	}
	return map[string]any{
		"title": capital(clean.Cut(yours(gist(r.Body)), 60)), "description": embedText, "color": "blue", "fields": fields,
		"buttons": []post.Button{{Label: embedButton, Style: "primary", Action: "agent:help me with: " + clean.Cut(gist(r.Body), 80)}},
	}
}

func (t *turn) followUp(r reading) []step {
	d, ok := delay(r.Body)
	if !ok {
		d = time.Duration(20+5*t.rng.IntN(6)) * time.Minute
	}
	n := max(1, int(d.Minutes()))
	return []step{say(sayFollowUp, r.Check, r.Of, n), call("follow_up_chain", map[string]any{"minutes_from_now": n})}
}

// reports decides whether the main session is told what the mode asks for. Now and
// then a run that spoke up forgets it, as models do: then the Stop hook has its turn.
func (t *turn) reports(r reading, spoke bool) bool {
	switch r.Mode {
	case "always":
		return t.rng.IntN(5) > 0
	case "on_ping":
		return spoke && t.rng.IntN(4) > 0 || !spoke && wantsPing().MatchString(r.Body)
	case "freely":
		return t.rng.IntN(2) == 0
	}
	return false
}

func report(r reading) step {
	text := fmt.Sprintf(reportTask, capital(yours(gist(r.Body))))
	if r.Check > 0 {
		text += fmt.Sprintf(reportCheck, r.Check, r.Of)
	}
	return call("report_updates", map[string]any{"message": text})
}

// obey does what a Stop hook's reason asks for.
func obey(reason string, r reading) []step {
	if strings.Contains(reason, "report_updates") {
		return []step{think(thinkForgot), report(r)}
	}
	return []step{say("%s", clean.Cut(clean.Line(reason), 200))}
}

// pause is the time in which a model would think.
func (t *turn) pause() step {
	return step{verb: vWait, wait: time.Duration(400+t.rng.IntN(800)) * time.Millisecond}
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

var (
	// cancelForm finds the id of a reminder that the user wants gone.
	cancelForm = lazyregexp.Lazily(`(?i)\b(?:cancel|delete|remove) (?:the )?reminder ([0-9a-f]{8})\b`)
	listForm   = lazyregexp.Lazily(`(?i)\b(list|show|what|which|any|pending)\b.*\breminders\b`)
	remindForm = lazyregexp.Lazily(`(?i)\bremind me\b`)
)

// conversation answers the user, or a foreground task, in the main session.
func (t *turn) conversation(r reading) []step {
	var steps []step
	if offline := t.s.engine.o.Offline; offline != "" && r.Tag == "" && !t.saidOffline() {
		steps = append(steps, say("%s", offline))
	}
	if len(r.Updates) > 0 { // what happened in the background, newest last
		steps = append(steps, say(sayUpdates, clean.Cut(clean.Line(strings.Join(r.Updates, " · ")), 1000)))
	}
	switch {
	case r.Tag == "routine" || r.Tag == "reminder":
		return append(steps, t.foreground(r)...)
	case strings.HasPrefix(r.Tag, "fork-") && r.Body == "", r.Tag == "system":
		return append(steps, t.inFork(r)...)
	case r.Body == "" && len(r.Updates) > 0:
		return steps // nobody has said a word
	case r.Body == "" && r.Images > 0:
		return append(steps, say(sayPicture))
	case cancelForm().MatchString(r.Body):
		id := cancelForm().FindStringSubmatch(r.Body)[1]
		return append(steps, call("cancel_reminder", map[string]any{"reminder_id": id}), say(sayCancelled))
	case remindForm().MatchString(r.Body):
		return append(steps, remind(r.Body)...)
	case listForm().MatchString(r.Body):
		return append(steps, call("list_reminders", map[string]any{}), say(sayListed))
	}
	for _, a := range replies {
		if a.when().MatchString(r.Body) {
			return append(steps, say("%s", strings.ReplaceAll(a.line, "{model}", cmp.Or(t.s.current().Model, defaultModel))))
		}
	}
	return append(steps, otherwise(r)...)
}

// saidOffline reports whether the session was told before that no model is connected.
func (t *turn) saidOffline() bool {
	return slices.ContainsFunc(t.history, func(e exchange) bool { return strings.Contains(e.Answered, t.s.engine.o.Offline) })
}

// foreground speaks for a routine or reminder of the main session.
func (t *turn) foreground(r reading) []step {
	steps := []step{say("%s", addressed(r.Body))}
	if r.Late {
		steps = append(steps, say(sayLate))
	}
	if r.Chain && wantsFollow().MatchString(r.Body) {
		return append(steps, t.followUp(r)...)
	}
	return append(steps, say(sayEncourage))
}

// remind sets a reminder where the user said when; otherwise it asks.
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

// otherwise is honest about what an engine without a model cannot do, and
// still leaves the user with a next step.
func otherwise(r reading) []step {
	what := yours(gist(r.Body))
	answer := say(sayNoted, what)
	if strings.HasSuffix(strings.TrimSpace(r.Body), "?") {
		answer = say(sayQuestion)
	}
	return []step{think(thinkMain, what), answer}
}

// inFork answers what the bot itself says to an interactive fork: a beginning
// without a topic, the idle notices, the Report button.
func (t *turn) inFork(r reading) []step {
	matter := t.lastAsked()
	told := reportEmpty
	if matter != "" {
		told = fmt.Sprintf(reportFork, clean.Cut(yours(gist(matter)), 200))
	}
	switch {
	case r.Tag == "fork-started":
		return []step{say(sayForkHello)}
	case r.Tag == "fork-timeout" && !r.Must:
		return []step{say(sayForkIdle)}
	case r.Tag == "fork-timeout" && matter == "":
		return []step{say(sayForkOver), call("exit_fork", map[string]any{})}
	}
	return []step{call("report_updates", map[string]any{"message": told}), say(sayForkTold)}
}
