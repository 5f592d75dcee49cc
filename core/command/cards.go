package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/storage/config"
	"ollimbot/core/talk/post"
)

// Replies as cards. Their controls contain everything a press needs, so they work after a
// restart.

// SettingsCard shows all settings in their groups, with a menu of the groups.
func SettingsCard(r config.Runtime) *post.Embed {
	e := &post.Embed{Title: textSettings, Selects: []post.Select{groupMenu("")}}
	for _, g := range config.Groups {
		var lines []string
		for _, l := range config.InGroup(r, g) {
			lines = append(lines, l.About.Name+": "+l.Long)
		}
		e.Fields = append(e.Fields, post.Field{Name: g, Value: strings.Join(lines, "\n")})
	}
	return e
}

func groupMenu(now string) post.Select {
	menu := post.Select{Action: post.ConfigGroup + ":", Hint: textAnyGroup}
	for _, g := range config.Groups {
		menu.Choices = append(menu.Choices, post.Choice{Label: g, Value: g, Chosen: g == now})
	}
	return menu
}

// GroupCard shows one group of settings, each of which can be chosen; nil if there is no
// group of that name.
func GroupCard(r config.Runtime, group string) *post.Embed {
	if !slices.Contains(config.Groups, group) {
		return nil
	}
	e := &post.Embed{Title: group}
	menu := post.Select{Action: post.ConfigKey + ":", Hint: textAnySetting}
	for _, l := range config.InGroup(r, group) {
		e.Fields = append(e.Fields, post.Field{Name: l.About.Name + ": " + l.Long, Value: l.About.About})
		menu.Choices = append(menu.Choices, post.Choice{Label: l.About.Name, Value: l.Key, About: l.Long})
	}
	e.Selects = []post.Select{menu, groupMenu(group)}
	return e
}

// SettingCard shows one setting with its choices, and a button for any other value; nil
// if there is no such key. models are the choices for the settings that take a model.
func SettingCard(r config.Runtime, key string, models []ModelChoice) *post.Embed {
	l, err := config.ShowOne(r, key)
	if err != nil {
		return nil
	}
	e := &post.Embed{Title: l.About.Name + ": " + l.Long, Description: l.About.About}
	if !l.Closed {
		e.Buttons = append(e.Buttons, post.Button{Label: textTypeValue, Style: "secondary", Action: post.ConfigType + ":" + key})
	}
	e.Buttons = append(e.Buttons, post.Button{Label: textAllSettings, Style: "secondary", Action: post.ConfigAll + ":"})
	menu := post.Select{Action: post.ConfigTo + ":" + key, Hint: textAnyValue}
	for _, v := range l.Choices {
		menu.Choices = append(menu.Choices, post.Choice{Label: v, Value: v, Chosen: v == l.Text})
	}
	if config.TakesModel(key) {
		menu.Choices = append(menu.Choices, modelMenu(models, l.Text)...)
	}
	if len(menu.Choices) > 0 {
		e.Selects = []post.Select{menu}
	}
	return e
}

// SureCard asks for confirmation of a setting that has a consequence.
func SureCard(c SetConfig, follows string) *post.Embed {
	about, _ := config.About(c.Key)
	return &post.Embed{
		Title: about.Name + ": " + c.Value, Description: follows, Color: "yellow",
		Buttons: []post.Button{
			{Label: textSetAnyway, Style: "danger", Action: post.ConfigSure + ":" + c.Key + " " + c.Value},
			{Label: textAllSettings, Style: "secondary", Action: post.ConfigAll + ":"},
		},
	}
}

// ModelCard shows the current model, with a menu of the others.
func (h Host) ModelCard() *post.Embed {
	now := cmp.Or(h.Chat.CurrentSettings().Model, "(default)")
	menu := post.Select{Action: post.ModelTo + ":", Hint: textAnyModel}
	for _, name := range Models {
		menu.Choices = append(menu.Choices, post.Choice{Label: name, Value: name, Chosen: name == now})
	}
	menu.Choices = append(menu.Choices, modelMenu(h.models(context.Background()), now)...)
	return &post.Embed{
		Title: fmt.Sprintf(textModelNow, now), Description: textModelUntil, Selects: []post.Select{menu},
		Buttons: []post.Button{{Label: textTypeModel, Style: "secondary", Action: post.ModelType + ":"}},
	}
}

// helpCard lists the commands in Discord by their groups.
func helpCard() *post.Embed {
	e := &post.Embed{Title: textCommands}
	for _, g := range Groups {
		var lines []string
		for _, c := range List(InDiscord) {
			if c.Group == g {
				lines = append(lines, "`/"+c.Name+"` "+cmp.Or(c.Short, c.About))
			}
		}
		if len(lines) > 0 {
			e.Fields = append(e.Fields, post.Field{Name: g.Title(), Value: strings.Join(lines, "\n")})
		}
	}
	return e
}
