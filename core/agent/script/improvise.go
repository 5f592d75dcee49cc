package script

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/pattern"
	"ollimbot/core/post"
)

// improvise makes steps of what a prompt says.
func (t *turn) improvise(r reading) []step {
	if r.Background {
		return t.background(r)
	}
	return t.conversation(r)
}

// background plays a run: look, think, speak up where it is wanted, report as
// the mode asks, follow up in a chain.
func (t *turn) background(r reading) []step {
	steps := []step{
		{verb: vWait, wait: t.between(400, 1500)},
		{verb: vThink, text: fmt.Sprintf(t.pick(thinkTask), yours(gist(r.Body)))},
	}
	if r.Late {
		steps = append(steps, step{verb: vThink, text: thinkLate})
	}
	steps = append(steps, t.look(r)...)
	spoke := false
	if s, ok := t.speakUp(r); ok {
		steps, spoke = append(steps, s...), true
	}
	if r.Chain && wantsFollow().MatchString(r.Body) {
		steps = append(steps, t.followUp(r)...)
	} else if r.Of > 0 && !r.Chain {
		steps = append(steps, step{verb: vSay, text: fmt.Sprintf(sayLastCheck, r.Check, r.Of)})
	}
	steps = append(steps, t.report(r, spoke)...)
	return append(steps, step{verb: vWait, wait: t.between(200, 700)}, step{verb: vSay, text: t.pick(sayDone)})
}

// look uses the tools that the body's words call for. Offline none of them
// answers, but permission is asked for as a model would.
func (t *turn) look(r reading) []step {
	var steps []step
	ask := func(name string, input map[string]any) {
		if !r.offers(name) && t.rng.IntN(4) > 0 { // now and then a model tries what it was told it lacks
			return
		}
		steps = append(steps, step{verb: vAsk, text: name, input: object(input)}, step{verb: vWait, wait: t.between(200, 900)})
	}
	if wantsTasks().MatchString(r.Body) {
		ask("Bash", map[string]any{"command": "ollim-bot tasks list"})
	}
	if wantsCalendar().MatchString(r.Body) {
		ask("Bash", map[string]any{"command": "ollim-bot cal today"})
	}
	if wantsMail().MatchString(r.Body) {
		ask("Bash", map[string]any{"command": "ollim-bot gmail unread --max 20"})
	}
	if wantsNotes().MatchString(r.Body) || len(steps) == 0 && t.rng.IntN(3) == 0 {
		ask("Read", map[string]any{"file_path": "USER.md"})
	}
	if len(steps) > 0 {
		steps = append(steps, step{verb: vSay, text: t.pick(sayLooked)})
	}
	return append(steps, step{verb: vSay, text: fmt.Sprintf(t.pick(sayMatter), yours(gist(r.Body)))})
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
func (t *turn) speakUp(r reading) ([]step, bool) {
	ping, embed := wantsPing().MatchString(r.Body), wantsEmbed().MatchString(r.Body)
	if !ping && !embed {
		return []step{{verb: vThink, text: t.pick(thinkNoPing)}}, false
	}
	urgent := wantsUrgent().MatchString(r.Body)
	switch {
	case !r.Ping:
		return []step{{verb: vThink, text: thinkForbidden}}, false
	case !urgent && r.Busy && t.rng.IntN(4) > 0:
		return []step{{verb: vThink, text: thinkBusy}}, false
	case !urgent && r.Tokens == 0 && t.rng.IntN(2) == 0:
		return []step{{verb: vThink, text: thinkEmpty}}, false
	}
	steps := []step{{verb: vThink, text: t.pick(thinkRegret)}}
	refused := []step{{verb: vThink, text: thinkRefused}}
	if embed && !ping {
		e := t.embed(r)
		return append(steps, step{verb: vCall, text: "discord_embed", input: object(e), refused: refused}), true
	}
	args := map[string]any{"message": addressed(r.Body)}
	if urgent {
		args["critical"] = true
	}
	return append(steps, step{verb: vCall, text: "ping_user", input: object(args), refused: refused}), true
}

// embed lays the body's sentences out as a card.
func (t *turn) embed(r reading) map[string]any {
	list := sentences(r.Body)
	fields := []post.Field{}
	for i, s := range list {
		if i == 4 {
			break
		}
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
	return []step{
		{verb: vSay, text: fmt.Sprintf(sayFollowUp, r.Check, r.Of, n)},
		{verb: vCall, text: "follow_up_chain", input: object(map[string]any{"minutes_from_now": n})},
	}
}

// report tells the main session what the mode asks for. Now and then a run
// that spoke up forgets it, as models do: then the Stop hook has its turn.
func (t *turn) report(r reading, spoke bool) []step {
	wanted := false
	switch r.Mode {
	case "always":
		wanted = t.rng.IntN(5) > 0
	case "on_ping":
		wanted = spoke && t.rng.IntN(4) > 0 || !spoke && wantsPing().MatchString(r.Body)
	case "freely":
		wanted = t.rng.IntN(2) == 0
	}
	if !wanted {
		return nil
	}
	return []step{t.reportStep(r)}
}

func (t *turn) reportStep(r reading) step {
	text := fmt.Sprintf(t.pick(reportTask), capital(yours(gist(r.Body))))
	if r.Check > 0 {
		text += fmt.Sprintf(reportCheck, r.Check, r.Of)
	}
	return step{verb: vCall, text: "report_updates", input: object(map[string]any{"message": text})}
}

// obey does what a Stop hook's reason asks for.
func (t *turn) obey(reason string, r reading) []step {
	if strings.Contains(reason, "report_updates") {
		return []step{{verb: vThink, text: thinkForgot}, t.reportStep(r)}
	}
	return []step{{verb: vSay, text: clean.Cut(clean.Line(reason), 200)}}
}

func (t *turn) pick(list []string) string { return list[t.rng.IntN(len(list))] }

func (t *turn) between(low, high int) time.Duration {
	return time.Duration(low+t.rng.IntN(high-low)) * time.Millisecond
}

// object encodes arguments made of strings, numbers and lists, which always works.
func object(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return data
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

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
