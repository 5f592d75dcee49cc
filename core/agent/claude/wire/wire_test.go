package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// offline runs a connection over the bytes of a reader.
func offline(t *testing.T, r io.Reader, o Options) ([]Line, *Conn) {
	t.Helper()
	var lines []Line
	o.Line = func(l Line) { lines = append(lines, l) }
	c := New(r, io.Discard, o)
	testkit.Must(t, c.Run(t.Context()))
	return lines, c
}

func TestAReaderHasNoLineLimit(t *testing.T) {
	long := `{"type":"assistant","text":"` + strings.Repeat("0123456789", 1<<20+1) + `"}`
	input := `{"type":"a"}` + "\n" + long + "\n" + `{"type":"b"}` + "\n"
	lines, c := offline(t, strings.NewReader(input), Options{})
	if len(lines) != 3 || string(lines[1].Raw) != long || lines[1].Type != "assistant" || lines[2].Type != "b" {
		t.Errorf("%d lines, %d skipped", len(lines), c.skipped)
	}
}

func TestLineBreaksOfAnyKindAndEmptyLinesAreFine(t *testing.T) {
	input := "\n{\"type\":\"a\"}\r\n\r\n   \n \t{\"type\":\"b\"} \n{\"type\":\"last, without a break\"}"
	lines, c := offline(t, iotest.OneByteReader(strings.NewReader(input)), Options{})
	want := []string{`{"type":"a"}`, `{"type":"b"}`, `{"type":"last, without a break"}`}
	if diff := cmp.Diff(want, raws(lines)); diff != "" || c.skipped != 0 {
		t.Errorf("%d skipped %s", c.skipped, diff)
	}
}

func TestUnknownTypesAreDeliveredAsTheyAre(t *testing.T) {
	input := []string{`{"type":"tomorrow","subtype":"new","x":[1,2]}`, `{}`, `{"type":7,"subtype":null}`, `{"subtype":"only"}`}
	lines, _ := offline(t, strings.NewReader(strings.Join(input, "\n")), Options{})
	if diff := cmp.Diff(input, raws(lines)); diff != "" {
		t.Error(diff)
	}
	if lines[0].Type != "tomorrow" || lines[0].Subtype != "new" || lines[2].Type != "" || lines[3].Subtype != "only" {
		t.Errorf("lines %+v", lines)
	}
}

func TestWhatIsNoObjectIsSkippedAndLoggedOnceWithoutItsContents(t *testing.T) {
	var log bytes.Buffer
	bad := []string{
		"hunter2 is not JSON", `["hunter2"]`, `"hunter2"`, `{"hunter2":`, `null`, `{"a":1}{"b":2}`, "\xef\xbb\xbf{}",
		`{"type":"control_request","request":{"subtype":"hunter2"}}`, `{"type":"control_response","response":"hunter2"}`,
	}
	input := strings.Join(bad, "\n") + "\n" + `{"type":"good"}`
	lines, c := offline(t, strings.NewReader(input), Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if len(lines) != 1 || lines[0].Type != "good" || c.skipped != len(bad) {
		t.Errorf("%d lines, %d skipped", len(lines), c.skipped)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "level=WARN") || strings.Contains(log.String(), "hunter2") {
		t.Errorf("log: %s", log.String())
	}
}

// pieces returns its bytes in reads of the given sizes.
type pieces struct {
	data  []byte
	sizes []int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := len(p.data)
	if len(p.sizes) > 0 {
		n, p.sizes = min(n, p.sizes[0]), p.sizes[1:]
	}
	n = copy(b, p.data[:n])
	p.data = p.data[n:]
	return n, nil
}

func TestAnySplitOfTheStreamGivesTheSameLines(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		var want []string
		var stream []byte
		for range rapid.IntRange(0, 8).Draw(rt, "lines") {
			words := rapid.String().Draw(rt, "words") + strings.Repeat("x", rapid.IntRange(0, 2*readBuffer).Draw(rt, "more"))
			line, err := json.Marshal(map[string]string{"type": "t", "text": words})
			if err != nil {
				rt.Fatal(err)
			}
			want = append(want, string(line))
			stream = append(stream, line...)
			stream = append(stream, rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(rt, "break")...)
		}
		sizes := rapid.SliceOf(rapid.IntRange(0, 3*readBuffer/2)).Draw(rt, "reads")
		lines, _ := offline(t, &pieces{stream, sizes}, Options{})
		if diff := cmp.Diff(want, raws(lines)); diff != "" {
			rt.Error(diff)
		}
	})
}

func TestAFaultOfTheReaderIsTold(t *testing.T) {
	fault := errors.New("the pipe is gone")
	lines := 0
	c := New(io.MultiReader(strings.NewReader(`{"type":"a"}`+"\n"), iotest.ErrReader(fault)), io.Discard, Options{Line: func(Line) { lines++ }})
	if err := c.Run(t.Context()); !errors.Is(err, fault) {
		t.Errorf("Run: %v", err)
	}
	if lines != 1 {
		t.Errorf("%d lines", lines)
	}
}

// broken panics on every use.
type broken struct{}

func (broken) Read([]byte) (int, error)  { panic("read") }
func (broken) Write([]byte) (int, error) { panic("write") }

func TestAPanicOfAPipeIsAnError(t *testing.T) {
	if err := New(broken{}, io.Discard, Options{}).Run(t.Context()); err == nil {
		t.Error("a panic of the reader was lost")
	}
	synctest.Test(t, func(t *testing.T) {
		r, _ := io.Pipe()
		c := New(r, broken{}, Options{})
		if err := c.Send(struct{}{}); err != nil {
			t.Error(err)
		}
		if err := c.Run(t.Context()); err == nil {
			t.Error("a panic of the writer was lost")
		}
	})
}

func TestALineOfAnyKindCountsAsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t.Context(), t, Options{})
		if !p.conn.LastRead().IsZero() {
			t.Error("something was read")
		}
		for _, line := range []string{`{"type":"a"}`, "garbage"} {
			time.Sleep(time.Minute)
			p.say(line)
			synctest.Wait()
			if !p.conn.LastRead().Equal(time.Now()) {
				t.Errorf("%s does not", line)
			}
		}
		if lines := p.delivered(); len(lines) != 1 || !lines[0].At.Equal(time.Now().Add(-time.Minute)) {
			t.Errorf("delivered %+v", lines)
		}
		time.Sleep(time.Minute)
		p.say(`{"type":"keep_alive"}`)
		synctest.Wait()
		if p.conn.LastRead().Equal(time.Now()) {
			t.Error("a sign of life counts")
		}
	})
}

func TestTheEndOfTheContextEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		stopped := false
		p := dial(ctx, t, Options{Handler: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			stopped = true
			return nil, nil
		}})
		p.say(`{"type":"a"}`, asks("c1", "hook_callback"))
		synctest.Wait()
		cancel()
		<-p.done
		if !errors.Is(p.err, context.Canceled) || !stopped {
			t.Errorf("Run: %v, callback stopped: %t", p.err, stopped)
		}
		if got := p.delivered(); len(got) != 1 {
			t.Errorf("%d lines were delivered", len(got))
		}
		if err := p.conn.Send(struct{}{}); !errors.Is(err, ErrClosed) {
			t.Errorf("Send: %v", err)
		}
		if _, err := p.in.Write([]byte("x")); err == nil {
			t.Error("the pipe is still open")
		}
	})
}

func TestRunReturnsOnlyWhenEveryCallbackHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t.Context(), t, Options{Handler: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			time.Sleep(time.Hour) // a slow tool after it was cancelled
			return nil, nil
		}})
		p.say(asks("c1", "mcp_message"), asks("c2", "mcp_message"))
		synctest.Wait()
		begun := time.Now()
		if err := p.hangUp(); err != nil || time.Since(begun) != time.Hour {
			t.Errorf("Run returned after %s: %v", time.Since(begun), err)
		}
		if got := p.heard(); len(got) != 0 {
			t.Errorf("answered after the end: %q", got)
		}
	})
}

// endless returns the same line forever and cannot be closed.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return copy(b, "{}\n"), nil }

func TestAPipeThatCannotBeClosedIsLeftAtItsNextLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := New(endless{}, io.Discard, Options{}).Run(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestCallbacksEndEvenWhileAReadHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, in := io.Pipe()
		out, w := io.Pipe()
		cancelled := make(chan struct{})
		c := New(struct{ io.Reader }{r}, w, Options{Handler: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			close(cancelled)
			return nil, nil
		}})
		done := make(chan error, 1)
		go func() { done <- c.Run(t.Context()) }()
		if _, err := io.WriteString(in, asks("1", "can_use_tool")+"\n"); err != nil {
			t.Fatal(err)
		}
		_ = out.Close()
		testkit.Must(t, c.Send(struct{}{}))
		<-cancelled
		<-c.Ended()
		_ = in.Close()
		if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Run: %v", err)
		}
	})
}
