package stream

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
	"ollimbot/discord/render"
)

// Each file of testdata/stories has several stories. A line with ">" is what happens to an answer, one thing after the other;
// behind "=>" or below it is all that goes over the wire then, with the seconds since the start, what callers get and what
// the log says. Options follow "!". words(9) are nine bytes of text, 3×(a#) is a1a2a3, ⏎ is a new line.
func TestAnAnswerIsShownAsItsStoriesSay(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txt")
	testkit.Must(t, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		testkit.Must(t, err)
		head, stories, _ := strings.Cut("\n"+string(data), "\n== ")
		var all strings.Builder
		all.WriteString(head)
		for part := range strings.SplitSeq(stories, "\n== ") {
			title, steps, _ := strings.Cut(part, "\n")
			t.Run(title, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { fmt.Fprintf(&all, "\n== %s\n%s", title, tell(t, head, steps)) })
			})
		}
		if !t.Failed() {
			goldentest.Compare(t, strings.TrimPrefix(name, "testdata/"), strings.ReplaceAll(all.String(), "\n\n", "\n")[1:])
		}
	}
}

// teller plays a story and writes down what comes of it.
type teller struct {
	t       *testing.T
	r       *room
	o       Options
	start   time.Time
	answers []*Answer
	a       *Answer // to which the next things happen
	said    string  // all words so far
	growing bool    // it is heard where answers grow
	group   sync.WaitGroup

	mu    sync.Mutex
	heard []string
}

func tell(t *testing.T, head, steps string) string {
	n := &teller{t: t, r: newRoom(), start: time.Now()}
	n.r.heard = n.hear
	n.o = Options{Channel: n.r, Line: NewLine(SendEvery, EditEvery), Log: slog.New(slog.NewTextHandler(n, &slog.HandlerOptions{ReplaceAttr: timeless}))}
	n.options(head)
	var out strings.Builder
	for line := range strings.Lines(steps) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " => ")
		switch {
		case strings.HasPrefix(line, "! "):
			n.options(line)
		case strings.HasPrefix(line, "> "):
			if n.a == nil {
				n.begin(nil)
			}
			for step := range strings.SplitSeq(goldentest.Repeated(line[2:]), " | ") {
				verb, rest, _ := strings.Cut(step, " ")
				n.do(verb, spelled(rest))
				synctest.Wait()
			}
		default:
			continue
		}
		out.WriteString(n.wrote(line))
	}
	n.r.faults(nil)
	for _, a := range n.answers {
		a.cancel() // for stories without an end
		a.group.Wait()
	}
	n.group.Wait()
	for _, w := range n.r.wrong {
		t.Error(w)
	}
	return out.String()
}

func timeless(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// Write hears a line of the log, without the stack of a panic.
func (n *teller) Write(p []byte) (int, error) {
	text, _, _ := strings.Cut(strings.TrimSpace(string(p)), `\n`)
	n.hear("logs " + text)
	return len(p), nil
}

func (n *teller) hear(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.heard = append(n.heard, fmt.Sprintf("%.2f %s", time.Since(n.start).Seconds(), what))
}

// wrote is a line with what was heard: a little behind it, more below it, and of much its beginning and its end.
func (n *teller) wrote(line string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	heard := n.heard
	n.heard = nil
	if len(heard) > 8 {
		heard = slices.Concat(heard[:2], []string{fmt.Sprintf("… %d more …", len(heard)-4)}, heard[len(heard)-2:])
	}
	short := line + " => " + strings.Join(heard, " | ")
	switch {
	case len(heard) == 0:
		return line + "\n"
	case len([]rune(short)) > 150:
		return line + "\n  " + strings.Join(heard, "\n  ") + "\n"
	}
	return short + "\n"
}

func (n *teller) options(list string) {
	n.o.Growing = func(id post.MessageID, there bool) {
		if id == "" {
			n.t.Error("a message without an ID grows, or no more")
		}
		if n.growing {
			n.hear(map[bool]string{true: "grows in ", false: "grows no more in "}[there] + string(id))
		}
	}
	for word := range strings.SplitSeq(strings.Trim(list, "! \n"), ", ") {
		switch word {
		case "":
		case "status line":
			n.o.StatusLine = true
		case "silent":
			n.o.Silent = true
		case "five messages":
			n.o.Messages = 5
		case "says where it grows":
			n.growing = true
		default:
			n.t.Fatalf("no option %q", word)
		}
	}
}

func (n *teller) begin(after <-chan struct{}) {
	o := n.o
	o.After, o.ID = after, fmt.Sprint("answer", len(n.answers)+1)
	n.a = New(n.t.Context(), o)
	n.answers = append(n.answers, n.a)
	synctest.Wait()
}

var many = regexp.MustCompile(`words\((\d+)\)`)

// spelled is the text that a step means.
func spelled(s string) string {
	s = many.ReplaceAllStringFunc(s, func(all string) string { return words(number(many.FindStringSubmatch(all)[1])) })
	if text, err := strconv.Unquote(s); err == nil {
		s = text
	}
	return strings.ReplaceAll(s, "⏎", "\n")
}

func number(s string) int { n, _ := strconv.Atoi(s); return n }

// brief is a text on one line, the middle of a long one left out.
func brief(s string) string {
	all := []rune(strings.ReplaceAll(s, "\n", "⏎"))
	if len(all) <= 110 {
		return string(all)
	}
	return fmt.Sprintf("%s … %s (%d)", string(all[:40]), string(all[len(all)-40:]), render.Length(s))
}

func (n *teller) do(verb, rest string) {
	a, r := n.a, n.r
	d, _ := time.ParseDuration(rest)
	event := agent.Compacting{Auto: strings.HasPrefix(rest, "by itself"), PreTokens: number(rest[strings.LastIndex(rest, " ")+1:])}
	switch verb {
	case "wait":
		time.Sleep(d)
	case "say":
		n.said += rest
		a.Append(rest)
	case "stream": // a text over a time in a number of pieces
		rest, pieces, _ := strings.Cut(rest, " in ")
		text, over, _ := strings.Cut(rest, " over ")
		d, err := time.ParseDuration(over)
		testkit.Must(n.t, err)
		n.said += text
		stream(a, text, d, number(pieces))
	case "unsay": // that many bytes
		n.said = n.said[:max(0, len(n.said)-number(rest))]
		a.Rewind(number(rest))
	case "tools":
		for label := range strings.SplitSeq(rest, "; ") {
			label, denied := strings.CutPrefix(label, "denied ")
			a.Tool(label, denied)
		}
	case "status":
		a.Status(rest)
	case "compacting":
		a.Compacting(event)
	case "compacted":
		event.Done = true
		a.Compacting(event)
	case "card": // of the answer
		rings := a.Rings()
		n.hear(fmt.Sprintf("the card rings: %v, no words yet: %v", rings, a.Empty()))
		if rings {
			a.Rang()
		}
	case "network":
		n.network(rest)
	case "delete": // the user deletes one
		r.kill(number(rest))
	case "outdate": // it cannot be edited any more
		r.do(func() { r.list[number(rest)].old = true })
	case "beside": // another answer begins
		n.begin(nil)
	case "behind":
		n.begin(a.Sent())
	case "first": // things happen to it again
		n.a = n.answers[0]
	case "notice": // somebody else sends one
		n.group.Go(func() {
			err := n.o.Line.Send(n.t.Context(), func(ctx context.Context) error {
				_, err := r.Send(ctx, Page{Text: rest}, rest)
				return err
			})
			if err != nil {
				n.hear("notice: " + err.Error())
			}
		})
	case "stop": // the context of the answer ends
		a.cancel()
	case "end", "ending":
		n.group.Go(func() { n.end(a, rest) })
		if verb == "end" {
			n.group.Wait()
		}
	default:
		n.t.Fatalf("no step %q", verb)
	}
}

func (n *teller) network(how string) {
	word, rest, _ := strings.Cut(how, " ")
	d, _ := time.ParseDuration(rest)
	fault, known := map[string]trouble{"fine": fine, "lost": lost, "unanswered": unanswered, "refused": refused, "shut": shutOut, "panics": fatal, "full": full}[word]
	switch {
	case known:
		n.r.faults(func(string) trouble { return fault })
	case word == "slow":
		n.r.do(func() { n.r.delay = d })
	case word == "limited": // for a time
		n.r.do(func() { n.r.sends = window{from: time.Now().Add(d - 5*time.Second), n: 5} })
	default:
		n.t.Fatalf("no network is %q", how)
	}
}

// end ends an answer, and compares the screen with all words if they are too many to be written down.
func (n *teller) end(a *Answer, how string) {
	ctx, cancel := context.WithTimeout(n.t.Context(), 5*time.Minute)
	if d, err := time.ParseDuration(strings.TrimPrefix(how, "within ")); err == nil {
		ctx, cancel = context.WithTimeout(n.t.Context(), d)
	}
	defer cancel()
	ids := a.End(ctx, how == "empty is fine")
	n.hear(fmt.Sprintf("ends with messages %s", ids))
	n.r.do(func() {
		for _, m := range n.r.list {
			if !m.gone && m.page.Stop {
				n.r.accuse("a finished answer can be stopped")
			}
			if m.page.File != "" && bare(m.page.File) != bare(n.said) {
				n.r.accuse("the file lacks words")
			}
		}
	})
	if len(n.said) > 200 && n.r.says(n.said) == nil {
		n.hear("all words are on the screen")
	}
}
