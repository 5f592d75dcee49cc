package stream

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
)

// draft is what an answer says by now, whatever of it is shown.
type draft struct {
	blocks []block
	// label is a status that was set, or empty: the bot thinks. since is when that
	// began.
	label string
	since time.Time
	ended bool
	// emptyIsFine is what End was told.
	emptyIsFine bool
}

// block is a piece of the answer: text as it came, a tool, or a compaction.
type block struct {
	raw  []byte
	tool *tool
	note *compaction
}

type tool struct {
	label  string
	denied bool
}

// compaction is a history that is made shorter.
type compaction struct {
	auto       bool
	tokens     int // 0 where unknown
	start, end time.Time
	// told is true when the engine said that it is over; before that, whatever
	// follows has ended it.
	told bool
}

// append adds text in the form in which it came, so that Rewind counts the same
// bytes and a piece may end anywhere.
func (d *draft) append(delta string, now time.Time) {
	d.speak(now)
	if n := len(d.blocks); n == 0 || d.blocks[n-1].tool != nil || d.blocks[n-1].note != nil {
		d.blocks = append(d.blocks, block{})
	}
	b := &d.blocks[len(d.blocks)-1]
	b.raw = append(b.raw, delta...)
}

// rewind takes the last n bytes of text back. Tools that were called and
// compactions stay.
func (d *draft) rewind(n int, now time.Time) {
	for i := len(d.blocks) - 1; i >= 0 && n > 0; i-- {
		b := &d.blocks[i]
		cut := min(n, len(b.raw))
		n -= cut
		b.raw = b.raw[:len(b.raw)-cut]
	}
	d.since = now
}

func (d *draft) call(label string, denied bool, now time.Time) {
	d.speak(now)
	d.blocks = append(d.blocks, block{tool: &tool{label: label, denied: denied}})
}

// speak is what happens to a status when the answer goes on.
func (d *draft) speak(now time.Time) {
	if c := d.compaction(); c != nil && c.end.IsZero() {
		c.end, d.since = now, now
	}
	if d.label != "" {
		d.label, d.since = "", now
	}
}

// status sets the label; its time begins again only when it changes. One that
// is set ends a compaction.
func (d *draft) status(label string, now time.Time) {
	if c := d.compaction(); label != "" && c != nil && c.end.IsZero() {
		c.end, d.since = now, now
	}
	if label != d.label {
		d.label, d.since = label, now
	}
}

// compacting begins a compaction or ends it.
func (d *draft) compacting(ev agent.Compacting, now time.Time) {
	c, last := d.lastNote()
	if c == nil || c.told || !ev.Done && !last {
		c, last = &compaction{start: now}, true
		d.blocks = append(d.blocks, block{note: c})
	}
	c.auto, c.told = c.auto || ev.Auto, ev.Done
	if ev.PreTokens > 0 {
		c.tokens = ev.PreTokens
	}
	if !last {
		return // what was said meanwhile has ended it
	}
	d.label, d.since = "", now
	c.end = time.Time{}
	if ev.Done {
		c.end = now
	}
}

// compaction is the last one, as long as nothing was said after it.
func (d *draft) compaction() *compaction {
	if c, last := d.lastNote(); last {
		return c
	}
	return nil
}

// lastNote is the last compaction, and whether nothing was said after it.
func (d *draft) lastNote() (c *compaction, last bool) {
	last = true
	for i := len(d.blocks) - 1; i >= 0; i-- {
		b := &d.blocks[i]
		if b.note != nil {
			return b.note, last
		}
		last = last && b.tool == nil && len(b.raw) == 0
	}
	return nil, false
}

func (d *draft) end(emptyIsFine bool, now time.Time) {
	d.speak(now)
	d.ended, d.emptyIsFine = true, emptyIsFine
}

// section is a text that goes on from message to message, or a compaction,
// which has a message of its own.
type section struct {
	text string
	note bool
}

// sketch is the draft at one moment.
type sketch struct {
	sections []section
	// status stands behind them where it is not empty. early is a status that is
	// not due yet.
	status string
	early  bool
	// tick is when the sketch will read differently by itself; zero is never.
	tick  time.Time
	ended bool
}

// text is all of it as one text.
func (s sketch) text() string {
	var b strings.Builder
	for _, part := range s.sections {
		b.WriteString(strings.TrimSpace(part.text) + "\n\n")
	}
	return strings.TrimSpace(b.String()) + "\n"
}

// sketch is what the draft says now; statuses come after a time of silence.
func (d *draft) sketch(now time.Time) sketch {
	s := sketch{sections: d.sections(now), ended: d.ended}
	last := s.sections[len(s.sections)-1]
	speechless := blank(last.text) && !last.note
	switch c := d.compaction(); {
	case d.ended:
		if speechless && len(s.sections) == 1 && !d.emptyIsFine {
			s.status = textNoAnswer
		}
	case c != nil && c.end.IsZero():
		s.tick = nextSecond(c.start, now)
	case speechless || d.label != "":
		label := d.label
		if label == "" {
			label = textThinking
		}
		s.status = statusText(label, now.Sub(d.since))
		s.tick = nextSecond(d.since, now)
		if due := d.since.Add(silence); now.Before(due) {
			s.early, s.tick = true, due
		}
	}
	return s
}

// sections joins the blocks; the last is always a text, if an empty one, but
// for a compaction that still runs.
func (d *draft) sections(now time.Time) []section {
	var out []section
	var text strings.Builder
	var row []tool
	closeRow := func() {
		text.WriteString(rowText(row))
		row = nil
	}
	for i := range d.blocks {
		switch b := &d.blocks[i]; {
		case b.tool != nil:
			row = append(row, *b.tool)
		case b.note != nil:
			closeRow()
			out = append(out, section{text: text.String()}, section{text: b.note.text(now), note: true})
			text.Reset()
		default:
			if said := b.clean(d.ended || i < len(d.blocks)-1); said != "" {
				closeRow()
				text.WriteString(said)
			}
		}
	}
	closeRow()
	if c := d.compaction(); c != nil && c.end.IsZero() {
		return out
	}
	return append(out, section{text: text.String()})
}

// clean is the block's text, fit to be shown. Where more may follow, the begin
// of a character at the end waits for the rest of it.
func (b *block) clean(whole bool) string {
	raw := b.raw
	if !whole {
		raw = clean.Whole(raw)
	}
	return clean.Text(string(raw))
}

// nextSecond is when the whole seconds since a moment change next.
func nextSecond(since, now time.Time) time.Time {
	return since.Add((now.Sub(since)/time.Second + 1) * time.Second)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// The words that the user reads, apart from the answer itself.
const (
	textThinking = "Thinking"
	textNoAnswer = "no answer came; try again."
	// For an answer of too many messages.
	textWritingOn = "writing on: the whole answer comes as a file"
	textInFile    = "-# *the whole answer is in the file*"
)

const (
	// maxLabel is how much of a label is shown, in characters.
	maxLabel = 200
	// maxRow is how many tools that follow each other are shown by name, so that a
	// busy turn does not fill the screen.
	maxRow = 5
)

// escaped makes a label fit to stand between asterisks.
var escaped = strings.NewReplacer("*", `\*`, "_", `\_`)

// tidy makes a label from outside one harmless line.
func tidy(label string) string { return clean.Cut(clean.Line(label), maxLabel) }

// subtext is a line in small italics.
func subtext(s string) string { return "-# *" + s + "*" }

// statusText is a status that has stood for some time: seconds are told from
// the first one on.
func statusText(label string, stood time.Duration) string {
	s := escaped.Replace(label) + "..."
	if n := int(stood / time.Second); n > 0 {
		s += fmt.Sprintf(" (%ds)", n)
	}
	return subtext(s)
}

// rowText are tools that were called one after another.
func rowText(row []tool) string {
	var b strings.Builder
	denied := 0
	for i, t := range row {
		label := escaped.Replace(t.label)
		if t.denied {
			label = "~~" + label + "~~ — denied"
		}
		if i < maxRow {
			b.WriteString("\n" + subtext(label) + "\n")
		} else if t.denied {
			denied++
		}
	}
	if more := len(row) - maxRow; more > 0 {
		s := fmt.Sprintf("+%d more", more)
		if denied > 0 {
			s += fmt.Sprintf(" · %d denied", denied)
		}
		b.WriteString("\n" + subtext(s) + "\n")
	}
	return b.String()
}

// text is what a compaction says: while it runs, and for good.
func (c *compaction) text(now time.Time) string {
	tokens := ""
	if c.tokens > 0 {
		tokens = fmt.Sprintf("%dk tokens", (c.tokens+500)/1000)
	}
	if c.end.IsZero() {
		label := "Compacting"
		if c.auto {
			label = "Auto-compacting"
		}
		return statusText(strings.TrimSpace(label+" "+tokens), now.Sub(c.start))
	}
	s := "compacted"
	if c.auto {
		s = "auto-compacted"
	}
	if tokens != "" {
		s += " · " + tokens
	}
	if n := int(c.end.Sub(c.start) / time.Second); n > 0 {
		s += fmt.Sprintf(" · %ds", n)
	}
	return subtext(s)
}
