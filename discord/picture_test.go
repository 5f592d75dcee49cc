package discord

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
)

// The day as a picture, on demand, with words for those who cannot see it.
func TestTheDayIsAPictureOnDemand(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	o := st.options()
	o.Draw = func(_ context.Context, name string) ([]byte, string, error) {
		look := st.bot.Snapshot()
		return png, name + ": " + look.Headline().Text(), nil
	}
	st.liveAs(o)
	st.up()
	me := st.s.User()
	card := st.status()
	st.press(card, "Day as a picture")
	state := st.s.Wait(t, "the picture", func(f discordtest.State) bool { return pictured(f, st) != nil })
	m := pictured(state, st)
	look := st.bot.Snapshot()
	got := m.Attachments[0]
	if !m.Ephemeral() || m.Content != look.Headline().Text() || got.Name != "day.png" || string(got.Data) != string(png) {
		t.Errorf("%+v", m)
	}
	if got.Alt != "day: "+look.Headline().Text() {
		t.Errorf("it is described as %q", got.Alt)
	}
	if now := state.Message(card.ID); len(now.Attachments) > 0 || len(now.Embeds) == 0 {
		t.Error("the card of the status is not as it was")
	}
	me.Forge(card.ID, "act:"+post.CardPicture+":moon")
	st.says("does not know that button")
}

// Words say what a picture shows, so that they come without it too.
func TestWithoutAPictureTheWordsCome(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	o := st.options()
	o.Draw = func(context.Context, string) ([]byte, string, error) { return nil, "", errors.New("no font") }
	st.liveAs(o)
	st.up()
	card := st.status()
	st.press(card, "Day as a picture")
	look := st.bot.Snapshot()
	st.s.Wait(t, "the words", func(f discordtest.State) bool {
		for _, m := range f.Sent(st.s.Bot()) {
			if m.Content == look.Headline().Text() && len(m.Attachments) == 0 {
				return true
			}
		}
		return false
	})
	if !strings.Contains(st.log.String(), "no font") {
		t.Error("why there is no picture is not in the log")
	}
}

// A week is told in words, and in a picture with the same words.
func TestTheWeekIsAPicture(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	o := st.options()
	o.Draw = func(_ context.Context, name string) ([]byte, string, error) { return png, "of " + name, nil }
	st.liveAs(o)
	st.up()
	me := st.s.User()
	for i, name := range []string{"week", "last-week"} {
		if i == 0 {
			me.Slash("week")
		} else {
			me.Slash("week", discordtest.Option{Name: "which", Value: "last"})
		}
		state := st.s.Wait(t, "the picture of "+name, func(f discordtest.State) bool {
			m := pictured(f, st)
			return m != nil && m.Attachments[0].Name == name+".png"
		})
		m := pictured(state, st)
		r, err := st.bot.Reads().Week(context.Background(), i)
		testkit.Must(t, err)
		if !m.Ephemeral() || m.Content != strings.Join(r.Lines(), "\n") || m.Attachments[0].Alt != "of "+name {
			t.Errorf("%+v, want %q", m, r.Lines())
		}
	}
}

// pictured is the newest message with a file.
func pictured(f discordtest.State, st *stage) *discordtest.Message {
	for _, m := range slices.Backward(f.Sent(st.s.Bot())) {
		if len(m.Attachments) > 0 {
			return m
		}
	}
	return nil
}
