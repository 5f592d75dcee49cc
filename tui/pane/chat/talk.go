package chat

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/post"
	"ollimbot/core/transcript"
	"ollimbot/core/words"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/markdown"
)

// talk is the conversation as a scroll shows it: an item is a message. Messages
// are kept drawn, because only the last one ever changes.
type talk struct {
	widget.Scroll
	entries []transcript.Entry
	zone    *time.Location
	now     time.Time
	drawn   map[post.MessageID]drawing
	docs    map[post.MessageID]*markdown.Doc
	plain   map[post.MessageID]plain // what a search looks at, once there is one
	theme   *theme.Theme             // of the plain texts: one of colours, where marks disappear
	spaced  bool                     // an empty line between messages
	exit    post.MessageID           // the card whose buttons end the fork of now
}

// drawing is a message as it was drawn last, unmarked and without a search.
type drawing struct {
	version   int
	w         int
	spaced    bool
	streaming bool
	where     string
	today     bool
	exit      bool
	theme     *theme.Theme
	rows      [][]widget.Span
}

func newTalk() *talk {
	t := &talk{
		zone: time.UTC, drawn: map[post.MessageID]drawing{}, docs: map[post.MessageID]*markdown.Doc{},
		plain: map[post.MessageID]plain{}, theme: theme.New(theme.Options{Profile: 16}),
	}
	t.Source, t.Wrap = t, true
	return t
}

// sync takes the conversation of a snapshot over. The reader's place moves with
// the message that it is at.
func (t *talk) sync(s *core.Snapshot) {
	old := t.entries
	t.entries, t.now, t.exit = s.Chat, s.At, exitCard(s)
	if s.ChatMore && len(s.Chat) > 0 {
		first := transcript.Entry{ID: "earlier", At: s.Chat[0].At, Role: transcript.Notice, Text: textEarlier}
		t.entries = append([]transcript.Entry{first}, s.Chat...)
	}
	if s.Zone != nil {
		t.zone = s.Zone
	}
	if len(old) > 0 && !samePlaces(old, t.entries) {
		t.Rebase(func(i uint64) uint64 { return place(t.entries, old, i) })
		t.prune()
	}
	t.Refind()
}

// samePlaces reports that every message stands where it stood.
func samePlaces(old, now []transcript.Entry) bool {
	if len(now) < len(old) {
		return false
	}
	return old[0].ID == now[0].ID && old[len(old)-1].ID == now[len(old)-1].ID
}

// place is where the ith old message stands now; where it has gone, the next
// one that is left, else the end.
func place(now, old []transcript.Entry, i uint64) uint64 {
	for ; i < uint64(len(old)); i++ {
		for j := range now {
			if now[j].ID == old[i].ID {
				return uint64(j)
			}
		}
	}
	return uint64(max(len(now), 1) - 1)
}

// prune forgets the drawings of messages that have gone.
func (t *talk) prune() {
	there := make(map[post.MessageID]bool, len(t.entries))
	for _, e := range t.entries {
		there[e.ID] = true
	}
	for id := range t.drawn {
		if !there[id] {
			delete(t.drawn, id)
		}
	}
	for id := range t.docs {
		if !there[id] {
			delete(t.docs, id)
		}
	}
	for id := range t.plain {
		if !there[id] {
			delete(t.plain, id)
		}
	}
}

// doc keeps what was drawn of a message.
func (t *talk) doc(id post.MessageID) *markdown.Doc {
	d := t.docs[id]
	if d == nil {
		d = &markdown.Doc{}
		t.docs[id] = d
	}
	return d
}

// plain is a message without the marks of markdown.
type plain struct {
	version int
	text    string
}

// Bounds are the places of the messages: with Text and Rows they make the
// conversation a widget.Source.
func (t *talk) Bounds() (first, end uint64) { return 0, uint64(len(t.entries)) }

// Text is everything of a message that can be read, as it is drawn.
func (t *talk) Text(i uint64) string {
	e := t.entries[i]
	if e.Role != transcript.Bot && e.Role != transcript.Ping {
		return messageText(e)
	}
	p, ok := t.plain[e.ID]
	if !ok || p.version != e.Version {
		p = plain{e.Version, markdown.Plain(messageText(e), t.theme)}
		t.plain[e.ID] = p
	}
	return p.text
}

// Rows draws a message.
func (t *talk) Rows(i uint64, look widget.Look) [][]widget.Span {
	e := t.entries[i]
	spaced := t.spaced && i+1 < uint64(len(t.entries))
	today := words.SameDay(e.At, t.now, t.zone)
	if look.Marked || look.Matcher.Active() {
		return message(t, e, look, spaced)
	}
	d := t.drawn[e.ID]
	if d.rows == nil || d.version != e.Version || d.w != look.W || d.spaced != spaced ||
		d.streaming != e.Streaming || d.where != e.Where || d.today != today || d.exit != (e.ID == t.exit) || d.theme != look.Theme {
		d = drawing{e.Version, look.W, spaced, e.Streaming, e.Where, today, e.ID == t.exit, look.Theme, message(t, e, look, spaced)}
		t.drawn[e.ID] = d
	}
	return d.rows
}

// copyOne is the marked message, or the newest one.
func (t *talk) copyOne() (text, toast string) {
	if len(t.entries) == 0 {
		return "", textSilence
	}
	i := uint64(len(t.entries) - 1)
	if !t.Following() {
		i = min(i, t.Mark())
	}
	return messageText(t.entries[i]), "copied the message"
}

// maxCopy is what terminals take in one OSC 52 sequence.
const maxCopy = 54 << 10

// copyAll is the newest messages, as many as a clipboard takes.
func (t *talk) copyAll() (text, toast string) {
	if len(t.entries) == 0 {
		return "", textSilence
	}
	var parts []string
	size := 0
	for i := len(t.entries) - 1; i >= 0; i-- {
		e := t.entries[i]
		who := string(e.Role)
		if e.Source != "" {
			who += " (" + e.Source + ")"
		}
		part := fmt.Sprintf("%s %s: %s\n", e.At.In(t.zone).Format("15:04"), who, messageText(e))
		if size += len(part); size > maxCopy {
			break
		}
		parts = append([]string{part}, parts...)
	}
	return strings.Join(parts, ""), "copied " + words.Grouped(uint64(len(parts)), "message")
}

// messageText is the text of a message and of its card.
func messageText(e transcript.Entry) string {
	out := e.Text
	if e.Embed == nil {
		return out
	}
	add := func(s string) {
		if s != "" {
			if out != "" {
				out += "\n"
			}
			out += s
		}
	}
	add(e.Embed.Title)
	add(e.Embed.Description)
	for _, f := range e.Embed.Fields {
		add(f.Name + ": " + f.Value)
	}
	add(e.Embed.Footer)
	return out
}
