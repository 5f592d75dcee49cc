package pycompat

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestTimesAreSpelledWithOffsetAndSixDigitsOnlyWhenNeeded(t *testing.T) {
	pacific := time.FixedZone("PST", -8*3600)
	for want, at := range map[string]time.Time{
		"2026-11-23T08:30:00-08:00":        time.Date(2026, 11, 23, 8, 30, 0, 0, pacific),
		"2026-11-23T08:02:11.120000-08:00": time.Date(2026, 11, 23, 8, 2, 11, 120_000_000, pacific),
		"2026-11-23T16:30:00+00:00":        time.Date(2026, 11, 23, 16, 30, 0, 999, time.UTC),
	} {
		if got := Time(at); got != want {
			t.Errorf("Time(%v) = %q, want %q", at, got, want)
		}
	}
}

func TestTimesOfOtherSpellingsAreRead(t *testing.T) {
	zone := time.FixedZone("PST", -8*3600)
	want := time.Date(2026, 11, 23, 8, 30, 0, 0, zone)
	for _, s := range []string{
		"2026-11-23T08:30:00-08:00", "2026-11-23 08:30:00-08:00", "2026-11-23T16:30:00Z",
		"2026-11-23T08:30:00", "2026-11-23T08:30", "2026-11-23T08:30:00.000000-08:00", " 2026-11-23T17:30+01:00 ",
	} {
		got, err := ParseTime(s, zone)
		if err != nil || !got.Equal(want) || got.Location() != zone {
			t.Errorf("ParseTime(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "yesterday", "2026-11-23", "2026-13-23T08:30:00Z", "12"} {
		if got, err := ParseTime(s, zone); err == nil {
			t.Errorf("ParseTime(%q) = %v, want an error", s, got)
		}
	}
}

func TestAWrittenTimeReadsBackToTheMicrosecond(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		zone := time.FixedZone("", rapid.IntRange(-14*60, 14*60).Draw(t, "offset minutes")*60)
		at := time.Unix(0, rapid.Int64Range(0, 4e18).Draw(t, "nanoseconds")).In(zone)
		got, err := ParseTime(Time(at), zone)
		if err != nil || !got.Equal(at.Truncate(time.Microsecond)) {
			t.Fatalf("%v was written as %q and read as %v, %v", at, Time(at), got, err)
		}
	})
}

func TestFloatsLookLikeTheOriginals(t *testing.T) {
	for f, want := range map[float64]string{
		5: "5.0", 0: "0.0", 2.25: "2.25", 10.0 / 3: "3.3333333333333335", 1e-5: "1e-05", 1e16: "1e+16", 1e15: "1000000000000000.0",
	} {
		if got := Float(f); got != want {
			t.Errorf("Float(%v) = %q, want %q", f, got, want)
		}
	}
}

func TestFloatsReadBackExactlyAndStayFloats(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		f := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "f")
		s := Float(f)
		if got, err := strconv.ParseFloat(s, 64); err != nil || got != f {
			t.Fatalf("Float(%v) = %q reads as %v, %v", f, s, got, err)
		}
		if !strings.ContainsAny(s, ".e") {
			t.Fatalf("Float(%v) = %q would be read as an integer", f, s)
		}
	})
}

func TestQuotedStringsAreASCIIJSON(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		q := Quote(s)
		for i := range len(q) {
			if q[i] < 0x20 || q[i] > 0x7e {
				t.Fatalf("Quote(%q) = %s holds byte %#x", s, q, q[i])
			}
		}
		var got string
		if err := json.Unmarshal([]byte(q), &got); err != nil || got != strings.ToValidUTF8(s, "\ufffd") {
			t.Fatalf("Quote(%q) = %s reads as %q, %v", s, q, got, err)
		}
	})
}

func TestCharactersBeyondTheBasicPlaneBecomeTwoUnits(t *testing.T) {
	if got, want := Quote("é \U0001f600 \x00"), `"\u00e9 \ud83d\ude00 \u0000"`; got != want {
		t.Errorf("Quote = %s, want %s", got, want)
	}
}
