package rest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

// atFake is a client of a fake Discord, which holds every request against
// Discord's own description of its API.
func atFake(t *testing.T, o discordtest.Options) (*Client, *discordtest.Server) {
	t.Helper()
	o.Token = secret
	s := discordtest.Start(t, o)
	return New(Options{Token: secret, Base: s.URL() + "/api/v10", Version: "1.0"}), s
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		testkit.Must(t, err)
		return v
	}
}

func TestTheLifeOfAMessage(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	c, s := atFake(t, discordtest.Options{})
	ctx := t.Context()
	me, app := must[discordgo.User](t)(c.Me(ctx)), must[App](t)(c.Application(ctx))
	if me.ID != s.Bot().ID || app.OwnerID != s.Owner().ID || app.Team {
		t.Errorf("%+v, %+v", me, app)
	}
	if g := must[discordgo.GatewayBotResponse](t)(c.GatewayBot(ctx)); g.SessionStartLimit.Remaining != 1000 || g.URL == "" {
		t.Errorf("%+v", g)
	}
	dm := must[string](t)(c.OpenDM(ctx, app.OwnerID))
	question := s.User().Say("what is new?")

	m := everything()
	text := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	m.Files = []File{file("a.txt", text)}
	id := must[string](t)(c.Send(ctx, dm, m))
	if again := must[string](t)(c.Send(ctx, dm, m)); again != id {
		t.Errorf("one nonce gave %s and %s", id, again)
	}
	testkit.Must(t, c.Typing(ctx, dm))
	testkit.Must(t, c.React(ctx, dm, question.ID, "👀"))
	testkit.Must(t, c.Unreact(ctx, dm, question.ID, "👀"))
	testkit.Must(t, c.Edit(ctx, dm, id, Message{Content: "changed", Embeds: m.Embeds}))
	got := s.State().Message(id)
	if got.Content != "changed" || len(got.Embeds) != 1 || len(got.Buttons) != 0 || len(got.Attachments) != 1 {
		t.Errorf("%+v", got)
	}
	if data := must[[]byte](t)(c.Download(ctx, got.Attachments[0].URL, int64(len(text)))); string(data) != text || got.Attachments[0].Name != "a.txt" {
		t.Errorf("%d bytes of %+v", len(data), got.Attachments[0])
	}
	list, _, err := c.After(ctx, dm, "0", 10)
	testkit.Must(t, err)
	if len(list) != 2 || list[0].Content != "what is new?" || list[0].Author.ID != app.OwnerID {
		t.Errorf("%+v", list)
	}
	for i, err := range []error{c.Delete(ctx, dm, id), c.Delete(ctx, dm, id), c.Edit(ctx, dm, id, Message{Content: "x"}), c.Edit(ctx, dm, question.ID, Message{Content: "x"})} {
		if !errors.Is(err, []error{nil, ErrGone, ErrGone, ErrForbidden}[i]) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestTheLifeOfACommandAndAButton(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	c, s := atFake(t, discordtest.Options{})
	ctx := t.Context()
	app := s.Bot().ID
	want := []discordgo.ApplicationCommand{theCommand("fork", &discordgo.ApplicationCommandOption{
		Type: discordgo.ApplicationCommandOptionString, Name: "topic", Description: "what it is about", MaxLength: 200,
	})}
	if Same(want, must[[]discordgo.ApplicationCommand](t)(c.Commands(ctx, app))) {
		t.Error("nothing is registered yet")
	}
	testkit.Must(t, c.PutCommands(ctx, app, want))
	if have := must[[]discordgo.ApplicationCommand](t)(c.Commands(ctx, app)); !Same(want, have) {
		t.Errorf("%+v", have)
	}

	touched := func(i discordtest.Interaction) *discordgo.Interaction {
		return &discordgo.Interaction{ID: i.ID, AppID: app, Token: i.Token}
	}
	i := touched(s.User().Slash("fork"))
	testkit.Must(t, c.Answer(ctx, i, thinking, &Message{Flags: discordgo.MessageFlagsEphemeral}))
	again := c.Answer(ctx, i, thinking, nil)
	testkit.Must(t, c.EditAnswer(ctx, i, everything()))
	testkit.Must(t, c.FollowUp(ctx, i, Message{Content: "and more", Flags: discordgo.MessageFlagsEphemeral}))
	if !s.State().Said(s.Bot(), "and more") {
		t.Error("the follow-up is not there")
	}
	testkit.Must(t, c.DeleteAnswer(ctx, i))
	s.Advance(16 * time.Minute)
	changed := c.EditAnswer(ctx, i, Message{Content: "late"})
	late := touched(s.User().Slash("fork"))
	s.Advance(4 * time.Second)
	answered := c.Answer(ctx, late, discordgo.InteractionResponseChannelMessageWithSource, &Message{Content: "late"})
	for what, err := range map[string]error{"a second answer": again, "a change after sixteen minutes": changed, "an answer after four seconds": answered} {
		if !errors.Is(err, ErrExpired) {
			t.Errorf("%s: %v", what, err)
		}
	}

	dm := s.User().Channel()
	id := must[string](t)(c.Send(ctx, dm, everything()))
	testkit.Must(t, c.Answer(ctx, touched(s.User().Click(id, "act:dismiss:_")), discordgo.InteractionResponseDeferredMessageUpdate, nil))
	testkit.Must(t, c.Buttons(ctx, dm, id, nil))
	if m := s.State().Message(id); m.Content != "look" || len(m.Embeds) != 1 || len(m.Buttons) != 0 {
		t.Errorf("%+v", m)
	}
}

func TestWhateverHappensOnTheWayAMessageArrivesOnce(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	for name, plan := range map[string]discordtest.Plan{
		"500": discordtest.Broken(500), "502": discordtest.Broken(502), "cut": discordtest.Lost(), "garbled": discordtest.Garbled(), "limited": discordtest.RateLimited(10*time.Millisecond, false),
	} {
		for _, stored := range []bool{false, true} {
			if stored && name == "limited" {
				continue
			}
			t.Run(fmt.Sprintf("%s stored %v", name, stored), func(t *testing.T) {
				t.Parallel()
				c, s := atFake(t, discordtest.Options{})
				s.Fault(discordtest.Match{Method: "POST", PathPrefix: "/channels/*/messages", AfterStored: stored}, plan)
				id, err := c.Send(t.Context(), s.User().Channel(), Message{Content: "once"})
				sent := s.State().Sent(s.Bot())
				if err != nil || len(sent) != 1 || sent[0].ID != id || s.State().Count("POST", "/channels/*/messages") != 2 {
					t.Errorf("%q, %v, %d messages\n%s", id, err, len(sent), s.State())
				}
			})
		}
	}
}

func TestRefusalsOfTheFakeAreUnderstood(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	for _, tt := range []struct {
		plan discordtest.Plan
		want error
	}{
		{discordtest.Refused(403, 50007), ErrCannotDM},
		{discordtest.Refused(403, 50278), ErrCannotDM},
		{discordtest.Refused(404, 10003), ErrNoChannel},
		{discordtest.Refused(413, 40005), ErrInvalid},
		{discordtest.InvalidForm("content", "too long"), ErrInvalid},
		{discordtest.OldEdits(time.Minute), ErrOldEdit},
		{discordtest.RateLimited(5*time.Minute, true), ErrLimited},
		{discordtest.Unauthorized(), ErrAuth},
	} {
		c, s := atFake(t, discordtest.Options{})
		s.Fault(discordtest.Match{Method: "POST", Times: -1}, tt.plan)
		if _, err := c.Send(t.Context(), s.User().Channel(), Message{Content: "x"}); !errors.Is(err, tt.want) {
			t.Errorf("%v, want %v", err, tt.want)
		}
		if n := s.State().Count("POST", "/channels/*/messages"); n != 1 {
			t.Errorf("%v: %d requests", tt.want, n)
		}
	}
	for _, plan := range []discordtest.Plan{discordtest.Banned(time.Minute), discordtest.BareRateLimit()} {
		c, s := atFake(t, discordtest.Options{})
		s.Fault(discordtest.Match{}, plan)
		for range 2 { // the second is not sent
			if _, err := c.Me(t.Context()); !errors.Is(err, ErrLimited) || len(s.State().Requests) != 1 {
				t.Error(err)
			}
		}
	}
}

func TestABurstMeetsNoRefusal(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	c, s := atFake(t, discordtest.Options{Limits: true})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	dm := s.User().Channel()
	must[string](t)(c.Send(ctx, dm, Message{Content: "0"}))
	var wait sync.WaitGroup
	for i := range 7 {
		wait.Go(func() {
			if _, err := c.Send(ctx, dm, Message{Content: fmt.Sprint(i + 1)}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if st := s.State(); st.Limited != 0 || len(st.Sent(s.Bot())) != 8 {
		t.Errorf("%d were refused, %d arrived", st.Limited, len(st.Sent(s.Bot())))
	}
}
