package core

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/talk/notice"
)

// A routine that cannot work says so before it fires: in the list of problems, and once in a
// notice, which a restart does not repeat.
func TestWhatARoutineLacksIsToldOnceBeforeItFires(t *testing.T) {
	const lacks = `runs without the skill "gone"`
	told := func(b *Bot) (n int) {
		for _, one := range b.Snapshot().Notices {
			if strings.Contains(one.Text, lacks) && one.Level == notice.Warn {
				n++
			}
		}
		return n
	}
	listed := func(b *Bot) (n int) {
		for _, p := range b.Snapshot().Schedule.Problems {
			if strings.Contains(p.Message, lacks) {
				n++
			}
		}
		return n
	}
	lives(t, time.Minute, func(h home) {
		h.write(tidyFile, "---\nid: "+tidyID+"\ncron: 0 0 1 6 *\nbackground: true\nskills: [gone]\n---\nTidy.\n")
	}, func(_ home, b *Bot) {
		time.Sleep(25 * time.Minute)
		if listed(b) != 1 || told(b) != 1 || len(b.Snapshot().Forks) != 0 {
			t.Errorf("listed %d, told %d: %+v", listed(b), told(b), b.Snapshot().Notices)
		}
	}, func(h home, b *Bot) {
		time.Sleep(25 * time.Minute)
		if listed(b) != 1 || told(b) != 0 {
			t.Errorf("after a restart listed %d, told %d", listed(b), told(b))
		}
		h.write("skills/gone/SKILL.md", "---\nname: gone\ndescription: It is back.\n---\nDo it.\n")
		time.Sleep(11 * time.Minute)
		if listed(b) != 0 {
			t.Errorf("it is mended and still listed: %+v", b.Snapshot().Schedule.Problems)
		}
	})
}
