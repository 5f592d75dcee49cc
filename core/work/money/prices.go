package money

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// pricesFile is the user's own prices, in the data directory.
const pricesFile = "prices.yaml"

// maxPrice is more than any model costs, in dollars for a million tokens.
const maxPrice = 100_000

// Price is what a model costs.
type Price struct {
	Rate
	// Above is how many tokens a prompt has at most to cost that, and Long what a request
	// with a longer one costs; 0 is no bound.
	Above int
	Long  Rate
}

// Rate is dollars for a million tokens. What is written for an hour costs as much as
// anything written where HourWrite is 0.
type Rate struct{ Input, Output, CacheRead, CacheWrite, HourWrite float64 }

// Cost is what a usage costs, in dollars. The length of the prompt is that of one
// request: for a turn of several it is too much rather than too little.
func (p Price) Cost(u agent.Usage) float64 {
	r := p.Rate
	if p.Above > 0 && u.Prompt() > p.Above {
		r = p.Long
	}
	r.HourWrite = cmp.Or(r.HourWrite, r.CacheWrite)
	hour := min(u.CacheHour, u.CacheWrite)
	return (float64(u.InputTokens)*r.Input + float64(u.OutputTokens)*r.Output + float64(u.CacheRead)*r.CacheRead +
		float64(u.CacheWrite-hour)*r.CacheWrite + float64(hour)*r.HourWrite) / 1e6
}

// anyModel is the row for models without one of their own.
const anyModel = "default"

// builtIn are the prices where the user has given none.
var builtIn = map[string]Price{
	"fable":  {Rate: Rate{8, 40, 0.4, 10, 16}},
	"opus":   {Rate: Rate{4, 20, 0.2, 5, 8}},
	"sonnet": {Rate: Rate{2, 10, 0.1, 2.5, 4}},
	"haiku":  {Rate: Rate{0.1, 0.5, 0.01, 0.125, 0.2}, Above: 100_000, Long: Rate{0.5, 2.5, 0.05, 0.625, 1}},
	anyModel: {Rate: Rate{4, 20, 0.2, 5, 8}},
}

// Prices is the table by model: ours, with the rows of the user's file in its place.
// It is read again when the file has changed. Use NewPrices; its methods are safe
// for several goroutines.
type Prices struct {
	dir    *store.Dir
	file   *store.Cached[table]
	models func(string) (Price, bool)
}

// table is what the file says, and what is wrong with it.
type table struct {
	rows     map[string]Price
	problems []routines.Problem
}

// NewPrices names the file of a data directory. It reads nothing yet. models knows
// the prices of models that have one of their own, which goes before the table; nil
// knows none.
func NewPrices(d *store.Dir, models func(string) (Price, bool)) *Prices {
	if models == nil {
		models = func(string) (Price, bool) { return Price{}, false }
	}
	return &Prices{dir: d, file: store.NewCached[table](d, pricesFile), models: models}
}

// Problems are the lines of the user's file that are no prices; the others count.
func (p *Prices) Problems() []routines.Problem { return p.load().problems }

// Of is the price of a model: of the longest name that the model's holds.
func (p *Prices) Of(model string) Price {
	if price, ok := p.models(model); ok {
		return price
	}
	own := p.load().rows
	model = strings.ToLower(model)
	best, found := "", Price{}
	for _, rows := range []map[string]Price{builtIn, own} {
		for name, price := range rows {
			if name != anyModel && strings.Contains(model, name) && len(name) >= len(best) {
				best, found = name, price
			}
		}
	}
	if best != "" {
		return found
	}
	if price, ok := own[anyModel]; ok {
		return price
	}
	return builtIn[anyModel]
}

// Cost is what a usage costs by the table, in dollars.
func (p *Prices) Cost(model string, u agent.Usage) float64 { return p.Of(model).Cost(u) }

// Priced is a usage with its cost: what the engine says, else what the table does.
func (p *Prices) Priced(model string, u agent.Usage) agent.Usage {
	if u.CostUSD == 0 && !u.Free {
		u.CostUSD = p.Cost(model, u)
	}
	return u
}

func (p *Prices) load() table {
	t, err := p.file.Load(func() (table, error) {
		data, err := p.dir.Read(pricesFile)
		if err != nil {
			return table{}, err
		}
		return parsePrices(data), nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.problems = []routines.Problem{problem(1, fmt.Sprintf(problemFile, err))}
	}
	return t
}

// parsePrices reads a line for each model. A line that is none is a problem, and
// leaves the others in force.
func parsePrices(data []byte) table {
	t := table{rows: map[string]Price{}}
	seen := map[string]int{}
	number := 0
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		number++
		text, _, _ := strings.Cut(string(line), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		name, price, err := parsePrice(text)
		if err == nil && seen[name] > 0 {
			err = fmt.Errorf(problemTwice, name, seen[name])
		}
		if err != nil {
			t.problems = append(t.problems, problem(number, err.Error()))
			continue
		}
		t.rows[name], seen[name] = price, number
	}
	return t
}

func parsePrice(text string) (name string, price Price, err error) {
	name, rest, found := strings.Cut(text, ":")
	name = strings.ToLower(strings.Trim(strings.TrimSpace(name), `"'`))
	if !found || name == "" || !utf8.ValidString(name) || clean.Line(name) != name {
		return "", price, errors.New(problemLine)
	}
	price, err = ParsePrice(rest)
	return name, price, err
}

// ParsePrice reads four numbers, in dollars for a million tokens: of input, output,
// read and written cache; and a fifth of cache that is written for an hour. The error
// is a sentence with the cure.
func ParsePrice(text string) (price Price, err error) {
	numbers := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t,[]", r) })
	if len(numbers) < 4 || len(numbers) > 5 {
		return price, errors.New(problemLine)
	}
	for i, to := range []*float64{&price.Input, &price.Output, &price.CacheRead, &price.CacheWrite, &price.HourWrite}[:len(numbers)] {
		v, err := strconv.ParseFloat(strings.TrimPrefix(numbers[i], "$"), 64)
		if err != nil || math.IsNaN(v) || v < 0 || v > maxPrice {
			return Price{}, fmt.Errorf(problemNumber, clean.Cut(clean.Line(numbers[i]), 30))
		}
		*to = v
	}
	return price, nil
}

func problem(line int, message string) routines.Problem {
	return routines.Problem{File: pricesFile, Line: line, Column: 1, Severity: routines.Warning, Message: clean.Line(message)}
}
