package render

import (
	"strings"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/clean"
	"ollimbot/core/talk/post"
	"ollimbot/discord/rest"
)

// Discord's limits for menus, windows and suggestions.
const (
	maxChoices     = 25
	maxChoice      = 100 // of a label, a value and a description
	maxPlaceholder = 150
	maxModalTitle  = 45
	maxInputLabel  = 45
	maxInputHint   = 100
	maxInput       = 4000
	maxShortInput  = 200
)

// opensForm reports whether a press of a button opens a window.
func opensForm(action, data string) bool {
	_, opens := post.FormOf(action, data)
	return opens
}

// menu renders a menu as a row. A choice with an unusable value is left out, and so is a
// duplicate; a menu without choices is not rendered.
func menu(s post.Select) (discordgo.MessageComponent, bool) {
	id, err := s.CustomID()
	if err != nil {
		return nil, false
	}
	var list []discordgo.SelectMenuOption
	known := map[string]bool{}
	for _, c := range s.Choices {
		if c.Value == "" || known[c.Value] || !fits(c.Value, maxChoice) || len(list) == maxChoices {
			continue
		}
		known[c.Value] = true
		label := Cut(clean.Line(c.Label), maxChoice)
		if label == "" {
			label = dash
		}
		list = append(list, discordgo.SelectMenuOption{
			Label: label, Value: c.Value, Description: Cut(clean.Line(c.About), maxChoice), Default: c.Chosen,
		})
	}
	if len(list) == 0 {
		return nil, false
	}
	m := discordgo.SelectMenu{
		MenuType: discordgo.StringSelectMenu, CustomID: id, Placeholder: Cut(clean.Line(s.Hint), maxPlaceholder), Options: list,
	}
	return discordgo.ActionsRow{Components: []discordgo.MessageComponent{m}}, true
}

// Form renders a form as a window.
func Form(f post.Form) (rest.Modal, error) {
	id, err := f.CustomID()
	m := rest.Modal{CustomID: id, Title: Cut(clean.Line(f.Title), maxModalTitle)}
	for _, field := range f.Fields {
		in := discordgo.TextInput{
			CustomID: field.Name, Label: Cut(clean.Line(field.Label), maxInputLabel), Placeholder: Cut(clean.Line(field.Hint), maxInputHint),
			Style: discordgo.TextInputShort, Required: true, MaxLength: maxShortInput,
		}
		if in.Value = Cut(clean.Line(field.Value), maxShortInput); field.Long {
			in.Style, in.MaxLength = discordgo.TextInputParagraph, maxInput
			in.Value = Cut(strings.TrimSpace(clean.Text(field.Value)), maxInput)
		}
		m.Components = append(m.Components, discordgo.ActionsRow{Components: []discordgo.MessageComponent{in}})
	}
	return m, err
}

// Suggestions renders suggestions for a field.
func Suggestions(list []string) []*discordgo.ApplicationCommandOptionChoice {
	var out []*discordgo.ApplicationCommandOptionChoice
	known := map[string]bool{}
	for _, s := range list {
		if s = Cut(clean.Line(s), maxChoice); s == "" || known[s] || len(out) == maxChoices {
			continue
		}
		known[s] = true
		out = append(out, &discordgo.ApplicationCommandOptionChoice{Name: s, Value: s})
	}
	return out
}
