package money

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/base/words"
	pages "ollimbot/docs"
)

// docs/limit-spending.md says what a run costs before anything is known.
func TestThePageOfLimitsSaysWhatAFirstRunCosts(t *testing.T) {
	data, err := fs.ReadFile(pages.FS, "limit-spending.md")
	testkit.Must(t, err)
	d, _ := open(t)
	first := agent.Usage{InputTokens: firstRunInput, OutputTokens: firstRunOutput}
	cost := func(model string) string { return words.Dollars(NewPrices(d, nil).Cost(model, first)) }
	want := fmt.Sprintf("that is %s with opus, %s with sonnet and less than a cent with haiku", cost("opus"), cost("sonnet"))
	if !strings.Contains(strings.Join(strings.Fields(string(data)), " "), want) || NewPrices(d, nil).Cost("haiku", first) >= 0.01 {
		t.Errorf("the page lacks %q", want)
	}
}

// docs/connect-a-model.md lists the built-in prices, and a valid file.
func TestThePageOfPricesHasTheBuiltInOnes(t *testing.T) {
	data, err := fs.ReadFile(pages.FS, "connect-a-model.md")
	testkit.Must(t, err)
	row := func(name string, r Rate) string {
		line := "| " + name
		for _, v := range []float64{r.Input, r.Output, r.CacheRead, r.CacheWrite, r.HourWrite} {
			line += " | " + strconv.FormatFloat(v, 'f', -1, 64)
		}
		return line + " |\n"
	}
	for name, p := range builtIn {
		want := row(name, p.Rate)
		if p.Above > 0 {
			want = row(fmt.Sprintf("%s, prompts up to %d,000 tokens", name, p.Above/1000), p.Rate) + row(name+", longer prompts", p.Long)
		}
		if !strings.Contains(string(data), want) {
			t.Errorf("the page lacks\n%s", want)
		}
	}
	_, shown, _ := strings.Cut(string(data), "\n## Prices\n")
	_, shown, _ = strings.Cut(shown, "```yaml\n")
	shown, _, _ = strings.Cut(shown, "```")
	if got := parsePrices([]byte(shown)); len(got.rows) != 3 || len(got.problems) > 0 {
		t.Errorf("the file that the page shows: %+v", got)
	}
}
