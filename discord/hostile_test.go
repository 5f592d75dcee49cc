package discord

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/discord/discordtest"
)

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
