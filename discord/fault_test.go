package discord

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/gateway"
	"ollimbot/discord/rest"
)

// ends runs the surface until it gives up, and gives its error.
func ends(t *testing.T, st *stage, o Options) error {
	t.Helper()
	d := st.surface(o)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	err := d.Run(ctx, newStub(nil))
	if ctx.Err() != nil {
		t.Fatalf("it did not end: %+v", d.Status())
	}
	if s := d.Status(); err == nil || s.OK || !strings.HasPrefix(s.State, "stopped: ") {
		t.Errorf("%v, %+v", err, s)
	}
	if _, err := d.Post(t.Context(), post.Post{Text: "x"}); !errors.Is(err, post.ErrNoChannel) {
		t.Errorf("posting into nothing: %v", err)
	}
	d.Answer(chat.AnswerOptions{}).End(false, func(ids []post.MessageID) {
		if ids != nil {
			t.Errorf("%v", ids)
		}
	})
	d.Small("x", true)
	d.Approval(policy.Approval{ID: "1", Until: time.Now().Add(time.Minute)})
	d.Farewell(ctx)
	return err
}

func TestAWrongTokenStopsWithASentence(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	o := st.options()
	o.Token = "another"
	if err := ends(t, st, o); !strings.Contains(err.Error(), "Reset Token") {
		t.Error(err)
	}
	if n := len(st.s.State().Requests); n != 1 {
		t.Errorf("%d requests with a wrong token", n)
	}
}

func TestATokenThatIsResetWhileRunningStopsEverything(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	d := st.surface(st.options())
	done := make(chan error, 1)
	var bot core.Intake = newStub(nil)
	go func() { done <- d.Run(t.Context(), bot) }()
	st.up()
	st.s.ResetToken("another")
	d.Small("are you there?", true) // the gateway does not notice; this does
	if err := <-done; !errors.Is(err, rest.ErrAuth) {
		t.Error(err)
	}
	if s := d.Status(); !strings.HasPrefix(s.State, "stopped: the bot's token was refused") {
		t.Errorf("%+v", s)
	}
}

func TestWithoutAnOwnerNobodyIsObeyed(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.s.Fault(discordtest.Match{PathPrefix: "/applications/@me", Times: -1}, discordtest.Plan{Status: 200, Body: `{"id":"1","name":"x","team":{"owner_user_id":""}}`})
	if err := ends(t, st, st.options()); !strings.Contains(err.Error(), "OLLIM_OWNER_ID") {
		t.Error(err)
	}
}

func TestAnOwnerWhoCannotBeWrittenToIsNamed(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	o := st.options()
	o.OwnerID = "123456"
	st.s.Fault(discordtest.Match{PathPrefix: "/users/@me/channels", Times: -1}, discordtest.InvalidForm("recipient_id", "unknown"))
	for _, bad := range []string{"me", "12 34", strings.Repeat("9", 21)} {
		o.OwnerID = bad
		if _, err := New(o); err == nil {
			t.Errorf("%q was taken for an owner", bad)
		}
	}
}

func TestTheOwnerOfATeamIsTheOwner(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{Team: true})
	b := newStub(nil)
	st.alone(b)
	st.up()
	st.s.User().Say("hello")
	if h := b.wait(t, 1)[0].(command.Receive); h.Text != "hello" {
		t.Errorf("%+v", h)
	}
}

func TestDiscordMayComeLater(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	lift := st.s.Fault(discordtest.Match{Times: -1}, discordtest.Broken(503))
	d := st.surface(st.options())
	down := make(chan struct{})
	d.OnChange(func() {
		if s := d.Status(); strings.HasPrefix(s.State, "down since") {
			select {
			case <-down:
			default:
				close(down)
			}
		}
	})
	b := newStub(nil)
	st.run(func(ctx context.Context) error { return d.Run(ctx, b) })
	if s := d.Status(); s.State != "connecting" || !s.OK || s.Name != "Discord" {
		t.Errorf("%+v", s)
	}
	<-down
	lift()
	st.up()
	if s := d.Status(); !strings.HasPrefix(s.State, "up") || !s.OK {
		t.Errorf("%+v", s)
	}
}

func TestAPostWaitsForTheNetworkAndArrivesOnce(t *testing.T) {
	testkit.Alone(t)
	st, _ := hears(t, nil)
	for _, plan := range []discordtest.Plan{discordtest.Broken(500), discordtest.Lost(), discordtest.Garbled()} {
		st.s.Fault(discordtest.Match{Method: "POST", PathPrefix: "/channels/*/messages", AfterStored: true}, plan)
	}
	id, err := st.d.Post(t.Context(), post.Post{Nonce: "p1", Text: "Stand up, please.", Context: "bg"})
	testkit.Must(t, err)
	if n := strings.Count(said(st), "Stand up"); n != 1 {
		t.Errorf("said %d times", n)
	}
	if again, err := st.d.Post(t.Context(), post.Post{Nonce: "p1", Text: "Stand up, please.", Context: "bg"}); err != nil || again != id {
		t.Errorf("%q then %q, %v", id, again, err)
	}
}

func TestAPostThatGetsNoAnswerSaysThatItIsNotKnown(t *testing.T) {
	testkit.Alone(t)
	st, _ := hears(t, nil)
	lift := st.s.Fault(discordtest.Match{Method: "POST", PathPrefix: "/channels/*/messages", AfterStored: true, Times: -1}, discordtest.Plan{Hold: "frozen"})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := st.d.Post(ctx, post.Post{Nonce: "p1", Text: "Stand up."}); !errors.Is(err, post.ErrUnknown) {
		t.Errorf("frozen: %v", err)
	}
	lift()
	st.s.Release("frozen")
	st.s.Fault(discordtest.Match{Method: "POST", PathPrefix: "/channels/*/messages", Times: -1}, discordtest.Plan{Status: 403, Body: `{"message":"x","code":50007}`})
	if _, err := st.d.Post(t.Context(), post.Post{Nonce: "p2", Text: "Sit down."}); err == nil || errors.Is(err, post.ErrUnknown) {
		t.Errorf("refused: %v", err)
	}
}

func TestAPostIsPaidOnceAndOnlyWhereItCanBeSent(t *testing.T) {
	testkit.Alone(t)
	st, _ := hears(t, nil)
	paid := 0
	pay := func() error { paid++; return nil }
	st.s.Fault(discordtest.Match{Method: "POST", PathPrefix: "/channels/*/messages"}, discordtest.Broken(500))
	long := strings.Repeat("a line of the report\n", 300)
	if _, err := st.d.Post(t.Context(), post.Post{Nonce: "p1", Text: long, Before: pay}); err != nil || paid != 1 {
		t.Errorf("paid %d times, %v", paid, err)
	}
	if _, err := st.d.Post(t.Context(), post.Post{Nonce: "p2", Text: "x", Files: []string{"/no/such/file"}, Before: pay}); err == nil || paid != 1 {
		t.Errorf("a file that is gone: paid %d times, %v", paid, err)
	}
	broke := errors.New("no token is left")
	_, err := st.d.Post(t.Context(), post.Post{Nonce: "p3", Text: "for nothing", Before: func() error { return broke }})
	if !errors.Is(err, broke) || errors.Is(err, post.ErrUnknown) || strings.Contains(said(st), "for nothing") {
		t.Errorf("what is not paid: %v", err)
	}
}

func TestAPostIsChangedAndDeleted(t *testing.T) {
	testkit.Alone(t)
	st, b := hears(t, nil)
	id, err := st.d.Post(t.Context(), post.Post{Nonce: "long", Text: strings.Repeat("a line of the report\n", 300)})
	testkit.Must(t, err)
	if list := st.s.State().Sent(st.s.Bot())[1:]; len(list) != 1 || !strings.HasSuffix(list[0].Content, "…") {
		t.Fatalf("%d messages", len(list))
	}
	st.s.User().Reply(string(id), "about that")
	if h := b.wait(t, 1)[0].(command.Receive); h.ReplyTo != id {
		t.Errorf("the reply is to %s", h.ReplyTo)
	}
	testkit.Must(t, st.d.Edit(t.Context(), id, post.Post{Text: "short now"}))
	if all := said(st); strings.Contains(all, "a line") || !strings.Contains(all, "short now") {
		t.Errorf("%q", all)
	}
	for range 2 {
		testkit.Must(t, st.d.Delete(t.Context(), id))
	}
	if strings.Contains(said(st), "short now") {
		t.Error("it stays")
	}
}

func TestAFileThatIsTooLargeIsASentence(t *testing.T) {
	testkit.Alone(t)
	st, _ := hears(t, nil)
	path := filepath.Join(t.TempDir(), "film.mp4")
	testkit.Must(t, os.WriteFile(path, make([]byte, maxUpload+1), 0o600))
	if _, err := st.d.Post(t.Context(), post.Post{Text: "look", Files: []string{path}}); err == nil || !strings.Contains(err.Error(), "film.mp4 has 10.0 MB") {
		t.Error(err)
	}
	if _, err := st.d.Post(t.Context(), post.Post{Text: "look", Files: []string{path + "x"}}); err == nil || !strings.Contains(err.Error(), "film.mp4x can no longer be read") {
		t.Error(err)
	}
	testkit.Must(t, os.Truncate(path, 5))
	if _, err := st.d.Post(t.Context(), post.Post{Text: "look", Files: []string{path}}); err != nil {
		t.Error(err)
	}
	if m := st.says("look"); len(m.Attachments) != 1 {
		t.Errorf("%+v", m)
	}
}

func TestARememberedChannelThatIsGoneIsOpenedAnew(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.write("state/discord.json", `{"app":"`+st.s.Bot().ID+`","owner":"`+st.s.Owner().ID+`","channel":"424242"}`)
	b := newStub(nil)
	st.alone(b)
	st.up()
	st.s.User().Say("hello")
	b.wait(t, 1)
}

func TestARuinedMemoryIsSetAside(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.write("state/discord.json", `{"app":[]`)
	st.alone(newStub(nil))
	st.up()
	list, err := filepath.Glob(st.dir.Path("state/discord.json.corrupt-*"))
	if err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// dead is a network that is gone.
type dead struct{}

func (dead) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no route to host")
}

// quietly is a surface in a bubble, whose network is gone and whose channel is known.
func quietly(t *testing.T) *Discord { return over(t, dead{}) }

// over is a surface with another network, that knows its channel.
func over(t *testing.T, transport http.RoundTripper) *Discord {
	t.Helper()
	dir := storetest.Dir(t)
	d, err := newTuned(Options{Token: secret, Dir: dir, Zone: time.UTC}, tuning{transport: transport})
	testkit.Must(t, err)
	d.state.setDM(dmChannel{App: "1", Owner: "2", Channel: "3"})
	return d
}

func TestAPostGivesUpAfterAMinuteWithoutNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := quietly(t)
		began := time.Now()
		_, err := d.Post(t.Context(), post.Post{Text: "x"})
		if took := time.Since(began); !errors.Is(err, rest.ErrTransient) || took < 50*time.Second || took > 61*time.Second {
			t.Errorf("%v after %v", err, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := d.Post(ctx, post.Post{Text: "x"}); err == nil {
			t.Error("sent without a network")
		}
	})
}

func TestNoticesAreDroppedAfterTwoMinutesAndNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := quietly(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		for range 1000 {
			d.Small("the same", true)
			d.Small(time.Now().String(), true)
		}
		if time.Since(began) != 0 || len(d.notices.list) > maxNotices {
			t.Errorf("%v, %d wait", time.Since(began), len(d.notices.list))
		}
		var group sync.WaitGroup
		group.Go(func() { _ = d.notices.run(ctx) })
		time.Sleep(5 * time.Minute)
		if n, ok := d.notices.next(time.Now()); ok {
			t.Errorf("%q is still there", n.text)
		}
		cancel()
		group.Wait()
	})
}

func TestAnAnswerThatCannotBeShownIsGivenUpAndNobodyWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := quietly(t)
		began, told := time.Now(), make(chan []post.MessageID, 1)
		a := d.Answer(chat.AnswerOptions{})
		a.Append("hello")
		a.End(false, func(ids []post.MessageID) { told <- ids })
		if time.Since(began) != 0 {
			t.Error("the end of a turn waited for the network")
		}
		if ids := <-told; len(ids) != 0 || time.Since(began) < shownWithin {
			t.Errorf("%v after %v", ids, time.Since(began))
		}
		b := d.Answer(chat.AnswerOptions{})
		b.Append("and another")
		b.End(false, func(ids []post.MessageID) { told <- ids })
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began = time.Now()
		d.Farewell(ctx)
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("the farewell took %v", took)
		}
		<-told
	})
}

func TestTheStatusIsASentence(t *testing.T) {
	at := time.Date(2026, 3, 1, 14, 2, 0, 0, time.UTC)
	for want, g := range map[string]gateway.State{
		"connecting":                        {},
		"up":                                {Phase: gateway.Up},
		"up 42 ms":                          {Phase: gateway.Up, Latency: 42 * time.Millisecond},
		"up 1 ms":                           {Phase: gateway.Up, Latency: time.Microsecond},
		"down since 14:02: the wire is cut": {Phase: gateway.Down, Since: at, Reason: "the wire is cut"},
		"down since 14:02: Discord cannot be reached": {Phase: gateway.Down, Since: at},
		"stopped: change this":                        {Phase: gateway.Stopped, Reason: "change this"},
	} {
		s := status{zone: time.UTC, link: func() gateway.State { return g }}
		if got, ok := s.words(); got != want || ok != (g.Phase == gateway.Up || g.Phase == gateway.Connecting) {
			t.Errorf("%q %v, want %q", got, ok, want)
		}
	}
}
