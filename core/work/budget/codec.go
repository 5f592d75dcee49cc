package budget

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/pycompat"
)

// Decode reads as much of the file as possible: it ignores unknown keys, and for each
// missing or invalid value uses the default and returns a line that names it. It never
// fails. Times are in now's zone; nothing is refilled.
func Decode(data []byte, now time.Time) (State, []string) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &fields); err != nil {
		return Default(now), []string{fmt.Sprintf(textNotObject, err)}
	}
	return decode(fields, now)
}

// fieldReader reads fields one by one and collects their errors.
type fieldReader struct {
	fields   map[string]json.RawMessage
	problems []string
}

func decode(fields map[string]json.RawMessage, now time.Time) (State, []string) {
	r := fieldReader{fields: fields}
	var s State
	s.Capacity = r.integer("capacity", 0, DefaultCapacity)
	s.Available = r.tokens("available", float64(s.Capacity))
	s.RefillRateMinutes = r.integer("refill_rate_minutes", minRefill, defaultRefill)
	s.LastRefill = r.time("last_refill", now)
	s.CriticalUsed = r.integer("critical_used", 0, 0)
	s.CriticalResetDate = r.date("critical_reset_date", now)
	s.DailyUsed = r.integer("daily_used", 0, 0)
	s.DailyUsedReset = r.date("daily_used_reset", now)
	return s, r.problems
}

func (r *fieldReader) bad(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// raw returns a field's JSON text, shortened for a message.
func (r *fieldReader) raw(key string) string { return clean.Cut(clean.Line(string(r.fields[key])), 40) }

// get returns a field. If it is missing, get records that.
func (r *fieldReader) get(key, fallback string) (json.RawMessage, bool) {
	v, ok := r.fields[key]
	if !ok {
		r.bad(textMissing, key, fallback)
	}
	return v, ok
}

// number parses a finite JSON number. It rejects strings that look like numbers.
func number(v json.RawMessage) (float64, bool) {
	if len(v) == 0 || v[0] == '"' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return f, err == nil // JSON has no other numbers
}

func (r *fieldReader) integer(key string, least, fallback int) int {
	v, ok := r.get(key, strconv.Itoa(fallback))
	if !ok {
		return fallback
	}
	f, ok := number(v)
	if !ok || f != math.Trunc(f) || f < float64(least) || f > math.MaxInt32 {
		r.bad(textNotInt, key, r.raw(key), least, fallback)
		return fallback
	}
	return int(f)
}

func (r *fieldReader) tokens(key string, fallback float64) float64 {
	v, ok := r.get(key, pycompat.Float(fallback))
	if !ok {
		return fallback
	}
	f, ok := number(v)
	if !ok {
		r.bad(textNotNumber, key, r.raw(key), pycompat.Float(fallback))
		return fallback
	}
	if f < 0 { // the original writes it after its clock went back, and continues counting from it
		r.bad(textNotNumber, key, r.raw(key), pycompat.Float(0))
		return 0
	}
	return f
}

// text returns the value of a JSON string, or "" for anything else.
func text(v json.RawMessage) (s string) {
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

func (r *fieldReader) time(key string, now time.Time) time.Time {
	v, ok := r.get(key, "now")
	if !ok {
		return now
	}
	if t, err := pycompat.ParseTime(text(v), now.Location()); err == nil {
		return t
	}
	r.bad(textNotTime, key, r.raw(key))
	return now
}

func (r *fieldReader) date(key string, now time.Time) string {
	today := now.Format(time.DateOnly)
	v, ok := r.get(key, "today")
	if !ok {
		return today
	}
	if _, err := time.Parse(time.DateOnly, text(v)); err == nil {
		return text(v)
	}
	r.bad(textNotDate, key, r.raw(key))
	return today
}

// Encode returns the file's content, byte for byte as the original writes its eight keys,
// with a final line break.
func (s State) Encode() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"capacity": %d, "available": %s, "refill_rate_minutes": %d, "last_refill": %s, `,
		s.Capacity, pycompat.Float(s.Available), s.RefillRateMinutes, pycompat.Quote(pycompat.Time(s.LastRefill)))
	fmt.Fprintf(&b, `"critical_used": %d, "critical_reset_date": %s, "daily_used": %d, "daily_used_reset": %s}`+"\n",
		s.CriticalUsed, pycompat.Quote(s.CriticalResetDate), s.DailyUsed, pycompat.Quote(s.DailyUsedReset))
	return []byte(b.String())
}
