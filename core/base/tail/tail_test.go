package tail

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func line(n int) Line { return Line{Kind: Text, Text: fmt.Sprint(n)} }

// drawn draws the nth line: with or without a time, shorter or longer than any block.
func drawn(t *rapid.T, n int) Line {
	l := Line{Kind: rapid.SampledFrom([]Kind{Text, Tool, "of another program"}).Draw(t, "kind")}
	l.Text = fmt.Sprint(n) + strings.Repeat("x", rapid.SampledFrom([]int{0, 3, 400, 9000, 20_000}).Draw(t, "length"))
	if rapid.Bool().Draw(t, "timed") {
		l.At = time.UnixMicro(int64(n)*1_000_003 - 5e15).In(rapid.SampledFrom([]*time.Location{time.UTC, west}).Draw(t, "zone"))
	}
	return l
}

var west = time.FixedZone("west", -8*60*60)

// TestARingBehavesLikeTheWholeHistory compares a ring with a list of all lines, and
// checks that pages read earlier do not change.
func TestARingBehavesLikeTheWholeHistory(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(-1, 9).Draw(t, "size")
		r := New(size)
		kept := max(1, size)
		var all, earlier, copied []Line
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				for range rapid.IntRange(1, 5).Draw(t, "count") {
					l := drawn(t, len(all))
					r.Add(l)
					all = append(all, l)
				}
			},
			"read": func(t *rapid.T) {
				from := rapid.IntRange(0, len(all)+3).Draw(t, "from")
				oldest := max(0, len(all)-kept)
				start := min(max(from, oldest), len(all))
				want := Page{Next: Cursor(len(all)), Lost: uint64(max(0, oldest-from))}
				if start < len(all) {
					want.Lines = all[start:]
				}
				got := r.Read(Cursor(from))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("from %d of %d: %s", from, len(all), diff)
				}
				if diff := cmp.Diff(copied, earlier); diff != "" {
					t.Fatalf("an earlier page has changed: %s", diff)
				}
				earlier, copied = got.Lines, slices.Clone(got.Lines)
				for i := range copied {
					copied[i].Text = strings.Clone(copied[i].Text)
				}
			},
			"": func(t *rapid.T) {
				last, ok := r.Last()
				if r.Len() != uint64(len(all)) || ok != (len(all) > 0) || ok && !cmp.Equal(last, all[len(all)-1]) {
					t.Fatalf("length %d, last %v %v, want %d lines", r.Len(), last, ok, len(all))
				}
			},
		})
	})
}

func TestAReaderThatKeepsUpLosesNothing(t *testing.T) {
	const lines, size = 20_000, 20_000
	r := New(size)
	done := make(chan struct{})
	var g errgroup.Group
	g.Go(func() error {
		defer close(done)
		for n := range lines {
			r.Add(line(n))
		}
		return nil
	})
	for range 3 {
		g.Go(func() error {
			var at Cursor
			seen, finished := 0, false
			for seen < lines {
				p := r.Read(at)
				if p.Lost > 0 {
					return fmt.Errorf("lost %d lines at %d", p.Lost, at)
				}
				for _, l := range p.Lines {
					if l.Text != fmt.Sprint(seen) {
						return fmt.Errorf("line %d is %q", seen, l.Text)
					}
					seen++
				}
				if finished && len(p.Lines) == 0 {
					return fmt.Errorf("only %d lines arrived", seen)
				}
				at = p.Next
				select {
				case <-done:
					finished = true
				default:
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestASlowReaderLearnsHowMuchItLost(t *testing.T) {
	const lines, size = 5000, 7
	r := New(size)
	done := make(chan struct{})
	var g errgroup.Group
	g.Go(func() error {
		defer close(done)
		for n := range lines {
			r.Add(line(n))
		}
		return nil
	})
	g.Go(func() error {
		var at Cursor
		var got, lost uint64
		for got+lost < lines {
			p := r.Read(at)
			lost += p.Lost
			for _, l := range p.Lines {
				if want := fmt.Sprint(got + lost); l.Text != want {
					return fmt.Errorf("line %q where %s belongs", l.Text, want)
				}
				got++
			}
			at = p.Next
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestKindsOfOtherProgramsAreKeptHoweverManyThereAre(t *testing.T) {
	r := New(1000)
	for n := range 1000 {
		r.Add(Line{Kind: Kind(fmt.Sprint("kind ", n)), Text: fmt.Sprint(n)})
	}
	for n, l := range r.Read(0).Lines {
		if l.Kind != Kind(fmt.Sprint("kind ", n)) || l.Text != fmt.Sprint(n) {
			t.Fatalf("line %d is %v", n, l)
		}
	}
}

func TestAPageIsTheReadersOwn(t *testing.T) {
	r := New(2)
	r.Add(line(0))
	p := r.Read(0)
	r.Add(line(1))
	r.Add(line(2))
	if p.Lines[0] != line(0) {
		t.Errorf("the page changed to %v", p.Lines)
	}
	p = r.Read(1)
	p.Lines[0].Text = "changed by the reader"
	if got := r.Read(1); got.Lines[0] != line(1) {
		t.Errorf("the ring changed to %v", got.Lines)
	}
}

func BenchmarkAdd(b *testing.B) {
	r := New(10_000)
	l := Line{At: time.Now(), Kind: Tool, Text: "gmail unread --max 20"}
	for b.Loop() {
		r.Add(l)
	}
}

// BenchmarkSecondOfAFlood measures 10,000 lines with a dashboard that reads 30 times: the
// time of one round, many of which fit into a second.
func BenchmarkSecondOfAFlood(b *testing.B) {
	r := New(10_000)
	l := Line{At: time.Now(), Kind: Tool, Text: "gmail unread --max 20"}
	var at Cursor
	for b.Loop() {
		for n := range 10_000 {
			r.Add(l)
			if n%333 == 0 {
				p := r.Read(at)
				if p.Lost > 0 {
					b.Fatalf("lost %d lines", p.Lost)
				}
				at = p.Next
			}
		}
	}
}
