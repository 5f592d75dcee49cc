package updates

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// many returns a file of n updates as written by an earlier version without a limit.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		ts := morning().Add(time.Duration(i) * time.Minute).Format(time.RFC3339)
		fmt.Fprintf(&b, `, {"ts": %q, "message": "Inbox: %d new mails. %s"}`, ts, i, strings.Repeat("Nothing urgent. ", 6))
	}
	return "[" + b.String()[2:] + "]\n"
}

// allocated returns the number of bytes that fn allocates.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestReadingTenThousandUpdatesTakesLittleMemory(t *testing.T) {
	content := many(10_000)
	p := newPlace(t, content)
	var list []Update
	first := allocated(func() { list = p.queue.Peek() })
	if len(list) != 10_000 || list[9999].Message[:21] != "Inbox: 9999 new mails" {
		t.Fatalf("%d updates, the last one %v", len(list), list[len(list)-1:])
	}
	if limit := 10 * uint64(len(content)); first > limit { // the race detector adds a little
		t.Errorf("reading %d bytes allocated %d, more than %d", len(content), first, limit)
	}
}

func TestTenThousandUpdatesAreDeliveredAndOnesThatCameSinceStay(t *testing.T) {
	p := newPlace(t, many(10_000))
	d, err := p.queue.Claim(func(list []Update) Delivery { return NewDelivery("s", fmt.Sprint(len(list)), nil) })
	testkit.Must(t, err)
	testkit.Must(t, p.queue.Append(morning(), "One more."))
	testkit.Must(t, p.queue.Settle(d, true))
	if got := messages(p.queue.Peek()); len(got) != 1 || got[0] != "One more." {
		t.Errorf("left: %.200q", got)
	}
}
