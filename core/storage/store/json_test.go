package store

import (
	"errors"
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

func TestWhatIsNoPointerToAValueIsNotFilled(t *testing.T) {
	d := prepared(t)
	put(t, d, "state/a.json", `{"capacity": 7}`)
	for name, into := range map[string]any{"a value": state{}, "nothing": nil, "a nil pointer": (*state)(nil)} {
		if found, err := d.ReadJSON("state/a.json", into); found || err == nil {
			t.Errorf("%s was filled: %v, %v", name, found, err)
		}
	}
	if err := d.WriteJSON("state/a.json", func() {}); err == nil || !strings.Contains(err.Error(), "state/a.json") {
		t.Error(err)
	}
}
