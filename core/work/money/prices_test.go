package money

import (
	"slices"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

func TestAUsageIsPricedWhereTheEngineDoesNot(t *testing.T) {
	d, _ := open(t)
	p := NewPrices(d, nil)
	if list := p.Problems(); len(list) > 0 {
		t.Errorf("without a file: %+v", list)
	}
	used := agent.Usage{InputTokens: 1_000_000, OutputTokens: 100_000, CacheRead: 1_000_000, CacheWrite: 200_000}
	for model, want := range map[string]float64{"sonnet": 2 + 1 + 0.1 + 0.5, "claude-opus-5-5-20261001": 4 + 2 + 0.2 + 1, "Haiku": 0.5 + 0.25 + 0.05 + 0.125} {
		if got, known := p.Priced(model, used); !known || !near(got.CostUSD, want) {
			t.Errorf("%q costs %v, want %v", model, got, want)
		}
	}
	for _, model := range []string{"", "gpt-5", "local/qwen3"} {
		if got, known := p.Priced(model, used); known || got.CostUSD != 0 || p.Cost(model, used) != 0 {
			t.Errorf("%q costs %v", model, got)
		}
	}
	said := used
	said.CostUSD = 0.01
	free := used
	free.Free = true
	for _, u := range []agent.Usage{said, free} {
		if got, known := p.Priced("gpt-5", u); !known || got != u {
			t.Error("what the engine says does not count")
		}
	}
}

func TestALongPromptAndAnHoursCacheHavePricesOfTheirOwn(t *testing.T) {
	long := Price{Rate: Rate{Input: 1, CacheWrite: 2, HourWrite: 4}, Above: 1000, Long: Rate{Input: 10, CacheWrite: 20}}
	for name, c := range map[string]struct {
		used agent.Usage
		want float64 // for a million times the tokens
	}{
		"a prompt at the bound":            {agent.Usage{InputTokens: 1000}, 1000},
		"a prompt above it":                {agent.Usage{InputTokens: 1001}, 10010},
		"written for an hour":              {agent.Usage{CacheWrite: 100, CacheHour: 40}, 60*2 + 40*4},
		"more for an hour than was cached": {agent.Usage{CacheWrite: 100, CacheHour: 500}, 100 * 4},
		"no price for an hour":             {agent.Usage{CacheWrite: 2000, CacheHour: 1000}, 2000 * 20},
	} {
		if got := long.Cost(c.used) * 1e6; !near(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestTheUsersPricesCountAndBadLinesAreNamed(t *testing.T) {
	d, _ := open(t)
	text := strings.Join([]string{
		"sonnet: 1 2 3 4 # mine", "", "# dollars for a million tokens: input output read written", "'my-model': [0, 0, 0, 0]",
		"opus: 4 20", "haiku: 1 2 3 four", "fable: 1 -2 3 4", "sonnet: 5 5 5 5", "no colon here", "inf: 1 2 NaN 3", "\x1b[2J: 1 2 3 4",
		"six: 1 2 3 4 5 6", "rich: 1 2 3 100000.5", "edge: 0 0 0 100000", "lost: 1 2 3 4 #5", "wave~: 1 2 3 4",
	}, "\n")
	testkit.Must(t, d.KeepValid(PricesFile, []byte("opus: 9 9 9 9\nsonnet: 9 9 9 9")))
	testkit.Must(t, d.Write(PricesFile, []byte(text)))
	p := NewPrices(d, nil)
	for model, want := range map[string]Price{
		"claude-sonnet-5-5": {Rate: Rate{1, 2, 3, 4, 0}}, "my-model-2": {}, "opus": {Rate: Rate{9, 9, 9, 9, 0}}, "haiku": builtIn["haiku"],
	} {
		if got, ok := p.Of(model); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", model, got, want)
		}
	}
	if _, ok := p.Of("wave"); ok {
		t.Error("a name loses more than its quotes")
	}
	var lines []int
	for _, problem := range p.Problems() {
		lines = append(lines, problem.Line)
		if warns := problem.Severity == routines.Warning; problem.File != PricesFile || strings.Contains(problem.Message, "\x1b") || warns != (problem.Line == 15) {
			t.Errorf("%+v", problem)
		}
	}
	if want := []int{5, 6, 7, 8, 9, 10, 11, 12, 13, 15}; !slices.Equal(lines, want) {
		t.Errorf("problems on lines %v, want %v", lines, want)
	}
	if m := p.Problems()[3].Message; !strings.Contains(m, "already has a price on line 1;") {
		t.Errorf("%s", m)
	}
}

func FuzzAPricesFileNeverBreaks(f *testing.F) {
	f.Add([]byte("sonnet: 1 2 3 4\n: ,\nx:1e309 0 0 0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, price := range parsePrices(data).rows {
			if name == "" || min(price.Input, price.Output, price.CacheRead, price.CacheWrite) < 0 || max(price.Input, price.Output, price.CacheRead, price.CacheWrite) > maxPrice {
				t.Errorf("%q: %+v", name, price)
			}
		}
	})
}
