package zones

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// compiled returns the file of a zone without a past, whose clock follows a rule such as "PST8PDT,M3.2.0,M11.1.0".
func compiled(rule string) []byte {
	var b bytes.Buffer
	for range 2 { // as version 1 has it, and again as version 2 has it
		b.WriteString("TZif2" + strings.Repeat("\x00", 15))
		for _, count := range []uint32{0, 0, 0, 0, 1, 4} {
			_ = binary.Write(&b, binary.BigEndian, count)
		}
		b.WriteString("\x00\x00\x00\x00\x00\x00LMT\x00")
	}
	return append(b.Bytes(), "\n"+rule+"\n"...)
}

// system makes a database of a system. Files are its zones by name, version the first line of tzdata.zi.
func system(t *testing.T, version string, modified time.Time, zones map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	for name, rule := range zones {
		write(name, string(compiled(rule)))
	}
	write("zone.tab", "# no version here\n")
	if version != "" {
		write("tzdata.zi", "# version "+version+"\nR d 1916 o - Jun 14 23s 1 S\n")
	}
	return dir
}

var winter = time.Date(2026, 12, 15, 20, 0, 0, 0, time.UTC)

func clock(t *testing.T, d *Database, name string) string {
	t.Helper()
	zone, err := d.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return winter.In(zone).Format("15:04")
}

// In 2026 British Columbia stopped changing its clock: an older database is an hour behind in December.
func TestTheNewestDatabaseCounts(t *testing.T) {
	built := unpack(packed).Source
	older, newer := map[string]string{"America/Vancouver": "PST8PDT,M3.2.0,M11.1.0"}, map[string]string{"America/Vancouver": "<-06>6"}
	late := built.Released.AddDate(0, 0, 9)
	for _, c := range []struct {
		what, version string
		modified      time.Time
		zones         map[string]string
		used, clock   string
	}{
		{"an older one of the system", "2025b", winter, older, "", "13:00"},
		{"the same of the system", built.Version, winter, newer, built.Version, "14:00"},
		{"a newer one of the system", "2027a", winter, newer, "2027a", "14:00"},
		{"a much newer one", "2030za", winter, newer, "2030za", "14:00"},
		{"one without a version, packed before the release", "", built.Released.AddDate(0, 0, -1), older, "", "13:00"},
		{"one without a version, packed after the release", "", late, newer, "of " + late.Format(time.DateOnly) + " at the latest", "14:00"},
	} {
		d := open([]string{"", "/nonexistent", system(t, c.version, c.modified, c.zones)}, packed)
		used := built.Version + ", built in"
		if c.used != "" {
			used = c.used + " in " + d.system.Place
		}
		if got := d.Used().String(); got != used {
			t.Errorf("%s: uses %s, want %s", c.what, got, used)
		}
		if got := clock(t, d, "America/Vancouver"); got != c.clock {
			t.Errorf("%s: in Vancouver it is %s, want %s", c.what, got, c.clock)
		}
	}
	none := open([]string{"/nonexistent", t.TempDir()}, packed)
	if got := none.Used().Place + clock(t, none, "America/Vancouver"); got != "13:00" {
		t.Errorf("without one of the system: %s", got)
	}
}

// The zones whose clocks have changed since Go 1.26's data, and some that have not.
func TestTheBuiltInZonesAreCurrent(t *testing.T) {
	d := open(nil, packed)
	for name, want := range map[string]string{
		"America/Vancouver": "13:00", "America/Edmonton": "14:00", "America/Winnipeg": "15:00", "America/Inuvik": "14:00", "America/Havana": "16:00",
		"Africa/Casablanca": "20:00", "Africa/El_Aaiun": "20:00", "Europe/Chisinau": "22:00", "Europe/Berlin": "21:00", "US/Pacific": "12:00",
		"Asia/Kolkata": "01:30", "Etc/GMT+3": "17:00", "UTC": "20:00",
	} {
		if got := clock(t, d, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestAZoneThatTheNewestLacksComesFromTheOther(t *testing.T) {
	d := open([]string{system(t, "2030a", winter, map[string]string{"Mars/Olympus": "<+05>-5"})}, packed)
	if got := clock(t, d, "US/Pacific"); got != "12:00" {
		t.Errorf("a zone of the program only: %s", got)
	}
	old := open([]string{system(t, "2020a", winter, map[string]string{"Mars/Olympus": "<+05>-5"})}, packed)
	if got := clock(t, old, "Mars/Olympus"); got != "01:00" {
		t.Errorf("a zone of the system only: %s", got)
	}
}

func TestWhatIsNotAZone(t *testing.T) {
	dir := system(t, "2030a", winter, map[string]string{"Etc/UTC": "UTC0"})
	for _, name := range []string{"", "Local", "local", "/etc/localtime", "../Etc/UTC", `Etc\UTC`, "Mars/Olympus", "Etc", "tzdata.zi", "zone.tab"} {
		if zone, err := open([]string{dir}, packed).Load(name); err == nil {
			t.Errorf("%q is a time zone: %s", name, zone)
		}
	}
}

func TestAReportWarns(t *testing.T) {
	behind := map[string]string{"America/Vancouver": "PST8PDT,M3.2.0,M11.1.0", "Europe/Berlin": "CET-1CEST,M3.5.0,M10.5.0/3"}
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	built := unpack(packed)
	aged := built.Released.AddDate(0, oldMonths, 0)
	old := "the time zone data are of " + built.Released.Format(time.DateOnly) + ", and clocks have been changed since: update the system's tzdata, or ollim-bot"
	differs := "America/Vancouver: other programs, and the agent's commands, show another time on 163 of the next 400 days: update tzdata, here 2025b in PLACE"
	for _, c := range []struct {
		what, version string
		now           time.Time
		zones         []string
		want          []string
		says          string
	}{
		{"zones that are as they were", "2025b", now, []string{"Europe/Berlin", "Mars/Olympus"}, nil, "BUILT (2025b in PLACE is not newer)"},
		{"a zone that has changed", "2025b", now, []string{"Europe/Berlin", "America/Vancouver", "America/Vancouver"}, []string{differs}, "BUILT (2025b in PLACE is not newer)"},
		{"a newer system", "2030a", now, []string{"America/Vancouver"}, nil, "2030a in PLACE (BUILT is not newer)"},
		{"the same system", built.Version, now, nil, nil, built.Version + " in PLACE"},
		{"without a system", "", now, nil, nil, "BUILT"},
		{"after 18 months", "2025b", aged, nil, nil, "BUILT (2025b in PLACE is not newer)"},
		{"a second later", "2025b", aged.Add(time.Second), nil, []string{old}, "BUILT (2025b in PLACE is not newer)"},
	} {
		modified, place := winter, "/nonexistent"
		if c.version > "2026z" {
			modified = time.Date(2030, 1, 10, 0, 0, 0, 0, time.UTC)
		}
		if c.version != "" {
			place = system(t, c.version, modified, behind)
		}
		r := open([]string{place}, packed).Report(c.now, c.zones...)
		if got := strings.ReplaceAll(strings.Join(r.Warnings, "\n"), place, "PLACE"); got != strings.Join(c.want, "\n") {
			t.Errorf("%s: %q", c.what, got)
		}
		if got := strings.NewReplacer(place, "PLACE", built.Version+", built in", "BUILT").Replace(r.String()); got != c.says {
			t.Errorf("%s: %q", c.what, got)
		}
		where, says := "built in", `"warnings":[]`
		if len(c.want) > 0 {
			says = `"warnings":["`
		}
		if r.Used.Place != "" {
			where = place
		}
		data, err := r.MarshalJSON()
		want := `{"version":"` + r.Used.Version + `","source":"` + where + `","released":"` + r.Used.Released.Format(time.DateOnly) + `",` + says
		if err != nil || !strings.HasPrefix(string(data), want) || r.Used.Where() != where {
			t.Errorf("%s: %s, %v, want %s", c.what, data, err, want)
		}
	}
}

func TestZonesShowOneClockIfNoneOfTheNextDaysDiffers(t *testing.T) {
	d := Default()
	zone := func(name string) *time.Location {
		z, err := Load(name)
		again, _ := d.Load(name)
		if testkit.Must(t, err); again != z {
			t.Errorf("%s is loaded twice", name)
		}
		return z
	}
	for names, same := range map[[2]string]bool{
		{"Europe/Berlin", "Europe/Paris"}: true, {"Europe/Berlin", "Africa/Lagos"}: false, {"UTC", "Etc/UTC"}: true, {"Europe/London", "UTC"}: false,
	} {
		if got := SameClock(zone(names[0]), zone(names[1]), winter); got != same {
			t.Errorf("%v: %v", names, got)
		}
	}
}

func TestADatabaseIsNotYoungerThanItsVersion(t *testing.T) {
	d := open([]string{system(t, "2023d", winter, nil)}, packed)
	if got := d.system.Released.Format(time.DateOnly); got != "2023-12-31" {
		t.Errorf("2023d, packed again in 2026, is of %s", got)
	}
	mac := system(t, "", winter, map[string]string{"Europe/Berlin": "CET-1"}) // whose version is in another file
	testkit.Must(t, os.WriteFile(filepath.Join(mac, "+VERSION"), []byte("2024a"), 0o600))
	if got := directory(mac); got.Version != "2024a" || got.Released.Format(time.DateOnly) != "2024-12-31" {
		t.Errorf("%+v", got.Source)
	}
}

func TestEveryNameLoads(t *testing.T) {
	names, d := Names(), open(nil, packed)
	if len(names) < 590 {
		t.Errorf("only %d names", len(names))
	}
	for _, name := range names {
		if zone, err := d.Load(name); err != nil || zone.String() != name {
			t.Errorf("%s: %v, %v", name, zone, err)
		}
	}
}

// The toolchain's own data must not be newer: then tzdata.zi is to be compiled again.
func TestTheBuiltInDataAreNotOlderThanGos(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(runtime.GOROOT(), "lib", "time", "update.bash")) //nolint:staticcheck // of the toolchain that runs the test
	if err != nil {
		t.Skip("the toolchain's sources are not here")
	}
	_, rest, _ := strings.Cut(string(script), "\nDATA=")
	data, _, _ := strings.Cut(rest, "\n")
	if built := unpack(packed).Version; data == "" || data > built {
		t.Errorf("Go has %s, this program %s", data, built)
	}
}

// TestTheInstalledDatabaseIsBuiltIn compares with the installed tzdata, which the campaign brings up to date first. An older one
// may differ in a few zones.
func TestTheInstalledDatabaseIsBuiltIn(t *testing.T) {
	testkit.Campaign(t, "zones")
	d := Open(os.Getenv("ZONEINFO"))
	if d.system == nil || d.system.Version > d.built.Version {
		t.Fatalf("installed is %v, built in %v: see generate.go", d.system, d.built.Source)
	}
	different := 0
	err := filepath.WalkDir(d.system.Place, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(d.system.Place, path)
		here, loadErr := d.system.load(name)
		switch {
		case err != nil || entry.IsDir() || loadErr != nil, strings.HasPrefix(name, "posix/"), strings.HasPrefix(name, "right/"),
			name == "localtime", name == "posixrules":
			return err // a table, or a zone with leap seconds
		}
		there, err := d.built.load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		for at := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2100; at = at.Add(6 * time.Hour) {
			if offset(at, here) != offset(at, there) {
				t.Logf("%s: at %s the clocks differ", name, at)
				different++
				break
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	const few = 60 // of about 600 names
	if most := map[bool]int{true: few}[d.system.Version < d.built.Version]; different > most {
		t.Errorf("%s and %s differ in %d zones", d.system.Version, d.built.Version, different)
	}
}
