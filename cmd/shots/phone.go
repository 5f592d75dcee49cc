package main

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
	"ollimbot/tui/raster"
)

// The phone in the drawing, in cells.
const (
	phoneWide = 46
	phoneText = phoneWide - 6
)

// phoneMessages is a morning on the phone, made by the functions that make Discord's messages.
func phoneMessages() []rest.Message {
	return []rest.Message{
		render.Post(post.Post{Text: "Your tea is ready. First step: get up and fetch it.", Buttons: post.Ping("p1")}),
		render.Post(post.Post{
			Text:  "Water the plants, the fern first.",
			Embed: &post.Embed{Title: "Plants", Footer: "repeats until it is done", Buttons: post.Remind("r1")},
		}),
		{Content: "> I'll call the dentist tomorrow."},
		{Content: "Good. They open at nine, and their number is on the fridge."},
		render.Post(post.Post{Quiet: true, Text: "You wrote: \"I'll call the dentist tomorrow\". I can remind you at 9:00.", Embed: &post.Embed{
			Title: "Shall I remind you?", Buttons: []post.Button{
				{Label: "Remind me", Action: post.Propose + ":p1 yes"},
				{Label: "Other time", Action: post.ProposeWhen + ":p1 when"},
				{Label: "No", Action: post.Propose + ":p1 no"},
			},
		}}),
		render.Approval(policy.Approval{
			ID: "a1", Tool: "Bash", Command: "git commit", Question: "Run this command?", Text: "git commit -m \"Notes of today\"", Until: opening.Add(5 * time.Minute),
		}),
	}
}

// phone is what a person sees on the phone. It is a drawing: Discord's own look differs.
func phone() *raster.Grid {
	var lines []string
	put := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	put("╭%s╮", strings.Repeat("─", phoneWide-2))
	row := func(text string) { put("│ %-*s │", phoneWide-4, text) }
	row("Ollie")
	row("")
	for i, m := range phoneMessages() {
		who := "Ollie"
		if strings.HasPrefix(m.Content, "> ") {
			who, m.Content = "You", strings.TrimPrefix(m.Content, "> ")
		}
		row(fmt.Sprintf("%s  %s", who, opening.Add(time.Duration(i)*7*time.Minute).Format("15:04")))
		for _, l := range phoneLines(m) {
			row("  " + l)
		}
		row("")
	}
	put("╰%s╯", strings.Repeat("─", phoneWide-2))
	put(" A drawing of the bot's messages in Discord")
	return raster.Lines(lines, phoneWide, raster.Dark)
}

// phoneLines are a message's words and buttons, as lines of the drawing.
func phoneLines(m rest.Message) (lines []string) {
	for l := range strings.Lines(strings.NewReplacer("**", "", "```", "", "-# ", "").Replace(m.Content)) {
		if l = strings.TrimSpace(l); l != "" && !strings.Contains(l, "You can also type") {
			lines = append(lines, folded(l, phoneText)...)
		}
	}
	for _, e := range m.Embeds {
		lines = append(lines, "▌ "+e.Title)
		if e.Footer != nil {
			lines = append(lines, "▌ "+e.Footer.Text)
		}
	}
	for _, row := range render.Labels(m) {
		lines = append(lines, folded("[ "+strings.Join(row, " ] [ ")+" ]", phoneText)...)
	}
	return lines
}

// folded breaks a line at spaces.
func folded(line string, wide int) (lines []string) {
	for len([]rune(line)) > wide {
		cut := strings.LastIndexByte(string([]rune(line)[:wide+1]), ' ')
		if cut <= 0 {
			break
		}
		lines, line = append(lines, line[:cut]), line[cut+1:]
	}
	return append(lines, line)
}
