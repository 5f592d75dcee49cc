package render

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/rest"
)

func TestWhatIsRenderedDiscordTakes(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{Token: "t"})
	c := rest.New(rest.Options{Token: "t", Base: s.URL() + "/api/v10"})
	dm := s.User().Channel()
	send := func(m rest.Message) string {
		t.Helper()
		id, err := c.Send(t.Context(), dm, m)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	emoji := strings.Repeat("👩‍👩‍👧‍👦", 4000)
	long := post.Embed{Title: emoji + "x" + emoji, Description: emoji, Footer: emoji, Color: "nonsense"}
	for range 40 {
		long.Fields = append(long.Fields, post.Field{Name: emoji, Value: emoji})
		long.Buttons = append(long.Buttons, post.Button{Label: emoji, Action: "dismiss"}, post.Button{Label: "x", Action: "task_done:" + strings.Repeat("a", len(long.Buttons))})
	}
	for _, p := range []post.Post{
		{Text: emoji},
		{Text: emoji, Context: "bg", Critical: true},
		{Text: emoji, Small: true},
		{Text: strings.Repeat("```go\nx\n", 3000)},
		{Embed: &long, Critical: true, Context: "bg"},
		{Embed: &post.Embed{}},
		{Embed: &post.Embed{Footer: "only"}},
	} {
		id := send(Post(p))
		if err := c.Edit(t.Context(), dm, id, Post(p)); err != nil {
			t.Fatal(err)
		}
	}
	send(Notice(emoji, false))
	send(Approval(policy.Approval{Question: emoji + "`", Verdict: policy.Expired}))

	piece := prose()
	testkit.Check(t, func(rt *rapid.T) {
		p := post.Post{Text: piece.Draw(rt, "text"), Small: rapid.Bool().Draw(rt, "small"), Context: "bg"}
		if rapid.Bool().Draw(rt, "card") {
			p.Embed = &post.Embed{
				Title: piece.Draw(rt, "title"), Description: piece.Draw(rt, "description"),
				Fields: []post.Field{{Name: piece.Draw(rt, "name"), Value: piece.Draw(rt, "value")}},
			}
		}
		if m := Post(p); m.Content != "" || len(m.Embeds) > 0 {
			if _, err := c.Send(rt.Context(), dm, m); err != nil {
				rt.Fatal(err)
			}
		}
	})
}
