package updates

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/testkit"
)

// An update committed while another is appended is gone for good: whether the append
// reads the file before or after, it must not write the update back.
func TestWhatIsCommittedWhileOthersAppendIsNotDeliveredAgain(t *testing.T) {
	p := newPlace(t, "")
	now, twice := morning(), 0
	for i := range 100 { // 723 of 2,000 rounds failed before one lock ordered everything
		now = now.Add(time.Second)
		delivered := fmt.Sprintf("delivered %d", i)
		testkit.Must(t, p.queue.Append(now, delivered))
		d := claim(t, p.queue, delivered)
		var g errgroup.Group
		g.Go(func() error { return p.queue.Settle(d, true) })
		g.Go(func() error { return p.queue.Append(now.Add(time.Millisecond), fmt.Sprintf("appended %d", i)) })
		testkit.Must(t, g.Wait())
		for _, m := range messages(p.queue.Peek()) {
			if m == delivered {
				twice++
			}
		}
		testkit.Must(t, p.dir.Remove(file))
	}
	if twice > 0 {
		t.Errorf("%d of 100 updates would be delivered twice", twice)
	}
}
