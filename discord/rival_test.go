package discord

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/discord/gateway"
)

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
	if now, known := Recorded(p.dir); known {
		t.Errorf("after the end %+v", now)
	}
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
