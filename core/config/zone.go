package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ollimbot/core/clean"
)

// system names the two files that tell a machine's time zone.
type system struct {
	timezone  string // a file that holds the name
	localtime string // a link into the zone database
}

// findZone finds the time zone: the flag, OLLIM_TIMEZONE, the
// machine's two files, UTC. What the user wrote must be right; what the machine
// says may be passed over.
func findZone(flag, variable string, sys system) (zone *time.Location, name string, warnings []string, err error) {
	for _, given := range []struct{ from, name string }{{"--timezone", flag}, {"OLLIM_TIMEZONE", variable}} {
		if name := strings.TrimSpace(given.name); name != "" {
			zone, err := loadZone(name)
			if err != nil {
				return nil, "", nil, fmt.Errorf(msgZone, given.from, clean.Cut(clean.Line(name), 60))
			}
			return zone, name, nil, nil
		}
	}
	if data, err := os.ReadFile(sys.timezone); err == nil {
		name := strings.TrimSpace(string(data))
		if zone, err := loadZone(name); err == nil {
			return zone, name, nil, nil
		}
		if name != "" {
			warnings = append(warnings, fmt.Sprintf(msgSystemZone, sys.timezone, clean.Cut(clean.Line(name), 60)))
		}
	}
	if target, err := filepath.EvalSymlinks(sys.localtime); err == nil {
		if _, name, found := strings.Cut(filepath.ToSlash(target), "/zoneinfo/"); found {
			name = strings.TrimPrefix(strings.TrimPrefix(name, "posix/"), "right/")
			if zone, err := loadZone(name); err == nil {
				return zone, name, warnings, nil
			}
		}
	}
	return time.UTC, "UTC", warnings, nil
}

// loadZone loads a zone by its IANA name. "Local" and nothing, which the
// library takes too, would hide which zone is meant.
func loadZone(name string) (*time.Location, error) {
	if name == "" || strings.EqualFold(name, "local") {
		return nil, fmt.Errorf("%q names no zone", name)
	}
	return time.LoadLocation(name)
}
