package stream

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/discord/render"
)

// draft is the current content of an answer, shown or not.
type draft struct {
	blocks []block
	// label is the status, or empty while the bot thinks; since is its start.
	label string
	since time.Time
	ended bool
	// emptyIsFine is End's argument.
	emptyIsFine bool
	// statusLine is that of Options. Without it, busy is when the first tool since the last words was called, and spoke
	// when the first words arrived; zero if there are none.
	statusLine  bool
	busy, spoke time.Time
}

// block is a piece of the answer: raw text, a tool, or a compaction.
type block struct {
	raw  []byte
	tool *tool
	note *compaction
}

type tool struct {
	label  string
	denied bool
}

// compaction is a history being compacted.
type compaction struct {
	auto       bool
	tokens     int // 0 if unknown
	start, end time.Time
	// told means that the engine has reported the end. Until then, anything that follows ends it.
	told bool
}

// append adds text unchanged, so that Rewind counts the same bytes and a piece may end
// anywhere.
func (d *draft) append(delta string, now time.Time) {
	d.speak(now)
	if n := len(d.blocks); n == 0 || d.blocks[n-1].tool != nil || d.blocks[n-1].note != nil {
		d.blocks = append(d.blocks, block{})
	}
	b := &d.blocks[len(d.blocks)-1]
	b.raw = append(b.raw, delta...)
	if d.busy = (time.Time{}); d.spoke.IsZero() && !blank(delta) {
		d.spoke = now
	}
}

// rewind removes the last n bytes of text. Tools and compactions stay.
func (d *draft) rewind(n int, now time.Time) {
	for i := len(d.blocks) - 1; i >= 0 && n > 0; i-- {
		b := &d.blocks[i]
		cut := min(n, len(b.raw))
		n -= cut
		b.raw = b.raw[:len(b.raw)-cut]
	}
	d.since = now
	if d.words() == "" {
		d.spoke = time.Time{}
	}
}

func (d *draft) call(label string, denied bool, now time.Time) {
	d.speak(now)
	d.blocks = append(d.blocks, block{tool: &tool{label: label, denied: denied}})
	if d.busy.IsZero() {
		d.busy = now
	}
}

// speak ends a status or compaction when the answer continues.
func (d *draft) speak(now time.Time) {
	if c := d.compaction(); c != nil && c.end.IsZero() {
		c.end, d.since = now, now
	}
	if d.label != "" {
		d.label, d.since = "", now
	}
}

// status sets the label; its time restarts only when it changes. A status ends a
// compaction.
func (d *draft) status(label string, now time.Time) {
	if c := d.compaction(); label != "" && c != nil && c.end.IsZero() {
		c.end, d.since = now, now
	}
	if label != d.label {
		d.label, d.since = label, now
	}
}

// compacting starts a compaction or ends it.
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
		return // later text has ended it
	}
	d.label, d.since = "", now
	c.end = time.Time{}
	if ev.Done {
		c.end = now
	}
}

// compaction returns the last compaction, unless text followed it.
func (d *draft) compaction() *compaction {
	if c, last := d.lastNote(); last {
		return c
	}
	return nil
}

// lastNote returns the last compaction, and whether no text followed it.
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

// section is text that continues over several messages, or a compaction in its own message.
type section struct {
	text string
	note bool
}

// sketch is the draft at one moment.
type sketch struct {
	sections []section
	// status follows the sections unless it is empty. early means that it is not due yet.
	status string
	early  bool
	// tick is when the sketch next changes without input; zero means never.
	tick  time.Time
	ended bool
	// sentence is when the first words stop waiting for the end of their sentence; zero if they do not wait.
	sentence time.Time
}

// text is the whole sketch as one text.
func (s sketch) text() string {
	var b strings.Builder
	for _, part := range s.sections {
		b.WriteString(strings.TrimSpace(part.text) + "\n\n")
	}
	return strings.TrimSpace(b.String()) + "\n"
}

// sketch is the current state of the draft; a status appears after a moment of silence. notifies means that its first
// message has yet to be sent and will notify.
func (d *draft) sketch(now time.Time, notifies bool) sketch {
	s := sketch{ended: d.ended}
	most := math.MaxInt
	if said, grows := d.growing(); grows && notifies && !d.statusLine {
		due := d.spoke.Add(sentenceWithin)
		if most = opening(said, !now.Before(due)); most == 0 && d.words() == strings.TrimSpace(said) {
			s.sentence = due
		}
	}
	s.sections = d.sections(now, most)
	last := s.sections[len(s.sections)-1]
	speechless := blank(last.text) && !last.note
	switch c := d.compaction(); {
	case d.ended:
		if speechless && len(s.sections) == 1 && !d.emptyIsFine {
			s.status = textNoAnswer
		}
	case c != nil && c.end.IsZero():
		s.tick = nextSecond(c.start, now)
	case !d.statusLine:
		d.work(&s, now)
	case speechless || d.label != "":
		s.status = statusText(cmp.Or(d.label, textThinking), now.Sub(d.since))
		s.tick = nextSecond(d.since, now)
		if due := d.since.Add(silence); now.Before(due) {
			s.early, s.tick = true, due
		}
	}
	return s
}

// work is the silent status: what delays the answer, or the tools before its first words.
func (d *draft) work(s *sketch, now time.Time) {
	since := d.since
	if d.label == "" {
		since = d.busy
	}
	if since.IsZero() || d.label == "" && !d.spoke.IsZero() {
		return
	}
	s.status = strings.TrimSpace(rowText(d.lead()) + statusText(cmp.Or(d.label, textWorking), now.Sub(since).Truncate(workTick)))
	s.tick = since.Add((now.Sub(since)/workTick + 1) * workTick)
	if due := since.Add(longWork); now.Before(due) {
		s.early, s.tick = true, due
	}
}

// aside is the number of blocks before the first words whose tools are moved behind the answer, so that its
// notification starts with words. With a status line they stay in place.
func (d *draft) aside() int {
	if d.statusLine {
		return 0
	}
	for i := range d.blocks {
		if b := &d.blocks[i]; !blank(b.clean(true)) {
			return i
		}
	}
	return len(d.blocks)
}

// lead returns the tools before the first words.
func (d *draft) lead() (row []tool) {
	for _, b := range d.blocks[:d.aside()] {
		if b.tool != nil {
			row = append(row, *b.tool)
		}
	}
	return row
}

// words are the words of the answer.
func (d *draft) words() string {
	var b strings.Builder
	for i := range d.blocks {
		b.WriteString(d.blocks[i].clean(d.ended || i < len(d.blocks)-1))
	}
	return strings.TrimSpace(b.String())
}

// growing returns the text of the last block while more words of it may follow; false if they have not begun, or have
// ended.
func (d *draft) growing() (said string, grows bool) {
	n := len(d.blocks)
	if n == 0 || d.ended || d.spoke.IsZero() || d.blocks[n-1].raw == nil {
		return "", false
	}
	return d.blocks[n-1].clean(false), true
}

// openingLeast is how many characters the first message has at least: a shorter first sentence waits for the next.
const openingLeast = 40

// opening returns how many bytes of the first words the first message has, so that the phone shows whole sentences: up
// to the end of the last one, or 0 while they wait for that. late means that they have waited for long enough: then
// they end at a word.
func opening(words string, late bool) int {
	end, seen := 0, 0
	for i, r := range words {
		if seen++; seen >= openingLeast {
			end = max(end, sentenceEnd(words, i, r))
		}
	}
	if end > 0 || !late {
		return end
	}
	if last, _ := utf8.DecodeLastRuneInString(words); strings.ContainsRune(sentenceMarks, last) {
		return len(words)
	}
	if i := strings.LastIndexFunc(strings.TrimRightFunc(words, unicode.IsSpace), unicode.IsSpace); i > 0 && !blank(words[:i]) {
		return i
	}
	return len(words)
}

// sentenceMarks end a sentence if a space follows.
const sentenceMarks = ".!?…:"

// sentenceEnd returns the end of the sentence that ends with the character at i, or 0: a line, or a mark before a space
// that does not belong to an abbreviation or a number.
func sentenceEnd(s string, i int, r rune) int {
	end := i + utf8.RuneLen(r)
	if r == '\n' || strings.ContainsRune("。！？", r) {
		return end
	}
	if !strings.ContainsRune(sentenceMarks, r) {
		return 0
	}
	after := strings.TrimLeft(s[end:], "\"'”’»)]*_~|")
	if next, _ := utf8.DecodeRuneInString(after); !unicode.IsSpace(next) {
		return 0
	}
	word := s[strings.LastIndexFunc(s[:i], unicode.IsSpace)+1 : i]
	if r == '.' && (len(word) <= 2 || strings.Contains(word, ".") || strings.Trim(word, "0123456789") == "") {
		return 0
	}
	return len(s) - len(after)
}

// sections joins the blocks; of the last one, at most so many bytes. The last section is a text, possibly empty, unless
// a compaction is running.
func (d *draft) sections(now time.Time, most int) []section {
	var out []section
	var text strings.Builder
	var row []tool
	aside := d.aside()
	closeRow := func() {
		text.WriteString(rowText(row))
		row = nil
	}
	for i := range d.blocks {
		switch b := &d.blocks[i]; {
		case b.tool != nil && i < aside:
		case b.tool != nil:
			row = append(row, *b.tool)
		case b.note != nil:
			closeRow()
			out = append(out, section{text: text.String()}, section{text: b.note.text(now), note: true})
			text.Reset()
		default:
			said := b.clean(d.ended || i < len(d.blocks)-1)
			if i == len(d.blocks)-1 {
				said = said[:min(most, len(said))]
			}
			if said != "" {
				closeRow()
				text.WriteString(said)
			}
		}
	}
	if d.ended && aside > 0 && !d.spoke.IsZero() {
		row = append(row, d.lead()...)
	}
	closeRow()
	if c := d.compaction(); c != nil && c.end.IsZero() {
		return out
	}
	return append(out, section{text: text.String()})
}

// clean is the block's cleaned text. If more may follow, an incomplete character at its end
// is left out.
func (b *block) clean(whole bool) string {
	raw := b.raw
	if !whole {
		raw = clean.Whole(raw)
	}
	return clean.Text(string(raw))
}

// nextSecond is when the full seconds since a moment change next.
func nextSecond(since, now time.Time) time.Time {
	return since.Add((now.Sub(since)/time.Second + 1) * time.Second)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// Texts for the user.
const (
	textThinking = "Thinking"
	textWorking  = "Working"
	textNoAnswer = "no answer arrived; try again."
	// For an answer with too many messages.
	textWritingOn = "still writing: the full answer will be a file"
	textInFile    = "-# *the full answer is in the file*"
)

const (
	// maxLabel limits the shown part of a label, in characters.
	maxLabel = 200
	// maxRow is how many consecutive tools are shown by name, so that a busy turn does not
	// fill the screen.
	maxRow = 3
)

// escaped escapes a label for use between asterisks.
var escaped = strings.NewReplacer("*", `\*`, "_", `\_`)

// tidy reduces a label from outside to one clean line.
func tidy(label string) string { return clean.Cut(clean.Line(label), maxLabel) }

// subtext is a line in small italics.
func subtext(s string) string { return "-# *" + s + "*" }

// statusText returns a status with its duration in seconds.
func statusText(label string, stood time.Duration) string {
	s := escaped.Replace(label) + "..."
	if n := int(stood / time.Second); n > 0 {
		s += fmt.Sprintf(" (%ds)", n)
	}
	return subtext(s)
}

// rowText lists consecutive tools.
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

// text describes a compaction, running or finished.
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

// maxUnits is the longest message, in UTF-16 units.
const maxUnits = 2000

// layout is the distribution of a text over messages. A visible part that is followed by another one is fixed as long
// as the text starts with it.
type layout struct {
	text  string
	parts []render.Part
	fixed int // number of fixed parts
}

// set lays out the text again after the fixed parts.
func (l *layout) set(text string) {
	if text == l.text {
		return
	}
	l.text = text
	at, n := 0, 0
	for n < l.fixed && strings.HasPrefix(text[at:], l.parts[n].Text) {
		at += len(l.parts[n].Text)
		n++
	}
	open := ""
	if n < len(l.parts) {
		open = l.parts[n].Open
	}
	l.fixed = n
	l.parts = append(l.parts[:n:n], partsFrom(open, text[at:])...)
}

// show records that a part is visible, which fixes those before it.
func (l *layout) show(part int) { l.fixed = max(l.fixed, part) }

// partsFrom splits a text that starts inside a code block opened by open.
func partsFrom(open, text string) []render.Part {
	parts := render.Parts(open+text, maxUnits)
	if open != "" && len(parts) > 0 {
		parts[0].Open, parts[0].Text = open, strings.TrimPrefix(parts[0].Text, open)
	}
	return parts
}

// page is the intended content of one message.
type page struct {
	text string
	file string // attached file, or empty
	// section and part are its position; the section of a status is -1.
	section, part int
	note          bool // a compaction
}

// status reports whether a page is a status.
func (p page) status() bool { return p.section < 0 && p.file == "" && p.text != textNoAnswer }

// pagesOf renders a sketch as messages. layouts are the sections' layouts; it returns them, with new ones added.
func pagesOf(s sketch, layouts []*layout) ([]page, []*layout) {
	var out []page
	for i, section := range s.sections {
		if i == len(layouts) {
			layouts = append(layouts, new(layout))
		}
		if section.note {
			out = append(out, page{text: section.text, section: i, note: true})
			continue
		}
		layouts[i].set(render.Markdown(section.text, !s.ended && i == len(s.sections)-1))
		for k, p := range layouts[i].parts {
			if !blank(p.Text) { // Discord refuses empty messages and trims others
				text := strings.TrimSpace(p.String())
				if k == len(layouts[i].parts)-1 {
					text = render.Closed(text)
				}
				out = append(out, page{text: text, section: i, part: k})
			}
		}
	}
	return out, layouts
}
