package updates

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/core/command"
	"ollimbot/core/work/proposals"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

// asking is a pane with a question, made before the last of three updates, and its context.
func asking(buttons ...proposals.Button) (*Pane, pane.Context) {
	p, c := filled(3, func(int) int { return 1 })
	c.Snap.Proposals = []proposals.Proposal{{ID: "1a2b3c4d", Text: `You wrote: "I'll call Ada".`, Made: start, Buttons: buttons}}
	p.Sync(c)
	return p, c
}

var (
	yes   = proposals.Button{ID: "yes", Label: "Remind me"}
	other = proposals.Button{ID: "when", Label: "Other time…", Asks: true}
	never = proposals.Button{ID: "no", Label: "No"}
)

// Item 32: a row in Updates, answered with one key.
func TestAQuestionIsTheFirstRowAndAnsweredWithOneKey(t *testing.T) {
	p, c := asking(yes, other, never)
	var lines []string
	for _, r := range p.Draw(c, 100, 8, true) {
		lines = append(lines, ansi.Strip(r.Text))
	}
	if !strings.Contains(lines[0], `? You wrote: "I'll call Ada".`) || strings.TrimSpace(lines[1]) != "y Remind me, o Other time…, n No" || p.State(c) != "4" {
		t.Errorf("state %q, drawn\n%s", p.State(c), strings.Join(lines, "\n"))
	}
	for id, want := range map[action.ID]command.AnswerProposal{
		action.UpdatesYes: {ID: "1a2b3c4d", Button: "yes"}, action.UpdatesNo: {ID: "1a2b3c4d", Button: "no"},
	} {
		if got := p.Do(c, id); got.Do != want {
			t.Errorf("%s: %+v", id, got)
		}
	}
	if got := p.Do(c, action.UpdatesOther); got.Open == nil || got.Do != nil {
		t.Errorf("another time: %+v", got)
	}
	if p.Word(action.UpdatesYes) != "Remind me" || p.Word(action.UpdatesNo) != "No" {
		t.Error("the help line does not say what the keys mean")
	}
	if got := p.Do(c, action.UpdatesDiscard); got.Do != nil || !strings.Contains(got.Toast, "answer it") {
		t.Errorf("discard: %+v", got)
	}
	if got := p.Do(c, action.UpdatesRead); got.Open == nil {
		t.Errorf("read: %+v", got)
	}
	p.Do(c, "updates.down")
	if got := p.Do(c, action.UpdatesYes); got.Do != nil || got.Toast != textNoQuestion {
		t.Errorf("on an update: %+v", got)
	}
	if got := p.Do(c, action.UpdatesDiscard); got.Do != (command.DiscardUpdate{Key: "2"}) {
		t.Errorf("discard of an update: %+v", got)
	}
}

func TestAQuestionWithoutATimeAsksForOneWithItsFirstKey(t *testing.T) {
	p, c := asking(other, never)
	if got := p.Do(c, action.UpdatesYes); got.Open == nil {
		t.Errorf("the first key: %+v", got)
	}
	if got := p.Do(c, action.UpdatesOther); got.Do != nil || got.Toast != textNoAnswer {
		t.Errorf("a key without a button: %+v", got)
	}
	if got := p.Do(c, action.UpdatesNo); got.Do != (command.AnswerProposal{ID: "1a2b3c4d", Button: "no"}) {
		t.Errorf("the last key: %+v", got)
	}
	c.Snap.Proposals[0].Made = c.Snap.At.Add(-time.Hour)
	if text := p.page(c, p.snap.Updates[0]); strings.Contains(text, "Asked") {
		t.Errorf("an update reads\n%s", text)
	}
}
