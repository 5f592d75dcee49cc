package pane

import (
	"fmt"
	"strings"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

const textRefused = "ping refused"

// TextNoModel marks a run whose message was what its check printed.
const TextNoModel = "no model"

// Outcome is the result of a run.
type Outcome struct {
	Short widget.Span   // its state; for a finished run the most important result, in 14 cells
	Full  []widget.Span // sent and refused messages
	Is    []string      // its searchable states
}

// OutcomeOf returns the outcome of a run. Details of answered and refused pings are available only for those in the
// snapshot.
func OutcomeOf(s *core.Snapshot, f *fork.View) Outcome {
	_, role := Look(f.State)
	o := Outcome{Short: widget.Span{Role: role, Text: string(f.State)}, Is: []string{string(f.State)}}
	switch {
	case f.State == fork.Running:
		o.Short.Text += " " + words.Elapsed(s.At.Sub(f.Started))
	case f.State.Failed() && f.State != fork.Failed:
		o.Is = append(o.Is, string(fork.Failed))
	case f.State == fork.Interrupted:
		o.Is = append(o.Is, string(fork.Stopped))
	}
	if f.Late {
		o.Is = append(o.Is, "late")
	}
	say := func(is string, role theme.Role, short, full string) {
		if o.Is = append(o.Is, is); len(o.Full) == 0 && f.State == fork.Done {
			o.Short = widget.Span{Role: role, Text: short}
		}
		o.Full = append(o.Full, widget.Span{Role: role, Text: full})
	}
	answered, refused := pingsOf(s, f)
	switch {
	case answered != nil:
		o.Is = append(o.Is, "pinged")
		left := strings.TrimPrefix(words.Until(answered.Answered.Sub(answered.At)), "in ")
		say("answered", theme.Text, "answered, "+left, "ping "+Answered(answered))
	case f.Pings > 0:
		text := words.Count(f.Pings, "ping")
		say("pinged", theme.Ping, text, text)
	}
	if f.Quiet > 0 {
		text := words.Count(f.Quiet, "quiet message")
		say("quiet", theme.Dim, text, text)
	}
	if f.Refused > 0 {
		short, full := textRefused, textRefused
		if f.Refused > 1 {
			short, full = fmt.Sprintf("%d refused", f.Refused), fmt.Sprintf("%d pings refused", f.Refused)
		}
		if refused != nil {
			full += ": " + refused.Refused
		}
		say("refused", theme.Warn, short, full)
	}
	if f.Reports > 0 {
		text := words.Count(f.Reports, "report")
		say("reported", theme.Report, text, text)
	}
	if f.Stopped != "" {
		say("stopped-routine", theme.Warn, f.Stopped, f.Stopped)
	}
	if f.NoModel {
		o.Full = append(o.Full, widget.Span{Role: theme.Dim, Text: TextNoModel})
	}
	if f.State == fork.Done && len(o.Full) == 0 {
		o.Short = widget.Span{}
	}
	return o
}

// pingsOf returns a run's newest answered and refused pings, or nil.
func pingsOf(s *core.Snapshot, f *fork.View) (answered, refused *budget.Ping) {
	if f.Pings+f.Refused == 0 {
		return nil, nil
	}
	for i := range s.Budget.Pings {
		switch p := &s.Budget.Pings[i]; {
		case p.Run != f.ID:
		case p.Refused != "":
			refused = p
		case p.Answered.After(p.At):
			answered = p
		}
	}
	return answered, refused
}

// Answered describes how soon a ping was answered.
func Answered(p *budget.Ping) string { return "answered in " + words.Minutes(p.Answered.Sub(p.At)) }
