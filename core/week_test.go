package core

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/proposals"
)

// The conversation, its picture and every reader use the same report of the week.
func TestTheWeekIsTheSameInTheConversationAsForReaders(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		now := b.now()
		for _, p := range []budget.Ping{{At: now, ID: "p1", Task: "a", Title: "Water"}, {At: now, ID: "p2", Task: "a", Refused: "no token was left"}} {
			if err := b.journal.Append(p); err != nil {
				t.Fatal(err)
			}
		}
		yes := proposals.Button{ID: "yes", Label: "Yes"}
		promise := proposals.Proposal{Kind: KindPromise, Words: "call the dentist", Title: "Call", Text: "Remind you?", Buttons: []proposals.Button{yes}}
		made, err := b.offers.Add(now, promise, 9)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.offers.Answer(now, made.ID, "yes", func(proposals.Proposal, proposals.Button) (string, error) { return "aaaa0001", nil }); err != nil {
			t.Fatal(err)
		}
		other := proposals.Proposal{Kind: "time", Words: "move water", Title: "Move", Text: "Move Water to 9:30?", Buttons: []proposals.Button{yes}}
		if _, err := b.offers.Add(now, other, 9); err != nil {
			t.Fatal(err)
		}
		for line, picture := range map[string]string{"/week": post.PictureWeek, "/week last": post.PictureLastWeek, "/week 2": ""} {
			ago, _ := command.WeeksAgo(strings.TrimSpace(strings.TrimPrefix(line, "/week")))
			r, err := b.Reads().Week(context.Background(), ago)
			if err != nil {
				t.Fatal(err)
			}
			out, err := b.Do(context.Background(), command.Slash{Line: line})
			if err != nil || out.Message != strings.Join(r.Lines(), "\n") || out.Picture != picture {
				t.Errorf("%s: %+v, %v, want %q", line, out, err, r.Lines())
			}
			for _, want := range []string{"pings: 1 sent, none answered, 1 refused", "promises: 1 made", "suggestion: Move Water to 9:30?"} {
				if slices.Contains(r.Lines(), want) != (ago == 0) {
					t.Errorf("%s: %q in %q", line, want, r.Lines())
				}
			}
		}
		if err := b.offers.Keep(now.Add(time.Second), "aaaa0001"); err != nil {
			t.Fatal(err)
		}
		if r, _ := b.Reads().Week(context.Background(), 0); !slices.Contains(r.Lines(), "promises: 1 made, 1 kept") {
			t.Errorf("%q", r.Lines())
		}
		for _, line := range []string{"/week banana", "/week -1", "/week 99"} {
			if out, err := b.Do(context.Background(), command.Slash{Line: line}); err == nil {
				t.Errorf("%s: %+v", line, out)
			}
		}
	})
}
