// Package zones loads time zones from the newest database at hand: that of the system, or the one in the program, which
// generate.go compiles. It says which one that is, and how old. It must not know whose zones they are.
package zones

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed" // zones.bin
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// systemDirs are where systems keep the database, as package time looks for it.
var systemDirs = []string{"/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo"}

// mostBytes is more than the largest file of a zone.
const mostBytes = 1 << 20

// Source is a database.
type Source struct {
	Place   string // its directory; empty for the one in the program
	Version string // such as "2026f"; empty if it does not say
	// Released is the day of the release, or the latest day on which it can have been.
	Released time.Time
}

// Database is the zones of two databases, of which the newer one counts. Its methods may be called concurrently. Use Open.
type Database struct {
	system, built *source // system is nil if the machine has none
	known         sync.Map
}

// source is a database and how it is read.
type source struct {
	Source
	read func(name string) ([]byte, error)
}

//go:embed zones.bin
var packed string

// ofProcess is the database for Load. Like package time's, it is opened once.
var ofProcess = sync.OnceValue(func() *Database { return Open(os.Getenv("ZONEINFO")) })

// Default returns the database that Load reads.
func Default() *Database { return ofProcess() }

// Load returns the zone with an IANA name, such as Europe/Berlin. Unlike package time, it does not accept "" and "Local",
// which hide the zone.
func Load(name string) (*time.Location, error) { return Default().Load(name) }

// Open opens the database of the system and that of the program. The directory own, unless it is empty or missing, counts
// instead of the system's.
func Open(own string) *Database { return open(append([]string{own}, systemDirs...), packed) }

func open(dirs []string, packed string) *Database {
	d := &Database{built: unpack(packed)}
	for _, dir := range dirs {
		if s := directory(dir); dir != "" && !s.Released.IsZero() {
			d.system = s
			break
		}
	}
	return d
}

// directory returns the database in a directory. One that is empty or missing has no day. Where no file names its version, its files are as old as the release
// at most, and packages are built soon after it.
func directory(dir string) *source {
	s := &source{Source: Source{Place: dir}, read: func(name string) ([]byte, error) { return readFile(filepath.Join(dir, filepath.FromSlash(name))) }}
	if head, err := headOf(filepath.Join(dir, "tzdata.zi")); err == nil {
		s.Version, _ = strings.CutPrefix(head, "# version ")
	}
	if head, err := headOf(filepath.Join(dir, "+VERSION")); err == nil && s.Version == "" {
		s.Version = head
	}
	for _, file := range []string{"tzdata.zi", "+VERSION", "zone1970.tab", "zone.tab", "Etc/UTC"} {
		if info, err := os.Stat(filepath.Join(dir, file)); err == nil {
			s.Released = info.ModTime()
			break
		}
	}
	if year, err := strconv.Atoi(s.Version[:min(4, len(s.Version))]); err == nil { // a package of it may be rebuilt years later
		if end := time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC); s.Released.After(end) {
			s.Released = end
		}
	}
	return s
}

// headOf returns the first line of a file.
func headOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	line, err := bufio.NewReader(io.LimitReader(f, 100)).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimSpace(line), err
}

// readFile reads a file of the system. Other files lie beside the zones, so it may be anything.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, mostBytes))
}

// unpack returns the database in the program. Its files are unpacked when the first one is read.
func unpack(packed string) *source {
	head, body, _ := strings.Cut(packed, "\n")
	version, day, _ := strings.Cut(head, " ")
	files := sync.OnceValues(func() (map[string][]byte, error) { return filesIn(body) })
	s := &source{Source: Source{Version: version}, read: func(name string) ([]byte, error) {
		all, err := files()
		if data, ok := all[name]; ok || err != nil {
			return data, err
		}
		return nil, fmt.Errorf("unknown time zone %s", name)
	}}
	s.Released, _ = time.Parse(time.DateOnly, day) // a day, or the zero time
	return s
}

// filesIn unpacks what generate.go has packed.
func filesIn(body string) (map[string][]byte, error) {
	unzipped, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("unpack the time zones: %w", err)
	}
	all, err := io.ReadAll(unzipped)
	if err != nil {
		return nil, fmt.Errorf("unpack the time zones: %w", err)
	}
	files := map[string][]byte{}
	for len(all) > 0 {
		line, rest, _ := bytes.Cut(all, []byte("\n"))
		name, what, _ := strings.Cut(string(line), " ")
		size, err := strconv.Atoi(what)
		if err != nil {
			files[name], all = files[what], rest
			continue
		}
		files[name], all = rest[:size], rest[size:]
	}
	return files, nil
}

// Names returns the names of the zones in the program, sorted.
func Names() []string {
	_, body, _ := strings.Cut(packed, "\n")
	files, _ := filesIn(body) // without files, no names
	return slices.Sorted(maps.Keys(files))
}

// sources returns the databases, the one that counts first.
func (d *Database) sources() []*source {
	switch {
	case d.system == nil:
		return []*source{d.built}
	case newer(d.built.Source, d.system.Source):
		return []*source{d.built, d.system}
	}
	return []*source{d.system, d.built}
}

// newer reports whether a database is a later release than another.
func newer(a, b Source) bool {
	if a.Version != "" && b.Version != "" {
		return a.Version > b.Version
	}
	return a.Released.After(b.Released)
}

// Used returns the database that counts.
func (d *Database) Used() Source { return d.sources()[0].Source }

// Load returns the zone with an IANA name from the newer database, or else from any that has it.
func (d *Database) Load(name string) (*time.Location, error) {
	found, _ := d.known.Load(name)
	if zone, ok := found.(*time.Location); ok {
		return zone, nil
	}
	zone, err := d.load(name)
	if err == nil {
		d.known.Store(name, zone)
	}
	return zone, err
}

func (d *Database) load(name string) (*time.Location, error) {
	switch {
	case name == "UTC":
		return time.UTC, nil
	case name == "" || strings.EqualFold(name, "local") || name[0] == '/' || strings.Contains(name, "..") || strings.Contains(name, `\`):
		return nil, fmt.Errorf("%q is not a time zone", name)
	}
	for _, s := range d.sources() {
		if zone, err := s.load(name); err == nil {
			return zone, nil
		}
	}
	return time.LoadLocation(name) // where else package time looks
}

func (s *source) load(name string) (*time.Location, error) {
	data, err := s.read(name)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, data)
}

// oldMonths is the age at which a database is out of date: many zones have changed by then.
const oldMonths = 18

// comparedDays is how far ahead two databases are compared.
const comparedDays = 400

// Report is what is to be known about the data of some zones.
type Report struct {
	Used     Source
	Other    *Source  // the one that does not count; nil if there is none
	Warnings []string // sentences for the user: the data are old, or other programs here have an older version of a zone
}

// MarshalJSON implements json.Marshaler: the data that count, and the warnings.
func (r Report) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Version  string   `json:"version"` // such as "2026f"; empty if unknown
		Source   string   `json:"source"`  // a directory, or "built in"
		Released string   `json:"released"`
		Warnings []string `json:"warnings"`
	}{r.Used.Version, r.Used.Where(), r.Used.Released.Format(time.DateOnly), append([]string{}, r.Warnings...)})
}

// Report says which data count for some zones at a time, and what is wrong with them.
func (d *Database) Report(now time.Time, names ...string) Report {
	list := d.sources()
	r := Report{Used: list[0].Source}
	if now.After(r.Used.Released.AddDate(0, oldMonths, 0)) {
		r.Warnings = append(r.Warnings, fmt.Sprintf(textOld, r.Used.Released.Format(time.DateOnly)))
	}
	if len(list) == 1 {
		return r
	}
	r.Other = &list[1].Source
	if r.Other.Place == "" {
		return r // the program's own are older, which does no harm
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		here, err := list[0].load(name)
		there, otherErr := list[1].load(name)
		if err != nil || otherErr != nil {
			continue // only one of them has it
		}
		if days := differences(here, there, now); days > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf(textDiffers, name, days, comparedDays, r.Other))
		}
	}
	return r
}

// SameClock reports whether two zones show the same time for the next year.
func SameClock(a, b *time.Location, now time.Time) bool { return differences(a, b, now) == 0 }

// differences counts the days on which two versions of a zone have different clocks.
func differences(a, b *time.Location, now time.Time) (days int) {
	const half = 12 * time.Hour
	begin := now.UTC().Truncate(2 * half)
	for day := range comparedDays {
		at := begin.Add(time.Duration(day) * 2 * half)
		if offset(at, a) != offset(at, b) || offset(at.Add(half), a) != offset(at.Add(half), b) {
			days++
		}
	}
	return days
}

func offset(at time.Time, zone *time.Location) int {
	_, seconds := at.In(zone).Zone()
	return seconds
}

// Where returns the place for people: its directory, or "built in".
func (s Source) Where() string { return cmp.Or(s.Place, textBuiltIn) }

// String returns the version and the place: "2026f, built in".
func (s Source) String() string {
	version := cmp.Or(s.Version, fmt.Sprintf(textDated, s.Released.Format(time.DateOnly)))
	if s.Place == "" {
		return version + ", " + textBuiltIn
	}
	return fmt.Sprintf(textIn, version, s.Place)
}

// String names the database in use, and why not the other: "2026f, built in (2025b in /usr/share/zoneinfo is older)".
func (r Report) String() string {
	if r.Other == nil || r.Other.Version == r.Used.Version && r.Used.Version != "" {
		return r.Used.String()
	}
	return fmt.Sprintf(textOlder, r.Used, r.Other)
}
