package budget

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestTheOriginalsFileKeepsItsBytes(t *testing.T) {
	data, err := os.ReadFile("testdata/ping_budget.json")
	testkit.Must(t, err)
	s, problems := Decode(data, morning)
	if len(problems) > 0 {
		t.Errorf("problems in a good file: %q", problems)
	}
	want := State{
		Capacity: 5, Available: 2.25, RefillRateMinutes: 90, LastRefill: time.Date(2026, 11, 23, 8, 30, 0, 0, pacific),
		CriticalUsed: 1, CriticalResetDate: "2026-11-23", DailyUsed: 2, DailyUsedReset: "2026-11-23",
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(string(data), string(s.Encode())); diff != "" {
		t.Errorf("(-file +written)\n%s", diff)
	}
}

func TestWhatCannotBeReadGetsItsDefaultAndIsNamed(t *testing.T) {
	for _, c := range []struct {
		data  string
		named []string
		want  func(*State)
	}{
		{`not json`, []string{"not a JSON object"}, func(*State) {}},
		{`[1, 2]`, []string{"not a JSON object"}, func(*State) {}},
		{``, []string{"not a JSON object"}, func(*State) {}},
		{`{}`, []string{
			"capacity", "available", "refill_rate_minutes", "last_refill",
			"critical_used", "critical_reset_date", "daily_used", "daily_used_reset",
		}, func(*State) {}},
		{good(`"capacity": -1`), []string{"capacity is -1"}, func(*State) {}},
		{good(`"capacity": 7.0, "future_key": [1]`), nil, func(s *State) { s.Capacity = 7 }},
		{good(`"capacity": 7.5`), []string{"capacity is 7.5"}, func(*State) {}},
		{good(`"capacity": "7"`), []string{`capacity is "7"`}, func(*State) {}},
		{good(`"capacity": true`), []string{"capacity is true"}, func(*State) {}},
		{good(`"capacity": 1e300`), []string{"capacity is 1e300"}, func(*State) {}},
		{good(`"available": -2`), []string{"available is -2, not a number of at least 0; using 0.0"}, func(s *State) { s.Available = 0 }},
		{good(`"available": -0.4`), []string{"available is -0.4"}, func(s *State) { s.Available = 0 }},
		{good(`"available": null`), []string{"available is null"}, func(*State) {}},
		{good(`"available": 3`), nil, func(s *State) { s.Available = 3 }},
		{good(`"refill_rate_minutes": 0`), []string{"refill_rate_minutes is 0"}, func(*State) {}},
		{good(`"last_refill": "yesterday"`), []string{`last_refill is "yesterday", not a time such as 2026-11-23T08:30:00-08:00; using now` + "\n"}, func(*State) {}},
		{good(`"last_refill": "` + strings.Repeat("x", 60) + `"`), []string{`last_refill is "` + strings.Repeat("x", 38) + "…, not"}, func(*State) {}},
		{good(`"last_refill": "2026-11-23T16:00:00Z"`), nil, func(s *State) { s.LastRefill = morning.Add(-time.Hour) }},
		{good(`"daily_used": -4`), []string{"daily_used is -4"}, func(*State) {}},
		{good(`"daily_used_reset": "23.11.2026"`), []string{"daily_used_reset"}, func(*State) {}},
		{good(`"critical_reset_date": "2026-11-22"`), nil, func(s *State) { s.CriticalResetDate = "2026-11-22" }},
	} {
		want := Default(morning)
		c.want(&want)
		got, problems := Decode([]byte(c.data), morning)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.data, diff)
		}
		if len(problems) != len(c.named) {
			t.Errorf("%s: problems %q, want %d", c.data, problems, len(c.named))
			continue
		}
		for i, name := range c.named {
			if !strings.Contains(problems[i]+"\n", name) {
				t.Errorf("%s: %q does not name %q", c.data, problems[i], name)
			}
		}
	}
}

// good returns a file with defaults and one changed key: JSON uses the last of equal
// keys.
func good(change string) string {
	return strings.TrimSuffix(string(Default(morning).Encode()), "}\n") + ", " + change + "}"
}

func TestAWrittenStateReadsBack(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := drawState(t)
		s.LastRefill = s.LastRefill.Add(time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "at")) * time.Microsecond)
		got, problems := Decode(s.Encode(), s.LastRefill)
		if diff := cmp.Diff(s, got); diff != "" || len(problems) > 0 {
			t.Fatalf("problems %q, (-written +read)\n%s", problems, diff)
		}
	})
}

func FuzzDecodeNeverFails(f *testing.F) {
	f.Add([]byte(`{"capacity": 5}`))
	f.Add([]byte("\ufeff{\"available\": 1e999, \"last_refill\": 5}"))
	f.Add([]byte(`{"capacity": {"a": []}, "daily_used_reset": "\u0000"}`))
	f.Add(Default(morning).Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _ := Decode(data, morning)
		s = s.At(morning)
		if s.Available < 0 || s.Available > float64(s.Capacity) || s.RefillRateMinutes < 1 {
			t.Errorf("%q gives %+v", data, s)
		}
		if again, problems := Decode(s.Encode(), morning); len(problems) > 0 || again != s {
			t.Errorf("%q: written and read again: %+v, %q, want %+v", data, again, problems, s)
		}
	})
}
