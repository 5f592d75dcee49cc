package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/proposals"
)

// The conversation, its picture and every reader use the same report of the week.
func TestTheWeekIsTheSameInTheConversationAsForReaders(t *testing.T) {
	story(t, nil, func(w *world) {
		now := w.now()
		testkit.Must(t, w.journal.Append(budget.Ping{At: now, ID: "p1", Task: "a", Title: "Water"}))
		testkit.Must(t, w.journal.Append(budget.Ping{At: now, ID: "p2", Task: "a", Refused: "no token was left"}))
		offer := func(kind, words, title, text string) proposals.Proposal {
			made, err := w.offers.Add(now, proposals.Proposal{
				Kind: kind, Words: words, Title: title, Text: text, Buttons: []proposals.Button{{ID: "yes", Label: "Yes"}},
			}, 9)
			testkit.Must(t, err)
			return made
		}
		promise := offer(KindPromise, "call the dentist", "Call", "Remind you?")
		_, err := w.offers.Answer(now, promise.ID, "yes", func(proposals.Proposal, proposals.Button) (string, error) { return "aaaa0001", nil })
		testkit.Must(t, err)
		offer("time", "move water", "Move", "Move Water to 9:30?")
		report := func(ago int) []string {
			r, err := w.Reads().Week(t.Context(), ago)
			testkit.Must(t, err)
			return r.Lines()
		}
		for line, picture := range map[string]string{"/week": post.PictureWeek, "/week last": post.PictureLastWeek, "/week 2": ""} {
			ago, _ := command.WeeksAgo(strings.TrimSpace(strings.TrimPrefix(line, "/week")))
			lines, out := report(ago), w.do(command.Slash{Line: line})
			w.is(line, out.Message, strings.Join(lines, "\n"))
			w.is(line+" with the picture", out.Picture, picture)
			for _, want := range []string{"pings: 1 sent, none answered, 1 refused", "promises: 1 made", "suggestion: Move Water to 9:30?"} {
				w.is(line+" has "+want, slices.Contains(lines, want), ago == 0)
			}
		}
		testkit.Must(t, w.offers.Keep(now.Add(time.Second), "aaaa0001"))
		w.holds(slices.Contains(report(0), "promises: 1 made, 1 kept"), "kept", report(0))
		w.refuses("", command.Slash{Line: "/week banana"}, command.Slash{Line: "/week -1"}, command.Slash{Line: "/week 99"})
	})
}
