package plain

import (
	"cmp"
	"context"
	"io"
	"time"

	"ollimbot/core"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/fork"
	"ollimbot/tui"
	look "ollimbot/tui/settings"
	"ollimbot/tui/toast"
)

// console is the state shared by all commands: the last snapshot, the printer, the numbers of lists, the bot,
// notices, and the followed tail.
type console struct {
	snap *core.Snapshot
	*printer
	*finder
	*executor
	chooser

	past     toast.List  // notices, to read again
	listed   []fork.View // the stored runs of the last list
	followed *following  // nil if nothing is followed
	look     func()      // takes a new snapshot and prints the news
	told     []string    // names that mean something else than before, which has been said
	done     bool        // the user has quit
}

// chooser stores the user's display settings, such as the clock.
type chooser struct {
	chosen look.Dashboard
	dir    string // where they are saved
}

// choose changes and saves them.
func (k *chooser) choose(name, value string) error {
	k.chosen = k.chosen.With(map[string]string{name: value})
	return look.Save(k.dir, k.chosen)
}

func newConsole(ctx context.Context, c tui.Core, w io.Writer, readOnly, dir string) *console {
	snap := new(core.Snapshot)
	out := &printer{w: w, snap: snap}
	chosen, _ := look.Load(dir) // the dashboard reports errors in the file
	shared := &console{
		snap: snap, printer: out, finder: &finder{out: out, numbers: numbers{}}, chooser: chooser{chosen, dir},
		executor: &executor{ctx: ctx, core: c, out: out, readOnly: readOnly},
	}
	shared.wear = shared.choose
	return shared
}

// refresh takes a new snapshot.
func (c *console) refresh() {
	*c.snap = c.core.Snapshot()
	c.snap.TwelveHours, c.untimed = c.chosen.Get("clock") == look.Clocks[1], c.chosen.Get(look.Prefix) == "off"
}

// keep stores an event if it is a notice. An event without a time gets the current time.
func (c *console) keep(e event) {
	if e.notice() {
		c.past.Record(cmp.Or(e.at, c.snap.At), notice.Level(e.kind), e.words)
	}
}

// now is the current time in the bot's zone.
func (c *console) now() time.Time { return c.snap.Local(c.snap.At) }
