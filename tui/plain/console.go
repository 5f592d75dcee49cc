package plain

import (
	"cmp"
	"context"
	"io"
	"time"

	"ollimbot/core"
	"ollimbot/core/talk/notice"
	"ollimbot/tui"
	"ollimbot/tui/toast"
)

// console is what all commands share: the last snapshot, the printer, the numbers of
// lists, the bot, and what was said and followed.
type console struct {
	snap *core.Snapshot
	*printer
	*finder
	*executor

	past     toast.List // notices, which can be read again
	followed *following // nil if nothing is followed
	look     func()     // takes a new snapshot and prints the news
	done     bool       // the user has quit
}

func newConsole(ctx context.Context, c tui.Core, w io.Writer, readOnly string) *console {
	snap := new(core.Snapshot)
	out := &printer{w: w, snap: snap}
	return &console{
		snap: snap, printer: out, finder: &finder{out: out, numbers: numbers{}},
		executor: &executor{ctx: ctx, core: c, out: out, readOnly: readOnly},
	}
}

// keep keeps an event that is a notice. One without a time is from now.
func (c *console) keep(e event) {
	if e.notice() {
		c.past.Record(cmp.Or(e.at, c.snap.At), notice.Level(e.kind), e.words)
	}
}

// now is the current time in the bot's zone.
func (c *console) now() time.Time { return c.snap.Local(c.snap.At) }
