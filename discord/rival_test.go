package discord

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/gateway"
)

// second is another program with the same token, and a data directory of its own.
func (st *stage) second() *stage {
	return &stage{t: st.t, s: st.s, dir: storetest.At(st.t, filepath.Join(st.t.TempDir(), "data")), log: new(scrap)}
}

// start runs the surface; foreign nonces count at once.
func (st *stage) start(b *stub) {
	st.t.Helper()
	d := st.surface(st.options())
	d.rivals.grace = 0
	st.run(func(ctx context.Context) error {
		_ = d.Run(ctx, b) // the second one ends with an error
		return nil
	})
}

// becomes waits until the surface's state is as expected, and gives it.
func (st *stage) stands(what string, is func(Standing) bool) Standing {
	st.t.Helper()
	changed := make(chan struct{}, 1)
	st.d.OnChange(func() { signal(changed) })
	over := time.NewTimer(time.Minute)
	defer over.Stop()
	for {
		if now := st.d.status.standing(); is(now) {
			return now
		}
		select {
		case <-changed:
		case <-over.C:
			st.t.Fatalf("not %s: %+v", what, st.d.status.standing())
		}
	}
}

func connected(n Standing) bool { return n.State == textUp }

// P6: two programs with one token both answered everything, and nothing named the cause.
func TestOfTwoProgramsWithOneTokenTheSecondGoesQuietAndBothNameTheCause(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	first := newStage(t, discordtest.Options{})
	first.born = time.Now().Add(-time.Hour)
	heard := newStub(nil)
	first.start(heard)
	first.stands("up", connected)
	other := first.second()
	deaf := newStub(nil)
	other.start(deaf)
	other.stands("up", connected)
	if now := first.stands("warned", func(n Standing) bool { return n.Lead != "" }); now.OK || now.State != textRivalCure {
		t.Errorf("%+v", now)
	}

	first.d.Small("the first one speaks", true)
	now := other.stands("quiet", func(n Standing) bool { return strings.Contains(n.State, "so this one is quiet") })
	if now.OK || now.Lead != textRival || !strings.Contains(now.State, "stop that one and restart this one") {
		t.Errorf("%+v", now)
	}
	other.stop()
	if kept, known := Recorded(other.dir); !known || kept.State != now.State || kept.Lead != textRival {
		t.Errorf("recorded %+v", kept)
	}
	first.s.User().Say("who answers?")
	heard.wait(t, 1)
	if asked := deaf.all(); len(asked) > 0 {
		t.Errorf("the second one heard %v", asked)
	}
	for _, one := range []*stage{first, other} {
		if n := strings.Count(one.log.String(), "another program uses the bot's token"); n != 1 {
			t.Errorf("the log names it %d times", n)
		}
	}
}

// P6: what the program before left behind is no other program.
func TestANonceOfOurOwnOrOfTheProgramBeforeIsNoOtherProgram(t *testing.T) {
	testkit.Alone(t)
	st := newStage(t, discordtest.Options{NoContract: true})
	d := st.surface(st.options())
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

func TestANonceTellsTheStartOfTheProgramThatMadeIt(t *testing.T) {
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
		running.Go(func() { _ = d.Run(ctx, newStub(nil)) })
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
	p := &player{t: t}
	p.plays("stub\n connected\n stop")
	if now, known := Recorded(p.dir); known {
		t.Errorf("after the end %+v", now)
	}
	again := &state{dir: p.dir, log: p.logger()}
	again.load()
	if at := again.lastStart(); time.Since(at) > time.Minute {
		t.Errorf("the last session started at %v", at)
	}
}
