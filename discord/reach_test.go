package discord

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/rest"
)

func TestAUserWhoShutsTheBotOutIsSeenInTheStatus(t *testing.T) {
	testkit.Alone(t)
	st, _ := hears(t, nil)
	lift := st.s.Fault(discordtest.Match{Method: "POST", PathPrefix: "/channels/*/messages", Times: -1}, discordtest.Refused(403, 50007))
	if _, err := st.d.Post(t.Context(), post.Post{Text: "x"}); !errors.Is(err, rest.ErrCannotDM) {
		t.Error(err)
	}
	if s := st.d.Status(); s.OK || !strings.Contains(s.State, "unblock the bot") {
		t.Errorf("%+v", s)
	}
	lift()
	if _, err := st.d.Post(t.Context(), post.Post{Text: "y"}); err != nil {
		t.Error(err)
	}
	if s := st.d.Status(); !s.OK {
		t.Errorf("%+v", s)
	}
}

// Nothing that can be mended without a restart needs one.
func TestAUserWhoMustWriteFirstOpensTheDirectMessagesByThat(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	lift := st.s.Fault(discordtest.Match{PathPrefix: "/users/@me/channels", Times: -1}, discordtest.Refused(403, 50278))
	b := newStub(nil)
	st.alone(b)
	st.s.Wait(t, "the connection", func(f discordtest.State) bool { return f.Up() && len(f.Commands) > 0 })
	tick := time.NewTicker(5 * time.Millisecond) // the fake is connected a moment before the bot knows it
	defer tick.Stop()
	s := st.d.Status()
	for end := time.Now().Add(10 * time.Second); s.OK && time.Now().Before(end); s = st.d.Status() {
		<-tick.C
	}
	if s.OK || !strings.HasPrefix(s.State, "unblock the bot, or share a server") {
		t.Errorf("%+v", s)
	}
	if _, err := st.d.Post(t.Context(), post.Post{Text: "x"}); !errors.Is(err, rest.ErrCannotDM) {
		t.Error(err)
	}
	if why := ShutOut(st.dir); !strings.Contains(why, "unblock the bot") {
		t.Errorf("beside the bot nobody knows: %q", why)
	}
	if n := strings.Count(st.log.String(), "the user cannot be reached in Discord"); n != 1 || !strings.Contains(st.log.String(), "Privacy Settings") {
		t.Errorf("told %d times in the log", n)
	}
	st.s.Stranger().Say("I am the owner")
	st.s.User().Say("hello")
	lift()
	if h := b.wait(t, 1)[0].(command.Receive); h.Text != "hello" {
		t.Errorf("%+v", h)
	}
	if _, err := st.d.Post(t.Context(), post.Post{Text: "and now?"}); err != nil {
		t.Error(err)
	}
	if s := st.d.Status(); !s.OK || ShutOut(st.dir) != "" {
		t.Errorf("%+v, %q", s, ShutOut(st.dir))
	}
}

func TestAnAnswerSurvivesAMomentInWhichTheUserCannotBeReached(t *testing.T) {
	testkit.Alone(t)
	st, _ := hears(t, nil)
	st.s.Fault(discordtest.Match{Method: "PATCH", PathPrefix: "/channels/*/messages", Times: 1}, discordtest.Refused(403, 50007))
	a := st.d.Answer(chat.AnswerOptions{})
	a.Append("these are the first words.")
	st.says("these are the first words.")
	a.Append(" and the last")
	st.s.Wait(t, "the refusal", func(f discordtest.State) bool { return f.Count("PATCH", "/channels/*/messages/*") == 1 })
	if m := st.says("the first words"); strings.Contains(m.Content, "last") {
		t.Error(m.Content)
	}
}

func TestAfterAKillTheHalfAnswerIsMarkedAndTheEyesAreGone(t *testing.T) {
	testkit.Alone(t)
	st, _ := hears(t, func(context.Context, command.Value) (command.Outcome, error) {
		return command.Outcome{Done: make(chan error)}, nil
	})
	m := st.s.User().Say("tell me a story")
	st.s.Wait(t, "the eyes", func(f discordtest.State) bool { return len(f.Message(m.ID).Reactions) == 1 })
	a := st.d.Answer(chat.AnswerOptions{})
	a.Append("Once upon a time")
	half := st.says("Once upon a time")
	st.s.Fault(discordtest.Match{Method: "DELETE", PathPrefix: "/channels/*/messages/*/reactions", Times: -1}, discordtest.Lost())
	lift := st.s.Fault(discordtest.Match{Times: -1}, discordtest.Lost()) // as after a kill: nothing leaves any more
	st.stop()
	state, err := st.dir.Read(stateFile)
	testkit.Must(t, err)
	st.d.Farewell(canceled(t))
	testkit.Must(t, st.dir.Write(stateFile, state))
	lift()
	st.s.NoFaults()
	st.alone(newStub(nil))
	got := st.s.Wait(t, "the mark", func(f discordtest.State) bool {
		return strings.Contains(f.Message(half.ID).Content, "cut short") && len(f.Message(m.ID).Reactions) == 0
	})
	if text := got.Message(half.ID).Content; !strings.HasPrefix(text, "Once upon a time\n-# *cut short") {
		t.Errorf("%q", text)
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
