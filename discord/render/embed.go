package render

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/talk/post"
	"ollimbot/discord/rest"
)

// Discord's limits for embeds and buttons.
const (
	maxTitle       = 256
	maxDescription = 4096
	maxFields      = 25
	maxName        = 256
	maxValue       = 1024
	maxFooter      = 2048
	maxEmbed       = 6000 // all texts together
	maxLabel       = 80
	maxCustomID    = 100
	maxRow         = 5
	maxButtons     = 25
	maxRows        = 5
)

// nothing is an invisible text for places where Discord requires one.
const nothing = "\u200b"

// colours are those that the agent may name, and greyple for discarded posts.
var colours = map[post.Color]int{
	"blue": 0x3498db, "green": 0x2ecc71, "red": 0xe74c3c, "yellow": 0xfee75c, "purple": 0x9b59b6, "greyple": 0x99aab5,
}

// embed renders a card with its buttons. context is the origin, and "fork" goes into the footer; the mark precedes
// the title. A footer cannot show a time in the reader's time zone and relative to now, so the time at which a
// reminder repeats is below the text.
func embed(e post.Embed, context, mark string) (*discordgo.MessageEmbed, []discordgo.MessageComponent) {
	if context != "fork" {
		context = ""
	}
	if !e.Back.IsZero() {
		back := fmt.Sprintf(textBack, e.Back.Unix())
		e.Description = strings.TrimSpace(cutBlock(paragraphs(e.Description), maxDescription-Length(back)) + back)
		e.Footer = ""
	}
	card := &discordgo.MessageEmbed{
		Title:       Cut(strings.TrimSpace(mark+plainTitle(clean.Line(e.Title))), maxTitle),
		Description: cutBlock(paragraphs(e.Description), maxDescription),
		Color:       colour(e.Color),
	}
	for _, f := range e.Fields {
		card.Fields = append(card.Fields, &discordgo.MessageEmbedField{
			Name:   something(Cut(clean.Line(f.Name), maxName)),
			Value:  something(cutBlock(paragraphs(f.Value), maxValue)),
			Inline: f.Inline,
		})
	}
	if card.Title == "" && card.Description == "" && len(card.Fields) == 0 {
		card.Description = nothing // Discord refuses a card with only a footer
	}
	fit(card, Cut(footer(clean.Line(e.Footer), context), maxFooter))
	rows := Buttons(e.Buttons)
	for _, s := range e.Selects {
		if row, ok := menu(s); ok && len(rows) < maxRows {
			rows = append(rows, row)
		}
	}
	return card, rows
}

// fit shortens a card to Discord's limit, cutting from the end: first the footer, then fields; a last field shows how
// many were cut.
func fit(card *discordgo.MessageEmbed, footer string) {
	room := maxEmbed - Length(card.Title) - Length(card.Description)
	if footer = Cut(footer, room-roomForCount); footer != "" {
		card.Footer = &discordgo.MessageEmbedFooter{Text: footer}
		room -= Length(footer)
	}
	all := card.Fields
	for i, f := range all {
		size := Length(f.Name) + Length(f.Value)
		if i < maxFields && size <= room {
			room -= size
			continue
		}
		// Drop earlier fields to make room for the one with the count.
		keep := min(i, maxFields-1)
		for ; i > keep; i-- {
			room += Length(all[i-1].Name) + Length(all[i-1].Value)
		}
		more := moreField(len(all) - keep)
		for keep > 0 && Length(more.Name)+Length(more.Value) > room {
			keep--
			room += Length(all[keep].Name) + Length(all[keep].Value)
			more = moreField(len(all) - keep)
		}
		card.Fields = append(all[:keep:keep], more)
		return
	}
}

// roomForCount is reserved for the field with the count.
const roomForCount = 32

func moreField(n int) *discordgo.MessageEmbedField {
	return &discordgo.MessageEmbedField{Name: ellipsis, Value: "and " + strconv.Itoa(n) + " more"}
}

func colour(c post.Color) int {
	if rgb, ok := colours[c]; ok {
		return rgb
	}
	return colours["blue"]
}

func footer(said, context string) string {
	switch {
	case said == "" || said == context:
		return context
	case context == "":
		return said
	}
	return said + " · " + context
}

func something(s string) string {
	if s == "" {
		return nothing
	}
	return s
}

// paragraphs cleans a text of several lines. Models often write a line break as the escape
// \n.
func paragraphs(s string) string {
	return strings.TrimSpace(Markdown(clean.Text(strings.ReplaceAll(s, `\n`, "\n")), false))
}

// plainTitle removes emoji and the space after each from a title: Discord shows them larger
// than the words.
func plainTitle(s string) string { return strings.TrimSpace(emoji().ReplaceAllString(s, "")) }

// emoji matches the ranges of characters that are removed from titles.
var emoji = lazyregexp.New(`[\x{1f300}-\x{1faff}\x{2600}-\x{27bf}\x{23e9}-\x{23fa}\x{fe0f}\x{200d}]\s*`)

// errUnregistered means that an agent's question has no ID yet.
var errUnregistered = errors.New("the question has no id yet")

// Buttons renders rows of buttons. It omits buttons with an invalid or too long action, and duplicates, which Discord
// rejects. A button that asks the agent must have its permanent ID (post.CustomID).
func Buttons(list []post.Button) []discordgo.MessageComponent {
	var flat []discordgo.MessageComponent
	known := map[string]bool{}
	for _, b := range list {
		id := b.Action
		if _, _, ok := post.ParseCustomID(id); !ok {
			var err error
			if id, err = b.CustomID(func(string) (string, error) { return "", errUnregistered }); err != nil {
				continue
			}
		}
		if known[id] || !fits(id, maxCustomID) || len(flat) == maxButtons {
			continue
		}
		known[id] = true
		label := Cut(clean.Line(b.Label), maxLabel-Length(ellipsis))
		if label == "" {
			label = dash
		}
		if action, data, _ := post.ParseCustomID(id); opensForm(action, data) && !strings.HasSuffix(label, ellipsis) {
			label += ellipsis
		}
		flat = append(flat, discordgo.Button{Label: label, CustomID: id, Style: style(b.Style)})
	}
	var rows []discordgo.MessageComponent
	for row := range slices.Chunk(flat, maxRow) {
		rows = append(rows, discordgo.ActionsRow{Components: row})
	}
	return rows
}

// StopButton is the row below a growing answer.
func StopButton(answer string) []discordgo.MessageComponent {
	return Buttons([]post.Button{{Label: textStop, Action: post.StopAnswer + ":" + answer}})
}

func style(s string) discordgo.ButtonStyle {
	switch s {
	case "primary":
		return discordgo.PrimaryButton
	case "success":
		return discordgo.SuccessButton
	case "danger":
		return discordgo.DangerButton
	}
	return discordgo.SecondaryButton
}

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
			Style: discordgo.TextInputShort, Required: !field.Optional, MaxLength: maxShortInput,
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
