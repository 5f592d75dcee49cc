package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
)

// hears starts the surface with a stub, and gives that.
func hears(t *testing.T, answer func(context.Context, command.Value) (command.Outcome, error)) (*stage, *stub) {
	t.Helper()
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	b := newStub(answer)
	st.alone(b)
	st.up()
	return st, b
}

func TestOnlyTheOwnerIsHeardAndOnlyInPrivate(t *testing.T) {
	testkit.Alone(t)
	st, b := hears(t, nil)
	me := st.s.User()
	mine := me.Say("first")
	st.s.Stranger().Say("let me in")
	st.s.OtherBot().Say("beep")
	me.In("77").Say("on a server")
	st.s.Stranger().React(mine.ID, "✅")
	for _, raw := range []string{
		`{}`, `{"id":"","channel_id":"","author":null}`, `{"id":"5","channel_id":"6"}`, `{"id":5,"channel_id":[],"author":"x"}`,
		`{"id":"9","channel_id":"` + mine.ChannelID + `","author":null,"content":"nobody"}`,
	} {
		st.s.Dispatch("MESSAGE_CREATE", json.RawMessage(raw))
		st.s.Dispatch("INTERACTION_CREATE", json.RawMessage(raw))
		st.s.Dispatch("MESSAGE_REACTION_ADD", json.RawMessage(raw))
		st.s.Dispatch("SOMETHING_NEW", json.RawMessage(raw))
	}
	st.s.Stranger().Slash("clear")
	st.says("not authorized.")
	me.Say("last")
	var texts []string
	for _, c := range b.wait(t, 2) {
		texts = append(texts, c.(command.Receive).Text)
	}
	if !slices.Equal(texts, []string{"first", "last"}) {
		t.Errorf("heard %q", texts)
	}
	state := st.s.State()
	if i := state.Interactions[0]; i.Callback != 4 || !state.Message(i.Original).Ephemeral() {
		t.Errorf("%+v", i)
	}
}

func TestAStrangersClickIsRefusedAndAnothersChannelToo(t *testing.T) {
	testkit.Alone(t)
	st, b := hears(t, nil)
	id, err := st.d.Post(t.Context(), post.Post{Embed: &post.Embed{Title: "Card", Buttons: []post.Button{{Label: "Away", Action: "act:dismiss:_"}}}})
	testkit.Must(t, err)
	st.s.Stranger().Forge(string(id), "act:dismiss:_")
	st.says("not authorized.")
	if n := len(b.all()); n != 0 {
		t.Errorf("%d things were asked", n)
	}
}

func TestFourThousandEmojiAndAnEmptyMessageAreMessages(t *testing.T) {
	testkit.Alone(t)
	st, b := hears(t, nil)
	many := strings.Repeat("👩‍🚀", 4000)
	st.s.User().Say(many)
	st.s.User().Say("")
	all := b.wait(t, 2)
	if all[0].(command.Receive).Text != many || all[1].(command.Receive).Text != "" {
		t.Errorf("%d bytes, then %q", len(all[0].(command.Receive).Text), all[1].(command.Receive).Text)
	}
}

func TestOnlyAttachmentsThatCanBeAreReceivedAndTheOthersAreNamed(t *testing.T) {
	testkit.Alone(t)
	st, b := hears(t, nil)
	var many []discordtest.File // two of 20 MB, and seven small ones of the first ten
	for i := range 12 {
		data := []byte("small")
		if i < 3 {
			data = make([]byte, 20<<20)
		}
		many = append(many, discordtest.File{Name: fmt.Sprintf("f%d.bin", i), Data: data})
	}
	gone := discordtest.Refused(404, 0)
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
		{gone, []discordtest.File{{Name: "old.txt", Data: []byte("x")}}, "", 0, []string{"old.txt was left out: Discord no longer has it"}},
		{discordtest.Plan{Cut: true}, []discordtest.File{{Name: "cut.txt", Data: []byte("whole")}}, "whole", 1, nil},
	} {
		if tt.plan.Cut || tt.plan.Status != 0 {
			st.s.Fault(discordtest.Match{PathPrefix: "/attachments", Times: 1}, tt.plan)
		}
		st.s.User().Upload("look", tt.files...)
		h := b.wait(t, i+1)[i].(command.Receive)
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

func TestAMessageThatTheBotRefusesIsSaidOnce(t *testing.T) {
	testkit.Alone(t)
	st, b := hears(t, func(context.Context, command.Value) (command.Outcome, error) {
		return command.Outcome{}, errors.New("too many messages wait already")
	})
	for i := range 5 {
		st.s.User().Say(fmt.Sprint(i))
	}
	b.wait(t, 5)
	st.says("too many messages wait")
	st.s.User().Say("x")
	b.wait(t, 6)
	st.s.Wait(t, "the eyes to go", func(f discordtest.State) bool {
		list := f.Sent(st.s.Owner())
		return list[len(list)-1].Marks() == "❌" // P2
	})
}

// The number that was asked for: all, once, in order.
func TestTenThousandMessagesAreHeardOnceAndInOrder(t *testing.T) {
	testkit.Alone(t)
	const n = 10_000
	st := newStage(t, discordtest.Options{NoContract: true})
	b := newStub(nil)
	o := st.options()
	o.Log = nil
	st.aloneWith(o, b)
	st.up()
	began := time.Now()
	for i := range n {
		st.s.User().Say(fmt.Sprint(i))
		if i%1000 == 0 {
			st.s.Again("MESSAGE_CREATE") // as Discord sometimes does
		}
	}
	b.wait(t, n)
	t.Logf("10,000 messages in %v", time.Since(began))
	st.stop()
	all := b.all()
	if len(all) != n {
		t.Errorf("%d were heard", len(all))
	}
	for i := range n {
		if got := all[i].(command.Receive).Text; got != fmt.Sprint(i) {
			t.Fatalf("message %d is %q", i, got)
		}
	}
}

// nothing answers every request with success.
type nothing struct{}

func (nothing) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Header: http.Header{}}, nil
}

func TestABurstLeavesNoMemoryBehind(t *testing.T) {
	d := over(t, nothing{})
	last := make(chan struct{})
	const n = 10_000
	in := d.inbound(newStubEnd(fmt.Sprint(1_000_000+n-1), last))
	ctx, cancel := context.WithCancel(t.Context())
	d.marks.pool.open(ctx)
	before := heap()
	for i := range n {
		m := &discordgo.Message{ID: fmt.Sprint(1_000_000 + i), Content: strings.Repeat("words ", 50)}
		d.inbox.Push(&discordgo.MessageCreate{Message: m})
	}
	full := heap()
	var group sync.WaitGroup
	group.Go(func() { _ = in.run(ctx) })
	<-last
	cancel()
	group.Wait()
	d.marks.pool.finish()
	after := heap()
	t.Logf("heap: %d KiB before, %d KiB with 10,000 waiting, %d KiB after", before>>10, full>>10, after>>10)
	if after > before+1<<20 {
		t.Errorf("%d KiB stay behind", (after-before)>>10)
	}
	runtime.KeepAlive(d)
}

// newStubEnd is a bot that keeps nothing and closes last when it has heard a key.
func newStubEnd(key string, last chan struct{}) core.Intake { return &forgetful{key: key, last: last} }

type forgetful struct {
	key  string
	last chan struct{}
}

func (f *forgetful) Do(_ context.Context, c command.Value) (command.Outcome, error) {
	if h, ok := c.(command.Receive); ok && h.Key == f.key {
		close(f.last)
	}
	return command.Outcome{}, nil
}

func (f *forgetful) LastReceived(string) string { return "" }
func (f *forgetful) Snapshot() core.Snapshot    { return core.Snapshot{} }

func (f *forgetful) Suggest(string, string, string) []string { return nil }

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestACodeOfALoginNeverReachesTheAgent(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	pending := true
	b := newStub(func(_ context.Context, c command.Value) (command.Outcome, error) {
		if l, ok := c.(command.Login); ok && strings.HasPrefix(l.Code, "bad") {
			return command.Outcome{}, fmt.Errorf("the code %s is not right", l.Code)
		}
		return command.Outcome{}, nil
	})
	o := st.options()
	o.LoginPending = func() bool { return pending }
	st.aloneWith(o, b)
	st.up()
	st.s.User().Say("hello")
	st.s.User().Say("  good-1_x#state-2  ")
	st.s.User().Say("bad1#state")
	st.s.User().Say("no code # at all")
	all := b.wait(t, 4)
	if l, ok := all[1].(command.Login); !ok || l.Code != "good-1_x#state-2" {
		t.Errorf("%#v", all[1])
	}
	if _, ok := all[3].(command.Receive); !ok {
		t.Errorf("%#v", all[3])
	}
	if m := st.says("the login did not work"); strings.Contains(m.Content, "bad1") || button(m, "Log in") == "" {
		t.Errorf("the code is repeated, or there is no way back: %q", m.Content)
	}
	st.stop()
	if strings.Contains(st.log.String(), "bad1") {
		t.Error("the code is in the log")
	}

	// A bot that has not heard anything is told everything again, but not that.
	pending = false
	b = newStub(nil)
	o.LoginPending = nil
	st.aloneWith(o, b)
	if h := b.wait(t, 1)[0].(command.Receive); h.Text != "no code # at all" {
		t.Errorf("%q", h.Text)
	}
}

// limitedOnce answers the first request with a limit that is longer than a call
// waits, and everything else with success.
type limitedOnce struct{ asked int }

func (l *limitedOnce) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.asked++; l.asked > 1 {
		return nothing{}.RoundTrip(r)
	}
	return &http.Response{
		StatusCode: http.StatusTooManyRequests, Header: http.Header{}, ContentLength: -1,
		Body: io.NopCloser(strings.NewReader(`{"message":"slow down","retry_after":600,"global":false}`)),
	}, nil
}

func TestTheEyesGoAfterALongLimitToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := new(limitedOnce)
		d := over(t, far)
		d.state.setEyes("5", true)
		began := time.Now()
		d.marks.remove(t.Context(), "5")
		if eyes, _ := d.state.leftovers(); len(eyes) > 0 || far.asked != 2 || time.Since(began) < 10*time.Minute {
			t.Errorf("%v are left after %d requests in %v", eyes, far.asked, time.Since(began))
		}
	})
}
