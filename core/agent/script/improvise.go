package script

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/clean"
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
