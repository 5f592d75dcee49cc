package plain

import (
	"context"
	"io"
	"time"

	"ollimbot/core"
	"ollimbot/tui"
)

// console is what all commands share: the last snapshot, the printer, the numbers of
// lists, the bot, and what was said and followed.
type console struct {
	snap *core.Snapshot
	*printer
	*finder
	*executor

	past     notices
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

// now is the current time in the bot's zone.
func (c *console) now() time.Time { return c.snap.Local(c.snap.At) }
