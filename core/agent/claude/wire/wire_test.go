package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestRequestsOfTheCommandAreAnswered(t *testing.T) { stories(t, "answered") }
func TestRequestsOfTheBotGetTheirAnswers(t *testing.T) { stories(t, "requests") }
func TestWhichLinesAreDelivered(t *testing.T)          { stories(t, "delivered") }
func TestWhatIsReadFromALine(t *testing.T)             { stories(t, "read") }
func TestHowAConnectionEnds(t *testing.T)              { stories(t, "ends") }

func TestAnAnswerInTheLastLineStillCounts(t *testing.T) {
	for range 100 { // both are there at once, so either could be seen first
		got := tell(t, `
			> request {"subtype":"interrupt"}
			> last {"type":"control_response","response":{"request_id":"host_1","subtype":"success"}}`)
		if !strings.Contains(got, "request 1 gets {}") {
			t.Fatal(got)
		}
	}
}

// endless returns the same line forever and cannot be closed.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return copy(b, "{}\n"), nil }

// broken panics on every use.
type broken struct{}

func (broken) Read([]byte) (int, error)  { panic("read") }
func (broken) Write([]byte) (int, error) { panic("write") }

// short writes less than it gets.
type short struct{}

func (short) Write(b []byte) (int, error) { return len(b) - 1, nil }

func TestPipesThatMisbehaveEndTheConnection(t *testing.T) {
	for name, tt := range map[string]struct {
		cancelled bool
		r         io.Reader
		w         io.Writer
		want      string
	}{
		"a reader panics":                           {false, broken{}, io.Discard, "internal fault in reading from claude: read"},
		"a writer panics":                           {false, nil, broken{}, "internal fault in writing to claude: write"},
		"a writer forgets a byte":                   {false, nil, short{}, "write: short write"},
		"a reader that cannot be closed never ends": {true, endless{}, io.Discard, "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancelled {
					cancel()
				}
				if tt.r == nil {
					tt.r, _ = io.Pipe()
				}
				c := New(tt.r, tt.w, Options{})
				testkit.Must(t, c.Send(struct{}{}))
				if err := c.Run(ctx); err == nil || err.Error() != tt.want {
					t.Errorf("got  %v\nwant %s", err, tt.want)
				}
			})
		})
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

// rawLines returns the lines that a connection delivers from a reader.
func rawLines(t testing.TB, r io.Reader) (lines []string) {
	t.Helper()
	testkit.Must(t, New(r, io.Discard, Options{Line: func(l Line) { lines = append(lines, string(l.Raw)) }}).Run(t.Context()))
	return lines
}

func TestAnySplitOfTheStreamGivesTheSameLines(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		var want []string
		var stream []byte
		for range rapid.IntRange(0, 8).Draw(rt, "lines") {
			words := rapid.String().Draw(rt, "words") + strings.Repeat("x", rapid.IntRange(0, 2*readBuffer).Draw(rt, "more"))
			line, err := json.Marshal(map[string]string{"type": "t", "text": words})
			testkit.Must(rt, err)
			want = append(want, string(line))
			stream = append(stream, line...)
			stream = append(stream, rapid.SampledFrom([]string{"\n", "\r\n", "\n\n", "\n \t"}).Draw(rt, "break")...)
		}
		sizes := rapid.SliceOf(rapid.IntRange(0, 3*readBuffer/2)).Draw(rt, "reads")
		if diff := cmp.Diff(want, rawLines(t, &pieces{stream, sizes})); diff != "" {
			rt.Error(diff)
		}
	})
	long := `{"text":"` + strings.Repeat("0123456789", 1<<20+1) + `"}`
	if got := rawLines(t, iotest.HalfReader(strings.NewReader("{}\n"+long+"\n{}"))); len(got) != 3 || got[1] != long {
		t.Errorf("a line has a limit: %d lines", len(got))
	}
}

func TestWhateverIsSentIsOneLine(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		words := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a\nb\r\nc", "\u2028\u2029", "\x00\x1f\x7f", "\xff\xfe", "<&>"})).Draw(rt, "words")
		quoted, err := json.Marshal(words)
		testkit.Must(rt, err)
		raw := json.RawMessage("\n {\r\n\t\"k\" :\n" + string(quoted) + "}\n")
		line, err := encode(map[string]any{"text": words, "raw": raw, "odd": json.RawMessage("\"\xff\u2028\"")})
		testkit.Must(rt, err)
		body, ok := strings.CutSuffix(string(line), "\n")
		if !ok || strings.ContainsAny(body, "\n\r\u2028\u2029\x00") || strings.ToValidUTF8(body, "") != body {
			rt.Errorf("not one line: %q", line)
		}
		var back struct {
			Text string
			Raw  struct{ K string }
		}
		want := strings.ToValidUTF8(words, "\ufffd")
		if err := json.Unmarshal(line, &back); err != nil || back.Raw.K != back.Text || utf8.ValidString(words) && back.Text != want {
			rt.Errorf("%q came back as %q, %q, %v", words, back.Text, back.Raw.K, err)
		}
	})
}

func TestOnlyObjectsAreSent(t *testing.T) {
	c := New(nil, nil, Options{})
	for _, bad := range []any{nil, "text", 7, []int{1}, func() {}, json.RawMessage(`{"a":`), json.RawMessage("{\"a\":\"\n\"}"), json.RawMessage(" [1]")} {
		if err := c.Send(bad); err == nil {
			t.Errorf("%v was sent", bad)
		}
		if _, err := c.Request(t.Context(), bad); err == nil {
			t.Errorf("%v was requested", bad)
		}
	}
	if line, ok := c.out.TryPop(); ok {
		t.Errorf("%s is sent", line)
	}
}

func TestLinesOfManySendersStayWholeAndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, nil, "")
		var want []string
		for sender := range 8 {
			line := func(n int) string { return fmt.Sprintf(`{"%d":"%02d %s"}`, sender, n, strings.Repeat("x", n*100)) }
			for n := range 100 {
				want = append(want, "writes "+line(n))
			}
			s.g.Go(func() {
				for n := range 100 {
					testkit.Must(t, s.Send(json.RawMessage(line(n))))
				}
			})
		}
		synctest.Wait()
		slices.SortStableFunc(s.notes, func(a, b string) int { return strings.Compare(a[:10], b[:10]) })
		if diff := cmp.Diff(want, s.notes); diff != "" {
			t.Error(diff)
		}
		s.end()
		s.g.Wait()
	})
}

func TestAUserMessageIsWhatTheCLITakes(t *testing.T) {
	for want, m := range map[string]any{
		`{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}},` +
			`{"type":"text","text":"a\nb"}]},"parent_tool_use_id":null,"session_id":"","uuid":"u1"}`: UserMessage("u1", []Block{ImageBlock("image/png", []byte{1, 2, 3}), TextBlock("a\nb")}),
		`{"type":"user","message":{"role":"user","content":[]},"parent_tool_use_id":null,"session_id":""}`: UserMessage("", nil),
	} {
		if line, err := encode(m); err != nil || string(line) != want+"\n" {
			t.Errorf("got  %s, %v\nwant %s", line, err, want)
		}
	}
}
