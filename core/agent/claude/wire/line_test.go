package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// decoders are all decoders. They print what they read, and what is computed from it.
var decoders = map[string]func(Line) string{
	TypeAssistant: func(l Line) string { return brief(l.Assistant()) },
	TypeStream:    func(l Line) string { return brief(l.Stream()) },
	TypeRateLimit: func(l Line) string {
		r := l.RateLimit()
		return brief(r) + r.Resets().UTC().Format(" 2006-01-02 15:04:05.000")
	},
	TypeResult: func(l Line) string { r := l.Result(); return fmt.Sprint(brief(r), " interrupted: ", r.Interrupted()) },
	TypeSystem: func(l Line) string { s := l.System(); return fmt.Sprint(brief(s), " ", s.Delay()) },
	TypeUser: func(l Line) string {
		u := l.User()
		text := brief(u)
		for _, c := range u.Content {
			text += fmt.Sprintf(" %q", c.OutputText())
		}
		return text
	},
}

// brief prints a value without the fields that are zero.
func brief(x any) string {
	if raw, ok := x.(json.RawMessage); ok {
		return string(raw)
	}
	var words []string
	v := reflect.ValueOf(x)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				words = append(words, v.Type().Field(i).Name+" "+brief(f.Interface()))
			}
		}
		return "{" + strings.Join(words, " ") + "}"
	case reflect.Slice:
		for i := range v.Len() {
			words = append(words, brief(v.Index(i).Interface()))
		}
		return "[" + strings.Join(words, ", ") + "]"
	case reflect.Map:
		for key, value := range v.Seq2() {
			words = append(words, key.String()+": "+brief(value.Interface()))
		}
		slices.Sort(words)
		return "[" + strings.Join(words, ", ") + "]"
	}
	return fmt.Sprintf("%#v", x)
}

// linesOf returns a line of JSON, or those of a capture that have a type, and a subtype if one is given.
func linesOf(t *testing.T, of string) []Line {
	t.Helper()
	input := strings.NewReader(of)
	words := strings.Fields(of)
	if captured := !strings.HasPrefix(of, "{"); captured {
		var said bytes.Buffer
		for _, e := range capture(t, words[0]) {
			if e.Dir == "cli->host" {
				said.Write(append(e.Line, '\n'))
			}
		}
		input = strings.NewReader(said.String())
	} else {
		words = nil
	}
	var lines []Line
	testkit.Must(t, New(input, io.Discard, Options{Line: func(l Line) {
		if len(words) < 2 || l.Type == words[1] && (len(words) == 2 || l.Subtype == words[2]) {
			lines = append(lines, l)
		}
	}}).Run(t.Context()))
	return lines
}

// entry is one line of a capture.
type entry struct {
	Dir  string          `json:"dir"`
	Line json.RawMessage `json:"line"`
}

func capture(t testing.TB, name string) []entry {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "captures", name+".jsonl"))
	testkit.Must(t, err)
	var entries []entry
	for raw := range bytes.Lines(data) {
		var e entry
		testkit.Must(t, json.Unmarshal(raw, &e))
		if e.Dir == "cli->host" || e.Dir == "host->cli" {
			entries = append(entries, e)
		}
	}
	return entries
}

func TestTimesOfTheCLINeverOverflow(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		x := rapid.Float64().Draw(rt, "x")
		if d := (Retry{DelayMS: x}).Delay(); d < 0 {
			rt.Errorf("%g ms is %s", x, d)
		}
		if u := (RateLimit{ResetsAt: x}).Resets(); u.Year() < 1 || u.Year() > 9999 {
			rt.Errorf("%g s is %s", x, u)
		}
	})
}

func FuzzLine(f *testing.F) {
	for _, name := range []string{"a-handshake-turn", "c-dontask", "k-oauth-token-env", "l-subagent", "g-prompt-too-long", "b-sdk-mcp"} {
		for _, e := range capture(f, name) {
			if len(e.Line) < 2000 {
				f.Add([]byte(e.Line))
			}
		}
	}
	f.Add([]byte("{\"ty\\u0070e\":\"result\"}\r\n[]\n{\"type\":\"control_request\",\"request_id\":\"1\",\"request\":{}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := New(strings.NewReader(string(data)), io.Discard, Options{Line: func(l Line) {
			if !json.Valid(l.Raw) {
				t.Errorf("delivered %q", l.Raw)
			}
			for _, decode := range decoders {
				decode(l)
			}
		}})
		testkit.Must(t, c.Run(t.Context()))
	})
}
