package archive

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAnExportRemovesWhatAKilledOneLeftAndNothingElse(t *testing.T) {
	m := furnished(t)
	folder := t.TempDir()
	put := func(name string) string {
		file := filepath.Join(folder, name)
		must(t, os.WriteFile(file, []byte("half of an export"), 0o600))
		return file
	}
	left, foreign := put(".ollim-bot-123.tmp"), put("other.tmp")
	running, err := createTemp(folder)
	must(t, err)
	defer running.Close()
	_, err = Export(ExportOptions{Dir: m.dir, File: filepath.Join(folder, "export"), Version: "1"})
	must(t, err)
	if _, err := os.Lstat(left); err == nil {
		t.Error("what a killed export left is still there")
	}
	for _, file := range []string{foreign, running.Name(), filepath.Join(folder, "export")} {
		if _, err := os.Lstat(file); err != nil {
			t.Error(err)
		}
	}
}
