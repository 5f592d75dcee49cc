package store

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

type state struct {
	Capacity int            `json:"capacity"`
	Name     string         `json:"name"`
	List     []int          `json:"list"`
	Map      map[string]int `json:"map"`
}

func TestStateFilesKeepTheDefaultsOfMissingKeys(t *testing.T) {
	d := prepared(t)
	v := state{Capacity: 5, Name: "x"}
	if found, err := d.ReadJSON("state/a.json", &v); found || err != nil {
		t.Errorf("a missing file: %v, %v", found, err)
	}
	put(t, d, "state/a.json", "\ufeff{\"name\": \"a <b> & c\", \"other\": 1}\n")
	found, err := d.ReadJSON("state/a.json", &v)
	if !found || err != nil || v.Capacity != 5 || v.Name != "a <b> & c" {
		t.Errorf("%v, %v, %+v", found, err, v)
	}
	testkit.Must(t, d.WriteJSON("state/a.json", v))
	got, err := d.Read("state/a.json")
	if want := "{\"capacity\":5,\"name\":\"a <b> & c\",\"list\":null,\"map\":null}\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
}

func TestCorruptStateIsKeptAsideAndTheValueUntouched(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "cut off": `{"capacity": 3, "list": [9, 9`, "garbage": "\x00\xff\x1b[2J", "another shape": `[1]`,
		"a wrong type late in the file": `{"capacity": 9, "list": [9, 9], "map": {"new": 1}, "name": 7}`,
		"two values":                    `{} {}`, "too large": `"` + strings.Repeat("x", MaxRead) + `"`, "a folder": "a file in it",
	} {
		t.Run(name, func(t *testing.T) {
			d := prepared(t)
			inside := map[bool]string{true: "/inside"}[name == "a folder"]
			newState := func() state {
				return state{Capacity: 5, Name: "x", List: []int{1, 2, 3}, Map: map[string]int{"a": 1}}
			}
			kept := map[string]bool{}
			for range 3 { // within a second, too
				put(t, d, "state/a.json"+inside, text)
				v := newState()
				found, err := d.ReadJSON("state/a.json", &v)
				var ce *CorruptError
				if found || !errors.As(err, &ce) || !strings.Contains(err.Error(), ce.Kept) {
					t.Fatalf("%v, %v", found, err)
				}
				if diff := cmp.Diff(newState(), v); diff != "" {
					t.Errorf("the value was touched: %s", diff)
				}
				kept[ce.Kept] = true
			}
			for name := range kept {
				got, err := os.ReadFile(d.Path(name + inside))
				if err != nil || string(got) != text || !regexp.MustCompile(`^state/a\.json\.corrupt-\d{8}T\d{6}(-[23])?$`).MatchString(name) {
					t.Errorf("%s has %d bytes of %d, %v", name, len(got), len(text), err)
				}
			}
			v := newState()
			if found, err := d.ReadJSON("state/a.json", &v); found || err != nil || len(kept) != 3 {
				t.Errorf("at last: %v, %v, %d are kept", found, err, len(kept))
			}
		})
	}
}

func TestOfManyWhoFindAFileCorruptOneSetsItAside(t *testing.T) {
	for range 20 {
		d := prepared(t)
		put(t, d, "state/a.json", "{")
		var aside atomic.Int64
		var g errgroup.Group
		for range 8 {
			g.Go(func() error {
				var v state
				found, err := d.ReadJSON("state/a.json", &v)
				if ce, ok := errors.AsType[*CorruptError](err); ok && ce.Kept != "" {
					aside.Add(1)
					err = nil
				}
				if found {
					return errors.New("it was found")
				}
				return err
			})
		}
		if err := g.Wait(); err != nil || aside.Load() != 1 {
			t.Fatalf("%d have set it aside, %v", aside.Load(), err)
		}
	}
}

func TestStateSurvivesTheRoundTrip(t *testing.T) {
	d := prepared(t)
	testkit.Check(t, func(t *rapid.T) {
		in := map[string]string{}
		for k, v := range rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "state") {
			in[strings.ToValidUTF8(k, "?")] = strings.ToValidUTF8(v, "?")
		}
		if err := d.WriteJSON("state/a.json", in); err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		if found, err := d.ReadJSON("state/a.json", &out); !found || err != nil {
			t.Fatal(found, err)
		}
		if diff := cmp.Diff(in, out); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestALineIsOneLineWhateverItHolds(t *testing.T) {
	line, err := JSONLine("a\nb<&>")
	if err != nil || strings.ContainsRune(string(line), '\n') || string(line) != `"a\nb<&>"` {
		t.Errorf("%s, %v", line, err)
	}
	if _, err := JSONLine(func() {}); err == nil {
		t.Error("a function was encoded")
	}
}

func TestAFileThatCannotBeReadIsNamedWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"capacity\": 5,\n\"name\" 7}": "line 3: ", "{\n\"capacity\": \"five\"}": "line 2: ", "{": "line 1: ", "": "line 1: ",
	} {
		d := prepared(t)
		put(t, d, "state/a.json", text)
		v := state{Capacity: 5}
		found, err := d.PeekJSON("state/a.json", &v)
		if found || err == nil || !strings.HasPrefix(err.Error(), want) || v.Capacity != 5 {
			t.Errorf("%q: %v, %v, %+v", text, found, err, v)
		}
		if got, err := d.Read("state/a.json"); err != nil || string(got) != text {
			t.Errorf("a look has changed %q to %q, %v", text, got, err)
		}
		var log bytes.Buffer
		found, err = d.LoadJSON("state/a.json", &v, slog.New(slog.NewTextHandler(&log, nil)))
		if found || err != nil || !strings.Contains(log.String(), "kept=state/a.json.corrupt-") {
			t.Errorf("%q: %v, %v, logged %s", text, found, err, &log)
		}
	}
	d := prepared(t)
	put(t, d, "state/a.json", `{"capacity": 7}`)
	var v state
	for name, into := range map[string]any{"a value": v, "nothing": nil, "a nil pointer": (*state)(nil)} {
		if found, err := d.ReadJSON("state/a.json", into); found || err == nil {
			t.Errorf("%s was filled: %v, %v", name, found, err)
		}
	}
	if found, err := d.LoadJSON("state/a.json", &v, nil); !found || err != nil || v.Capacity != 7 {
		t.Errorf("%v, %v, %+v", found, err, v)
	}
	if err := d.WriteJSON("state/a.json", func() {}); err == nil || !strings.Contains(err.Error(), "state/a.json") {
		t.Error(err)
	}
}
