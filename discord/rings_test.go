package discord

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/stream"
)

// sounds counts the bot's messages by whether they rang and which of the words they have, also
// those that were deleted.
func sounds(f discordtest.State, bot discordtest.User, words ...string) map[string]int {
	count := map[string]int{}
	for _, m := range f.Messages {
		if m.Author.ID != bot.ID {
			continue
		}
		text := m.Content
		if len(m.Embeds) > 0 {
			text += m.Embeds[0].Title
		}
		kind := "other: " + text
		for _, w := range words {
			if strings.Contains(text, w) {
				kind = w
			}
		}
		count[map[bool]string{true: "rings: ", false: "silent: "}[m.Rang()]+kind]++
	}
	return count
}

// One of each kind: an answer, a ping, a question about a tool call, an edit that waits, and a
// message that is typed in the dashboard. Only what the user has to see at once rings, with and
// without the status line.
func TestOfEachKindOnlyWhatTheUserHasToSeeRings(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	for _, statusLine := range []bool{true, false} {
		st := newStage(t, discordtest.Options{NoContract: true})
		o := st.options()
		o.StatusLine = func() bool { return statusLine }
		st.write(tidyFile, tidy("Tidy up."))
		st.reminder("dddd0001", 100*time.Millisecond, `call ping_user {"message":"Water the plants?"}`)
		st.liveOn(o, pen{script.New(script.Options{}), st})
		st.up()
		st.says("Water the plants?")
		me := st.s.User()
		me.Say(play("wait 500ms", "say Morning."))
		st.says("Morning.")
		edit := strings.ReplaceAll(strings.ReplaceAll(tidy("Delete it all."), "\n", `\n`), `"`, `\"`)
		me.Say(play(`ask Write {"file_path":"`+tidyFile+`","content":"`+edit+`"}`, "say Written."))
		st.says("Edit of Tidy")
		st.says("Written.")
		st.do(command.Slash{Line: "/permissions default"})
		me.Say(play(`ask Bash {"command":"rm a"}`, "say Done."))
		a := await(t, st, "the question", func(s core.Snapshot) bool { return len(s.Approvals) == 1 }).Approvals[0]
		st.says("Run this command?")
		st.do(command.Answer{ID: a.ID, Verdict: policy.Deny})
		st.says("Done.")
		st.do(command.Say{Text: play("say Typed.")})
		words := []string{"Run this command?", "Morning.", "Done.", "Written.", "Typed.", "Edit of Tidy", "Water", "is here", "in the dashboard", "catching up"}
		st.s.Wait(t, "what was typed and its answer", func(f discordtest.State) bool {
			got := sounds(f, st.s.Bot(), words...) // either may come first
			return got["silent: in the dashboard"]+got["rings: in the dashboard"] > 0 &&
				slices.ContainsFunc(f.Sent(st.s.Bot()), func(m *discordtest.Message) bool { return m.Content == "Typed." })
		})
		want := map[string]int{
			"rings: Morning.": 1, "rings: Done.": 1, "rings: Written.": 1, "rings: Typed.": 1,
			"rings: Run this command?": 1, "silent: Edit of Tidy": 1, "rings: Water": 1, "silent: is here": 1, "silent: in the dashboard": 1,
		}
		if got := sounds(st.s.State(), st.s.Bot(), words...); !maps.Equal(got, want) {
			t.Errorf("status line %v: %v", statusLine, got)
		}
		st.stop()
	}
}

// BenchmarkAnAnswerReachesTheOtherPlace measures how long an answer that is given in the dashboard
// takes to the edit of its card, and one that is given on the phone to the snapshot, at the pace
// that users have.
func BenchmarkAnAnswerReachesTheOtherPlace(b *testing.B) {
	for _, phone := range []bool{false, true} {
		b.Run(map[bool]string{false: "dashboard to card", true: "phone to dashboard"}[phone], func(b *testing.B) {
			st := newStage(b, discordtest.Options{NoContract: true})
			st.pace = &tuning{line: stream.NewLine(stream.SendEvery, stream.EditEvery)}
			st.live()
			st.up()
			if _, err := st.bot.Do(b.Context(), command.Slash{Line: "/permissions default"}); err != nil {
				b.Fatal(err)
			}
			var took time.Duration
			for b.Loop() {
				st.s.User().Say(play(`ask Bash {"command":"rm a"}`, "say Done."))
				a := await(b, st, "the question", func(s core.Snapshot) bool { return len(s.Approvals) == 1 }).Approvals[0]
				var card *discordtest.Message
				st.s.Wait(b, "the card", func(f discordtest.State) bool {
					for _, m := range f.Sent(st.s.Bot()) {
						if n := len(m.Buttons); n > 1 && n == len(m.Reactions) {
							card = m
						}
					}
					return card != nil
				})
				began := time.Now()
				if phone {
					st.s.User().Click(card.ID, button(card, "Deny"))
					await(b, st, "the answer", func(s core.Snapshot) bool { return len(s.Approvals) == 0 })
					took += time.Since(began)
				} else if _, err := st.bot.Do(b.Context(), command.Answer{ID: a.ID, Verdict: policy.Deny}); err != nil {
					b.Fatal(err)
				}
				st.s.Wait(b, "the edit", func(f discordtest.State) bool { return len(f.Message(card.ID).Buttons) == 0 })
				if !phone {
					took += time.Since(began)
				}
				await(b, st, "the end of the turn", func(s core.Snapshot) bool { return !s.Busy })
			}
			b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/answer")
		})
	}
}
