package discord

import (
	"cmp"
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
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/gateway"
	"ollimbot/discord/rest"
)

// ends runs the surface until it gives up, and gives its error.
func ends(t *testing.T, p *player, o Options) error {
	t.Helper()
	d := p.surface(o)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	err := d.Run(ctx, new(stub))
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

// A surface that cannot work gives up with a sentence that says what to do.
func TestASurfaceThatCannotWorkEndsWithTheCure(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	nobody := discordtest.Plan{Status: 200, Body: `{"id":"1","name":"x","team":{"owner_user_id":""}}`}
	for name, tt := range map[string]struct {
		token, owner config.Secret
		path         string
		plan         discordtest.Plan
		want         string
		requests     int
	}{
		"a wrong token":                       {token: "another", want: "Reset Token", requests: 1},
		"no owner, so nobody would be obeyed": {path: "/applications/@me", plan: nobody, want: "OLLIM_OWNER_ID"},
		"an owner who cannot be written to": {
			owner: "123456", path: "/users/@me/channels", plan: discordtest.InvalidForm("recipient_id", "unknown"), want: "direct messages with user 123456",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlayer(t)
			p.prepare()
			o := p.options()
			o.Token, o.OwnerID = cmp.Or(tt.token, o.Token), string(tt.owner)
			if tt.path != "" {
				p.s.Fault(discordtest.Match{PathPrefix: tt.path, Times: -1}, tt.plan)
			}
			if err := ends(t, p, o); !strings.Contains(err.Error(), tt.want) {
				t.Error(err)
			}
			if n := len(p.s.State().Requests); tt.requests > 0 && n != tt.requests {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestAnOwnerHasANumber(t *testing.T) {
	for _, bad := range []string{"me", "12 34", strings.Repeat("9", 21)} {
		if _, err := New(Options{Token: secret, Dir: storetest.Dir(t), OwnerID: bad}); err == nil {
			t.Errorf("%q was taken for an owner", bad)
		}
	}
}

func TestATokenThatIsResetWhileRunningStopsEverything(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	p := newPlayer(t)
	p.prepare()
	d := p.surface(p.options())
	done := make(chan error, 1)
	var bot core.Intake = new(stub)
	go func() { done <- d.Run(t.Context(), bot) }()
	p.arrives(1)
	p.s.ResetToken("another")
	d.Small("are you there?", true) // the gateway does not notice; this does
	if err := <-done; !errors.Is(err, rest.ErrAuth) {
		t.Error(err)
	}
	if s := d.Status(); !strings.HasPrefix(s.State, "stopped: the bot's token was refused") {
		t.Errorf("%+v", s)
	}
	before := len(p.s.State().Requests)
	if d.Farewell(t.Context()); len(p.s.State().Requests) > before {
		t.Error("it says goodbye with a token that is refused")
	}
}

func TestAPostIsPaidOnceAndOnlyWhereItCanBeSent(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	p := newPlayer(t)
	p.plays("stub\n connected")
	paid := 0
	pay := func() error { paid++; return nil }
	p.s.Fault(discordtest.Match{Method: "POST", PathPrefix: "/channels/*/messages"}, discordtest.Broken(500))
	long := strings.Repeat("a line of the report\n", 300)
	if _, err := p.d.Post(t.Context(), post.Post{Nonce: "p1", Text: long, Before: pay}); err != nil || paid != 1 {
		t.Errorf("paid %d times, %v", paid, err)
	}
	broke := errors.New("no token is left")
	_, err := p.d.Post(t.Context(), post.Post{Nonce: "p3", Text: "for nothing", Before: func() error { return broke }})
	if !errors.Is(err, broke) || errors.Is(err, post.ErrUnknown) || p.newest(p.s.State(), "for nothing") != nil {
		t.Errorf("what is not paid: %v", err)
	}

	path := filepath.Join(t.TempDir(), "film.mp4")
	testkit.Must(t, os.WriteFile(path, make([]byte, maxUpload+1), 0o600))
	for file, why := range map[string]string{path: "film.mp4 has 10.0 MB", path + "x": "film.mp4x can no longer be read"} {
		if _, err := p.d.Post(t.Context(), post.Post{Text: "look", Files: []string{file}, Before: pay}); err == nil || !strings.Contains(err.Error(), why) || paid != 1 {
			t.Errorf("%s: paid %d times, %v", file, paid, err)
		}
	}
	testkit.Must(t, os.Truncate(path, 5))
	if _, err := p.d.Post(t.Context(), post.Post{Text: "look", Files: []string{path}}); err != nil {
		t.Error(err)
	}
	if m := p.says("look"); len(m.Attachments) != 1 {
		t.Errorf("%+v", m)
	}
}

// network answers requests.
type network func(*http.Request) (*http.Response, error)

func (n network) RoundTrip(r *http.Request) (*http.Response, error) { return n(r) }

// quietly is a surface in a bubble, whose network is gone and whose channel is known.
func quietly(t *testing.T) *Discord {
	return over(t, func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to host") })
}

// over is a surface with another network, that knows its channel.
func over(t *testing.T, transport network) *Discord {
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
