package money

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// PricesFile is the user's own prices, in the data directory.
const PricesFile = "prices.yaml"

// maxPrice is an upper limit for plausibility, in dollars per million tokens.
const maxPrice = 100_000

// Price is the price of a model.
type Price struct {
	Rate
	// Above is the longest prompt, in tokens, that is billed at Rate; longer requests are
	// billed at Long. 0 means no limit.
	Above int
	Long  Rate
}

// Rate is in dollars per million tokens. If HourWrite is 0, one-hour cache writes cost
// the same as CacheWrite.
type Rate struct{ Input, Output, CacheRead, CacheWrite, HourWrite float64 }

// Cost returns the cost of a usage in dollars. The length of the prompt applies to a
// single request, so a turn of several is overestimated rather than underestimated.
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

// anyModel is the row of the user's file for models without their own.
const anyModel = "default"

// AssumedModel has the price of requests that are expected before anything is known, and of a session without a model.
const AssumedModel = "opus"

// builtIn are the default prices.
var builtIn = map[string]Price{
	"fable":  {Rate: Rate{8, 40, 0.4, 10, 16}},
	"opus":   {Rate: Rate{4, 20, 0.2, 5, 8}},
	"sonnet": {Rate: Rate{2, 10, 0.1, 2.5, 4}},
	"haiku":  {Rate: Rate{0.1, 0.5, 0.01, 0.125, 0.2}, Above: 100_000, Long: Rate{0.5, 2.5, 0.05, 0.625, 1}},
}

// Prices is the price table by model: built-in rows, overridden by those of the user's
// file. The file is reread after it changes. Use NewPrices. The methods are safe for
// concurrent use.
type Prices struct {
	dir    *store.Dir
	file   *store.Cached[table]
	models func(string) (Price, bool)
}

// table is the parsed file with its problems.
type table struct {
	rows     map[string]Price
	problems []routines.Problem
}

// NewPrices returns the prices of a data directory without reading anything. models
// returns prices that take precedence over the table; may be nil.
func NewPrices(d *store.Dir, models func(string) (Price, bool)) *Prices {
	if models == nil {
		models = func(string) (Price, bool) { return Price{}, false }
	}
	return &Prices{dir: d, file: store.NewCached[table](d, PricesFile), models: models}
}

// Problems returns the invalid lines of the user's file. Valid lines still count.
func (p *Prices) Problems() []routines.Problem { return p.load().problems }

// Of returns the price of a model: the row with the longest name contained in the
// model's. ok is false if it has none.
func (p *Prices) Of(model string) (_ Price, ok bool) {
	if price, ok := p.models(model); ok {
		return price, true
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
		return found, true
	}
	found, ok = own[anyModel]
	return found, ok
}

// Cost returns the cost of a usage by the table, in dollars; 0 without a price.
func (p *Prices) Cost(model string, u agent.Usage) float64 {
	price, _ := p.Of(model)
	return price.Cost(u)
}

// Priced returns a usage with its cost: the engine's figure, or else the table's. known is false if
// there is neither.
func (p *Prices) Priced(model string, u agent.Usage) (_ agent.Usage, known bool) {
	if u.CostUSD > 0 || u.Free {
		return u, true
	}
	price, known := p.Of(model)
	u.CostUSD = price.Cost(u)
	return u, known
}

// assumed returns what a usage costs if its model is not known yet.
func (p *Prices) assumed(u agent.Usage) float64 {
	price, ok := p.load().rows[anyModel]
	if !ok {
		price, _ = p.Of(AssumedModel)
	}
	return price.Cost(u)
}

func (p *Prices) load() table {
	t, err := p.file.Load(func() (table, error) {
		data, err := p.dir.Read(PricesFile)
		if err != nil {
			return table{}, err
		}
		return parsePrices(data).with(p.dir), nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t = table{rows: map[string]Price{}, problems: []routines.Problem{problem(1, routines.Error, fmt.Sprintf(problemFile, err))}}.with(p.dir)
	}
	return t
}

// with returns the table with the rows of its last valid version for those that it has lost to a mistake.
func (t table) with(d *store.Dir) table {
	i := slices.IndexFunc(t.problems, func(p routines.Problem) bool { return p.Severity == routines.Error })
	if i < 0 {
		return t
	}
	if data, at, ok := d.Valid(PricesFile); ok {
		rows := parsePrices(data).rows
		maps.Copy(rows, t.rows)
		t.rows, t.problems[i] = rows, t.problems[i].Keeping(at)
	}
	return t
}

// CheckPrices returns the problems of the file's text.
func CheckPrices(data []byte) []routines.Problem { return parsePrices(data).problems }

// parsePrices reads one line per model. An invalid line is a problem and does not affect
// the others.
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
		if lost := frontmatter.Lost(strings.TrimRight(string(line), "\r\n"), false); err == nil && lost != "" {
			d := frontmatter.Dropped{Key: name, Text: lost}
			t.problems = append(t.problems, problem(number, routines.Warning, d.Problem()))
		}
		if err == nil && seen[name] > 0 {
			err = fmt.Errorf(problemTwice, name, seen[name])
		}
		if err != nil {
			t.problems = append(t.problems, problem(number, routines.Error, err.Error()))
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

// ParsePrice reads four prices in dollars per million tokens: input, output, cache read
// and cache write; and optionally a fifth for one-hour cache writes. The error is a
// sentence with the cure.
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

func problem(line int, s routines.Severity, message string) routines.Problem {
	return routines.Problem{File: PricesFile, Line: line, Column: 1, Severity: s, Message: clean.Line(message)}
}
