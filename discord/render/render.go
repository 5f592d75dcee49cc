// Package render turns posts, approvals and texts into Discord messages: pure functions to values of discord/rest. It
// owns the appearance (colours, marks, small print) and every length limit. It cuts text to these limits, because
// Discord would reject a longer message after its token was spent. It must not know connections, message IDs or the
// bot's state.
//
// Its input may come from a model or a stranger and is cleaned here.
package render

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/visible"
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

// Post renders a post and cuts it if it is too long. A post without content renders as an empty message.
func Post(p post.Post) rest.Message {
	m := Ring(rest.Message{Content: content(p), Nonce: p.Nonce}, !p.Quiet)
	if p.Small { // a cut line keeps its mark
		m.Content = Cut(m.Content, MaxContent)
	} else {
		m.Content = Closed(cutBlock(m.Content, MaxContent))
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
	if p.Whole != "" {
		m.Files = append(m.Files, attached(p.Whole))
	}
	for _, path := range p.Files[:min(len(p.Files), maxFiles)] {
		m.Files = append(m.Files, rest.File{
			Name: filepath.Base(path),
			Read: func() ([]byte, error) { return os.ReadFile(path) },
		})
	}
	return m
}

// content returns the text of a post with its marks.
func content(p post.Post) string {
	text := strings.TrimSpace(Markdown(clean.Text(p.Text), false))
	if text == "" {
		return ""
	}
	if p.Embed == nil && p.Critical {
		text = critical + text
	}
	if p.Small && p.Quiet {
		return marked(text)
	}
	return text
}

// Ring makes a message ring, or not. Nothing else sets that flag.
func Ring(m rest.Message, rings bool) rest.Message {
	if m.Flags &^= discordgo.MessageFlagsSuppressNotifications; !rings {
		m.Flags |= discordgo.MessageFlagsSuppressNotifications
	}
	return m
}

// Notice renders a notice of the program: in small print, unless it rings, because a phone shows the mark of small
// print on its lock screen.
func Notice(text string, rings bool) rest.Message {
	if text = strings.TrimSpace(clean.Text(text)); !rings {
		text = marked(text)
	}
	return Ring(rest.Message{Content: Cut(text, MaxContent)}, rings)
}

// Transcript renders the transcript of the user's voice message, as a quote in reply to it.
func Transcript(words, of string) rest.Message {
	text := "> " + strings.ReplaceAll(strings.TrimSpace(clean.Text(words)), "\n", "\n> ")
	return inReply(Cut(text, MaxContent), of)
}

// Remark renders a notice about one message of the user, in reply to it.
func Remark(text, about string) rest.Message { return inReply(Notice(text, false).Content, about) }

// inReply is a reply that does not notify.
func inReply(text, to string) rest.Message {
	return Ring(rest.Message{
		Content: text, ReplyTo: to, Nonce: "voice-" + to, Flags: discordgo.MessageFlagsSuppressEmbeds,
	}, post.KindAside.Rings(post.Moment{}))
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

// AllReactions are all that are offered to an approval.
var AllReactions = []string{reactAllow, reactDeny, reactAlways}

// Reactions are the offered reactions to an approval.
func Reactions(a policy.Approval) []string {
	if a.Scope() == "" {
		return []string{reactAllow, reactDeny}
	}
	return AllReactions
}

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

const (
	// maxText limits the shown part of a call, which must fit on one screen.
	maxText = 1500
	// maxAsked, maxGrant and maxLine limit the question, the meaning of *always*, and the line about an answered
	// question.
	maxAsked = 400
	maxGrant = 150
	maxLine  = 1000
)

// Texts of the card.
const (
	textMore = "\nThis is cut. All of it is in the attached file: read it before you allow it, and deny it if in doubt."
	// wholeFile is the name of the file with all of a text that is cut.
	wholeFile  = "all-of-it.txt"
	textLegend = "-# *%s*: %s until the bot is restarted. You can also type yes, always or no, or react: ✅ once, 🔓 always, ❌ no. " +
		"Without an answer it is not done; the question ends <t:%d:R>."
	textYesNo = "-# You can also type yes or no, or react: ✅ yes, ❌ no. Without an answer it is not done; the question ends <t:%d:R>."
	textBack  = "\n-# Comes back <t:%d:R>."
	textStop  = "Stop"
	textAllow = "Allow"
)

// approvalPrefix begins the IDs of a card's buttons: approval:allow:ID.
const approvalPrefix = "approval:"

// answers are the buttons of a card. The label of Always comes from the approval.
var answers = []struct {
	word, label string
	style       discordgo.ButtonStyle
	verdict     policy.Verdict
}{
	{"allow", "Once", discordgo.SuccessButton, policy.Allow},
	{"always", "", discordgo.PrimaryButton, policy.Always},
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

// question renders the card of a pending approval: the question, the answers as buttons, and the deadline.
func question(a policy.Approval) rest.Message {
	scope := a.Scope()
	legend := fmt.Sprintf(textYesNo, a.Until.Unix())
	if scope != "" {
		legend = fmt.Sprintf(textLegend, capital(scope), Cut(a.Grant(), maxGrant), a.Until.Unix())
	}
	content := "**" + asked(a) + "**\n"
	block, cut := shown(a.Text, MaxContent-Length(content)-Length(legend))
	content += block
	var row discordgo.ActionsRow
	for _, b := range answers {
		label := b.label
		switch {
		case b.verdict == policy.Always && scope == "":
			continue
		case b.verdict == policy.Always:
			label = capital(scope)
		case b.verdict == policy.Allow && scope == "":
			label = textAllow
		}
		row.Components = append(row.Components, discordgo.Button{Label: label, Style: b.style, CustomID: approvalPrefix + b.word + ":" + a.ID})
	}
	m := rest.Message{Content: content + legend, Components: []discordgo.MessageComponent{row}}
	if cut || Length(a.Question) > maxAsked {
		m.Files = []rest.File{attached(a.Question + "\n\n" + a.Text)}
	}
	return m
}

// attached is a file with all of a text.
func attached(text string) rest.File {
	return rest.File{Name: wholeFile, Read: func() ([]byte, error) { return []byte(text), nil }}
}

// shown renders a picture as a block of at most n units. If it is cut, its head and its tail are shown, and
// a note says where all of it is.
func shown(text string, n int) (block string, cut bool) {
	if text == "" {
		return "", false
	}
	const around = len("```diff\n") + len("\n```\n") + len(textMore)
	short, cut := visible.Excerpt(visible.Fenced(text), min(maxText, n-around))
	block = fence + tongue(text) + "\n" + short + "\n" + fence
	if cut {
		block += textMore
	}
	return block + "\n", cut
}

// asked returns the question as plain text, so that Discord does not interpret file names or addresses in it.
func asked(a policy.Approval) string {
	s := cmp.Or(clean.Line(a.Question), clean.Line(a.Label), dash)
	s, _ = visible.Excerpt(s, maxAsked)
	return markdownSigns.ReplaceAllString(s, `\$0`)
}

var markdownSigns = regexp.MustCompile("[\\\\`*_~|<>\\[\\]()#:@]")

// tongue returns the language of a block: diff for changes.
func tongue(text string) string {
	marks := 0
	for l := range strings.SplitSeq(text, "\n") {
		switch {
		case l == "" || strings.IndexByte("+-@ ", l[0]) < 0:
			return ""
		case l[0] == '+' || l[0] == '-':
			marks++
		}
	}
	if marks == 0 {
		return ""
	}
	return "diff"
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Approval renders a pending or decided approval: the question, followed by the verdict. An unanswered one is struck
// through.
func Approval(a policy.Approval) rest.Message {
	if a.Verdict == "" {
		return question(a)
	}
	line := asked(a)
	if text := strings.ReplaceAll(a.Text, "\n", " ⏎ "); text != "" {
		short, _ := visible.Excerpt(text, maxLine)
		line += " " + code(short)
	}
	if a.Verdict == policy.Expired || a.Verdict == policy.Cancelled {
		line = "~~" + line + "~~"
	}
	return rest.Message{Content: line + " — " + string(a.Verdict)}
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
	return "`` " + strings.ReplaceAll(s, "``", "`"+visible.Open+"U+0060"+visible.Close) + " ``"
}

// Labels returns the labels of a message's buttons, row by row.
func Labels(m rest.Message) (rows [][]string) {
	for _, c := range m.Components {
		row, _ := c.(discordgo.ActionsRow)
		var labels []string
		for _, c := range row.Components {
			if b, ok := c.(discordgo.Button); ok {
				labels = append(labels, b.Label)
			}
		}
		if len(labels) > 0 {
			rows = append(rows, labels)
		}
	}
	return rows
}
