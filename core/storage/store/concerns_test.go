package store

import (
	"os"
	"strings"
	"testing"
)

func TestADirectoryThatEverybodyCouldWriteToIsTakenBackAndTold(t *testing.T) {
	d := newDir(t)
	put(t, d, "skills/x/SKILL.md", "x")
	must(t, os.Chmod(d.Root(), 0o777))
	if err := d.Trusted(); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Error(err)
	}
	must(t, d.Prepare())
	if got := mode(t, d.Root()); got.Perm()&0o022 != 0 {
		t.Errorf("mode %v", got)
	}
	if got := d.Concerns(); len(got) != 1 || !strings.Contains(got[0], "0777") {
		t.Errorf("%q", got)
	}
	if err := d.Trusted(); err != nil {
		t.Error(err)
	}
	again, err := At(d.Root())
	must(t, err)
	if got := again.Concerns(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestADirectoryOfAnotherUserIsNotTrusted(t *testing.T) {
	d := prepared(t)
	if err := os.Chown(d.Root(), 4711, -1); err != nil {
		t.Log("only root can give a directory away; this is not tested here")
		return
	}
	if err := d.Trusted(); err == nil || !strings.Contains(err.Error(), "uid 4711") || !strings.Contains(err.Error(), "chown") {
		t.Error(err)
	}
	if got := d.Concerns(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}
