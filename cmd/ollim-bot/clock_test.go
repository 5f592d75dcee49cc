package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// What people read has one form of time, 16:20. The model reads the other one, as in
// the time before every message: these files write for it.
func TestPeopleReadOneFormOfTime(t *testing.T) {
	forModels := regexp.MustCompile(`^(core/(brief/prompt/|brief/toolset/|work/fork/report\.go|work/tasks/remind\.go)|routines/cron/next\.go)`)
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || forModels.MatchString(filepath.ToSlash(rel)) {
			return err
		}
		data, err := os.ReadFile(path)
		for i, l := range strings.Split(string(data), "\n") {
			if (strings.Contains(l, "04 PM") || strings.Contains(l, "cron.Clock(")) && !strings.HasPrefix(strings.TrimSpace(l), "//") {
				t.Errorf("%s:%d writes a time with AM and PM: %s", rel, i+1, strings.TrimSpace(l))
			}
		}
		return err
	})
	testkit.Must(t, err)
}
