package discord

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
)

// P13
func TestTheDocumentNamesTheCommandsThatAreRegistered(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/discord.md")
	testkit.Must(t, err)
	list := regexp.MustCompile("(?m)^(`/[a-z-]+`[,.]\\s)+").Find(page)
	var named, registered []string
	for _, m := range regexp.MustCompile("/([a-z-]+)").FindAllSubmatch(list, -1) {
		named = append(named, string(m[1]))
	}
	for _, c := range command.List(command.InDiscord) {
		registered = append(registered, c.Name)
	}
	slices.Sort(named)
	slices.Sort(registered)
	if !slices.Equal(named, registered) {
		t.Errorf("docs/discord.md names\n%q, registered are\n%q", named, registered)
	}
}
