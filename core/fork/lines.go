package fork

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/core/tail"
	"ollimbot/core/toolset"
	"ollimbot/core/words"
)

const (
	// maxLine is the longest tail line in bytes; a longer one is broken.
	maxLine = 4000
	// maxShown is what a tail shows of a tool's answer, in characters.
	maxShown = 200
	// settleAfter is how long a line without a break waits for its rest.
	settleAfter = time.Second
)

// lines joins deltas into whole lines. What has no line break yet becomes a
// line of its own when something else happens or nothing more comes.
type lines struct {
	add func(k tail.Kind, text string) // must not block

	mu   sync.Mutex
	kind tail.Kind
	buf  []byte
	last time.Time // when buf last grew
}

func (l *lines) take(k tail.Kind, delta string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k != l.kind {
		l.empty()
		l.kind = k
	}
	l.buf = append(l.buf, delta...)
	for {
		n := bytes.IndexByte(l.buf, '\n')
		if n < 0 {
			break
		}
		l.put(l.buf[:n])
		l.buf = l.buf[n+1:]
	}
	for len(l.buf) > maxLine {
		n := maxLine
		for n > maxLine-utf8.UTFMax && !utf8.RuneStart(l.buf[n]) {
			n--
		}
		l.put(l.buf[:n])
		l.buf = l.buf[n:]
	}
	if len(l.buf) == 0 {
		l.buf = nil
		return
	}
	l.last = time.Now()
}

// flush adds what has no line break yet.
func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.empty()
}

// settle does so when nothing has come for a while.
func (l *lines) settle(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.buf) > 0 && now.Sub(l.last) >= settleAfter {
		l.empty()
	}
}

func (l *lines) empty() {
	l.put(l.buf)
	l.buf = nil
}

func (l *lines) put(line []byte) {
	if len(bytes.TrimSpace(line)) > 0 {
		l.add(l.kind, string(line))
	}
}

// event writes one event into the tail and counts it; true for the Result.
func (r *run) event(ev agent.Event) bool {
	switch ev := ev.(type) {
	case agent.Text:
		r.lines.take(tail.Text, ev.Delta)
		return false
	case agent.Thinking:
		r.lines.take(tail.Think, ev.Delta)
		return false
	}
	r.lines.flush()
	switch ev := ev.(type) {
	case agent.ToolStart:
		r.update(func(v *View) { v.Tools++ })
		label := toolset.Label(ev.Name, ev.Input)
		if ev.Subagent != "" {
			label = ev.Subagent + ": " + label
		}
		r.line(tail.Tool, label)
	case agent.ToolEnd:
		r.toolEnd(ev)
	case agent.Compacting:
		r.line(tail.Note, compacting(ev))
	case agent.Retry:
		r.line(tail.Note, fmt.Sprintf(textRetry, ev.Reason, ev.Wait.Round(time.Second), ev.Attempt, ev.Of))
	case agent.RateLimit:
		if ev.Status != "allowed" {
			r.line(tail.Note, fmt.Sprintf(textRateLimit, ev.Status, ev.Resets.In(r.m.zone).Format("15:04")))
		}
	case agent.Notice:
		r.line(tail.Note, ev.Text)
	case agent.Result:
		r.m.o.Spent(ev.Usage)
		r.update(func(v *View) {
			v.Usage = v.Usage.Add(ev.Usage)
			if ev.SessionID != "" {
				v.Session = ev.SessionID
			}
		})
		return true
	}
	return false
}

func (r *run) toolEnd(ev agent.ToolEnd) {
	text := shown(ev.Text)
	switch {
	case ev.Denied:
		if isPing(ev.Name) {
			r.update(func(v *View) { v.Refused++ })
		}
		r.line(tail.Refuse, fmt.Sprintf(textDenied, toolset.Label(ev.Name, nil), text))
	case ev.IsError && !strings.HasPrefix(ev.Name, toolset.Prefix):
		r.line(tail.Error, text)
	default:
		// What the bot's own tool has told in its own line is not told again.
		if last, ok := r.ring.Last(); !ok || !strings.HasSuffix(last.Text, text) {
			r.line(tail.Result, text)
		}
	}
}

// shown is the first line of a tool's answer, and how many follow.
func shown(text string) string {
	text = strings.TrimSpace(text)
	first, rest, more := strings.Cut(text, "\n")
	first = clean.Cut(clean.Line(first), maxShown)
	if first == "" {
		first = textNoOutput
	}
	if more {
		n := strings.Count(rest, "\n") + 1
		first += fmt.Sprintf(" (+%s)", words.Count(n, "line"))
	}
	return first
}

func compacting(c agent.Compacting) string {
	text := textCompacting
	if c.Done {
		text = textCompacted
	}
	if c.PreTokens > 0 {
		text += fmt.Sprintf(" · %dk tokens", (c.PreTokens+500)/1000)
	}
	return text
}

func isPing(tool string) bool {
	switch strings.TrimPrefix(tool, toolset.Prefix) {
	case toolset.PingUser, toolset.DiscordEmbed, toolset.SendFile:
		return true
	}
	return false
}
