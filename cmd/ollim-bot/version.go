package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is the release that CHANGELOG.md describes at its top.
const version = "0.1.0"

type versionCmd struct{}

func (versionCmd) Run(p *process) error {
	return p.printf("%s\n", versionLine())
}

func versionLine() string {
	return fmt.Sprintf("ollim-bot %s%s %s %s/%s", version, revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// revision names the commit that the binary was built from, where Go knows it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var rev, dirty string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			rev = " " + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if rev == "" {
		return ""
	}
	return rev + dirty
}
