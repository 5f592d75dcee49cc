package plain

import (
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/tui/pane"
	page "ollimbot/tui/pane/settings"
	look "ollimbot/tui/settings"
)

// setPrefix shows or hides the times of events.
func setPrefix(c *console, r request) {
	said, ok := map[string]string{"on": textPrefix, "off": textNoPrefix}[strings.ToLower(r.rest)]
	if !ok {
		c.usage(r.Command)
		return
	}
	if err := c.choose(look.Prefix, strings.ToLower(r.rest)); err != nil {
		c.fail(err.Error())
	}
	c.refresh()
	c.answer(said)
}

// settings takes a group, a setting, or a setting and its value; without words it lists the
// groups. Other words list the settings that have them in their name, key or description.
func settings(c *console, r request) {
	all := page.Describe(pane.Context{Snap: c.snap, Chosen: c.chosen})
	fields := strings.Fields(r.rest)
	group := slices.IndexFunc(config.Groups, func(g string) bool { return strings.EqualFold(g, strings.Join(fields, " ")) })
	switch {
	case len(fields) == 0:
		for _, g := range config.Groups {
			names := each(groupSettings(all, g), func(t page.Described) string { return t.About.Name })
			c.answer(g + ": " + words.Joined(names...))
		}
		return
	case group >= 0:
		lines := each(groupSettings(all, config.Groups[group]), func(t page.Described) string { return t.About.Name + ": " + t.Long })
		c.read(config.Groups[group], lines, "")
		return
	}
	for n := len(fields); n > 0; n-- {
		name := strings.Join(fields[:n], " ")
		if i := slices.IndexFunc(all, func(t page.Described) bool { return settingNamed(t, name) }); i >= 0 {
			setting(c, r, all[i], command.SkipWords(r.rest, n))
			return
		}
	}
	if found := slices.DeleteFunc(slices.Clone(all), func(t page.Described) bool { return !about(t, r.rest) }); len(found) > 0 {
		c.read(r.rest, each(found, func(t page.Described) string { return t.About.Name + ": " + t.Long }), "")
		return
	}
	wrong := fmt.Sprintf(textNoSetting, r.rest)
	if near := words.Nearest(r.rest, each(all, func(t page.Described) string { return t.About.Name })); near != "" {
		wrong += fmt.Sprintf(textNearest, near)
	}
	c.misread(wrong)
}

func groupSettings(all []page.Described, group string) []page.Described {
	return slices.DeleteFunc(slices.Clone(all), func(t page.Described) bool { return t.About.Group != group })
}

// about reports whether a setting has all of the words.
func about(t page.Described, typed string) bool {
	return words.HoldsAll(strings.ReplaceAll(t.Key, "_", " ")+" "+t.About.Name+" "+t.About.About, typed)
}

// settingNamed reports whether words name a setting: its name, or its key with or without the
// file.
func settingNamed(t page.Described, name string) bool {
	_, short, _ := strings.Cut(t.Key, ".")
	return slices.ContainsFunc([]string{t.About.Name, t.Key, short, strings.ReplaceAll(t.Key, "_", " ")}, func(known string) bool {
		return strings.EqualFold(known, name)
	})
}

// setting prints a setting, or sets its value.
func setting(c *console, r request, t page.Described, value string) {
	value = strings.TrimSpace(value)
	if value == "" {
		c.answer(t.About.Name + ": " + t.Long + "\n" + t.About.About + "\n" + t.Takes)
		return
	}
	do, err := t.Set(value)
	switch {
	case err != nil:
		c.fail(err.Error())
	case value == t.Text:
		c.answer(t.About.Name + ": " + t.Long)
	default:
		c.do(r, do)
	}
}
