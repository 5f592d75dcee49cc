// Package render turns posts, approvals and texts into Discord messages: pure functions to
// values of discord/rest. It owns the look (colours, marks, small print) and every length
// limit, which it enforces by cutting, because Discord would refuse a longer message after
// its token was spent. It must not know connections, message IDs or the bot's state.
//
// Its input may come from a model or a stranger and is cleaned here.
package render

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/clean"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
	"ollimbot/discord/rest"
)

const (
	// MaxContent is the longest text of a message, in UTF-16 units like all lengths here.
	MaxContent = 2000
	maxFiles   = 10

	// critical marks posts beyond the ping budget.
	critical = "❗ "
	small    = "-# "
	// dash replaces an empty text where Discord requires one.
	dash = "–"
)

// Post renders a post, cut where it is too long. A post without content renders as an empty
// message.
func Post(p post.Post) rest.Message {
	m := rest.Message{Content: content(p), Nonce: p.Nonce}
	if p.Small { // a cut line keeps its mark
		m.Content = Cut(m.Content, MaxContent)
	} else {
		m.Content = cutBlock(m.Content, MaxContent)
	}
	if p.Embed != nil {
		mark := ""
		if p.Critical {
			mark = critical
		}
		card, rows := embed(*p.Embed, p.Context, mark)
		m.Embeds, m.Components = []*discordgo.MessageEmbed{card}, rows
	} else if m.Content != "" || len(p.Files) > 0 {
		m.Components = Buttons(p.Buttons)
	}
	for _, path := range p.Files[:min(len(p.Files), maxFiles)] {
		m.Files = append(m.Files, rest.File{
			Name: filepath.Base(path),
			Read: func() ([]byte, error) { return os.ReadFile(path) },
		})
	}
	return m
}

// content is the text of a post with its marks.
func content(p post.Post) string {
	text := strings.TrimSpace(Markdown(clean.Text(p.Text), false))
	if text == "" {
		return ""
	}
	if p.Embed == nil && p.Critical {
		text = critical + text
	}
	if p.Small {
		return marked(text)
	}
	return text
}

// Small renders a notice of the program in small print.
func Small(text string) rest.Message {
	return rest.Message{Content: Cut(marked(strings.TrimSpace(clean.Text(text))), MaxContent)}
}

// Transcript renders what was heard in the user's voice message, as a quote in reply to it.
func Transcript(words, of string) rest.Message {
	text := "> " + strings.ReplaceAll(strings.TrimSpace(clean.Text(words)), "\n", "\n> ")
	return inReply(Cut(text, MaxContent), of)
}

// Remark renders a notice about one message of the user, in reply to it.
func Remark(text, about string) rest.Message { return inReply(Small(text).Content, about) }

// inReply is a reply that does not notify.
func inReply(text, to string) rest.Message {
	return rest.Message{
		Content: text, ReplyTo: to, Nonce: "voice-" + to,
		Flags: discordgo.MessageFlagsSuppressNotifications | discordgo.MessageFlagsSuppressEmbeds,
	}
}

// marked marks each non-empty line as small print.
func marked(text string) string {
	out := strings.Split(text, "\n")
	for i, line := range out {
		if strings.TrimSpace(line) != "" {
			out[i] = small + line
		}
	}
	return strings.Join(out, "\n")
}

// Ephemeral renders an answer to a command or button that only its user sees.
func Ephemeral(text string) rest.Message {
	text = cutBlock(strings.TrimSpace(clean.Text(text)), MaxContent)
	if text == "" {
		text = dash
	}
	return rest.Message{Content: text, Flags: discordgo.MessageFlagsEphemeral}
}

// The reactions that answer an approval, in the order in which the bot offers them; any
// other denies.
const (
	reactAllow  = "\u2705"
	reactDeny   = "\u274c"
	reactAlways = "\U0001f513"
	thumb       = "\U0001f44d"
)

// Reactions are the offered reactions.
func Reactions() []string { return []string{reactAllow, reactDeny, reactAlways} }

// Verdict is the meaning of a reaction.
func Verdict(emoji string) policy.Verdict {
	switch {
	case emoji == reactAllow, strings.HasPrefix(emoji, thumb): // a skin tone may follow
		return policy.Allow
	case emoji == reactAlways:
		return policy.Always
	}
	return policy.Deny
}

// maxCall is how much of a tool call is shown: enough to judge it, on one screen.
const (
	// maxCall limits the shown part of a tool call, which must fit on one screen.
	maxCall = 1500
	maxLine = 1000 // of the label
)

// Texts of the card.
const (
	textQuestion = "May the bot do this?\n%s\n"
	textLegend   = "-# *This tool* lets every call of %s run without a question until the bot is restarted. You can also type yes, always or no, " +
		"or react: ✅ once, 🔓 always, ❌ no. Without an answer it is not done; the question ends <t:%d:R>."
	textBack     = "\n-# Comes back <t:%d:R>."
	textStop     = "Stop"
	textThisTool = "this tool"
)

// approvalPrefix begins the IDs of a card's buttons: approval:allow:ID.
const approvalPrefix = "approval:"

// answers are the buttons of a card.
var answers = []struct {
	word, label string
	style       discordgo.ButtonStyle
	verdict     policy.Verdict
}{
	{"allow", "Once", discordgo.SuccessButton, policy.Allow},
	{"always", "This tool", discordgo.PrimaryButton, policy.Always},
	{"deny", "Deny", discordgo.DangerButton, policy.Deny},
}

// ParseApproval returns the approval and the verdict of a card's button.
func ParseApproval(customID string) (id string, v policy.Verdict, ok bool) {
	said, ours := strings.CutPrefix(customID, approvalPrefix)
	word, id, _ := strings.Cut(said, ":")
	for _, a := range answers {
		if ours && a.word == word && id != "" {
			return id, a.verdict, true
		}
	}
	return "", "", false
}

// question renders the card of a pending tool call: its effect, the answers as buttons, and
// the deadline.
func question(a policy.Approval, label string) rest.Message {
	call := label
	if text := strings.TrimSpace(clean.Text(a.Text)); text != "" && !strings.Contains(a.Label, text) {
		text = Cut(text, maxCall-Length(label))
		call += "\n" + fence + "\n" + strings.ReplaceAll(text, fence, "'''") + "\n" + fence
	}
	tool := textThisTool
	if name := clean.Line(a.Tool); name != "" {
		tool = Cut(name, maxLabel)
	}
	m := rest.Message{Content: fmt.Sprintf(textQuestion, call) + fmt.Sprintf(textLegend, tool, a.Until.Unix())}
	var row discordgo.ActionsRow
	for _, b := range answers {
		row.Components = append(row.Components, discordgo.Button{Label: b.label, Style: b.style, CustomID: approvalPrefix + b.word + ":" + a.ID})
	}
	m.Components = []discordgo.MessageComponent{row}
	return m
}

// Approval renders a tool call that is pending or decided: the label as code, followed by
// the verdict. An unanswered one is struck through.
func Approval(a policy.Approval) rest.Message {
	label := code(Cut(clean.Line(a.Label), maxLine))
	switch a.Verdict {
	case "":
		return question(a, label)
	case policy.Expired, policy.Cancelled:
		label = "~~" + label + "~~ — " + string(a.Verdict)
	default:
		label += " — " + string(a.Verdict)
	}
	return rest.Message{Content: label}
}

// code renders a line as inline code. A backtick inside needs two outside; more of them
// would start a block.
func code(s string) string {
	if s == "" {
		s = dash
	}
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	return "`` " + strings.ReplaceAll(s, "``", "''") + " ``"
}
