package discord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/gateway"
	"ollimbot/discord/rest"
)

// A surface that cannot work gives up with a sentence that says what to do.
func TestASurfaceThatCannotWorkEndsWithTheCure(t *testing.T) {
	testkit.Alone(t)
	tell(t,
		story{"a wrong token", `given the token: another ⇒ stub ⇒ fails Reset Token ⇒ requests 1`},
		story{"no owner, so that the bot would obey no user", `
			stub ⇒ fault * /applications/@me all page {"id":"1","name":"x","team":{"owner_user_id":""}} ⇒ fails OLLIM_OWNER_ID`},
		story{"an owner who cannot be written to", `
			given the owner: 123456 ⇒ stub ⇒ fault * /users/@me/channels all refused 400 50035 ⇒ fails direct messages with user 123456`})
}

func TestATokenThatIsResetWhileRunningStopsEverything(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	p := newPlayer(t)
	p.prepare()
	d := p.surface(p.options())
	done := make(chan error, 1)
	go func() { done <- d.Run(t.Context(), new(stub)) }()
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

func TestANoticeThatIsRepeatedWhileItWaitsIsOneUnlessItHasAButtonOfItsOwn(t *testing.T) {
	q := &notices{room: quietly(t).room, wake: make(chan struct{}, 1)}
	for _, key := range []string{"", "", "1", "2", ""} {
		n := notice{text: "that is no number"}
		if key != "" {
			n.buttons = []post.Button{{Label: textCorrect, Action: post.FormAgain + ":" + key}}
		}
		q.put(n)
	}
	var waiting []int
	for n, ok := q.next(time.Now()); ok; n, ok = q.next(time.Now()) {
		waiting = append(waiting, len(n.buttons))
	}
	if !slices.Equal(waiting, []int{0, 1, 1}) {
		t.Errorf("they wait with %v buttons", waiting)
	}
}

func TestNoticesAreDroppedAfterTwoMinutesAndNothingWaitsForThem(t *testing.T) {
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

func TestAnAnswerThatCannotBeShownIsGivenUpAndNothingWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := quietly(t)
		began, told := time.Now(), make(chan []post.MessageID, 1)
		a := d.Answer(chat.AnswerOptions{})
		synctest.Wait() // until it has tried to type
		d.room.typed.Store(0)
		if d.marks.typing(t.Context()); d.room.typed.Load() != 0 {
			t.Error("it types beside the answer")
		}
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

// The user may react before Discord has confirmed the card.
func TestAnEarlyReactionCountsIfItIsAmongTheNewest(t *testing.T) {
	c := cards{list: map[string]*card{}}
	for i := range keptEarly + 1 {
		c.below(fmt.Sprint(i), "✅")
	}
	if gone, kept := c.show(new(card), "0"), c.show(new(card), "1"); gone != "" || kept != "✅" {
		t.Errorf("%q, %q", gone, kept)
	}
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

func TestMessagesThatDoNotArriveAreTroubleSinceTheFirstOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := status{zone: time.UTC, link: func() gateway.State { return gateway.State{Phase: gateway.Up} }}
		begun := time.Now()
		is := func(want string, since time.Time) {
			t.Helper()
			if got, ok := s.words(); got != want || ok != (want == "up") {
				t.Errorf("it is %q (%t), want %q", got, ok, want)
			}
			if now := s.standing(); !since.IsZero() && !now.Since.Equal(since) {
				t.Errorf("since %v, want %v", now.Since, since)
			}
		}
		for range 3 {
			s.noteSend(fmt.Errorf("no route: %w", rest.ErrTransient))
			is("down since "+begun.UTC().Format("15:04")+": Discord cannot be reached (no route: the connection to Discord failed)", begun)
			time.Sleep(unsentFor - time.Second)
		}
		time.Sleep(time.Second)
		is("up", time.Time{})
		s.noteSend(fmt.Errorf("no route: %w", rest.ErrTransient))
		s.noteSend(nil)
		is("up", time.Time{})
	})
}

func TestOnlyAttachmentsThatCanBeAreReceivedAndTheOthersAreNamed(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	p := newPlayer(t)
	p.plays("stub\n connected")
	var many []discordtest.File // two of 20 MB, and seven small ones of the first ten
	for i := range 12 {
		data := []byte("small")
		if i < 3 {
			data = make([]byte, 20<<20)
		}
		many = append(many, discordtest.File{Name: fmt.Sprintf("f%d.bin", i), Data: data})
	}
	for i, tt := range []struct {
		plan  discordtest.Plan
		files []discordtest.File
		first string // of those that are received
		n     int
		words []string
	}{
		{discordtest.Plan{}, []discordtest.File{
			{Name: "small.png", Type: "image/png", Data: png, Size: 900 << 20},
			{Name: "huge.bin", Data: make([]byte, maxFile+1), Size: 3},
			{Name: "far.txt", Data: []byte("x"), URL: "https://example.org/far.txt"},
			{Name: "near.txt", Data: []byte("x"), URL: "http://127.0.0.1:1/near.txt"},
		}, string(png), 1, []string{"look\n", "huge.bin was left out: it is larger", "far.txt was left out: its address", "near.txt was left out: its address"}},
		{discordtest.Plan{}, many, string(many[0].Data), 9, []string{"f2.bin was left out: the attachments", "2 more attachments"}},
		{discordtest.Refused(404, 0), []discordtest.File{{Name: "old.txt", Data: []byte("x")}}, "", 0, []string{"old.txt was left out: Discord no longer has it"}},
		{discordtest.Plan{Cut: true}, []discordtest.File{{Name: "cut.txt", Data: []byte("whole")}}, "whole", 1, nil},
	} {
		if tt.plan.Cut || tt.plan.Status != 0 {
			p.s.Fault(discordtest.Match{PathPrefix: "/attachments", Times: 1}, tt.plan)
		}
		p.s.User().Upload("look", tt.files...)
		h := p.asked(i + 1)[i].(command.Receive)
		if len(h.Files) != tt.n || tt.n > 0 && (string(h.Files[0].Data) != tt.first || h.Files[0].Name != tt.files[0].Name) {
			t.Errorf("%s: %d files", tt.files[0].Name, len(h.Files))
		}
		for _, want := range tt.words {
			if !strings.Contains(h.Text, want) {
				t.Errorf("no %q in %q", want, h.Text)
			}
		}
	}
}

// The number that was asked for: all, once, in order, although Discord repeats some.
func TestTenThousandMessagesAreHeardOnceAndInOrder(t *testing.T) {
	testkit.Alone(t)
	const n = 10_000
	p := newPlayer(t)
	p.given = append(p.given, func(o *Options) { o.Log = nil })
	p.plays("given no contract ⇒ stub ⇒ connected")
	for i := range n {
		if p.tells(fmt.Sprint(i)); i%1000 == 0 {
			p.s.Again("MESSAGE_CREATE")
		}
	}
	p.asked(n)
	p.stop()
	for i, c := range p.ears.all() {
		if got := c.(command.Receive).Text; i >= n || got != fmt.Sprint(i) {
			t.Fatalf("message %d is %q", i, got)
		}
	}
}

// nothing answers every request with success.
func nothing(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Header: http.Header{}}, nil
}

func TestABurstLeavesNoMemoryBehind(t *testing.T) {
	d := over(t, nothing)
	last := make(chan struct{})
	const n = 10_000
	in := d.inbound(&forgetful{key: fmt.Sprint(1_000_000 + n - 1), last: last})
	ctx, cancel := context.WithCancel(t.Context())
	d.marks.pool.open(ctx)
	before := heap()
	for i := range n {
		m := &discordgo.Message{ID: fmt.Sprint(1_000_000 + i), Content: strings.Repeat("words ", 50)}
		d.inbox.Push(&discordgo.MessageCreate{Message: m})
	}
	var group sync.WaitGroup
	group.Go(func() { _ = in.run(ctx) })
	<-last
	cancel()
	group.Wait()
	d.marks.pool.finish()
	after := heap()
	if after > before+1<<20 {
		t.Errorf("%d KiB stay behind", (after-before)>>10)
	}
	runtime.KeepAlive(d)
}

// forgetful is a bot that keeps nothing, and closes last when it has heard a key.
type forgetful struct {
	stub
	key  string
	last chan struct{}
}

func (f *forgetful) Do(_ context.Context, c command.Value) (command.Outcome, error) {
	if h, ok := c.(command.Receive); ok && h.Key == f.key {
		close(f.last)
	}
	return command.Outcome{}, nil
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestTheEyesGoAfterALimitThatIsLongerThanACallWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		d := over(t, func(r *http.Request) (*http.Response, error) {
			if asked++; asked > 1 {
				return nothing(r)
			}
			return &http.Response{
				StatusCode: http.StatusTooManyRequests, Header: http.Header{}, ContentLength: -1,
				Body: io.NopCloser(strings.NewReader(`{"message":"slow down","retry_after":600,"global":false}`)),
			}, nil
		})
		d.state.setEyes("5", true)
		began := time.Now()
		d.marks.remove(t.Context(), "5")
		if eyes, _ := d.state.leftovers(); len(eyes) > 0 || asked != 2 || time.Since(began) < 10*time.Minute {
			t.Errorf("%v are left after %d requests in %v", eyes, asked, time.Since(began))
		}
	})
}

// P6: two programs with one token both answered everything, and nothing named the cause.
func TestOfTwoProgramsWithOneTokenTheSecondGoesQuietAndBothNameTheCause(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	first, other := newPlayer(t), newPlayer(t)
	first.pace.start = time.Now().Add(-time.Hour)
	first.prepare()
	other.s = first.s
	for _, p := range []*player{first, other} {
		p.plays("stub")
		d := p.surface(p.options())
		d.rivals.grace = 0 // foreign nonces count at once
		p.run(func(ctx context.Context) error {
			_ = d.Run(ctx, p.ears) // the second one ends with an error
			return nil
		})
		p.polls(func() bool { return d.status.standing().State == textUp })
	}
	first.plays("warned")
	if now := first.d.status.standing(); now.OK || now.State != textRivalCure {
		t.Errorf("%+v", now)
	}
	first.d.Small("the first one speaks", true)
	var now Standing
	other.polls(func() bool {
		now = other.d.status.standing()
		return strings.Contains(now.State, "so this one is quiet")
	})
	if now.OK || now.Lead != textRival || !strings.Contains(now.State, "so this one is quiet: stop that one and restart this one") {
		t.Errorf("%+v", now)
	}
	other.end()
	if kept, known := Recorded(other.dir); !known || kept.State != now.State || kept.Lead != textRival {
		t.Errorf("recorded %+v", kept)
	}
	other.d.Small("too late", true)
	other.d.Farewell(t.Context())
	first.plays("said 0 too late ⇒ me who answers? ⇒ hears who answers? ⇒ logs 1 another program uses the bot's token")
	other.plays("logs 1 another program uses the bot's token")
	other.end()
}

// P6: what the program before left behind is no other program.
func TestANonceOfOurOwnOrOfTheProgramBeforeIsNoOtherProgram(t *testing.T) {
	testkit.Alone(t)
	p := newPlayer(t)
	p.prepare()
	d := p.surface(p.options())
	d.rivals.sent = func(nonce string) bool { return nonce == "ours" }
	before := newMark(d.rivals.start.Add(-time.Hour)).stamp("x")
	d.rivals.grace = time.Hour
	d.rivals.heard(before)
	d.rivals.grace = 0
	d.rivals.heard("")
	d.rivals.heard("ours")
	if now := d.status.standing(); now.Lead != "" || len(d.rivals.quit) > 0 {
		t.Fatalf("%+v", now)
	}
	d.rivals.heard("unmarked")
	d.rivals.heard(newMark(d.rivals.start.Add(time.Hour)).stamp("x")) // it has to go, not we
	if now := d.status.standing(); now.Lead != textRival || len(d.rivals.quit) > 0 {
		t.Fatalf("%+v", now)
	}
	d.rivals.heard(before)
	if len(d.rivals.quit) != 1 {
		t.Error("the second one stays")
	}
}

func TestANonceContainsTheStartOfTheProgramThatMadeIt(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(0, 2e12).Draw(rt, "start"))
		text := rapid.String().Draw(rt, "text")
		nonce := newMark(at).stamp(text)
		if got, ok := started(nonce); !ok || !got.Equal(at) || len(nonce) != nonceSize || nonce != newMark(at).stamp(text) {
			rt.Fatalf("%q: %v, %v, want %v", nonce, got, ok, at)
		}
		if _, ok := started(text); ok && !strings.HasPrefix(text, markLetter) {
			rt.Fatalf("%q is marked", text)
		}
	})
}

// P7: what runs beside the bot can say how it is connected.
func TestTheStateOfTheConnectionIsOnDiskWhileTheBotRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := quietly(t)
		began := time.Now()
		atFirst, answers := d.status.link, atomic.Bool{}
		d.status.link = func() gateway.State {
			if answers.Load() {
				return gateway.State{Phase: gateway.Up, Since: began.Add(time.Hour)}
			}
			return atFirst()
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = d.Run(ctx, new(stub)) })
		time.Sleep(time.Hour + time.Second) // between two looks at it
		now, known := Recorded(d.o.Dir)
		if text := now.Text(time.UTC); !known || now.OK || now.Since.Sub(began) > time.Minute ||
			!strings.HasPrefix(text, "down since "+now.Since.UTC().Format("15:04")+": ") || !strings.HasSuffix(text, "; the bot keeps trying") {
			t.Errorf("%v %q", known, text)
		}
		answers.Store(true)
		d.status.unreachable(nil)
		synctest.Wait()
		now, known = Recorded(d.o.Dir)
		if text := now.Text(time.UTC); !known || !now.OK || text != "up since "+began.Add(time.Hour).UTC().Format("15:04") {
			t.Errorf("%v %q", known, text)
		}
		cancel()
		running.Wait()
		if now, known := Recorded(d.o.Dir); known {
			t.Errorf("after the end %+v", now)
		}
		d.Farewell(ctx)
	})
}

// D7: "stop the other program, or give it its own bot since 19:47".
func TestASentenceOfTheStatusHasNoTime(t *testing.T) {
	now := time.Now()
	s := status{zone: time.UTC, link: func() gateway.State { return gateway.State{Phase: gateway.Up, Since: now} }, rival: now}
	if text := s.standing().Text(time.UTC); text != textRival+": "+textRivalCure {
		t.Errorf("%q", text)
	}
	s.rival, s.shutOut = time.Time{}, "unblock the bot"
	if text := s.standing().Text(time.UTC); text != "unblock the bot" {
		t.Errorf("%q", text)
	}
}

// P1: the next program knows when the session before it has started.
func TestTheStartOfTheLastSessionIsOnDisk(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	p := newPlayer(t)
	p.plays("stub\n connected\n stop")
	again := &state{dir: p.dir, log: p.options().Log}
	again.load()
	if at := again.lastStart(); time.Since(at) > time.Minute {
		t.Errorf("the last session started at %v", at)
	}
}

func TestAfterARestartTheNewestQuestionsLoseTheirButtons(t *testing.T) {
	s := &state{dir: storetest.Prepared(t), log: slog.New(slog.DiscardHandler)}
	var ids []string
	for i := range mostDead + 5 {
		ids = append(ids, strconv.Itoa(1000+i))
		s.setAsked(ids[i], true)
		s.setFleeting(ids[i], true)
	}
	again := &state{dir: s.dir, log: s.log}
	again.load()
	if asked, fleeting := again.dead(); !slices.Equal(asked, ids[5:]) || !slices.Equal(fleeting, ids[5:]) {
		t.Errorf("of %d, the dead ones are %v and %v", len(ids), asked, fleeting)
	}
}
